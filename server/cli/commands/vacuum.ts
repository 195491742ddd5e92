// tollmark vacuum
import { environment, readConfig } from '../../config/settings.ts'
import { JSON_OPTION, type Command } from '../command.ts'
import { writeJson, writeLines } from '../output.ts'

/** Shrinks the SQLite file to what its rows need. */
export const VACUUM: Command = {
  name: 'vacuum',
  summary: 'free the unused space in the SQLite file; stop the server first',
  options: [JSON_OPTION],
  notes:
    'New rows reuse the space of deleted ones, so this helps only if the ledger will stay smaller: after you set or\n' +
    'shorten its retention. "tollmark doctor" says when most of the file is unused. It needs free disk space for twice\n' +
    'the data that is left. If it is interrupted, nothing has changed.',
  examples: ['tollmark vacuum'],
  run: async (values) => {
    const { vacuumStore } = await import('../../store/vacuum.ts')
    const { path, before, after } = vacuumStore(readConfig(environment(process.cwd())).storage)
    if (values.flag('json'))
      return writeJson({ object: 'vacuum', bytes_before: before, bytes_after: after })
    await writeLines([`${path} was ${megabytes(before)}; it is now ${megabytes(after)}.`])
  },
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
