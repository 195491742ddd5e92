// The chaos test: load on several processes while they, the database and the blob store are killed
// and started again; then the audit.
import { hash } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createToken, type NewToken, type Scope } from '../../server/accounts/tokens.ts'
import type { NewKey } from '../../server/keys/key-record.ts'
import { createKey } from '../../server/keys/keys.ts'
import { openStore } from '../../server/store/open.ts'
import type { Store } from '../../server/store/store.ts'
import { auditBlobs, auditHeld, auditJobs, auditStore } from './audit.ts'
import { command, startFleet, type Fleet, type Role } from './fleet.ts'
import { drive, jobArchive, nothingTold, RPM, type Secrets, type Told } from './load.ts'
import { startUpstream } from './upstream.ts'

/** What stands behind the processes, and what can be done to it. */
export interface Backing extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
  readonly roles: readonly Role[]
  /**
   * TABLE of troubles besides the killing of processes: each makes one, and resolves when it is
   * over.
   */
  readonly troubles: Readonly<Record<string, () => Promise<void>>>
  /** Troubles that cannot be made on this machine, in words. */
  readonly leftOut: readonly string[]
  /** Ids of all stored blobs. */
  blobs(): Promise<string[]>
}

export interface ChaosOptions {
  readonly seconds: number
  /** Milliseconds between one trouble and the next, on average. */
  readonly pause: number
  /** How many times longer than usual callers rest between two requests, but for jobs. */
  readonly ease?: number
  readonly seed: number
  onEvent?(sentence: string): void
}

export interface Report {
  /** What was lost, doubled or wrong; empty is what we want. */
  readonly wrong: string[]
  readonly kills: number
  readonly troubles: ReadonlyMap<string, number>
  readonly told: Told
  readonly received: number
  readonly complaints: ReadonlyMap<string, number>
}

/** A small archive is a job here, so that many jobs fit into a minute. All else is as it comes. */
const ENV = {
  TOLLMARK_ASYNC_ABOVE: '200KB',
  TOLLMARK_PLANS: '{"chaos":{"conversions_per_day":null}}',
  TOLLMARK_SHUTDOWN_TIMEOUT: '5s',
  OPENAI_API_KEY: 'sk-upstream',
}

/** Drives load for `seconds`, makes trouble all the while, and audits. */
export async function chaos(
  backing: Backing,
  { seconds, pause, ease = 1, seed, onEvent = () => {} }: ChaosOptions,
): Promise<Report> {
  await using upstream = await startUpstream()
  const env = { ...ENV, TOLLMARK_UPSTREAM_OPENAI: upstream.origin, ...backing.env }
  const { secrets, limited } = await prepare(env)
  const expected = await expectedDocument()
  await using fleet = await startFleet(backing.roles, env)
  const random = generator(seed)
  const ending = new AbortController()
  // Also where this ends with an error: the load would go on for ever.
  using over = new DisposableStack()
  over.defer(() => ending.abort())
  const told = nothingTold()
  const driving = drive(fleet, secrets, told, ease, ending.signal)
  const troubles = new Map<string, number>()
  let kills = 0
  const end = Date.now() + seconds * 1000
  // On a busy machine little happens in some seconds: then it goes on until there is something to
  // tell. It waits until all servers have started, with pauses that grow, since servers that are
  // killed as soon as they have started accept no job.
  let wait = pause
  const tells = (): boolean =>
    kills > 0 && told.succeeded.size >= TELLING.responses && told.jobs.size >= TELLING.jobs
  while (Date.now() < end || (!tells() && Date.now() < end + LONGER_MS)) {
    if (Date.now() > end) {
      wait *= 1.5
      await fleet.whole()
    }
    await sleep(wait * (0.5 + random()))
    const name = await trouble(fleet, backing, random)
    if (name.startsWith('SIGKILL')) kills++
    troubles.set(name, (troubles.get(name) ?? 0) + 1)
    onEvent(`${name}; the provider has received ${upstream.asked.size} requests`)
  }
  over.dispose()
  await driving
  await fleet.whole()
  const wrong = await auditJobs(fleet, secrets, told, expected)
  await using store = await open(env)
  wrong.push(...(await auditHeld(store)))
  await fleet.stop()

  const audit = async (): Promise<string[]> => [
    ...(await auditStore(store, told, upstream, { limited })),
    ...(await auditBlobs(store, await backing.blobs())),
  ]
  await clearUp(store, env, audit)
  wrong.push(...fleet.badEnds, ...(await audit()))
  return {
    wrong,
    kills,
    troubles,
    told,
    received: upstream.asked.size,
    complaints: fleet.complaints,
  }
}

/**
 * Runs a last process, which clears up what killed ones have left, as the next start of any does.
 */
async function clearUp(
  store: Store,
  env: Record<string, string>,
  audit: () => Promise<string[]>,
): Promise<void> {
  const left = await store.reports.selectFrom('instances').select('pid').execute()
  // The system may have given its process id to somebody else: then an instance counts as dead when
  // it has not been seen for a while.
  if (left.some(({ pid }) => existsSync(`/proc/${pid}`))) await sleep(LEASE)
  await using last = await startFleet(['all'], env)
  for (const end = Date.now() + CLEARED_MS; Date.now() < end && (await audit()).length > 0;)
    await sleep(200)
  await last.stop()
}

/**
 * Milliseconds after which an instance is taken for dead that nobody has seen
 * (server/store/instance.ts).
 */
const LEASE = 31_000

/**
 * What callers must have been told at the least; for how long it may go on for that (milliseconds).
 */
const TELLING = { responses: 50, jobs: 2 }
const LONGER_MS = 120_000

/** How long the last process may take to clear up (milliseconds). */
const CLEARED_MS = 60_000

async function trouble(fleet: Fleet, backing: Backing, random: () => number): Promise<string> {
  const others = Object.entries(backing.troubles)
  const draw = random()
  if (draw < 0.6) return fleet.restartOne('SIGKILL', Math.floor(random() * 1000))
  if (draw < 0.75 || others.length === 0)
    return fleet.restartOne('SIGTERM', Math.floor(random() * 1000))
  const [name, make] = others[Math.floor(random() * others.length)]!
  await make()
  return name
}

/** Makes the keys and tokens, before any process runs. */
async function prepare(
  env: Record<string, string>,
): Promise<{ secrets: Secrets; limited: string }> {
  await using store = await open(env)
  const now = Date.now()
  const tokenOf = async (account: string, scopes: Scope[]): Promise<NewToken> => {
    const owner = { name: account, plan: account }
    const token = { name: account, scopes, expiresAt: null }
    return (await createToken(store, owner, token, now)).token
  }
  const token = await tokenOf('chaos', ['convert', 'manage'])
  const freeToken = await tokenOf('free', ['convert'])
  const key = (rpm: number | null): Promise<NewKey> =>
    createKey(
      store,
      token.account_id,
      { name: 'chaos', models: ['chaos-*'], rpm, allowed_origins: null, expires_at: null },
      now,
    )
  const [openKey, limitedKey] = [await key(null), await key(RPM)]
  return {
    secrets: {
      token: token.secret,
      freeToken: freeToken.secret,
      openKey: openKey.secret,
      limitedKey: limitedKey.secret,
    },
    limited: limitedKey.id,
  }
}

/** SHA-256 of what the archive of the jobs becomes, by the command line. */
async function expectedDocument(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tollmark-chaos-'))
  try {
    const path = join(folder, 'Export.zip')
    writeFileSync(path, jobArchive())
    return hash('sha256', await command(['convert', path]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function open(env: Record<string, string>): Promise<Store> {
  return openStore({
    data: env['TOLLMARK_DATA']!,
    databaseUrl: env['DATABASE_URL'] === undefined ? null : new URL(env['DATABASE_URL']),
    now: Date.now(),
  })
}

/** Numbers from 0 to 1 that a seed determines (mulberry32). */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
