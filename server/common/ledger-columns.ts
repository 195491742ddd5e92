// The ledger's columns: rows, their encoding, SQL, roll-ups, the API and CSV derive from one table.
// How to add one: contributing/add-a-ledger-column.md.
import { TOKEN_KINDS, type TokenColumn, type TokenKind } from './token-kinds.ts'

/** A column of the ledger. */
export interface LedgerColumn {
  /** Its type in SQL; `bigint` and `int` are numbers. */
  readonly type: 'bigint' | 'int' | 'text'
  readonly nullable?: true
  /** The values of a text that has few. */
  readonly values?: readonly string[]
  /** Whether a caller or a provider wrote the text: PostgreSQL cannot store all of these. */
  readonly foreign?: true
  /**
   * Known when the request is admitted, when it ends, or both, and how the column is encoded for
   * the writer: `common` if neighbouring rows mostly have the same value (a status), `own` if each
   * has its own (a number of bytes).
   */
  readonly admission?: 'common' | 'own'
  readonly settlement?: 'common' | 'own'
  /** A kind of tokens, by its name in metrics: every roll-up sums it. */
  readonly tokens?: string
  /** The tokens that these are part of. */
  readonly partOf?: TokenKind['partOf']
  /** Shown in lists and details of requests, or only in details. */
  readonly shown?: 'list' | 'details'
  /** Its description in the API. */
  readonly description?: string
}

/** The columns of tokens; each is null if the provider did not report that kind. */
const TOKENS = Object.fromEntries(
  Object.entries(TOKEN_KINDS).map(([name, kind]) => [
    name,
    { type: 'bigint', nullable: true, settlement: 'own', shown: 'list', ...kind },
  ]),
) as {
  readonly [Name in TokenColumn]: {
    readonly type: 'bigint'
    readonly nullable: true
    readonly settlement: 'own'
    readonly shown: 'list'
  } & (typeof TOKEN_KINDS)[Name]
}

/**
 * TABLE of the ledger's columns. Admissions are encoded in this order, and a killed process leaves
 * them in a journal for the next version, which reads missing last `common` columns as null. So a
 * new column of the admission goes to the end of the first part. The last part is the store's own.
 */
export const LEDGER_COLUMNS = {
  model: {
    type: 'text',
    nullable: true,
    foreign: true,
    admission: 'common',
    // Again, because it may only be known then.
    settlement: 'common',
    shown: 'list',
  },
  account_id: { type: 'text', admission: 'common', shown: 'list' },
  key_id: { type: 'text', admission: 'common', shown: 'list' },
  /** The key's limit at that moment, so that it can be proved later that the limit was kept. */
  rpm: { type: 'int', nullable: true, admission: 'common' },
  provider: { type: 'text', admission: 'common', shown: 'list' },
  endpoint: { type: 'text', foreign: true, admission: 'common', shown: 'list' },
  method: { type: 'text', admission: 'common', shown: 'list' },
  created_at: { type: 'bigint', admission: 'common', shown: 'list' },
  /**
   * The time by the machine's monotonic clock, in microseconds; `boot` identifies the boot. On
   * PostgreSQL, the time of the decision by the ledger's clock; `boot` is 0.
   */
  mono: { type: 'bigint', admission: 'common' },
  child_id: {
    type: 'text',
    nullable: true,
    admission: 'common',
    shown: 'list',
    description: 'The child key that sent it; null if the key itself did.',
  },
  /** The child's own limit at that moment; null if only the parent's applies. */
  child_rpm: { type: 'int', nullable: true, admission: 'common' },
  end_user: {
    type: 'text',
    nullable: true,
    foreign: true,
    admission: 'common',
    shown: 'list',
    description: 'The person the child key was created for.',
  },
  id: {
    type: 'text',
    admission: 'own',
    shown: 'list',
    description: 'The X-Request-Id of the response.',
  },
  /** SHA-256 of the caller's context key. */
  context: {
    type: 'text',
    nullable: true,
    admission: 'own',
    shown: 'list',
    description: 'A hash of the context key.',
  },

  state: {
    type: 'text',
    values: ['reserved', 'settled', 'aborted', 'unknown'],
    settlement: 'common',
    shown: 'list',
  },
  status: {
    type: 'int',
    nullable: true,
    settlement: 'common',
    shown: 'list',
    description: 'The status of the response to the caller; null while there is none.',
  },
  error: {
    type: 'text',
    nullable: true,
    settlement: 'common',
    shown: 'list',
    description:
      "Code of the proxy's own error response, or of the error that cut the response off.",
  },
  credential_id: { type: 'text', nullable: true, settlement: 'common', shown: 'list' },
  first_byte_ms: { type: 'int', nullable: true, settlement: 'own', shown: 'list' },
  total_ms: { type: 'int', nullable: true, settlement: 'own', shown: 'list' },
  bytes_in: { type: 'bigint', nullable: true, settlement: 'own', shown: 'list' },
  bytes_out: { type: 'bigint', nullable: true, settlement: 'own', shown: 'list' },
  ...TOKENS,
  upstream_request_id: {
    type: 'text',
    nullable: true,
    foreign: true,
    settlement: 'own',
    shown: 'details',
    description: "The provider's id of the request; null if its response had none.",
  },

  /**
   * The order of admission. On SQLite, each is one more than the newest row's, which is therefore
   * never deleted.
   */
  seq: { type: 'bigint' },
  /** The instance that admitted it; null in a complete row on PostgreSQL. */
  instance: { type: 'text', nullable: true },
  boot: { type: 'int' },
  /** 1: admitted while the store was unavailable. */
  outage: { type: 'int', nullable: true },
} as const satisfies Readonly<Record<string, LedgerColumn>>

type LedgerColumns = typeof LEDGER_COLUMNS

/** Names of the columns with some properties. */
export type ColumnsWith<Part> = {
  [Name in keyof LedgerColumns]: LedgerColumns[Name] extends Part ? Name : never
}[keyof LedgerColumns]

/** Names of the columns that pass, in their order. @param Name the type of these names */
export function columnsWhere<Name extends keyof LedgerColumns>(
  test: (column: LedgerColumn) => boolean,
): Name[] {
  return (Object.keys(LEDGER_COLUMNS) as Name[]).filter((name) => test(LEDGER_COLUMNS[name]))
}

type ValueOf<Column> =
  | (Column extends { values: readonly (infer Value)[] }
      ? Value
      : Column extends { type: 'text' }
        ? string
        : number)
  | (Column extends { nullable: true } ? null : never)

/** The ledger: one row for each admitted request. */
export type LedgerRow = {
  -readonly [Name in keyof LedgerColumns]: ValueOf<LedgerColumns[Name]>
}
