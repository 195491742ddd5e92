// Schedules reports. Reads of many rows run on a separate thread. Each owner (an account) has a
// share of it, and waiting reports take turns by owner. So an owner with a hundred long reports
// delays only itself.
import type { Kysely } from 'kysely'
import { kyselyOn, type DialectName } from './dialect.ts'
import { StoreError } from './store-error.ts'
import type { Procedure } from './procedure.ts'
import type { ReadingThread } from './sqlite/reader-client.ts'
import type { Database } from './schema.ts'
import { onlyResult, type Statement, type StatementResult } from './statement.ts'
import type { Work } from './sqlite/messages.ts'

/** Maximum number of waiting reports of one owner. */
const WAITING_OF_OWNER = 100

/**
 * The limits of a kind of reads: concurrent tasks in total and per owner, and how long each may
 * wait and run (milliseconds).
 */
interface Shares {
  all: number
  ofOwner: number
  longest: number
  /**
   * The error if a read takes longer: it was too large or, for a kind that is never large, the
   * store does not respond.
   */
  late: 'slow' | 'unavailable'
}

/**
 * TABLE of kinds: reports; lookups and pages, which reports do not delay; and reads that the proxy
 * waits for, which are short unless a window is large.
 */
export const SHARES = {
  reports: { all: 8, ofOwner: 1, longest: 10_000, late: 'slow' },
  lookups: { all: 32, ofOwner: 1, longest: 10_000, late: 'unavailable' },
  urgent: { all: Infinity, ofOwner: Infinity, longest: 600_000, late: 'slow' },
} as const satisfies Record<string, Shares>

type Waiting = { start(): void; refuse(error: StoreError): void }

/** A queue of reads, fair by owner. One for each kind (SHARES). */
export interface Reading {
  /** Runs work when it is its owner's turn. @throws StoreError also `crowded` and `slow` */
  send(owner: string, work: Work): Promise<unknown>
  /** Rejects waiting tasks. */
  close(): void
}

/**
 * Opens a queue for reads of a store.
 *
 * @param thread several queues may share it; its opener closes it after them
 * @param shares the limits of its kind, a row of SHARES
 */
export function openReading(thread: Pick<ReadingThread, 'send'>, shares: Shares): Reading {
  return new ReportQueue(thread, shares)
}

class ReportQueue implements Reading {
  readonly #thread: Pick<ReadingThread, 'send'>
  readonly #shares: Shares
  #closed = false
  #running = 0
  readonly #runningOf = new Map<string, number>()
  /** Waiting tasks by owner; the next owner is first. */
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(thread: Pick<ReadingThread, 'send'>, shares: Shares) {
    this.#thread = thread
    this.#shares = shares
  }

  send(owner: string, work: Work): Promise<unknown> {
    if (this.#closed) return Promise.reject(new StoreError('closed', 'the database is closed'))
    const line = this.#waiting.get(owner) ?? []
    if (line.length >= WAITING_OF_OWNER)
      return Promise.reject(new StoreError('crowded', `${owner} has too many reports waiting`))
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const late = setTimeout(() => {
      this.#leave(owner, line, one)
      reject(new StoreError(this.#shares.late, 'the report did not start in time'))
    }, this.#shares.longest)
    const one: Waiting = {
      start: () => {
        clearTimeout(late)
        this.#count(owner, 1)
        this.#run(owner, work).then(resolve, reject)
      },
      refuse: (error) => {
        clearTimeout(late)
        reject(error)
      },
    }
    line.push(one)
    this.#waiting.set(owner, line)
    this.#startNext()
    return promise
  }

  close(): void {
    this.#closed = true
    for (const { refuse } of [...this.#waiting.values()].flat())
      refuse(new StoreError('closed', 'the database is closed'))
    this.#waiting.clear()
  }

  #leave(owner: string, line: Waiting[], one: Waiting): void {
    const at = line.indexOf(one)
    if (at >= 0) line.splice(at, 1)
    if (line.length === 0 && this.#waiting.get(owner) === line) this.#waiting.delete(owner)
  }

  #startNext(): void {
    for (const [owner, line] of this.#waiting) {
      if (this.#running >= this.#shares.all) return
      if ((this.#runningOf.get(owner) ?? 0) >= this.#shares.ofOwner) continue
      const one = line.shift()
      // Moves the owner to the end of the queue.
      this.#waiting.delete(owner)
      if (line.length > 0) this.#waiting.set(owner, line)
      one?.start()
    }
  }

  #count(owner: string, by: 1 | -1): void {
    this.#running += by
    const own = (this.#runningOf.get(owner) ?? 0) + by
    if (own === 0) this.#runningOf.delete(owner)
    else this.#runningOf.set(owner, own)
  }

  async #run(owner: string, work: Work): Promise<unknown> {
    try {
      return await this.#thread.send(work, this.#shares.longest)
    } catch (error) {
      throw error instanceof StoreError && error.code === 'slow'
        ? new StoreError(this.#shares.late, error.message)
        : error
    } finally {
      this.#count(owner, -1)
      this.#startNext()
    }
  }
}

/** The owner of the server's own reports. */
export const NOBODY = ''

/** Reads in a thread of their own. */
export interface ReportReader {
  /**
   * A Kysely whose selects run there, for reports that read many rows. Writes work as in the
   * store's `db`. @throws StoreError also `slow`, `crowded`
   */
  readonly reports: Kysely<Database>
  /**
   * Runs a procedure that only reads, each statement on its own. Typed arrays in its result are
   * transferred, not copied. @throws StoreError also `slow`, `crowded`
   */
  read<A, R>(procedure: Procedure<A, R>, args: A): Promise<R>
}

/** The parts of a store that read reports, on behalf of one owner. */
export function reportsOf(
  reading: Reading,
  owner: string,
  write: (one: Statement) => Promise<StatementResult>,
  dialect: DialectName,
): ReportReader {
  const read = async (one: Statement): Promise<StatementResult> =>
    onlyResult((await reading.send(owner, { statements: [one] })) as StatementResult[])
  return {
    reports: kyselyOn({ read, write }, dialect),
    read: async <A, R>({ address }: Procedure<A, R>, args: A) =>
      (await reading.send(owner, { procedure: address, args })) as R,
  }
}
