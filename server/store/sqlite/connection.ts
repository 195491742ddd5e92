// One SQLite connection with its pragmas and its cache of prepared statements: the only file that
// knows node:sqlite.
import { DatabaseSync, constants, type Session, type StatementSync } from 'node:sqlite'
import type { Statement, StatementResult } from '../statement.ts'

/**
 * How long a writer waits for another process (a second server, or a command beside it), in
 * milliseconds.
 */
const BUSY_TIMEOUT = 10_000
/**
 * The longest single wait inside SQLite (milliseconds). A thread that waits there cannot be
 * stopped, so the process cannot exit.
 */
const BUSY_SLICE = 100
/**
 * Far more than the program's distinct statements; only a bug that builds SQL from values would
 * reach it.
 */
const CACHED_STATEMENTS = 1000

interface Prepared {
  statement: StatementSync
  gives: boolean
}

/** A synchronous connection, for one thread. */
export class Connection {
  readonly #db: DatabaseSync
  readonly #prepared = new Map<string, Prepared>()
  #session: Session | undefined

  /** @param mode `write` also switches the file to the write-ahead log, durable at every commit */
  constructor(path: string, mode: 'read' | 'write') {
    const timeout = mode === 'read' ? BUSY_TIMEOUT : BUSY_SLICE
    this.#db = new DatabaseSync(path, { readOnly: mode === 'read', timeout })
    if (mode === 'write') {
      untilFree(() => this.#db.exec('PRAGMA journal_mode = WAL'))
      this.#db.exec('PRAGMA synchronous = FULL')
    }
  }

  /** Runs one statement. */
  execute({ sql, parameters }: Statement): StatementResult {
    const { statement, gives } = this.#prepare(sql)
    if (gives) {
      const rows = statement.all(...parameters)
      return { rows, affected: rows.length }
    }
    return { rows: [], affected: Number(statement.run(...parameters).changes) }
  }

  /**
   * Runs one statement that has neither parameters nor rows; `BEGIN IMMEDIATE` waits for other
   * writers.
   */
  exec(sql: string): void {
    const { statement } = this.#prepare(sql)
    untilFree(() => statement.run())
  }

  /**
   * This connection's changes to all tables since the last call, as a changeset
   * (sqlite.org/sessionintro.html). Recording begins with the first call; call it between
   * transactions.
   */
  takeChanges(): Uint8Array {
    const changes = this.#session?.changeset() ?? new Uint8Array()
    this.#session?.close()
    this.#session = this.#db.createSession()
    return changes
  }

  /**
   * Applies changes, all or none. A row in an unexpected state is overwritten: applying changes in
   * order to a copy that already has some of them gives the same result. @returns whether they
   * applied
   */
  applyChanges(changes: Uint8Array): boolean {
    this.exec('PRAGMA foreign_keys = OFF')
    return this.#db.applyChangeset(changes, { onConflict: (kind) => ON_CONFLICT[kind] ?? ABORT })
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction
  }

  /**
   * A number that changes when another connection has committed
   * (sqlite.org/pragma.html#pragma_data_version).
   */
  version(): unknown {
    return this.#prepare('PRAGMA data_version').statement.get()?.['data_version']
  }

  close(): void {
    this.#session?.close()
    this.#prepared.clear()
    this.#db.close()
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql)
    if (!prepared) {
      const statement = this.#db.prepare(sql)
      prepared = { statement, gives: statement.columns().length > 0 }
      if (this.#prepared.size >= CACHED_STATEMENTS) this.#prepared.clear()
      this.#prepared.set(sql, prepared)
    }
    return prepared
  }
}

const ABORT = constants.SQLITE_CHANGESET_ABORT

/** TABLE of how to resolve a change that finds an unexpected row. */
const ON_CONFLICT: Readonly<Record<number, number>> = {
  [constants.SQLITE_CHANGESET_DATA]: constants.SQLITE_CHANGESET_REPLACE,
  [constants.SQLITE_CHANGESET_CONFLICT]: constants.SQLITE_CHANGESET_REPLACE,
  // The row has already been deleted.
  [constants.SQLITE_CHANGESET_NOTFOUND]: constants.SQLITE_CHANGESET_OMIT,
}

/**
 * Waits for other processes. SQLite itself does not wait when the switch to the write-ahead log
 * needs exclusive access, and otherwise waits for at most `BUSY_SLICE`.
 */
function untilFree(attempt: () => unknown): void {
  const until = performance.now() + BUSY_TIMEOUT
  for (;;) {
    try {
      attempt()
      return
    } catch (error) {
      if (
        !(error instanceof Error && /locked|busy/.test(error.message)) ||
        performance.now() > until
      )
        throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
}
