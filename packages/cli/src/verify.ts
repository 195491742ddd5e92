import { parseArgs } from 'node:util'
import { isoTime } from '../../../server/clock.ts'
import { environment, readConfig } from '../../../server/config.ts'
import { verifyWindows } from '../../../server/ledger/verify.ts'
import { openStore } from '../../../server/store/open.ts'
import type { Command } from './main.ts'

/** `tollmark verify`: reads the whole ledger; exit code 1 where a window was exceeded. */
export const command: Command = {
  usage: 'usage: tollmark verify [--json]\n\nProves from the ledger that no key was ever let through more often than its limit in any 60 seconds.',
  run: async (args) => {
    const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } } })
    const { storage } = readConfig(environment(process.cwd()))
    await using store = await openStore({ ...storage, now: Date.now(), existing: true })
    const { keys, requests, limited, violations } = await verifyWindows(store)
    const ok = violations.length === 0
    if (values.json) process.stdout.write(`${JSON.stringify({ object: 'proof', ok, keys, requests, limited, violations }, null, 2)}\n`)
    else {
      for (const { key_id, rpm, count, at } of violations) process.stdout.write(`${isoTime(at)}  ${key_id}: ${count} within 60 s, allowed are ${rpm}\n`)
      process.stdout.write(`${counted(requests, 'request')} of ${counted(keys, 'key')}, ${limited} of them under a limit: ${ok ? 'no window was ever exceeded' : `${violations.length} times too many`}.\n`)
    }
    if (!ok) process.exitCode = 1
  },
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}
