// The columns of the ledger that are written, and their encoding for the writer thread: values that
// neighbouring rows share (key, provider, model, millisecond) are sent once. Serialising, copying
// and parsing a whole row costs about as much as SQLite takes to write it.
import { columnsWhere, type ColumnsWith } from '../../common/ledger-columns.ts'
import type { RequestRow, UpstreamErrorRow } from '../../store/schema.ts'
import type { SqlValue } from '../../store/statement.ts'

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

/** The columns of a row to send: those that neighbours mostly share, and each row's own. */
interface Columns<Row> {
  readonly common: readonly (keyof Row)[]
  readonly own: readonly (keyof Row)[]
}

/** Columns, and a function that reads them. */
interface RowCodec<Row> extends Columns<Row> {
  /** The common columns, then its own, in order. */
  readonly values: (row: Row) => SqlValue[]
}

/**
 * The codec of columns. Its `values` is generated, because property access by a variable name is
 * ten times slower (0.02 µs a row, not 0.2). @param common names of our own, never input
 */
function rowCodec<Row, Common extends keyof Row & string, Own extends keyof Row & string>(
  common: readonly Common[],
  own: readonly Own[],
) {
  const values = [...common, ...own].map((name) => `row[${JSON.stringify(name)}]`)
  return {
    common,
    own,
    // oxlint-disable-next-line typescript/no-implied-eval -- quoted names of our own table
    values: new Function('row', `return [${values.join(', ')}]`) as RowCodec<Row>['values'],
  }
}

/** Encoded rows: the dictionary, and the rows that refer to it. */
export interface EncodedRows {
  /** Values of the common columns. */
  common: SqlValue[][]
  /** For each row, the index of its entry in `common`, then the values of its own columns. */
  rows: SqlValue[]
}

/**
 * A value as JSON. Copying text between threads costs half of copying a list, and less still than
 * objects.
 */
export type Json<T> = string & { readonly packed?: T }

/** Converts a value to JSON. */
export const toJson = <T>(value: T): Json<T> => JSON.stringify(value)
/** The value of a text made by `toJson`. */
export const fromJson = <T>(text: Json<T>): T => JSON.parse(text) as T // `toJson` made it

/**
 * Number of dictionary entries that a row is compared with, newest first; older ones are sent
 * again.
 */
const LOOK_BACK = 16

/** Encodes rows. List the common columns that change most often last: they are compared first. */
export function encodeRows<Row>(
  { common, values }: RowCodec<Row>,
  rows: readonly Row[],
): EncodedRows {
  const width = common.length
  const entries: SqlValue[][] = []
  const encoded: SqlValue[] = []
  for (const row of rows) {
    const list = values(row)
    let entry = entries.length - 1
    const last = Math.max(0, entries.length - LOOK_BACK)
    // oxlint-disable-next-line typescript/no-non-null-assertion -- an index of an entry that the same list holds
    while (entry >= last && !samePrefix(width, entries[entry]!, list)) entry--
    if (entry < last) entry = entries.push(list) - 1
    encoded.push(entry)
    for (let i = width; i < list.length; i++) encoded.push(list[i] ?? null)
  }
  return { common: entries.map((list) => withoutLastNulls(width, list)), rows: encoded }
}

/** The first `width` values, without the nulls at their end, which decoding restores. */
function withoutLastNulls(width: number, values: readonly SqlValue[]): SqlValue[] {
  let length = width
  while (length > 0 && values[length - 1] === null) length--
  return values.slice(0, length)
}

/** Whether the first `width` values of both are equal. */
function samePrefix(width: number, one: readonly SqlValue[], other: readonly SqlValue[]): boolean {
  for (let i = width - 1; i >= 0; i--) if (one[i] !== other[i]) return false
  return true
}

/** A dictionary entry: its values in column order, and by name. */
interface Common<Shared> {
  readonly values: SqlValue[]
  readonly row: Shared
}

/**
 * Decodes rows, in order. Rows with the same entry share one object of it; `Shared` is its columns.
 * Common columns that an entry lacks are null: the last ones, if they were null or the version that
 * wrote them did not have them.
 */
export function decodeRows<Shared>(
  columns: { common: readonly (keyof Shared)[]; own: readonly unknown[] },
  encoded: EncodedRows,
): { common: Common<Shared>; own: SqlValue[] }[] {
  // `encodeRows` wrote the values in this order.
  const commons = encoded.common.map((values) => {
    while (values.length < columns.common.length) values.push(null)
    return {
      values,
      row: Object.fromEntries(columns.common.map((column, i) => [column, values[i]])) as Shared,
    }
  })
  const rows = []
  const width = columns.own.length
  for (let at = 0; at < encoded.rows.length; at += width + 1)
    rows.push({
      // oxlint-disable-next-line typescript/no-non-null-assertion -- an index of an entry that the same list holds
      common: commons[Number(encoded.rows[at])]!,
      own: encoded.rows.slice(at + 1, at + 1 + width),
    })
  return rows
}

/** Encoded rows without those at some indexes. */
export function without(
  { own }: { own: readonly unknown[] },
  { common, rows }: EncodedRows,
  places: ReadonlySet<number>,
): EncodedRows {
  return { common, rows: rows.filter((_, at) => !places.has(Math.floor(at / (own.length + 1)))) }
}
