// Kysely on our store: it compiles SQL for SQLite, and hands each query to whoever executes it.
import { DummyDriver, Kysely, SelectQueryNode, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely'
import type { Database } from './schema.ts'
import type { QueryBuilder, Statement, StatementResult } from './statement.ts'

/** Where queries go. */
export interface Executor {
  read(statement: Statement): StatementResult | Promise<StatementResult>
  write(statement: Statement): Promise<StatementResult>
}

/** A Kysely that executes through `executor`: selects are reads, everything else is a write of its own. */
export function kyselyOn(executor: Executor): Kysely<Database> {
  const connection: DatabaseConnection = {
    executeQuery: async <R>({ query, sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => {
      const statement = { sql, parameters: parameters as Statement['parameters'] }
      const { rows, affected } = await (SelectQueryNode.is(query) ? executor.read(statement) : executor.write(statement))
      return { rows: rows as R[], numAffectedRows: BigInt(affected) } // the query's own type says what its rows are
    },
    // oxlint-disable-next-line require-yield
    async *streamQuery() {
      throw new Error('Rows are not streamed: read pages of them with limit and a cursor.')
    },
  }
  return new Kysely<Database>({ dialect: sqlite(new StoreDriver(connection)) })
}

/** A Kysely that only compiles: procedures and migrations build their statements on it. */
export function queryBuilder(): QueryBuilder {
  return new Kysely<Database>({ dialect: sqlite(new DummyDriver()) })
}

function sqlite(driver: Driver): Dialect {
  return {
    createAdapter: () => new SharedAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** Kysely would let one query at a time into SQLite, and so no two writes into one group. */
class SharedAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

/** One connection for everybody: the store itself puts reads and writes in order. */
class StoreDriver extends DummyDriver {
  readonly #connection: DatabaseConnection

  constructor(connection: DatabaseConnection) {
    super()
    this.#connection = connection
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }

  /** A transaction held open by a caller would hold up every other write of the server. */
  override async beginTransaction(): Promise<void> {
    throw new Error('Write several statements with store.write(), or check and write with a procedure: there are no open transactions.')
  }
}
