// TABLE of migrations, in their order. A migration that has been released never changes; the next
// change is a new row, here and in names.ts.
import { accounts } from './0001-accounts.ts'
import { quota } from './0002-quota.ts'
import { blobs } from './0003-blobs.ts'
import { keys } from './0010-keys.ts'
import { ledger } from './0011-ledger.ts'
import { credentials } from './0012-credentials.ts'
import { jobs } from './0020-jobs.ts'
import { sweeps } from './0021-sweeps.ts'
import { sessions } from './0030-sessions.ts'
import { providers } from './0031-providers.ts'
import { usageDays } from './0032-usage-days.ts'
import { requestsByModel } from './0033-requests-by-model.ts'
import { changes } from './0040-changes.ts'
import { sharedLedger } from './0041-shared-ledger.ts'
import { announcedJobs } from './0042-announced-jobs.ts'
import { endedRequests } from './0043-ended-requests.ts'
import { journal } from './0044-journal.ts'
import { keyObjects } from './0050-key-objects.ts'
import { fairJobs } from './0060-fair-jobs.ts'
import { failedRequests } from './0070-failed-requests.ts'
import { refusals } from './0071-refusals.ts'
import { upstreamErrors } from './0072-upstream-errors.ts'
import { purgedKeys } from './0073-purged-keys.ts'
import { accountEnds } from './0074-account-ends.ts'
import { credentialTests } from './0075-credential-tests.ts'
import { usageWalks } from './0076-usage-walks.ts'
import { warnings } from './0080-warnings.ts'
import { usageTotals } from './0081-usage-totals.ts'
import { usageSteps } from './0082-usage-steps.ts'
import { outages } from './0083-outages.ts'
import { upstreamRequestIds } from './0084-upstream-request-ids.ts'
import { sourceMaps } from './0085-source-maps.ts'
import { pageFlavors } from './0087-page-flavors.ts'
import { certificates } from './0088-certificates.ts'
import { childKeys } from './0090-child-keys.ts'
import { knownProcesses } from './0091-known-processes.ts'
import { openSockets } from './0092-open-sockets.ts'
import { spokenProviders } from './0093-spoken-providers.ts'
import { announcedProcesses } from './0094-announced-processes.ts'
import { admissions } from './0095-admissions.ts'
import { sealedDays } from './0096-sealed-days.ts'
import { lockWaits } from './0097-lock-waits.ts'
import { allowances } from './0098-allowances.ts'
import { ownApis } from './0099-own-apis.ts'
import { frequentVacuums } from './0100-frequent-vacuums.ts'
import { cacheAndAudioTokens } from './0101-cache-and-audio-tokens.ts'
import { hashedIds } from './0102-hashed-ids.ts'
import { oddRequests } from './0103-odd-requests.ts'
import { partitions } from './0104-partitions.ts'
import { compactIndexes } from './0105-compact-indexes.ts'
import type { Migration } from './migration.ts'

/** TABLE of migrations, the oldest first. */
export const MIGRATIONS: readonly Migration[] = [
  accounts,
  quota,
  blobs,
  keys,
  ledger,
  credentials,
  jobs,
  sweeps,
  sessions,
  providers,
  usageDays,
  requestsByModel,
  changes,
  sharedLedger,
  announcedJobs,
  endedRequests,
  journal,
  keyObjects,
  fairJobs,
  failedRequests,
  refusals,
  upstreamErrors,
  purgedKeys,
  accountEnds,
  credentialTests,
  usageWalks,
  warnings,
  usageTotals,
  usageSteps,
  outages,
  upstreamRequestIds,
  sourceMaps,
  pageFlavors,
  certificates,
  childKeys,
  knownProcesses,
  openSockets,
  spokenProviders,
  announcedProcesses,
  admissions,
  sealedDays,
  lockWaits,
  allowances,
  ownApis,
  frequentVacuums,
  cacheAndAudioTokens,
  hashedIds,
  oddRequests,
  partitions,
  compactIndexes,
]
