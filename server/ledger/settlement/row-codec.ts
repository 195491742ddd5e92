// Encodes the columns of the ledger that are written, as rows and as statements.
import { sql } from 'kysely'
import type { RequestRow, UpstreamErrorRow } from '../../store/schema.ts'
import { statement, type Query, type QueryBuilder, type SqlValue } from '../../store/statement.ts'
import {
  encodeRows,
  toJson,
  decodeRows,
  fromJson,
  type Columns,
  type Common,
  type EncodedRows,
  type RowCodec,
  type Json,
} from './dictionary.ts'

/**
 * TABLE of the columns of an admission. A killed process leaves a journal in this order for the
 * next version, so a new column goes to the end of `common`: rows that lack it are read with null.
 */
export const ADMISSION_COLUMNS = {
  common: [
    'model',
    'account_id',
    'key_id',
    'rpm',
    'provider',
    'endpoint',
    'method',
    'created_at',
    'mono',
    'child_id',
    'child_rpm',
    'end_user',
  ],
  own: ['id', 'context'],
} as const satisfies Columns<RequestRow>

/**
 * TABLE of the columns of a settlement; it has the model again, because that may only be known
 * later.
 */
export const SETTLEMENT_COLUMNS = {
  common: ['model', 'state', 'status', 'error', 'credential_id'],
  own: [
    'first_byte_ms',
    'total_ms',
    'bytes_in',
    'bytes_out',
    'tokens_in',
    'tokens_out',
    'tokens_cached',
    'tokens_reasoning',
    'upstream_request_id',
  ],
} as const satisfies Columns<RequestRow>

/** The columns that, with the model, select a row's roll-up. */
export const ROLL_UP_KEY = [
  'account_id',
  'key_id',
  'provider',
  'created_at',
] as const satisfies (keyof RequestRow)[]

type ColumnOf<C extends Columns<RequestRow>> = C['common' | 'own'][number]

/** A request about to be admitted. */
export type Reservation = Pick<RequestRow, ColumnOf<typeof ADMISSION_COLUMNS>>

/** A request that has ended. */
export type Settlement = Pick<
  RequestRow,
  ColumnOf<typeof SETTLEMENT_COLUMNS> | (typeof ROLL_UP_KEY)[number] | 'seq'
> & {
  state: 'settled' | 'aborted'
  /** The upstream's error text, if it answered with an error. */
  failure?: UpstreamErrorRow | null
}

/** The form of reservations sent to the writer. */
export const RESERVATION_CODEC = {
  ...ADMISSION_COLUMNS,
  values: (row) => [
    row.model,
    row.account_id,
    row.key_id,
    row.rpm,
    row.provider,
    row.endpoint,
    row.method,
    row.created_at,
    row.mono,
    row.child_id,
    row.child_rpm,
    row.end_user,
    row.id,
    row.context,
  ],
} as const satisfies RowCodec<Reservation>

/** The form of settlements sent to the writer. */
export const SETTLEMENT_CODEC = {
  common: [...SETTLEMENT_COLUMNS.common, ...ROLL_UP_KEY],
  own: [...SETTLEMENT_COLUMNS.own, 'seq'],
  values: (row) => [
    row.model,
    row.state,
    row.status,
    row.error,
    row.credential_id,
    row.account_id,
    row.key_id,
    row.provider,
    row.created_at,
    row.first_byte_ms,
    row.total_ms,
    row.bytes_in,
    row.bytes_out,
    row.tokens_in,
    row.tokens_out,
    row.tokens_cached,
    row.tokens_reasoning,
    row.upstream_request_id,
    row.seq,
  ],
} as const satisfies RowCodec<Settlement>

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
