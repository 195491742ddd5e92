// The columns of the ledger that are written, as rows travel to the writer and as statements.
import { sql } from 'kysely'
import type { RequestRow, UpstreamErrorRow } from '../../store/schema.ts'
import { statement, type Query, type QueryBuilder, type SqlValue } from '../../store/statement.ts'
import {
  fold,
  pack,
  unfold,
  unpack,
  type Columns,
  type Common,
  type Folded,
  type Listed,
  type Packed,
} from './dictionary.ts'

/**
 * TABLE of what the admission of a request writes. A killed process leaves a journal in this order
 * to the next version: whoever changes it makes the migration enter that journal first.
 */
const ADMITTED = {
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
  ],
  own: ['id', 'context'],
} as const satisfies Columns<RequestRow>

/** TABLE of what its end writes: the model once more, which may have been learned late. */
const ENDED = {
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
  ],
} as const satisfies Columns<RequestRow>

/** What tells, besides the model, the roll-up that a row belongs to. */
export const WHOSE = [
  'account_id',
  'key_id',
  'provider',
  'created_at',
] as const satisfies (keyof RequestRow)[]

type ColumnOf<C extends Columns<RequestRow>> = C['common' | 'own'][number]

/** A request that is about to be let through. */
export type Reservation = Pick<RequestRow, ColumnOf<typeof ADMITTED>>

/** What is known of a request when it is over. */
export type Settlement = Pick<
  RequestRow,
  ColumnOf<typeof ENDED> | (typeof WHOSE)[number] | 'seq'
> & {
  state: 'settled' | 'aborted'
  /** What the upstream said, where it answered with an error. */
  failure?: UpstreamErrorRow | null
}

/** Reservations and settlements as they travel. */
export const RESERVED = {
  ...ADMITTED,
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
    row.id,
    row.context,
  ],
} as const satisfies Listed<Reservation>

export const SETTLED = {
  common: [...ENDED.common, ...WHOSE],
  own: [...ENDED.own, 'seq'],
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
    row.seq,
  ],
} as const satisfies Listed<Settlement>

/**
 * Written out, not bound: only then do the indexes of what is under way, and of what has ended,
 * serve a query.
 */
export const RESERVED_STATE = sql.lit('reserved' as const)

/** Rows as they travel. */
export const reservations = (rows: readonly Reservation[]): Packed<Folded> =>
  pack(fold<Reservation>(RESERVED, rows))
export const settlements = (rows: readonly Settlement[]): Packed<Folded> =>
  pack(fold<Settlement>(SETTLED, rows))

const NONE: readonly UpstreamErrorRow[] = []

/** What upstreams said, of those of the rows of which they said something. */
export function failuresOf(rows: readonly Settlement[]): readonly UpstreamErrorRow[] {
  let found: UpstreamErrorRow[] | null = null
  for (const { failure } of rows) if (failure) (found ??= []).push(failure)
  return found ?? NONE
}

/** A reservation, or a settlement, that has arrived: its values in the order of the columns. */
export type ReservedRow = {
  common: Common<Pick<Reservation, (typeof RESERVED.common)[number]>>
  own: SqlValue[]
}
export type SettledRow = {
  common: Common<Pick<Settlement, (typeof SETTLED.common)[number]>>
  own: SqlValue[]
}
export const reserved = (packed: Packed<Folded>): ReservedRow[] => unfold(RESERVED, unpack(packed))
export const settled = (packed: Packed<Folded>): SettledRow[] => unfold(SETTLED, unpack(packed))
/** The place in the ledger of the row that a settlement ends. */
export const seqOf = ({ own }: SettledRow): number => Number(own.at(-1))

/** SQL texts by query builder and name: compiling a query costs more than running it. */
const texts = new WeakMap<QueryBuilder, Map<string, string>>()

/**
 * The text of a query that never changes; its parameters stand in the order of the query that
 * `build` makes.
 */
export function text(
  db: QueryBuilder,
  name: string,
  build: (db: QueryBuilder) => Query<unknown>,
): string {
  let known = texts.get(db)
  if (!known) texts.set(db, (known = new Map()))
  let sql = known.get(name)
  if (sql === undefined) known.set(name, (sql = statement(build(db)).sql))
  return sql
}

/**
 * A query with a parameter for each of some columns; what they are bound to is given when it runs.
 */
const blank = <C extends string>(columns: readonly C[]) =>
  Object.fromEntries(columns.map((column) => [column, null])) as Record<C, never>

/** A row of one that is under way. */
const RESERVED_ROW = {
  ...blank([...RESERVED.common, ...RESERVED.own]),
  seq: 0,
  instance: '',
  boot: 0,
  state: RESERVED_STATE,
}
/** @returns in the order of the columns of `enterReserved` */
export const reservedValues = (
  { common, own }: ReservedRow,
  seq: number,
  instance: string,
  boot: number,
): SqlValue[] => [...common.values, ...own, seq, instance, boot]

/** Enters a request that is under way. Its parameters are `reservedValues`. */
export const enterReserved = (db: QueryBuilder): string =>
  text(db, 'enter', (db) => db.insertInto('requests').values(RESERVED_ROW))

/** The same, unless it is there already. */
export const enterOnce = (db: QueryBuilder): string =>
  text(db, 'enter once', (db) =>
    db
      .insertInto('requests')
      .values(RESERVED_ROW)
      .onConflict((conflict) => conflict.column('id').doNothing()),
  )

/** Enters a request that is over. Its parameters are `endedValues`. */
export const enterEnded = (db: QueryBuilder): string =>
  text(db, 'enter ended', (db) =>
    db.insertInto('requests').values({
      ...blank([...RESERVED.common, ...RESERVED.own]),
      ...blank([...ENDED.common, ...ENDED.own]),
      seq: 0,
      instance: '',
      boot: 0,
    }),
  )

/**
 * @returns in the order of the columns of `enterEnded`, where the model, which is in both tables,
 * stands first
 */
export function endedValues(
  { common, own }: ReservedRow,
  ended: SettledRow,
  instance: string,
  boot: number,
): SqlValue[] {
  return [
    ended.common.row.model,
    ...common.values.slice(1),
    ...own,
    ...ended.common.values.slice(1, ENDED.common.length),
    ...ended.own,
    instance,
    boot,
  ]
}

/** Ends a request that is in the ledger, from a state. Its parameters are `endValues`. */
export const end = (db: QueryBuilder, from: RequestRow['state']): string =>
  text(db, `end ${from}`, (db) =>
    db
      .updateTable('requests')
      .set(blank([...ENDED.common, ...ENDED.own]))
      .where('seq', '=', 0)
      .where('state', '=', sql.lit(from)),
  )
/** @returns in the order of the columns of `end` */
export const endValues = ({ common, own }: SettledRow): SqlValue[] => [
  ...common.values.slice(0, ENDED.common.length),
  ...own,
]
