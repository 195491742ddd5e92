// Encodes the columns of the ledger that are written, as rows and as statements.
import { sql } from 'kysely'
import { columnsWhere, type ColumnsWith } from '../../common/ledger-columns.ts'
import type { RequestRow, UpstreamErrorRow } from '../../store/schema.ts'
import { statement, type Query, type QueryBuilder, type SqlValue } from '../../store/statement.ts'
import {
  encodeRows,
  toJson,
  decodeRows,
  fromJson,
  rowCodec,
  type Common,
  type EncodedRows,
  type Json,
} from './dictionary.ts'

type AdmissionColumn<Group extends string = string> = ColumnsWith<{ admission: Group }>
type SettlementColumn<Group extends string = string> = ColumnsWith<{ settlement: Group }>

/** The columns of an admission, in the order of the journal: see `LEDGER_COLUMNS`. */
export const ADMISSION_COLUMNS = {
  common: columnsWhere<AdmissionColumn<'common'>>(({ admission }) => admission === 'common'),
  own: columnsWhere<AdmissionColumn<'own'>>(({ admission }) => admission === 'own'),
}

/** The columns of a settlement; it has the model again, because that may only be known later. */
export const SETTLEMENT_COLUMNS = {
  common: columnsWhere<SettlementColumn<'common'>>(({ settlement }) => settlement === 'common'),
  own: columnsWhere<SettlementColumn<'own'>>(({ settlement }) => settlement === 'own'),
}

/** The columns that, with the model, select a row's roll-up. */
export const ROLL_UP_KEY = [
  'account_id',
  'key_id',
  'provider',
  'created_at',
] as const satisfies (keyof RequestRow)[]

/** A request about to be admitted. */
export type Reservation = Pick<RequestRow, AdmissionColumn>

/** A request that has ended. */
export type Settlement = Pick<
  RequestRow,
  SettlementColumn | (typeof ROLL_UP_KEY)[number] | 'seq'
> & {
  state: 'settled' | 'aborted'
  /** The upstream's error text, if it answered with an error. */
  failure?: UpstreamErrorRow | null
}

/** The form of reservations sent to the writer. */
export const RESERVATION_CODEC = rowCodec<
  Reservation,
  AdmissionColumn<'common'>,
  AdmissionColumn<'own'>
>(ADMISSION_COLUMNS.common, ADMISSION_COLUMNS.own)

type RollUpKey = (typeof ROLL_UP_KEY)[number]

/** The form of settlements sent to the writer. */
export const SETTLEMENT_CODEC = rowCodec<
  Settlement,
  SettlementColumn<'common'> | RollUpKey,
  SettlementColumn<'own'> | 'seq'
>([...SETTLEMENT_COLUMNS.common, ...ROLL_UP_KEY], [...SETTLEMENT_COLUMNS.own, 'seq'])

/**
 * Written as a literal, not bound: only then does a query use the partial indexes of open and of
 * ended requests.
 */
export const RESERVED_STATE = sql.lit('reserved' as const)

/** Encodes rows for the writer. */
export const encodeReservations = (rows: readonly Reservation[]): Json<EncodedRows> =>
  toJson(encodeRows<Reservation>(RESERVATION_CODEC, rows))
/** Settlements in the form that the writer expects. */
export const encodeSettlements = (rows: readonly Settlement[]): Json<EncodedRows> =>
  toJson(encodeRows<Settlement>(SETTLEMENT_CODEC, rows))

const NONE: readonly UpstreamErrorRow[] = []

/** The upstream errors among the rows. */
export function upstreamErrorsOf(rows: readonly Settlement[]): readonly UpstreamErrorRow[] {
  let found: UpstreamErrorRow[] | null = null
  for (const { failure } of rows) if (failure) (found ??= []).push(failure)
  return found ?? NONE
}

/** A reservation as decoded by the writer. */
export type ReservedRow = {
  common: Common<Pick<Reservation, (typeof RESERVATION_CODEC.common)[number]>>
  own: SqlValue[]
}
/** A settlement as decoded by the writer. */
export type SettledRow = {
  common: Common<Pick<Settlement, (typeof SETTLEMENT_CODEC.common)[number]>>
  own: SqlValue[]
}
/** Decodes the reservations written by `encodeReservations`. */
export const decodeReservations = (packed: Json<EncodedRows>): ReservedRow[] =>
  decodeRows(RESERVATION_CODEC, fromJson(packed))
/** Decodes the settlements written by `encodeSettlements`. */
export const decodeSettlements = (packed: Json<EncodedRows>): SettledRow[] =>
  decodeRows(SETTLEMENT_CODEC, fromJson(packed))
/** `seq` of the row that a settlement completes. */
export const seqOf = ({ own }: SettledRow): number => Number(own.at(-1))

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
