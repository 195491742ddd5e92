// Holds what callers were told, and what the provider saw, against what is stored. Every sentence
// it returns is something lost, doubled or wrong.
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../server/store/store.ts'
import { flushJournal } from '../../server/ledger/settlement/journal.ts'
import { verifyWindows } from '../../server/ledger/reports/verify.ts'
import type { Fleet } from './fleet.ts'
import { FREE, send, type Secrets, type Told } from './load.ts'
import type { RememberingUpstream } from './upstream.ts'

/** How long jobs may take to be done when the trouble is over. */
const JOBS_MS = 300_000
/**
 * How long something may be held for a process that was killed, at most: its id may be another
 * process's by now (server/store/instance.ts).
 */
const HELD_MS = 45_000

/** Every job that was accepted ends, succeeds, and gives the document that it must. */
export async function auditJobs(
  fleet: Fleet,
  secrets: Secrets,
  told: Told,
  expected: string,
): Promise<string[]> {
  const wrong: string[] = []
  const end = Date.now() + JOBS_MS
  for (const id of told.jobs.values()) {
    let status = 'unknown'
    while (Date.now() < end) {
      const response = await send(fleet, 'GET', `/api/v1/jobs/${id}`, secrets.token)
      if (response?.status === 200)
        status = (JSON.parse(response.text) as { status: string }).status
      else if (response?.status === 404) status = 'lost'
      if (status !== 'unknown' && status !== 'queued' && status !== 'running') break
      await sleep(100)
    }
    if (status !== 'succeeded') wrong.push(`job ${id} was accepted and is ${status}`)
    else {
      const result = await send(fleet, 'GET', `/api/v1/jobs/${id}/result`, secrets.token)
      if (result === null || result.status !== 200 || hash('sha256', result.text) !== expected)
        wrong.push(`the result of job ${id} is not the document (${result?.status ?? 'broken'})`)
    }
  }
  return wrong
}

/** When no caller waits any more, nothing is held for one: no share of a quota, no key. */
export async function auditHeld(store: Store): Promise<string[]> {
  const end = Date.now() + HELD_MS
  for (;;) {
    const quota = await store.reports.selectFrom('reservations').select('id').execute()
    const keys = await store.reports
      .selectFrom('idempotency')
      .select('key')
      .where('instance_id', 'is not', null)
      .execute()
    if (quota.length === 0 && keys.length === 0) return []
    if (Date.now() > end)
      return [
        `${quota.length} conversions are reserved and ${keys.length} keys are under way although no caller waits`,
      ]
    await sleep(500)
  }
}

/** The stored rows, when every process has ended. */
export async function auditStore(
  store: Store,
  told: Told,
  upstream: RememberingUpstream,
  keys: { limited: string },
): Promise<string[]> {
  return [
    ...(await auditLedger(store, told, upstream)),
    ...(await auditWindows(store, upstream, keys)),
    ...(await auditQuota(store, told)),
    ...(await auditJobRows(store, told)),
  ]
}

/**
 * Each request that the provider received is in the ledger, once; no request was received twice;
 * none that was refused was received.
 */
async function auditLedger(
  store: Store,
  told: Told,
  upstream: RememberingUpstream,
): Promise<string[]> {
  const wrong: string[] = []
  await store.run(flushJournal, null)
  const rows = await store.reports
    .selectFrom('requests')
    .select(['model', 'state', 'status'])
    .execute()
  const byModel = Map.groupBy(rows, ({ model }) => model ?? '')
  for (const [model, times] of upstream.asked) {
    if (times > 1) wrong.push(`the provider received ${model} ${times} times`)
    const found = byModel.get(model)?.length ?? 0
    if (found !== 1)
      wrong.push(`the provider received ${model}, and the ledger has ${found} rows of it`)
  }
  for (const [model, found] of byModel)
    if (found.length > 1 && !upstream.asked.has(model))
      wrong.push(`the ledger has ${found.length} rows of ${model}`)
  for (const model of told.succeeded) {
    const [row] = byModel.get(model) ?? []
    if (!row) wrong.push(`${model} succeeded, and is not in the ledger`)
    else if (
      row.state === 'reserved' ||
      row.state === 'aborted' ||
      (row.state === 'settled' && row.status !== 200)
    )
      wrong.push(`${model} got 200, and the ledger says ${row.state} ${row.status}`)
  }
  for (const model of told.refused)
    if (upstream.asked.has(model)) wrong.push(`${model} was refused, and the provider received it`)
  const reserved = rows.filter(({ state }) => state === 'reserved').length
  if (reserved > 0) wrong.push(`${reserved} rows are under way although every process has ended`)
  return wrong
}

async function auditWindows(
  store: Store,
  upstream: RememberingUpstream,
  keys: { limited: string },
): Promise<string[]> {
  const { violations } = await verifyWindows(store)
  const limited = await store.reports
    .selectFrom('requests')
    .select('id')
    .where('key_id', '=', keys.limited)
    .execute()
  if (limited.length === 0 && upstream.asked.size > 0)
    return ['the limited key was never let through']
  return violations.map(
    ({ key_id, count, rpm }) =>
      `key ${key_id} was let through ${count} times in a minute, allowed are ${rpm}`,
  )
}

/** What was acknowledged is counted, once; what nobody knows may be counted once. */
async function auditQuota(store: Store, told: Told): Promise<string[]> {
  const rows = await store.reports
    .selectFrom('quota_days')
    .innerJoin('accounts', 'accounts.id', 'quota_days.account_id')
    .select(['accounts.name', 'used'])
    .execute()
  const used = (name: string) =>
    rows.filter((row) => row.name === name).reduce((sum, row) => sum + row.used, 0)
  const wrong: string[] = []
  const held = await store.reports.selectFrom('reservations').select('id').execute()
  if (held.length > 0)
    wrong.push(`${held.length} conversions are reserved although every process has ended`)
  if (told.free.done > FREE)
    wrong.push(`the free account had ${told.free.done} conversions, allowed are ${FREE}`)
  if (
    used('free') > FREE ||
    used('free') < told.free.done ||
    used('free') > told.free.done + told.free.unknown
  ) {
    wrong.push(
      `the free account has used ${used('free')}; ${told.free.done} were acknowledged and ${told.free.unknown} are unknown`,
    )
  }
  const done =
    [...told.uploads.values()].filter((state) => state === 'done').length + told.jobs.size
  const unknown =
    [...told.uploads.values()].filter((state) => state === null).length + told.unknownJobs.size
  if (used('chaos') < done || used('chaos') > done + unknown)
    wrong.push(
      `the account has used ${used('chaos')}; ${done} were acknowledged and ${unknown} are unknown`,
    )
  return wrong
}

/** One job for each archive, and each succeeded, also where nobody was told of it. */
async function auditJobRows(store: Store, told: Told): Promise<string[]> {
  const rows = await store.reports.selectFrom('jobs').select(['id', 'status']).execute()
  const wrong = rows
    .filter(({ status }) => status !== 'succeeded')
    .map(({ id, status }) => `job ${id} is ${status} in the end`)
  if (rows.length < told.jobs.size || rows.length > told.jobs.size + told.unknownJobs.size) {
    wrong.push(
      `there are ${rows.length} jobs; ${told.jobs.size} were acknowledged and ${told.unknownJobs.size} are unknown`,
    )
  }
  const ids = new Set(rows.map(({ id }) => id))
  for (const id of told.jobs.values())
    if (!ids.has(id)) wrong.push(`job ${id} was accepted and is gone`)
  return wrong
}

/**
 * Every stored blob has a row, every row's blob is stored, and something needs it: a job, or an
 * Idempotency-Key.
 */
export async function auditBlobs(store: Store, stored: readonly string[]): Promise<string[]> {
  const named = new Set(
    (await store.reports.selectFrom('blobs').select('id').execute()).map(({ id }) => id),
  )
  const jobs = await store.reports
    .selectFrom('jobs')
    .select(['upload_blob', 'result_blob'])
    .execute()
  const keys = await store.reports.selectFrom('idempotency').select('blob_id').execute()
  const needed = new Set(
    [
      ...jobs.flatMap((job) => [job.upload_blob, job.result_blob]),
      ...keys.map(({ blob_id }) => blob_id),
    ].filter((id) => id !== null),
  )
  const there = new Set(stored)
  return [
    ...stored.filter((id) => !named.has(id)).map((id) => `blob ${id} is stored and has no row`),
    ...[...named]
      .filter((id) => !there.has(id))
      .map((id) => `blob ${id} has a row and is not stored`),
    ...[...named]
      .filter((id) => !needed.has(id))
      .map((id) => `blob ${id} is kept and nothing needs it`),
    ...[...needed].filter((id) => !named.has(id)).map((id) => `blob ${id} is needed and gone`),
  ]
}
