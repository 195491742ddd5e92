// Requests that were rejected because the store's response was lost. The store may still have
// committed their rows, which would stay `reserved` as long as this process lives, and delay the
// roll-ups of their hour.
import type { Clock } from '../../common/clock.ts'
import type { Store } from '../../store/store.ts'
import { type Settlement } from '../settlement/row-codec.ts'
import { RESERVED_STATE } from '../settlement/row-statements.ts'
import type { TrackedAdmission } from './tracked-admission.ts'

/** Longer than the database works on a call whose client is gone (milliseconds). */
const SEARCHED_AFTER_MS = 30_000
/** Rows looked up in one statement. */
const MAX_BATCH = 500

/** Finds and settles the rows of requests whose response was lost. One per process. */
export class LostResponses {
  readonly #store: Store
  readonly #clock: Clock
  readonly #settle: (settlement: Settlement) => void
  /** In the order of `since`, monotonic milliseconds. */
  #waiting: { one: TrackedAdmission; since: number }[] = []
  #isSearching = false

  constructor(store: Store, clock: Clock, settle: (settlement: Settlement) => void) {
    this.#store = store
    this.#clock = clock
    this.#settle = settle
  }

  /** The store's response about this request was lost. */
  add(one: TrackedAdmission): void {
    this.#waiting.push({ one, since: this.#clock.mono() })
  }

  /** Settles the stored rows of requests that were not admitted. @throws StoreError */
  async settleFound(): Promise<void> {
    if (this.#isSearching) return
    this.#isSearching = true
    try {
      for (let due = this.#due(); due.length > 0; due = this.#due()) {
        await this.#settleSome(due)
        this.#waiting.splice(0, due.length)
      }
    } finally {
      this.#isSearching = false
    }
  }

  #due(): TrackedAdmission[] {
    const before = this.#clock.mono() - SEARCHED_AFTER_MS
    const some = this.#waiting.slice(0, MAX_BATCH)
    return some.filter(({ since }) => since <= before).map(({ one }) => one)
  }

  async #settleSome(due: readonly TrackedAdmission[]): Promise<void> {
    // Requests that were admitted without the store settle their own rows.
    const unsent = new Map(
      due.filter(({ isAdmittedHere }) => !isAdmittedHere).map((one) => [one.request.id, one]),
    )
    if (unsent.size === 0) return
    const rows = await this.#store.db
      .selectFrom('requests')
      .select(['id', 'seq', 'created_at'])
      .where('id', 'in', [...unsent.keys()])
      .where('state', '=', RESERVED_STATE)
      .execute()
    for (const { id, ...row } of rows) {
      const one = unsent.get(id)
      if (one !== undefined) this.#settle(one.unsent(row))
    }
  }
}
