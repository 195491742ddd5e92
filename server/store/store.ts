// The store, as all code that reads and writes sees it: one file of SQLite, or PostgreSQL.
import type { Kysely } from 'kysely'
import type { DialectName } from './dialect.ts'
import type { Procedure } from './procedure.ts'
import type { ReportReader } from './report-queue.ts'
import type { Database } from './schema.ts'
import type { Changes } from './sqlite/messages.ts'
import type { Query, StatementResult } from './statement.ts'

/** An open store. One per process; dispose of it last. */
export interface Store extends AsyncDisposable, ReportReader {
  /** SQLite is for the processes of one machine, PostgreSQL for those of many. */
  readonly dialect: DialectName
  /**
   * Kysely. A select sees committed data; on SQLite it runs synchronously on this thread, so keep
   * it small. Any other query is a durable write of its own. There are no interactive transactions:
   * see `write` and `run`.
   */
  readonly db: Kysely<Database>
  /** As `read`, for a read that a request waits for: it does not wait behind reports. */
  readNow<A, R>(procedure: Procedure<A, R>, args: A): Promise<R>
  /** Starts what `readNow` needs, so that the first request does not wait for it. */
  warm(): void
  /** The same store, with `owner` as the owner of its reports. */
  readingFor(owner: string): Store
  /**
   * The same with a separate reader that reports do not delay, for lookups by key and pages of a
   * list.
   */
  lookingUpFor(owner: string): Store
  /**
   * Runs queries atomically, in order; resolves when they are durable. @throws StoreError, and
   * nothing is stored
   */
  write(...queries: Query<unknown>[]): Promise<StatementResult[]>
  /**
   * Runs a procedure atomically; resolves to its result when its writes are durable. @throws
   * StoreError, and nothing is stored
   */
  run<A, R>(procedure: Procedure<A, R>, args: A): Promise<R>
  /**
   * The time that all processes on this store agree on, in milliseconds since 1970: the database's
   * time if it may be on another machine.
   *
   * @param here this machine's clock, which is used on SQLite
   */
  time(here: number): Promise<number>
  /**
   * Calls back at most 200 ms after another process has written, not for this process's own writes.
   * On PostgreSQL it reports the tables that migrations `announce`, and nothing while the
   * connection is lost, so code that must not miss a change also polls. Returns a function that
   * unsubscribes.
   */
  onChange(listener: () => void): () => void
  /**
   * This process's writes since the last call: see `Changes`. Only on SQLite; recording begins with
   * the first call. @throws StoreError
   */
  takeChanges?(): Promise<Changes>
  /** Resolves when everything requested is durable. */
  close(): Promise<void>
}
