// A procedure checks and writes in one atomic transaction, inside the writer, and shares a group
// commit with others. It is a generator that yields statements and receives their results. So the
// same procedure runs without a pause on SQLite, in the writer's thread, and with one round trip
// per statement on PostgreSQL.
import {
  statement,
  type Query,
  type QueryBuilder,
  type Statement,
  type StatementResult,
} from './statement.ts'

/** The body of a procedure, or a part of it. */
export type Steps<R> = Generator<Statement, R, StatementResult>

/** A named procedure. `args` and the result are copied between threads: plain data only. */
export interface Procedure<A, R> {
  /**
   * Its location for the writer's thread: `import.meta.url` of the exporting file, `#`, and its
   * name.
   */
  readonly address: string
  readonly body: (db: QueryBuilder, args: A) => Steps<R>
  readonly lock?: Lock<A> | undefined
}

/**
 * How concurrent calls of a procedure are isolated on PostgreSQL; SQLite runs one procedure at a
 * time anyway.
 *
 * By default, the transaction is serializable: correct for any body, and retried if it conflicts
 * with another. That is slow if many calls compete for the same rows. A function returns the name
 * of a lock for the call; all procedures that decide on those rows must then take it. `rows` is for
 * a body that locks its rows itself: `.forUpdate()`, `.skipLocked()`.
 */
export type Lock<A> = 'rows' | ((args: A) => string)

/**
 * Declares a procedure. Export it under the same name. The body must not use the clock, randomness
 * or other outside state: pass such values in `args`. If it throws, all its writes are rolled back,
 * and only its own caller gets the error, as a `StoreError`.
 *
 * @example export const take = procedure(import.meta.url, 'take', function* (db, { id, most }: {
 *   id: string; most: number }) {
 *   const row = yield* first(db.selectFrom('counters').select('used').where('id', '=', id))
 *   if ((row?.used ?? 0) >= most) return false
 *   yield* run(db.updateTable('counters').set((e) => ({ used: e('used', '+', 1) })).where('id',
 *   '=', id))
 *   return true })
 */
export function procedure<A, R>(
  module: string,
  name: string,
  body: (db: QueryBuilder, args: A) => Steps<R>,
  lock?: Lock<A>,
): Procedure<A, R> {
  return { address: `${module}#${name}`, body, lock }
}

/** The rows of a query. */
export function* all<O>(query: Query<O>): Steps<O[]> {
  const { rows } = yield statement(query)
  return rows as O[] // the query's own type says what its rows are
}

/** The first row of a query, or undefined. */
export function* first<O>(query: Query<O>): Steps<O | undefined> {
  const rows = yield* all(query)
  return rows[0]
}

/** Lets other transactions run: the cheapest possible statement. */
export function* pause(): Steps<void> {
  yield { sql: 'select 1', parameters: [] }
}

/** How long a procedure of a reader thread has taken so far (milliseconds); elsewhere 0. */
export function* elapsed(): Steps<number> {
  const { elapsed = 0 } = yield { sql: 'select 1', parameters: [] }
  return elapsed
}

/** Runs a query; returns how many rows it inserted, changed or deleted. */
export function* run(query: Query<unknown>): Steps<number> {
  const { affected } = yield statement(query)
  return affected
}
