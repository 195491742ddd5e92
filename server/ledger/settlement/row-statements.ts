// The statements that write requests to the ledger, with the rows of row-codec.ts as parameters.
import { sql } from 'kysely'
import type { RequestRow } from '../../store/schema.ts'
import { statement, type Query, type QueryBuilder, type SqlValue } from '../../store/statement.ts'
import {
  RESERVATION_CODEC,
  SETTLEMENT_COLUMNS,
  type ReservedRow,
  type SettledRow,
} from './row-codec.ts'

/**
 * Written as a literal, not bound: only then does a query use the partial indexes of open and of
 * ended requests.
 */
export const RESERVED_STATE = sql.lit('reserved' as const)

/** SQL texts by query builder and name: compiling a query costs more than running it. */
const sqlByName = new WeakMap<QueryBuilder, Map<string, string>>()

/** The text of a constant query; its parameters are in the order of the query made by `build`. */
export function cachedSql(
  db: QueryBuilder,
  name: string,
  build: (db: QueryBuilder) => Query<unknown>,
): string {
  let known = sqlByName.get(db)
  if (!known) sqlByName.set(db, (known = new Map()))
  let sql = known.get(name)
  if (sql === undefined) known.set(name, (sql = statement(build(db)).sql))
  return sql
}

/**
 * A row for a query in which each of some columns is a parameter; the values are bound when it
 * runs.
 */
const blank = <C extends string>(columns: readonly C[]) =>
  Object.fromEntries(columns.map((column) => [column, null])) as Record<C, never>

/** The row of a request in progress. */
const RESERVED_ROW = {
  ...blank([...RESERVATION_CODEC.common, ...RESERVATION_CODEC.own]),
  seq: 0,
  instance: '',
  boot: 0,
  state: RESERVED_STATE,
}
/** @returns the values in the order of the columns of `insertReserved` */
export const reservedValues = (
  { common, own }: ReservedRow,
  seq: number,
  instance: string,
  boot: number,
): SqlValue[] => [...common.values, ...own, seq, instance, boot]

/** Inserts a request in progress. Its parameters are `reservedValues`. */
export const insertReserved = (db: QueryBuilder): string =>
  cachedSql(db, 'enter', (db) => db.insertInto('requests').values(RESERVED_ROW))

/** Inserts a request that was admitted in an outage, unless it already exists. */
export const insertReservedOnce = (db: QueryBuilder): string =>
  cachedSql(db, 'enter once', (db) =>
    db
      .insertInto('requests')
      .values({ ...RESERVED_ROW, outage: sql.lit(1) })
      .onConflict((conflict) => conflict.column('id').doNothing()),
  )

/** Inserts a finished request. Its parameters are `settledInsertValues`. */
export const insertSettled = (db: QueryBuilder): string =>
  cachedSql(db, 'enter ended', (db) =>
    db.insertInto('requests').values({
      ...blank([...RESERVATION_CODEC.common, ...RESERVATION_CODEC.own]),
      ...blank([...SETTLEMENT_COLUMNS.common, ...SETTLEMENT_COLUMNS.own]),
      seq: 0,
      instance: '',
      boot: 0,
    }),
  )

/**
 * @returns the values in the order of the columns of `insertSettled`; the model, which is in both
 *   tables, comes first
 */
export function settledInsertValues(
  { common, own }: ReservedRow,
  ended: SettledRow,
  instance: string,
  boot: number,
): SqlValue[] {
  return [
    ended.common.row.model,
    ...common.values.slice(1),
    ...own,
    ...ended.common.values.slice(1, SETTLEMENT_COLUMNS.common.length),
    ...ended.own,
    instance,
    boot,
  ]
}

/**
 * Ends a request that is in the ledger, from a state. Its parameters are `settledUpdateValues`,
 * then its `seq`.
 */
export const updateSettled = (db: QueryBuilder, from: RequestRow['state']): string =>
  cachedSql(db, `end ${from}`, (db) =>
    db
      .updateTable('requests')
      .set(blank([...SETTLEMENT_COLUMNS.common, ...SETTLEMENT_COLUMNS.own]))
      .where('seq', '=', 0)
      .where('state', '=', sql.lit(from)),
  )
/** @returns the values in the order of the columns of `updateSettled`, then `seq` */
export const settledUpdateValues = ({ common, own }: SettledRow): SqlValue[] => [
  ...common.values.slice(0, SETTLEMENT_COLUMNS.common.length),
  ...own,
]
