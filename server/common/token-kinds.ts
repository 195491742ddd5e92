// The kinds of tokens, which the dashboard shares.

/** A kind of tokens. */
export interface TokenKind {
  /** Its name in metrics, and in words with spaces. */
  readonly tokens: string
  /** The tokens that these are part of. A provider's larger number is capped. */
  readonly partOf?: 'tokens_in' | 'tokens_out'
  /** Its description in the API. */
  readonly description: string
}

/** TABLE of the kinds of tokens, by their column of the ledger. */
export const TOKEN_KINDS = {
  tokens_in: { tokens: 'input', description: 'All input, cached or not.' },
  tokens_out: {
    tokens: 'output',
    description: 'All output, including reasoning.',
  },
  tokens_cached: {
    tokens: 'cached',
    partOf: 'tokens_in',
    description: 'Part of `tokens_in`: read from a cache.',
  },
  tokens_reasoning: {
    tokens: 'reasoning',
    partOf: 'tokens_out',
    description: 'Part of `tokens_out`.',
  },
  tokens_cache_write: {
    tokens: 'cache_write',
    partOf: 'tokens_in',
    description: 'Part of `tokens_in`: written to a cache.',
  },
  tokens_audio_in: {
    tokens: 'audio_input',
    partOf: 'tokens_in',
    description: 'Part of `tokens_in`: audio.',
  },
  tokens_audio_out: {
    tokens: 'audio_output',
    partOf: 'tokens_out',
    description: 'Part of `tokens_out`: audio.',
  },
} as const satisfies Readonly<Record<string, TokenKind>>

/** A column with a kind of tokens. */
export type TokenColumn = keyof typeof TOKEN_KINDS
/** The columns with tokens. */
export const TOKEN_COLUMNS = Object.keys(TOKEN_KINDS) as TokenColumn[]

/** Numbers of tokens; null if they are unknown, which is not 0. */
export type Tokens = Record<TokenColumn, number | null>

/** A value for each kind of tokens. */
export const eachToken = <Value>(
  value: (column: TokenColumn) => Value,
): Record<TokenColumn, Value> =>
  Object.fromEntries(TOKEN_COLUMNS.map((column) => [column, value(column)])) as Record<
    TokenColumn,
    Value
  >

/** The tokens of a request whose provider reported none. */
export const UNKNOWN_TOKENS: Readonly<Tokens> = eachToken(() => null)

/**
 * The kinds of tokens to show to a person, in words ("cache write"): input and output, and those
 * parts of them that there are, because most requests have few.
 */
export const shownTokens = (
  isUsed: (column: TokenColumn) => boolean,
): (readonly [kind: string, column: TokenColumn])[] =>
  TOKEN_COLUMNS.filter((column) => !('partOf' in TOKEN_KINDS[column]) || isUsed(column)).map(
    (column) => [TOKEN_KINDS[column].tokens.replaceAll('_', ' '), column],
  )
