// Connects Kysely to our store: it compiles SQL for the database, and passes each query to its
// executor. The differences between SQLite and PostgreSQL are here, in two compilers; every query,
// procedure and migration is written once.
import {
  DataTypeNode,
  DummyDriver,
  ExpressionWrapper,
  FunctionNode,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  RawNode,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type ColumnDefinitionNode,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Expression,
  type OperationNode,
  type QueryResult,
  type SelectModifierNode,
  type SqlBool,
  sql,
} from 'kysely'
import type { Database } from './schema.ts'
import type { QueryBuilder, Statement, StatementResult } from './statement.ts'

/** The databases that the store supports. */
export type DialectName = 'sqlite' | 'postgres'

/** Executes queries. */
export interface Executor {
  read(statement: Statement): StatementResult | Promise<StatementResult>
  write(statement: Statement): Promise<StatementResult>
}

/**
 * A Kysely that executes through `executor`: selects are reads; any other query is a write of its
 * own.
 */
export function kyselyOn(executor: Executor, dialect: DialectName): Kysely<Database> {
  const connection: DatabaseConnection = {
    executeQuery: async <R>({ query, sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => {
      const statement = { sql, parameters: parameters as Statement['parameters'] }
      const { rows, affected } = await (SelectQueryNode.is(query)
        ? executor.read(statement)
        : executor.write(statement))
      return { rows: rows as R[], numAffectedRows: BigInt(affected) } // the query's own type says what its rows are
    },
    // oxlint-disable-next-line require-yield -- Kysely wants a generator; this one only throws
    async *streamQuery() {
      throw new Error('Rows are not streamed: read pages of them with limit and a cursor.')
    },
  }
  return new Kysely<Database>({ dialect: DIALECTS[dialect](new StoreDriver(connection)) })
}

/** A Kysely that only compiles: procedures and migrations build their statements on it. */
export function queryBuilder(dialect: DialectName): QueryBuilder {
  return new Kysely<Database>({ dialect: DIALECTS[dialect](new DummyDriver()) })
}

/** The name of a comparison along an index of hashes between Kysely and the two compilers. */
const HASHED_EQUAL = 'hashed_equal'

/**
 * Whether a column of `requests` has an id: the account, the key or the child key of a row. On
 * PostgreSQL its indexes have hashes in place of these ids (0102-hashed-ids), so the hash is
 * compared as well.
 *
 * @param column as SQL names it
 * @param id a value, or an expression such as a column of another table
 */
export function hasId(column: string, id: string | Expression<string>): Expression<SqlBool> {
  return hashedEqual([column, typeof id === 'string' ? sql.val(id) : id])
}

/**
 * Whether a row of `requests` is of an account and a model; as `hasId`, along an index of both. On
 * PostgreSQL this index has numbers in steps of 4,096, so those of the range are compared as well.
 */
export function hasModel(
  account: string,
  model: string,
  range: { from: number; before: number },
): Expression<SqlBool> {
  const isBoth = hashedEqual(['account_id', sql.val(account)], ['model', sql.val(model)])
  return sql<SqlBool>`(${isBoth} and seq >> 12 between ${stepOf(range.from)} and ${stepOf(range.before)})`
}

const stepOf = (seq: number): number => Math.floor(seq / 4_096)

/**
 * Whether a row of `requests` has an id. On PostgreSQL the index of newer partitions has only the
 * time of ids (0105-compact-indexes), so this is compared as well.
 *
 * @param id a value, or an expression such as a column of another table
 */
export function hasRequestId(id: string | Expression<string>): Expression<SqlBool> {
  const own = sql.ref('requests.id')
  return sql<SqlBool>`(substr(${own}, 5, 7) = substr(${id}, 5, 7) and ${own} = ${id})`
}

function hashedEqual(...pairs: [column: string, value: Expression<string>][]): Expression<SqlBool> {
  const sides = pairs.flatMap(([column, value]) => [sql.ref(column), value])
  return new ExpressionWrapper(
    FunctionNode.create(
      HASHED_EQUAL,
      sides.map((side) => side.toOperationNode()),
    ),
  )
}

/** The columns and values of a comparison along an index of hashes; null for any other function. */
function pairsOf({
  func,
  arguments: sides,
}: FunctionNode): [column: OperationNode, value: OperationNode][] | null {
  if (func !== HASHED_EQUAL) return null
  return sides.flatMap((side, at) => {
    const value = sides[at + 1]
    return at % 2 === 0 && value !== undefined ? [[side, value]] : []
  })
}

/** TABLE of dialects. */
const DIALECTS: Readonly<Record<DialectName, (driver: Driver) => Dialect>> = {
  sqlite: (driver) => ({
    createAdapter: () => new SharedAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteCompiler(),
  }),
  postgres: (driver) => ({
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresCompiler(),
  }),
}

class SqliteCompiler extends SqliteQueryCompiler {
  protected override visitFunction(node: FunctionNode): void {
    const pairs = pairsOf(node)
    if (pairs === null) return super.visitFunction(node)
    for (const [at, [column, value]] of pairs.entries()) {
      this.append(at === 0 ? '(' : ' and ')
      this.visitNode(column)
      this.append(' = ')
      this.visitNode(value)
    }
    this.append(')')
  }

  /**
   * SQLite has one writer at a time, so rows need no locks: `.forUpdate().skipLocked()` is for
   * PostgreSQL.
   */
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier === 'Distinct') super.visitSelectModifier(node)
  }
}

class PostgresCompiler extends PostgresQueryCompiler {
  /**
   * One hash has 64 bits; of two, each has 32, so that an entry of the index is as small. The id is
   * compared within `coalesce`, because PostgreSQL would take it for a second condition that few of
   * the rows with the hash meet: then it reads and sorts all of them where it could stop early.
   */
  protected override visitFunction(node: FunctionNode): void {
    const pairs = pairsOf(node)
    if (pairs === null) return super.visitFunction(node)
    const [call, end] = pairs.length === 1 ? ['hashtextextended(', ', 0)'] : ['hashtext(', ')']
    for (const [at, [column, value]] of pairs.entries()) {
      this.append(`${at === 0 ? '(' : ' and '}${call}`)
      this.visitNode(column)
      this.append(`${end} = ${call}`)
      this.visitNode(value)
      this.append(`${end} and coalesce(`)
      this.visitNode(column)
      this.append(' = ')
      this.visitNode(value)
      this.append(', false)')
    }
    this.append(')')
  }

  /**
   * Text is compared byte by byte, as SQLite does, whatever the database's locale, because ids sort
   * by time.
   */
  protected override visitColumnDefinition(node: ColumnDefinitionNode): void {
    const isText = DataTypeNode.is(node.dataType) && node.dataType.dataType === 'text'
    const dataType = isText
      ? RawNode.createWithSql('text collate "C"')
      : node.autoIncrement
        ? DataTypeNode.create('bigint')
        : node.dataType
    super.visitColumnDefinition({ ...node, dataType })
  }

  protected override getAutoIncrement(): string {
    return 'generated by default as identity'
  }
}

/** Kysely would pass queries to SQLite one at a time, so no two writes could share a group. */
class SharedAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

/** One connection for all queries: the store itself orders reads and writes. */
class StoreDriver extends DummyDriver {
  readonly #connection: DatabaseConnection

  constructor(connection: DatabaseConnection) {
    super()
    this.#connection = connection
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }

  /** A transaction held open by a caller would block every other write of the server. */
  override async beginTransaction(): Promise<void> {
    throw new Error(
      'Write several statements with store.write(), or check and write with a procedure: there are no open transactions.',
    )
  }
}
