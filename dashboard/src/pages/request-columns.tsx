// Columns of requests and refusals.
import type { ReactNode } from 'react'
import { getAccountScope } from '../api/account-scope.ts'
import type { Refusal, Request } from '../api/shapes.ts'
import { UNKNOWN, ago, count, duration, exactTime, fullCount } from '../format.ts'
import { Badge, Parts, type State } from '../ui/bits.tsx'
import { main, nowrap, sub, text, words, type Column } from '../ui/table.tsx'

/** TABLE of outcomes that a status does not show. */
const OUTCOMES: Readonly<Record<Request['outcome'], State>> = {
  in_progress: { label: 'In progress', tone: 'warn' },
  succeeded: { label: 'Done', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  aborted: { label: 'Interrupted', tone: 'warn' },
  unknown: { label: 'Unknown', tone: 'calm' },
}

/** TABLE of refusal codes in words that fit a badge and a sentence. */
const REFUSAL_WORDS: Readonly<Record<string, string>> = {
  upstream_unreachable: 'unreachable',
  server_shutdown: 'server stopped',
  upstream_timeout: 'timed out',
  upstream_credential_missing: 'no credential',
  rate_limit_exceeded: 'rate limit',
  model_not_allowed: 'model not allowed',
  endpoint_not_allowed: 'endpoint not allowed',
  upstream_not_allowed: 'provider not allowed',
  origin_not_allowed: 'origin not allowed',
  invalid_api_key: 'invalid key',
  api_key_expired: 'key expired',
  api_key_disabled: 'key disabled',
  invalid_upstream_url: 'invalid address',
  ambiguous_body: 'ambiguous body',
  body_too_large: 'body too large',
  body_too_slow: 'body too slow',
}

/** A refusal code in words, within a sentence. */
export const refusalWords = (code: string): string =>
  REFUSAL_WORDS[code] ?? code.replaceAll('_', ' ')

/** A refusal code as a label: `Rate limit`. */
export const refusalLabel = (code: string): string =>
  refusalWords(code).replace(/^[a-z]/, (first) => first.toUpperCase())

/** The outcome of a proxied request as a badge. */
export function Outcome({ request: { outcome, status, error } }: { request: Request }) {
  if (outcome !== 'failed' && outcome !== 'succeeded') return <Badge {...OUTCOMES[outcome]} />
  if (status === null)
    return (
      <Badge
        {...OUTCOMES[outcome]}
        label={error === null ? OUTCOMES[outcome].label : `Failed: ${refusalWords(error)}`}
      />
    )
  const label = error === null ? String(status) : `${status} ${refusalLabel(error)}`
  return (
    <Badge
      label={label}
      tone={outcome === 'succeeded' ? 'good' : status === 429 ? 'warn' : 'bad'}
    />
  )
}

/** Why a request was rejected. */
export function RefusedBecause({ refusal: { status, code } }: { refusal: Refusal }) {
  return <Badge label={`${status} ${refusalLabel(code)}`} tone={status === 429 ? 'warn' : 'bad'} />
}

function When({ at }: { at: string }) {
  return (
    <time className={nowrap} dateTime={at} title={exactTime(at)}>
      {ago(at)}
    </time>
  )
}

type AccountName = 'any key' | 'one key'
type Row = Pick<
  Request,
  'id' | 'created_at' | 'model' | 'key_id' | 'key_name' | 'account_id' | 'account_name'
>

/** TABLE of what rows show if the model is unknown. */
export const NO_MODEL = {
  request: 'No model named',
  // Most requests are refused before the body is read.
  refusal: 'Model unknown',
} as const

/** The link that opens the details, clickable anywhere in its row. */
function opener(
  { id, model, created_at }: Row,
  open: (id: string) => void,
  what: keyof typeof NO_MODEL,
): ReactNode {
  return (
    <button
      type="button"
      className="linklike"
      data-opens-row
      onClick={() => open(id)}
      aria-label={`${model ?? NO_MODEL[what]}: details of the ${what} of ${exactTime(created_at)}`}
    >
      {model === null ? NO_MODEL[what] : <Parts name={model} />}
    </button>
  )
}

/** The account column, shown when an administrator sees all accounts. */
export const accountColumn = (): readonly Column<Pick<Row, 'account_id' | 'account_name'>>[] =>
  getAccountScope() !== 'all'
    ? []
    : [
        {
          title: 'Account',
          from: 'middle',
          cell: ({ account_id, account_name }) => (
            <span className={text} title={account_name ?? account_id}>
              {account_name ?? account_id}
            </span>
          ),
        },
      ]

const keyColumn = (whose: AccountName): readonly Column<Row>[] =>
  whose === 'one key'
    ? []
    : [
        {
          title: 'Key',
          from: 'middle',
          cell: ({ key_id, key_name }) => (
            <span className={text} title={key_name ?? key_id}>
              {key_name ?? key_id}
            </span>
          ),
        },
        ...accountColumn(),
      ]

/** Tokens, in and out. */
export const TOKENS: Column<Pick<Request, 'tokens_in' | 'tokens_out'>> = {
  title: 'Tokens in → out',
  from: 'middle',
  right: true,
  cell: ({ tokens_in, tokens_out }) => (
    <span className={nowrap}>
      {tokens_in === null && tokens_out === null
        ? UNKNOWN
        : `${count(tokens_in)} → ${count(tokens_out)}`}
    </span>
  ),
}

/** TABLE of columns: model, outcome, cost, time. */
export function requestColumns(
  whose: AccountName,
  open: (id: string) => void,
  providerName: (id: string) => string,
): readonly Column<Request>[] {
  return [
    {
      title: 'Request',
      cell: (request) => (
        <>
          {opener(request, open, 'request')}
          <span className={sub}>{providerName(request.provider)}</span>
        </>
      ),
    },
    ...keyColumn(whose),
    { title: 'Outcome', cell: (request) => <Outcome request={request} /> },
    TOKENS,
    {
      title: 'First byte',
      from: 'wide',
      right: true,
      cell: ({ first_byte_ms }) => <span className={nowrap}>{duration(first_byte_ms)}</span>,
    },
    {
      title: 'Total',
      from: 'wide',
      right: true,
      cell: ({ total_ms }) => <span className={nowrap}>{duration(total_ms)}</span>,
    },
    { title: 'When', right: true, cell: ({ created_at }) => <When at={created_at} /> },
  ]
}

/** TABLE of columns of refusals: model, reason, count, time. */
export function refusalColumns(
  whose: AccountName,
  open: (id: string) => void,
  providerName: (id: string) => string,
): readonly Column<Refusal>[] {
  return [
    {
      title: 'Request',
      cell: (refusal) => (
        <>
          {opener(refusal, open, 'refusal')}
          <span className={sub}>
            {refusal.provider === null ? 'No provider' : providerName(refusal.provider)}
          </span>
        </>
      ),
    },
    ...keyColumn(whose),
    { title: 'Reason', cell: (refusal) => <RefusedBecause refusal={refusal} /> },
    {
      title: 'Message',
      from: 'wide',
      cell: ({ detail }) => <span className={words}>{detail}</span>,
    },
    {
      title: 'Count',
      from: 'middle',
      right: true,
      cell: ({ count }) => <span className={main}>{fullCount(count)}</span>,
    },
    { title: 'When', right: true, cell: ({ created_at }) => <When at={created_at} /> },
  ]
}
