// TABLE of the server's responses, as far as the dashboard reads them. Unknown fields are ignored.
import * as z from 'zod/mini'
import { eachToken } from '../../../server/common/token-kinds.ts'

const maybe = z.nullable(z.number())
const text = z.string()
const maybeText = z.nullable(z.string())

/** A page of a list. */
export const listOf = <S extends z.ZodMiniType>(item: S) =>
  z.object({
    data: z.array(item),
    next_cursor: maybeText,
    total: z.optional(z.number()),
    searched_to: z.optional(maybeText),
  })

/** An account, with the quota of its plan. Timestamps are ISO 8601 here and below. */
export const Account = z.object({
  id: text,
  name: text,
  email: maybeText,
  role: z.enum(['admin', 'member']),
  plan: text,
  disabled: z.boolean(),
  quota: z.object({ conversions_per_day: maybe, used_today: z.number(), resets_at: text }),
  created_at: text,
})
/** An account, with the quota of its plan. Timestamps are ISO 8601 here and below. */
export type Account = z.output<typeof Account>
/** The session, and whether the first account is still missing. */
export const Session = z.object({
  setup_required: z._default(z.boolean(), false),
  account: z.nullable(Account),
})
/** The session, and whether the first account is still missing. */
export type Session = z.output<typeof Session>
/** The response to a sign-in, setup or accepted invitation. */
export const SignedIn = z.object({ account: Account })
/** A plan: conversions a day, null for no limit. */
export const Plan = z.object({ name: text, conversions_per_day: maybe })

/** An invitation to create an account. */
export const Invitation = z.object({
  id: text,
  email: maybeText,
  plan: maybeText,
  status: z.enum(['open', 'accepted', 'expired']),
  created_at: text,
  expires_at: text,
})
/** An invitation to create an account. */
export type Invitation = z.output<typeof Invitation>
/** An invitation with its link, which is shown once. */
export const NewInvitation = z.extend(Invitation, { link: text })
/** An invitation with its link, which is shown once. */
export type NewInvitation = z.output<typeof NewInvitation>
/** A link that sets a new password, shown once. */
export const PasswordReset = z.object({ link: text, expires_at: text })
/** A link that sets a new password, shown once. */
export type PasswordReset = z.output<typeof PasswordReset>
/** The account of a password reset link. */
export const OpenReset = z.object({ email: maybeText, name: text, expires_at: text })
/** The invitation of a link. */
export const OpenInvitation = z.object({ email: maybeText, expires_at: text })

/** A server of the previous version may lack the newest kind of tokens. */
const tokens = eachToken(() => z._default(maybe, null))

/** A proxy key, without its secret; `rpm` is requests in any 60 seconds, null for no limit. */
export const Key = z.object({
  id: text,
  account_id: text,
  account_name: text,
  name: text,
  prefix: text,
  models: z.nullable(z.array(text)),
  rpm: maybe,
  allowed_origins: z.nullable(z.array(text)),
  objects: z.enum(['own', 'upstream']),
  providers: z.nullable(z.array(text)),
  read_only: z.boolean(),
  parent_id: z.optional(maybeText),
  /** The person a child key was created for. */
  end_user: z.optional(maybeText),
  expires_at: maybeText,
  status: z.enum(['active', 'disabled', 'expired', 'revoked']),
  created_at: text,
  last_used_at: maybeText,
  /** When the old secret of a rotated key expires. */
  previous_secret_expires_at: z.optional(maybeText),
  usage: z.object({ requests: z.number(), errors: z.number(), ...tokens }),
})
/** A proxy key, without its secret; `rpm` is requests in any 60 seconds, null for no limit. */
export type Key = z.output<typeof Key>
/** A provider's stored object that an administrator lets a key use. */
export const SharedObject = z.object({
  id: text,
  provider: text,
  kind: text,
  object_id: text,
  created_at: text,
})
/** A provider's stored object that an administrator lets a key use. */
export type SharedObject = z.output<typeof SharedObject>
/** A key with its secret, which is shown once. */
export const NewKey = z.extend(Key, { secret: text })
/** A key with its secret, which is shown once. */
export type NewKey = z.output<typeof NewKey>

/** Sums over requests; times are means. */
const Sums = z.object({
  requests: z.number(),
  errors: z.number(),
  ...tokens,
  first_byte_ms: maybe,
  total_ms: maybe,
})
/** Sums over requests; times are means. */
export type Sums = z.output<typeof Sums>

/** Totals and a series over a period, the busiest keys and models, and what needs attention. */
export const Overview = z.object({
  from: text,
  to: text,
  totals: z.extend(Sums, { refused: z.number() }),
  series: z.array(z.extend(Sums, { time: text })),
  keys: z.array(z.extend(Sums, { key_id: text, name: maybeText })),
  models: z.array(z.extend(Sums, { model: maybeText, provider: text })),
  attention: z.array(
    z.object({
      kind: text,
      detail: text,
      key_id: maybeText,
      credential_id: maybeText,
      provider: maybeText,
      at: maybeText,
      /** The name of the key or the credential. */
      name: maybeText,
    }),
  ),
})
/** Totals and a series over a period, the busiest keys and models, and what needs attention. */
export type Overview = z.output<typeof Overview>
/** A model named in requests. */
export const Model = z.object({ id: text, provider: text })
/** A model named in requests. */
export type Model = z.output<typeof Model>

/** The usage of a step of time, a key or a model. */
export const UsageLine = z.extend(Sums, {
  time: z.optional(text),
  key_id: z.optional(text),
  key_name: z.optional(maybeText),
  model: z.optional(maybeText),
  /** Whether this is the sum of all others. */
  other: z.optional(z.boolean()),
})
/** The usage of a step of time, a key or a model. */
export type UsageLine = z.output<typeof UsageLine>

/** A proxied request of the ledger; times are milliseconds. */
export const Request = z.object({
  id: text,
  created_at: text,
  key_id: text,
  key_name: maybeText,
  account_id: text,
  account_name: maybeText,
  provider: text,
  model: maybeText,
  endpoint: text,
  method: text,
  object: z.literal('request'),
  outcome: z.enum(['in_progress', 'succeeded', 'failed', 'aborted', 'unknown']),
  status: maybe,
  error: maybeText,
  first_byte_ms: maybe,
  total_ms: maybe,
  bytes_in: maybe,
  bytes_out: maybe,
  ...tokens,
  credential_id: maybeText,
  context: maybeText,
  /** The person that the child key was created for. */
  end_user: z.optional(maybeText),
  /** The provider's error of a failed request, and its id for the request. */
  upstream_error: z.optional(maybeText),
  upstream_request_id: z.optional(maybeText),
})
/** A proxied request of the ledger; times are milliseconds. */
export type Request = z.output<typeof Request>

/** A WebSocket that is open through the proxy. */
export const Socket = z.object({
  id: text,
  key_id: text,
  key_name: maybeText,
  account_id: text,
  account_name: maybeText,
  end_user: maybeText,
  provider: text,
  model: maybeText,
  opened_at: text,
  /** Completed rows of the ledger. */
  requests: z.number(),
  tokens_in: maybe,
  tokens_out: maybe,
  bytes_in: z.number(),
  bytes_out: z.number(),
})
/** A WebSocket that is open through the proxy. */
export type Socket = z.output<typeof Socket>

/** A request that the proxy refused. It is not in the ledger, and no provider saw it. */
export const Refusal = z.object({
  object: z.literal('refusal'),
  id: text,
  created_at: text,
  key_id: text,
  key_name: maybeText,
  account_id: text,
  account_name: maybeText,
  provider: maybeText,
  model: maybeText,
  method: text,
  status: z.number(),
  code: text,
  detail: text,
  /** The number of refusals that this one represents. */
  count: z.number(),
})
/** A request that the proxy refused. It is not in the ledger, and no provider saw it. */
export type Refusal = z.output<typeof Refusal>
/** How many requests were refused, in all and by code. */
export const RefusalCounts = z.object({
  total: z.number(),
  by_code: z.array(z.object({ code: text, count: z.number() })),
})

const LastError = z.nullable(z.object({ status: maybe, code: maybeText, at: text }))

/** The result of a test call. */
export const CredentialTest = z.object({ ok: z.boolean(), status: maybe, detail: text, at: text })
/** The result of a test call. */
export type CredentialTest = z.output<typeof CredentialTest>
/** A provider's credential, without its secret. */
export const Credential = z.object({
  id: text,
  provider: text,
  name: text,
  values: z.record(text, text),
  weight: z.number(),
  status: z.enum(['active', 'paused']),
  source: z.enum(['environment', 'stored']),
  readable: z.boolean(),
  resting_ms: z.number(),
  last_error: LastError,
  /** The result of the last test call. */
  last_test: z.nullable(CredentialTest),
  created_at: maybeText,
})
/** A provider's credential, without its secret. */
export type Credential = z.output<typeof Credential>

/** A provider, for administrators with its credentials. */
export const Provider = z.object({
  id: text,
  name: text,
  source: z.enum(['built_in', 'settings', 'stored']),
  base: text,
  hosts: z.array(text),
  auth: z.object({ header: text, scheme: maybeText }),
  ready: z.boolean(),
  health: z.enum(['healthy', 'degraded', 'failing', 'no_credential']),
  last_error: LastError,
  dial: maybeText,
  credentials: z.nullable(z.array(Credential)),
})
/** A provider, for administrators with its credentials. */
export type Provider = z.output<typeof Provider>

/** An API token, without its secret. */
export const Token = z.object({
  id: text,
  name: text,
  prefix: text,
  account_id: text,
  scopes: z.array(z.enum(['convert', 'manage', 'mint'])),
  status: z.enum(['active', 'expired', 'revoked']),
  created_at: text,
  expires_at: maybeText,
  last_used_at: maybeText,
})
/** An API token, without its secret. */
export type Token = z.output<typeof Token>
/** A token with its secret, which is shown once. */
export const NewToken = z.extend(Token, { secret: text })
/** A token with its secret, which is shown once. */
export type NewToken = z.output<typeof NewToken>

const JobStatus = z.enum(['queued', 'running', 'succeeded', 'failed', 'canceled', 'expired'])
/** A conversion in the background. */
export const Job = z.object({
  id: text,
  status: JobStatus,
  format: z.enum(['markdown', 'json', 'chunks']),
  include_metadata: z.boolean(),
  file: z.object({ name: text, size: z.number() }),
  progress: z.object({ pages_done: z.number(), pages_total: maybe }),
  created_at: text,
  started_at: maybeText,
  finished_at: maybeText,
  expires_at: maybeText,
  result_url: maybeText,
  error: z.nullable(z.object({ code: text, detail: text })),
  layout: z.optional(z.literal('pages')),
  certificate: z.optional(
    z.object({
      in: z.object({ words: z.number(), blocks: z.object({ tables: z.number() }) }),
      differences: z.array(z.unknown()),
    }),
  ),
})
/** A conversion in the background. */
export type Job = z.output<typeof Job>
