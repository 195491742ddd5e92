// The ledger of a process: lets requests through, which are in it, durably, before anybody hears of that, and completes them when they are over.
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/open.ts'
import { openLocalAdmissions } from './local.ts'
import { openRefusals } from './refusals.ts'
import { abandon, settle, settlements } from './rows.ts'
import type { Reservation, Settlement } from './rows.ts'

export type { Settlement } from './rows.ts'

/** What a request says of itself when it asks to be let through. */
export type Asking = Omit<Reservation, 'created_at' | 'mono'>

export type Admission =
  /** `seq` is its place in the ledger, `created_at` the ledger's time of it. */
  | { admitted: true; seq: number; created_at: number }
  /** `wait`: whole milliseconds until the next one can pass. */
  | { admitted: false; wait: number }

export interface Ledger extends AsyncDisposable {
  /** Resolves when the reservation is durable, or the request is refused. @throws StoreError */
  admit(asking: Asking): Promise<Admission>
  /** Completes a row, soon. */
  settle(settlement: Settlement): void
  /** Ends when everything settled so far is durable. */
  close(): Promise<void>
}

/** How often it is looked for requests that dead processes left under way. */
const ABANDON_MS = 10_000
/** Settlements wait so long for company: many rows of one moment share pages, and one row of the roll-ups. */
const SETTLE_MS = 50
/** Settlements that are kept while the store cannot be written. */
const MOST_UNSETTLED = 100_000
/** Settlements of one unit at most. */
const AT_ONCE = 2_000

/** A request that waits for its verdict. */
export type Asked = { asking: Asking; resolve(admission: Admission): void; reject(error: unknown): void }

/** The windows of all keys, and what is admitted under them. */
export interface Admissions {
  ask(asked: Asked): void
  /** Ends when everything that was asked has its answer. */
  close(): Promise<void>
}

/**
 * Opens the ledger of this process, and writes off what dead processes left under way.
 *
 * @param instance id of this process among the instances of the store
 */
export async function openLedger(store: Store, instance: string, clock: Clock, log: Log): Promise<Ledger> {
  let unsettled: Settlement[] = []
  let settleTimer: NodeJS.Timeout | null = null
  let closed = false
  const admissions = await openAdmissions()
  const refusals = openRefusals(store, () => clock.now(), complain)
  await writeOff()
  const timer = setInterval(() => void writeOff().catch(complain), ABANDON_MS).unref()

  async function openAdmissions(): Promise<Admissions> {
    if (store.dialect === 'sqlite') return openLocalAdmissions(store, instance, clock)
    const { openSharedAdmissions } = await import('./shared.ts')
    return openSharedAdmissions(store, instance, clock, complain)
  }

  function complain(error: unknown): void {
    if (!closed) log.error('The ledger cannot be written.', error)
  }

  async function writeOff(): Promise<void> {
    const count = await store.run(abandon, null)
    if (count > 0) log.warn('A process ended with requests under way; how they ended is unknown.', { requests: count })
  }

  async function complete(rows: Settlement[]): Promise<void> {
    if (store.dialect === 'sqlite') await store.run(settle, settlements(rows))
    else await (await import('./shared-settle.ts')).settleShared(store, rows)
  }

  async function flushSettlements(): Promise<void> {
    if (settleTimer !== null) clearTimeout(settleTimer)
    settleTimer = null
    if (unsettled.length === 0) return
    const rows = unsettled.splice(0, AT_ONCE)
    try {
      const done = complete(rows)
      if (unsettled.length > 0) await Promise.all([done, flushSettlements()])
      else await done
    } catch (error) {
      complain(error)
      unsettled = [...rows, ...unsettled].slice(-MOST_UNSETTLED)
      if (!closed) settleTimer ??= setTimeout(() => void flushSettlements(), 1_000)
    }
  }

  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    clearInterval(timer)
    await Promise.all([admissions.close(), flushSettlements(), refusals.flush()])
  }

  return {
    admit: (asking) =>
      new Promise((resolve, reject) => {
        const answer = (admission: Admission): void => {
          if (!admission.admitted) refusals.note(asking)
          resolve(admission)
        }
        admissions.ask({ asking, resolve: asking.rpm === null ? resolve : answer, reject })
      }),
    settle(settlement) {
      unsettled.push(settlement)
      settleTimer ??= setTimeout(() => void flushSettlements(), SETTLE_MS)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
