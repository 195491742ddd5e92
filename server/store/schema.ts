// Every table, as Kysely sees it: one schema for SQLite and PostgreSQL. Times are integers (milliseconds since 1970, UTC), ids are
// text, yes and no are 1 and 0, JSON is text. `migrations/` makes what is described here.

/** A person or a team: owns tokens, quota, jobs and keys. */
export interface AccountRow {
  id: string
  name: string
  email: string | null
  plan: string
  role: 'admin' | 'member'
  created_at: number
  disabled: number
  /** When it was deleted: it is disabled then, and its row stays for what refers to it. Left out of a new row. */
  deleted_at?: number | null | undefined
}

/** An API token. The token itself is not stored, only its SHA-256. */
export interface TokenRow {
  id: string
  account_id: string
  name: string
  /** The public part of the token, by which it is looked up. */
  public_id: string
  /** SHA-256 of the whole token, hexadecimal. */
  hash: string
  /** Names of scopes with a space between them. */
  scopes: string
  expires_at: number | null
  revoked_at: number | null
  created_at: number
  last_used_at: number | null
}

/** The password of an account, for the dashboard: argon2id in the form of PHC. Apart from the account, so that nobody reads it by the way. */
export interface PasswordRow {
  account_id: string
  hash: string
}

/** The link by which an account gets a new password. Only the SHA-256 of its token is stored. */
export interface PasswordResetRow {
  account_id: string
  public_id: string
  hash: string
  created_at: number
  expires_at: number
}

/** A browser that is signed in. The cookie itself is not stored, only its SHA-256. */
export interface SessionRow {
  /** The public part of the cookie, by which it is looked up. */
  public_id: string
  hash: string
  account_id: string
  created_at: number
  expires_at: number
}

/** Failed sign-ins with one e-mail or from one address, and those under way. */
export interface AttemptRow {
  /** `email:…` or `address:…`. */
  subject: string
  failures: number
  /** No further attempt before this moment. */
  blocked_until: number
  /** When all is forgotten. */
  expires_at: number
}

/** A link that makes an account, once. Only the SHA-256 of its token is stored. */
export interface InvitationRow {
  id: string
  public_id: string
  hash: string
  /** Whom it was meant for; null where nobody said. */
  email: string | null
  plan: string
  created_at: number
  expires_at: number
  /** The account that was made with it. */
  account_id: string | null
}

/** A running process that works on this store. What it holds for its requests goes when its row goes. */
export interface InstanceRow {
  id: string
  host: string
  pid: number
  seen_at: number
}

/** Conversions that an account has used up on one UTC day. */
export interface QuotaDayRow {
  account_id: string
  /** Days since 1970, UTC. */
  day: number
  used: number
  /** Conversions of this day that failed and were given back. */
  given_back: number
}

/** A conversion that has been let in and has not been answered yet. It counts as used while its instance lives. */
export interface ReservationRow {
  id: string
  account_id: string
  day: number
  instance_id: string
}

/** Stored bytes. The row is there before the bytes are, so that what a killed process left behind is found by its row. */
export interface BlobRow {
  id: string
  expires_at: number
  /** Who is storing it, until another row names it; null from then on. */
  instance_id: string | null
}

/** A conversion in the background. */
export interface JobRow {
  id: string
  account_id: string
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'expired'
  format: 'markdown' | 'json'
  include_metadata: number
  file_name: string
  /** Bytes. */
  file_size: number
  /** The archive, while it is needed. */
  upload_blob: string | null
  /** The document, while it is kept. */
  result_blob: string | null
  pages_done: number
  pages_total: number | null
  created_at: number
  started_at: number | null
  finished_at: number | null
  /** When the result is no longer kept. */
  expires_at: number | null
  error_code: string | null
  error_detail: string | null
  /** From when on it may be claimed, while nobody holds it. */
  claimable_at: number
  /** Who holds it; becomes null with the instance. */
  instance_id: string | null
  /** Different each time that it is claimed: who does not name it has lost the job. */
  claim: string | null
  /** How often it was claimed and not handed back in order. */
  claims: number
  /** How often its conversion has failed for no reason of its own. */
  failures: number
  /** Its place in the order in which the accounts take turns; lower ones come first. */
  turn: number
  /** The UTC day on which it was counted; null: it counted for good. */
  counted_day: number | null
  /** Conversions that its account had a day; null is no limit. */
  quota_limit: number | null
}

/** An Idempotency-Key: under way while `instance_id` is set, answered when `blob_id` (a document) or `job_id` is. */
export interface IdempotencyRow {
  account_id: string
  key: string
  /** SHA-256 of the content and the options. */
  fingerprint: string
  instance_id: string | null
  content_type: string | null
  blob_id: string | null
  job_id: string | null
  expires_at: number
}

/** A proxy key. Its secrets are rows of their own, because two work while one replaces the other. */
export interface KeyRow {
  id: string
  account_id: string
  name: string
  /** Public id of the newest secret, for display. */
  public_id: string
  /** JSON list of names and globs, or null: every model. */
  models: string | null
  rpm: number | null
  /** JSON list of origins, or null: from anywhere. */
  allowed_origins: string | null
  /** Which stored objects of a provider the key may name: those it made, or all that the account with the provider holds. */
  objects: 'own' | 'upstream'
  /** JSON list of provider ids, or null: every provider. */
  providers: string | null
  read_only: number
  expires_at: number | null
  disabled: number
  revoked_at: number | null
  /** Since when it is in no list any more; its name is for reports. */
  purged_at: number | null
  created_at: number
  /** Higher than that of every key changed before: who knows the keys up to a revision asks for those above it. */
  revision: number
}

/** A provider's object that an administrator lets a key read and use. */
export interface SharedObjectRow {
  id: string
  key_id: string
  provider: string
  kind: string
  object_id: string
  created_at: number
}

/** One secret of a proxy key: only its SHA-256 is stored. */
export interface KeySecretRow {
  public_id: string
  key_id: string
  hash: string
  /** When a secret that was rotated away stops working; null while it is the newest. */
  expires_at: number | null
}

/** The ledger: one row for each request that was let through. */
export interface RequestRow {
  /** The order of admission: each is one more than the newest before it, which is therefore never deleted. */
  seq: number
  id: string
  account_id: string
  key_id: string
  /** The key's limit at that moment, so that a later reader can prove that it was kept. */
  rpm: number | null
  provider: string
  model: string | null
  endpoint: string
  method: string
  /** SHA-256 of the caller's context key. */
  context: string | null
  state: 'reserved' | 'settled' | 'aborted' | 'unknown'
  created_at: number
  /** Who admitted it. */
  instance: string
  /** When, by the monotonic clock of a machine, in microseconds; `boot` tells since which boot of it. */
  mono: number
  boot: number
  status: number | null
  /** Code of the error that we answered in place of an upstream. */
  error: string | null
  credential_id: string | null
  first_byte_ms: number | null
  total_ms: number | null
  bytes_in: number | null
  bytes_out: number | null
  tokens_in: number | null
  tokens_out: number | null
  tokens_cached: number | null
  tokens_reasoning: number | null
}

/** What an upstream said of a request that it answered with an error. */
export interface UpstreamErrorRow {
  request_id: string
  created_at: number
  /** The id by which the upstream knows the request. */
  upstream_request_id: string | null
  /** The beginning of its answer, without our credential. */
  text: string | null
}

/** Requests that were let through in one moment, until they enter the ledger: see ledger/journal.ts. */
export interface JournalRow {
  /** The place of the last of them in the ledger. */
  seq: number
  instance: string
  boot: number
  /** JSON of the rows, folded. */
  rows: string
}

/** The ledger summed by hour, key, provider and model; `model` is '' where it is not known. */
export interface UsageHourRow {
  /** Milliseconds since 1970 at which the hour begins. */
  hour: number
  key_id: string
  provider: string
  model: string
  account_id: string
  requests: number
  /** Of them: answered 400 and above, not at all, or not to the end; left by the caller; cut off with the process; whose tokens nobody said. */
  errors: number
  aborted: number
  unknown: number
  unmetered: number
  bytes_in: number
  bytes_out: number
  /** Sums over the requests that said; null where none did. */
  tokens_in: number | null
  tokens_out: number | null
  tokens_cached: number | null
  tokens_reasoning: number | null
  /** Sums of the times, over `answered` requests. */
  answered: number
  first_byte_ms: number
  total_ms: number
}

/** The same by day, for the hours before a mark. */
export type UsageDayRow = Omit<UsageHourRow, 'hour'> & { /** Milliseconds since 1970 at which the day begins, UTC. */ day: number }

/** How far hours have been added to their days. */
export interface UsageAddedRow {
  name: string
  /** Start of the first hour that has not. */
  before: number
}

/** Requests that a key's limit refused within an hour: the ledger holds only what was let through. */
export interface RefusedHourRow {
  key_id: string
  /** Milliseconds since 1970 at which the hour begins. */
  hour: number
  account_id: string
  refused: number
}

/** A sample of the requests that the proxy refused: see ledger/refusal-log.ts. */
export interface RefusalRow {
  id: string
  created_at: number
  account_id: string
  key_id: string
  provider: string | null
  model: string | null
  method: string
  /** What the caller was answered. */
  status: number
  code: string
  detail: string
  /** Refusals of this key and code that it stands for, itself included. */
  count: number
}

/** Requests of a key that were refused with one code within a minute. */
export interface RefusalMinuteRow {
  key_id: string
  /** Milliseconds since 1970 at which the minute begins. */
  minute: number
  code: string
  account_id: string
  refused: number
}

/** A provider that the operator added by the API. */
export interface ProviderRow {
  id: string
  /** What callers name: `https://host[:port]`. */
  origin: string
  /** Where it is dialled instead. */
  dial: string | null
  /** How the credential is presented; null is `Authorization: Bearer …`. */
  auth_header: string | null
  auth_scheme: string | null
  created_at: number
}

/** What we present to a provider. */
export interface CredentialRow {
  id: string
  provider: string
  name: string
  /** The secret, encrypted: see proxy/credentials/seal.ts. */
  sealed: string
  /** JSON object of the values that stand in the provider's host name (Azure's resource, Bedrock's region). */
  host_values: string
  /** Its share of the requests, among the provider's credentials. */
  weight: number
  paused: number
  created_at: number
  revision: number
}

/** What came of the last test call with a credential, which may be one of the environment. */
export interface CredentialTestRow {
  credential_id: string
  at: number
  ok: number
  /** The provider's; null where there was no answer. */
  status: number | null
  detail: string
}

/** An object that a provider stores for us (file, batch, response, …): whose it is, and which credential reaches it. */
export interface ObjectRow {
  provider: string
  kind: string
  object_id: string
  key_id: string
  credential_id: string
  created_at: number
}

/** Every table by its name. */
export interface Database {
  keys: KeyRow
  key_secrets: KeySecretRow
  shared_objects: SharedObjectRow
  requests: RequestRow
  upstream_errors: UpstreamErrorRow
  journal: JournalRow
  usage_hours: UsageHourRow
  usage_days: UsageDayRow
  usage_added: UsageAddedRow
  refused_hours: RefusedHourRow
  refusals: RefusalRow
  refusal_minutes: RefusalMinuteRow
  providers: ProviderRow
  credentials: CredentialRow
  credential_tests: CredentialTestRow
  objects: ObjectRow
  accounts: AccountRow
  passwords: PasswordRow
  password_resets: PasswordResetRow
  sessions: SessionRow
  attempts: AttemptRow
  invitations: InvitationRow
  tokens: TokenRow
  instances: InstanceRow
  quota_days: QuotaDayRow
  reservations: ReservationRow
  blobs: BlobRow
  jobs: JobRow
  idempotency: IdempotencyRow
}
