// tollmark vacuum
import { environment, readConfig } from '../../config/settings.ts'
import { JSON_OPTION, type Command } from '../command.ts'
import { writeJson, writeLines } from '../output.ts'

/** Shrinks the SQLite file to what its rows need. */
export const VACUUM: Command = {
  name: 'vacuum',
  summary: 'give unused space in the SQLite file back to the disk; stop the server before',
  options: [JSON_OPTION],
  notes:
    'New rows take the space of deleted ones, so this only helps if the ledger is to stay smaller: after a retention\n' +
    'was set or shortened. "tollmark doctor" says when most of the file is unused. It needs free disk for twice the\n' +
    'data that is left. If it is interrupted, nothing has changed.',
  examples: ['tollmark vacuum'],
  run: async (values) => {
    const { vacuumStore } = await import('../../store/vacuum.ts')
    const { path, before, after } = vacuumStore(readConfig(environment(process.cwd())).storage)
    if (values.flag('json'))
      return writeJson({ object: 'vacuum', bytes_before: before, bytes_after: after })
    await writeLines([`${path} has ${megabytes(after)} now; it had ${megabytes(before)}.`])
  },
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
