// Every table, as Kysely sees it: one schema for SQLite and PostgreSQL. Times are integers
// (milliseconds since 1970, UTC), ids are text, booleans are 1 and 0, JSON is text. `migrations/`
// creates these tables.
import type {
  AccountRow,
  AttemptRow,
  InvitationRow,
  PasswordResetRow,
  PasswordRow,
  SessionRow,
  TokenRow,
} from './schema/accounts.ts'
import type {
  BlobRow,
  IdempotencyRow,
  InstanceRow,
  JobRow,
  QuotaDayRow,
  ReservationRow,
} from './schema/conversions.ts'
import type { KeyRow, KeySecretRow, OpenSocketRow, SharedObjectRow } from './schema/keys.ts'
import type {
  JournalRow,
  KeyUseRow,
  RefusalMinuteRow,
  RefusalRow,
  RefusedHourRow,
  RequestPartitionRow,
  RequestRow,
  RetentionMarkRow,
  SealedDayRow,
  UpstreamErrorRow,
  UsageAccountDayRow,
  UsageAccountHourRow,
  UsageAddedRow,
  UsageDayRow,
  UsageHourRow,
  UsageKeyDayRow,
  UsageKeyRow,
} from './schema/ledger.ts'
import type {
  CredentialRow,
  CredentialTestRow,
  ObjectRow,
  ProviderRow,
} from './schema/providers.ts'

export type * from './schema/accounts.ts'
export type * from './schema/conversions.ts'
export type * from './schema/keys.ts'
export type * from './schema/ledger.ts'
export type * from './schema/providers.ts'

/** Every table by its name. */
export interface Database {
  keys: KeyRow
  key_secrets: KeySecretRow
  shared_objects: SharedObjectRow
  open_sockets: OpenSocketRow
  requests: RequestRow
  sealed_days: SealedDayRow
  retention_mark: RetentionMarkRow
  request_partitions: RequestPartitionRow
  key_uses: KeyUseRow
  upstream_errors: UpstreamErrorRow
  journal: JournalRow
  usage_hours: UsageHourRow
  usage_days: UsageDayRow
  usage_account_hours: UsageAccountHourRow
  usage_account_days: UsageAccountDayRow
  usage_keys: UsageKeyRow
  usage_key_days: UsageKeyDayRow
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
