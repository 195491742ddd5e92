// SQL statements as plain data, because they are sent to the store's threads.
import type { CompiledQuery, Kysely } from 'kysely'
import type { Database } from './schema.ts'

/** A value that a column can have. */
export type SqlValue = string | number | bigint | null | Uint8Array

/** One SQL statement with its parameters. */
export interface Statement {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
}

/** The result of one statement. */
export interface StatementResult {
  readonly rows: readonly unknown[]
  /** Rows inserted, changed or deleted. */
  readonly affected: number
  /** How long the procedure has taken so far (milliseconds), if it runs in a reader thread. */
  readonly elapsed?: number
}

/** The result of the only statement that was run. */
export function onlyResult(results: readonly StatementResult[]): StatementResult {
  const [result] = results
  if (result === undefined) throw new Error('a statement returned no result')
  return result
}

/** Anything that Kysely can compile, such as a query builder that has not been executed. */
export interface Query<O> {
  compile(): CompiledQuery<O>
}

/** Compiles a query to a statement. */
export function statement(query: Query<unknown>): Statement {
  const { sql, parameters } = query.compile()
  return { sql, parameters: parameters as readonly SqlValue[] } // Kysely types them `unknown`; the schema's columns are all SqlValues
}

/** The changes to a row: queries leave out undefined fields. */
export type Partly<Row> = { readonly [Column in keyof Row]?: Row[Column] | undefined }

/** Builds the queries of a procedure; it compiles and cannot execute. */
export type QueryBuilder = Kysely<Database>
