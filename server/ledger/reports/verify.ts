// Proves from the ledger alone that no key or child key ever exceeded its limit.
import type { Store } from '../../store/open.ts'
import { flushJournal } from '../settlement/journal.ts'
import { WINDOW_MS } from '../admission/sliding-window.ts'

/** A minute in which a key, or a child of it with a limit of its own, exceeded its limit. */
export type Violation = {
  key_id: string
  child_id: string | null
  rpm: number
  count: number
  at: number
}

/**
 * The result of a proof. `requests` counts all rows, `limited` those under a limit, `outage` those
 * admitted while the store did not answer. Windows count all of them.
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

/** Most children of a key that are remembered; then those without a recent request are dropped. */
const MAX_CHILDREN = 10_000

async function verifyKey(store: Store, key: string, proof: Proof): Promise<void> {
  const own = new CheckedWindow()
  const children = new Map<string, CheckedWindow>()
  let after = 0
  for (;;) {
    const rows = await store.reports
      .selectFrom('requests')
      .select(['seq', 'mono', 'boot', 'rpm', 'created_at', 'outage', 'child_id', 'child_rpm'])
      .where('key_id', '=', key)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(PAGE)
      .execute()
    for (const { mono, rpm, created_at, boot, outage, child_id, child_rpm } of rows) {
      proof.requests++
      if (outage === 1) proof.outage++
      if (rpm !== null || child_rpm !== null) proof.limited++
      const check = (window: CheckedWindow, limit: number | null, child: string | null): void => {
        const count = window.add(mono, boot, limit !== null)
        if (limit !== null && count > limit)
          proof.violations.push({
            key_id: key,
            child_id: child,
            rpm: limit,
            count,
            at: created_at,
          })
      }
      check(own, rpm, null)
      if (child_id === null || child_rpm === null) continue
      let child = children.get(child_id)
      if (child === undefined) {
        if (children.size >= MAX_CHILDREN)
          for (const [id, one] of children) if (one.isOver(mono, boot)) children.delete(id)
        children.set(child_id, (child = new CheckedWindow()))
      }
      check(child, child_rpm, child_id)
    }
    if (rows.length < PAGE) return
    after = rows.at(-1)?.seq ?? after
  }
}

const WINDOW_US = WINDOW_MS * 1000

/** The last minutes of one key or child, as they are read back. Times in microseconds. */
class CheckedWindow {
  #boot = 0
  /**
   * The last minute's admissions by that boot's clock, oldest first. Several processes write nearly
   * in order, not quite.
   */
  #stamps: number[] = []

  /** Adds an admission. @returns the most in any minute that holds it, where that `matters`; else 0 */
  add(mono: number, boot: number, matters: boolean): number {
    if (boot !== this.#boot) {
      this.#boot = boot
      this.#stamps = []
    }
    let at = this.#stamps.length
    while (at > 0 && (this.#stamps[at - 1] ?? 0) > mono) at--
    this.#stamps.splice(at, 0, mono)
    // Two windows are kept, because a row may come slightly late; older rows cannot share a minute
    // with later ones.
    if (this.#stamps.length % 1024 === 0) {
      this.#stamps = this.#stamps.filter((stamp) => stamp > mono - 2 * WINDOW_US)
      at = this.#stamps.indexOf(mono)
    }
    return matters ? this.#mostAround(mono, at) : 0
  }

  /** Whether no later row can share a minute with its rows. */
  isOver(mono: number, boot: number): boolean {
    return boot !== this.#boot || (this.#stamps.at(-1) ?? 0) < mono - 2 * WINDOW_US
  }

  /** A row that comes a little late lies in the minutes of those behind it as well. */
  #mostAround(mono: number, at: number): number {
    const stamps = this.#stamps
    let most = 0
    let first = at
    while (first > 0 && mono - (stamps[first - 1] ?? 0) < WINDOW_US) first--
    for (let last = at; last < stamps.length && (stamps[last] ?? 0) - mono < WINDOW_US; last++) {
      while ((stamps[last] ?? 0) - (stamps[first] ?? 0) >= WINDOW_US) first++
      most = Math.max(most, last - first + 1)
    }
    return most
  }
}
