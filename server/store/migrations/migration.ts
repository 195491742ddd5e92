// One step of the schema.
import type { SchemaModule } from 'kysely'
import type { Query } from '../statement.ts'
import type { MigrationName } from './names.ts'

/** One step of the schema. It runs once, in a transaction. */
export interface Migration {
  /** Number and subject; recorded in the store when it has run. */
  readonly name: MigrationName
  /**
   * SQL that only PostgreSQL runs, before the transaction, each statement on its own: slow work
   * without locks on tables. It may run again, if a process is killed meanwhile.
   */
  readonly prepare?: readonly string[]
  /** SQL that only PostgreSQL runs, before `up`. */
  readonly lock?: string
  /** The statements, built with what SQLite and PostgreSQL have in common. */
  readonly up: (schema: SchemaModule) => Query<unknown>[]
  /**
   * SQL that only PostgreSQL runs, after `up`: what several machines need and one file does not.
   */
  readonly postgres?: readonly string[]
}
