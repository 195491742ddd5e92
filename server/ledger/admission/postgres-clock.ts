// The ledger's time on PostgreSQL: the database's clock plus a correction, which a process adjusts
// when that clock has been set.
import { sql } from 'kysely'
import type { Clock } from '../../common/clock.ts'
import type { Store } from '../../store/store.ts'
import { StoreError } from '../../store/store-error.ts'
import { DatabaseClock, TOLERANCE_MS } from './database-clock.ts'

/** This process's estimate of the ledger's time. All times in milliseconds. */
export class LedgerTime {
  readonly #store: Store
  readonly #clock: Clock
  readonly #known = new DatabaseClock()
  /** Version of the correction; each correction changes it. */
  #version = 0

  private constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /**
   * Compares the clocks for the first time. If the newest stamps are ahead of the ledger's time,
   * the database's clock was set back while no process was running. @throws StoreError
   */
  static async open(store: Store, clock: Clock): Promise<LedgerTime> {
    const time = new LedgerTime(store, clock)
    await sql`
    update ledger_clock set correction = correction + ahead, version = version + 1
    from (select max(mono) - tollmark_ledger_time() as ahead from (select mono from requests order by seq desc limit 1000) as newest) as found
    where one and ahead > ${TOLERANCE_MS * 1000}`.execute(store.db)
    await time.compare()
    return time
  }

  /**
   * Compares the ledger's time with ours, and corrects it if the database's clock was set. @throws
   * StoreError
   */
  async compare(): Promise<void> {
    for (;;) {
      const sent = this.#clock.mono()
      const { present, version } = await this.#read()
      const received = this.#clock.mono()
      if (this.#known.observe(sent, received, present)) {
        this.#version = version
        return
      }
      if (version !== this.#version) {
        // Another process has corrected it; that correction applies.
        this.#version = version
        this.#known.restart(sent, received, present)
        return
      }
      const step = Math.round((this.#at((sent + received) / 2) - present) * 1000)
      await sql`update ledger_clock set correction = correction + ${step}, version = version + 1 where one and version = ${version}`.execute(
        this.#store.db,
      )
    }
  }

  /**
   * Adds a reading of the ledger's time and the version of its correction. Without the version, a
   * process could mistake the next step of the database's clock for another process's correction.
   */
  observe(
    sent: number,
    received: number,
    { present, version }: { readonly present: number; readonly version: number },
  ): void {
    if (this.#known.observe(sent, received, present)) this.#version = version
  }

  /** The earliest and latest possible ledger time at a moment of our clock. */
  bounds(here: number): [earliest: number, latest: number] {
    return this.#known.at(here)
  }

  /** The estimated ledger time minus ours. */
  offset(): number {
    const now = this.#clock.mono()
    return this.#at(now) - now
  }

  /** The most likely ledger time at a moment of our clock. */
  #at(here: number): number {
    const [earliest, latest] = this.#known.at(here)
    return (earliest + latest) / 2
  }

  async #read(): Promise<{ present: number; version: number }> {
    const { rows } = await sql<{
      present: number
      version: number
    }>`select tollmark_ledger_time() as present, version from ledger_clock where one`.execute(
      this.#store.db,
    )
    const [now] = rows
    if (!now) throw new StoreError('failed', 'the ledger has no clock')
    return { present: now.present / 1000, version: now.version }
  }
}
