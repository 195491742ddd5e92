// TABLE of what the server answers, as far as the dashboard reads it. Parsed where it enters;
// unknown fields are let be.
import * as z from 'zod/mini'

const maybe = z.nullable(z.number())
const text = z.string()
const maybeText = z.nullable(z.string())

/** A page of a list. */
export const listOf = <S extends z.ZodMiniType>(item: S) =>
  z.object({ data: z.array(item), next_cursor: maybeText, total: z.optional(z.number()) })

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
export const Session = z.object({
  setup_required: z._default(z.boolean(), false),
  account: z.nullable(Account),
})
export const SignedIn = z.object({ account: Account })
export const Plan = z.object({ name: text, conversions_per_day: maybe })

export const Invitation = z.object({
  id: text,
  email: maybeText,
  plan: maybeText,
  status: z.enum(['open', 'accepted', 'expired']),
  created_at: text,
  expires_at: text,
})
export const NewInvitation = z.extend(Invitation, { link: text })
export const PasswordReset = z.object({ link: text, expires_at: text })
export const OpenReset = z.object({ email: maybeText, name: text, expires_at: text })
export const OpenInvitation = z.object({ email: maybeText, expires_at: text })

const tokens = {
  tokens_in: maybe,
  tokens_out: maybe,
  tokens_cached: maybe,
  tokens_reasoning: maybe,
}

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
  expires_at: maybeText,
  status: z.enum(['active', 'disabled', 'expired', 'revoked']),
  created_at: text,
  last_used_at: maybeText,
  /** When the secret that was rotated away stops working. */
  previous_secret_expires_at: z.optional(maybeText),
  usage: z.object({ requests: z.number(), errors: z.number(), ...tokens }),
})
export const SharedObject = z.object({
  id: text,
  provider: text,
  kind: text,
  object_id: text,
  created_at: text,
})
export const NewKey = z.extend(Key, { secret: text })

/** Sums over requests; times are means. */
const Sums = z.object({
  requests: z.number(),
  errors: z.number(),
  ...tokens,
  first_byte_ms: maybe,
  total_ms: maybe,
})

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
      /** Of the key or the credential. */
      name: maybeText,
    }),
  ),
})
export const Model = z.object({ id: text, provider: text })

export const UsageLine = z.extend(Sums, {
  time: z.optional(text),
  key_id: z.optional(text),
  key_name: z.optional(maybeText),
  model: z.optional(maybeText),
  /** The sum of all that are not among the top. */
  other: z.optional(z.boolean()),
})

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
  /** What the provider said of a failed request, and its own id of it. */
  upstream_error: z.optional(maybeText),
  upstream_request_id: z.optional(maybeText),
})

/** A request that the proxy refused: it is in no ledger, and no provider saw it. */
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
  /** Refusals that this one stands for. */
  count: z.number(),
})
export const RefusalCounts = z.object({
  total: z.number(),
  by_code: z.array(z.object({ code: text, count: z.number() })),
})

const LastError = z.nullable(z.object({ status: maybe, code: maybeText, at: text }))

export const CredentialTest = z.object({ ok: z.boolean(), status: maybe, detail: text, at: text })
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
  /** What came of the last test call. */
  last_test: z.nullable(CredentialTest),
  created_at: maybeText,
})

export const Provider = z.object({
  id: text,
  name: text,
  source: z.enum(['built_in', 'settings', 'stored']),
  base: text,
  hosts: z.array(text),
  ready: z.boolean(),
  health: z.enum(['healthy', 'degraded', 'failing', 'no_credential']),
  last_error: LastError,
  dial: maybeText,
  credentials: z.nullable(z.array(Credential)),
})

export const Token = z.object({
  id: text,
  name: text,
  prefix: text,
  account_id: text,
  scopes: z.array(z.enum(['convert', 'manage'])),
  status: z.enum(['active', 'expired', 'revoked']),
  created_at: text,
  expires_at: maybeText,
  last_used_at: maybeText,
})
export const NewToken = z.extend(Token, { secret: text })

const JobStatus = z.enum(['queued', 'running', 'succeeded', 'failed', 'canceled', 'expired'])
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
})

export type Account = z.output<typeof Account>
export type Session = z.output<typeof Session>
export type Invitation = z.output<typeof Invitation>
export type PasswordReset = z.output<typeof PasswordReset>
export type NewInvitation = z.output<typeof NewInvitation>
export type Key = z.output<typeof Key>
export type SharedObject = z.output<typeof SharedObject>
export type NewKey = z.output<typeof NewKey>
export type Model = z.output<typeof Model>
export type Overview = z.output<typeof Overview>
export type Sums = z.output<typeof Sums>
export type UsageLine = z.output<typeof UsageLine>
export type Request = z.output<typeof Request>
export type Refusal = z.output<typeof Refusal>
export type Credential = z.output<typeof Credential>
export type CredentialTest = z.output<typeof CredentialTest>
export type Provider = z.output<typeof Provider>
export type Token = z.output<typeof Token>
export type NewToken = z.output<typeof NewToken>
export type Job = z.output<typeof Job>
