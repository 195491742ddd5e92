// tollmark verify
import { isoTime } from '../../common/clock.ts'
import { counted, grouped } from '../../common/counted.ts'
import { environment, readConfig } from '../../config/settings.ts'
import type { Proof } from '../../ledger/reports/verify.ts'
import { JSON_OPTION, type Command } from '../command.ts'
import { AlreadyReported } from '../failure.ts'
import { writeJson, writeLines } from '../output.ts'

/** Reads the ledger; fails if a window was exceeded, or if rows are missing or changed. */
export const VERIFY: Command = {
  name: 'verify',
  summary: "prove from the ledger that no key's limit was ever exceeded",
  options: [
    { flags: '--all', summary: 'also read the days that an earlier run has proved' },
    JSON_OPTION,
  ],
  notes: `The exit code is 1 if a key exceeded its limit in any 60 seconds, or if rows are missing or changed. A day that
is over is read only once: its totals and a digest of its rows are kept. --all reads every row again, and compares
the digests.`,
  examples: ['tollmark verify', 'tollmark verify --all'],
  run: async (values) => {
    const { openStore } = await import('../../store/open.ts')
    const { verifyWindows } = await import('../../ledger/reports/verify.ts')
    const { storage } = readConfig(environment(process.cwd()))
    const now = Date.now()
    await using store = await openStore({ ...storage, now, existing: true })
    const proof = await verifyWindows(store, { now, again: values.flag('all') })
    const ok = faultsOf(proof).length === 0
    if (values.flag('json')) {
      const changed = proof.changed.map(dateOf)
      await writeJson({ object: 'proof', ok, ...proof, changed })
    } else await writeLines(linesOf(proof))
    if (!ok) throw new AlreadyReported()
  },
}

function linesOf(proof: Proof): string[] {
  const { keys, requests, limited, outage, sealed } = proof
  const violations = proof.violations.map(
    ({ key_id, rpm, count, at }) =>
      `${isoTime(at)}  ${key_id}: ${grouped(count)} within 60 s, but only ${grouped(rpm)} are allowed`,
  )
  const changed = proof.changed.map(
    (day) => `${dateOf(day)}  the requests of this day have changed since it was proved`,
  )
  const sum = [
    `${counted(requests, 'request')} of ${counted(keys, 'key')}`,
    `${grouped(limited)} of them under a limit`,
    ...(sealed === 0 ? [] : [`${grouped(sealed)} proved before`]),
    ...(outage === 0 ? [] : [`${grouped(outage)} admitted while the database was unavailable`]),
  ]
  const faults = faultsOf(proof)
  const result = faults.length === 0 ? 'no window was ever exceeded' : faults.join(', ')
  return [...violations, ...changed, `${sum.join(', ')}: ${result}.`]
}

function faultsOf({ violations, missing, changed }: Proof): string[] {
  return [
    ...(violations.length === 0 ? [] : [`${counted(violations.length, 'window')} exceeded`]),
    ...(missing === 0 ? [] : [`${counted(missing, 'request')} missing`]),
    ...(changed.length === 0 ? [] : [`${counted(changed.length, 'day')} changed`]),
  ]
}

const dateOf = (day: number): string => isoTime(day).slice(0, 10)
