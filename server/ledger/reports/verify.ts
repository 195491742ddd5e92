// Proves from the ledger alone that no key was ever let through more often than its limit.
import type { Store } from '../../store/open.ts'
import { flushJournal } from '../settlement/journal.ts'
import { WINDOW_MS } from '../admission/sliding-window.ts'

/** A minute in which a key was let through too often. */
export type Violation = { key_id: string; rpm: number; count: number; at: number }

/**
 * What a proof found; `requests` are all rows, `limited` those under a limit, `outage` those that
 * were admitted while the store did not answer. Windows count all of them.
 */
export type Proof = {
  keys: number
  requests: number
  limited: number
  outage: number
  violations: Violation[]
}

const PAGE = 20_000

/**
 * Reads the whole ledger, key by key, in bounded memory. Admissions are compared where one
 * monotonic clock measured both.
 */
export async function verifyWindows(store: Store): Promise<Proof> {
  const proof: Proof = { keys: 0, requests: 0, limited: 0, outage: 0, violations: [] }
  let key = ''
  await store.run(flushJournal, null)
  for (;;) {
    const next = await store.reports
      .selectFrom('requests')
      .select('key_id')
      .where('key_id', '>', key)
      .orderBy('key_id')
      .limit(1)
      .execute()
    const [first] = next
    if (first === undefined) return proof
    key = first.key_id
    proof.keys++
    await verifyKey(store, key, proof)
  }
}

async function verifyKey(store: Store, key: string, proof: Proof): Promise<void> {
  let boot = 0
  /**
   * The last minute's admissions by that boot's clock, oldest first. Several processes write nearly
   * in order, not quite.
   */
  let stamps: number[] = []
  let after = 0
  for (;;) {
    const rows = await store.reports
      .selectFrom('requests')
      .select(['seq', 'mono', 'boot', 'rpm', 'created_at', 'outage'])
      .where('key_id', '=', key)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(PAGE)
      .execute()
    for (const { mono, rpm, created_at, boot: on, outage } of rows) {
      proof.requests++
      if (outage === 1) proof.outage++
      if (on !== boot) {
        boot = on
        stamps = []
      }
      let at = stamps.length
      while (at > 0 && stamps[at - 1]! > mono) at--
      stamps.splice(at, 0, mono)
      // Twice the window is kept, because a row may come a little late; what is older cannot share
      // a minute with anything to come.
      if (stamps.length % 1024 === 0)
        stamps = stamps.filter((stamp) => stamp > mono - 2 * WINDOW_MS * 1000)
      if (rpm === null) continue
      proof.limited++
      // A row that comes a little late lies in the minutes of those behind it as well.
      let most = 0
      for (
        let last = at, first = 0;
        last < stamps.length && stamps[last]! - mono < WINDOW_MS * 1000;
        last++
      ) {
        if (last === at)
          for (first = at; first > 0 && mono - stamps[first - 1]! < WINDOW_MS * 1000;) first--
        while (stamps[last]! - stamps[first]! >= WINDOW_MS * 1000) first++
        most = Math.max(most, last - first + 1)
      }
      if (most > rpm) proof.violations.push({ key_id: key, rpm, count: most, at: created_at })
    }
    if (rows.length < PAGE) return
    after = rows.at(-1)!.seq
  }
}
