// tollmark verify
import { isoTime } from '../../common/clock.ts'
import { environment, readConfig } from '../../config/settings.ts'
import { JSON_OPTION, type Command } from '../command.ts'
import { AlreadyReported } from '../failure.ts'
import { writeJson, writeLines } from '../output.ts'

/** Reads the whole ledger; fails where a window was exceeded. */
export const VERIFY: Command = {
  name: 'verify',
  summary: "prove from the ledger that no key's limit was ever exceeded",
  options: [JSON_OPTION],
  notes: 'Proves that no key ever exceeded its limit in any 60 seconds; exit code 1 if one did.',
  examples: ['tollmark verify'],
  run: async (values) => {
    const { openStore } = await import('../../store/open.ts')
    const { verifyWindows } = await import('../../ledger/reports/verify.ts')
    const { storage } = readConfig(environment(process.cwd()))
    await using store = await openStore({ ...storage, now: Date.now(), existing: true })
    const { keys, requests, limited, outage, violations } = await verifyWindows(store)
    const ok = violations.length === 0
    if (values.flag('json'))
      await writeJson({ object: 'proof', ok, keys, requests, limited, outage, violations })
    else {
      const found = violations.map(
        ({ key_id, rpm, count, at }) =>
          `${isoTime(at)}  ${key_id}: ${count} within 60 s, allowed are ${rpm}`,
      )
      const sum = `${counted(requests, 'request')} of ${counted(keys, 'key')}, ${limited} of them under a limit${outage === 0 ? '' : `, ${outage} admitted while the database was away`}`
      await writeLines([
        ...found,
        `${sum}: ${ok ? 'no window was ever exceeded' : `${violations.length} times too many`}.`,
      ])
    }
    if (!ok) throw new AlreadyReported()
  },
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}
