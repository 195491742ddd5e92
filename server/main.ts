// Starts the server: config → dependencies → app → listen; shuts down in reverse order. The only
// place that reads the clock and handles signals.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readPlans } from './accounts/plans.ts'
import {
  exitCodeOf,
  handleStopSignals,
  type StopSignal,
  type StopSignals,
} from './common/signals.ts'
import { setUpBySettings, setupRequired, setupToken } from './accounts/setup.ts'
import { createApp, createWorkerApp, type SurfaceDependencies } from './app.ts'
import { environment, readConfig, unknownSettings, type Config } from './config/settings.ts'
import { systemClock } from './common/clock.ts'
import { createJobNotifications } from './conversion/jobs/notifications.ts'
import type { ConversionDependencies } from './conversion/run-conversion.ts'
import { createConversionQueue, type ConversionQueue } from './conversion/queue.ts'
import {
  openConverterPool,
  type ConverterLimits,
  type ConverterPool,
} from './conversion/pool/converter-pool.ts'
import { sweepJobs } from './conversion/jobs/jobs.ts'
import { openUploadReceiver } from './conversion/upload/upload-receiver.ts'
import { createThrottle } from './conversion/upload/throttle.ts'
import { openJobWatcher } from './conversion/jobs/watcher.ts'
import { startWorker } from './conversion/jobs/worker.ts'
import { openDashboard } from './web/dashboard-files.ts'
import { SetupError } from './common/errors.ts'
import { openLogSink } from './common/log-sink.ts'
import { isLoopback, listen, type RequestListeners } from './http1/listen.ts'
import type { KeyCache } from './keys/cache.ts'
import { openLog, type Log } from './common/log.ts'
import { readMasterKey } from './config/master-key.ts'
import { openProxy, type Proxy } from './proxy/index.ts'
import { sweepBlobs, type BlobStore } from './store/blobs/blobs.ts'
import { openBlobs } from './store/blobs/open.ts'
import { enterInstance } from './store/instance.ts'
import { openStore, type Store } from './store/open.ts'
import { openScratch } from './store/scratch.ts'
import { transientProblem } from './store/transient-errors.ts'
import { limitThreadHeaps } from './common/thread-heaps.ts'
import { openTelemetry } from './telemetry/open.ts'

/** A running server. Dispose it to shut down. */
export interface Running extends AsyncDisposable {
  readonly url: string
  /** The link that creates the first account; null once it exists. */
  readonly setupLink: string | null
  readonly port: number
  readonly store: Store
  /**
   * The keys that the proxy knows; call `refresh` after changing one. Undefined in a worker
   * process.
   */
  readonly keys: KeyCache | undefined
  /** Ends everything in order; see `ShutdownOptions`. The same promise for every call. */
  shutDown(options?: ShutdownOptions): Promise<void>
  /** Kills the converters and deletes scratch files, for when `shutDown` takes too long. */
  abandon(): void
}

export interface ShutdownOptions {
  /** Milliseconds for which requests are still accepted while `/readyz` is 503; default 0. */
  readonly drainMs?: number
  /** Ends the drain, and destroys the connections of requests in progress. */
  readonly force?: AbortSignal
}

/** What tests set of a server besides its settings. */
export interface ServeOptions {
  /** Milliseconds since 1970. Default: the machine's clock. */
  clock?: () => number
  /**
   * Whether to start converters before the first conversion. Tests that start many servers do not.
   */
  warm?: boolean
}

/** The folder of the built dashboard. */
const DASHBOARD = join(import.meta.dirname, '..', 'dashboard', 'dist')

/** What every process needs, whatever its role. */
interface CommonDependencies
  extends SurfaceDependencies, Omit<ConversionDependencies, 'converterPool'> {
  config: Config
  warm: boolean
}

/**
 * Starts the server. Shutting it down, which disposing of it does too, hands back the job in
 * progress, drains, stops accepting, lets requests in progress end within `shutdownTimeout`, and
 * closes everything.
 *
 * @throws SetupError with a sentence for the person at the terminal
 */
export async function serve(
  config: Config,
  logged: Log,
  { clock = Date.now, warm = true }: ServeOptions = {},
): Promise<Running> {
  await using starting = new AsyncDisposableStack()
  const { server, storage } = config
  let stopping = false

  const { log, metrics } = await openTelemetry(config, logged, clock, starting)
  const fatal = (error: Error): void => {
    log.error('the store has failed; the process ends', error)
    process.exit(1)
  }
  const store = starting.use(
    await openStore({
      data: storage.data,
      databaseUrl: storage.databaseUrl,
      now: clock(),
      onFailure: fatal,
    }),
  )
  const instance = starting.use(
    await enterInstance(
      store,
      clock,
      (error) => log.error('the store takes no sign of life', error),
      server.role,
    ),
  )
  const living = async (): Promise<string[]> =>
    (await store.db.selectFrom('instances').select('id').execute()).map((row) => row.id)
  const scratch = starting.use(
    await openScratch(join(storage.data, 'scratch'), instance.id, living),
  )
  const blobs = await openBlobs(storage, scratch, starting)
  await blobs.check().catch((error: unknown) => log.error('files cannot be stored for now', error))
  const sweep = async (): Promise<void> => {
    await store.run(sweepJobs, { now: clock() })
    await sweepBlobs(store, blobs, clock())
  }
  starting.use(
    every(SWEEP_MS, sweep, (error) => log.error('what has expired cannot be deleted', error)),
  )
  const notifications = createJobNotifications(store)
  let failing = (): boolean => instance.failing()
  const look = createSharedCheck(() => healthProblems(store, failing(), blobs))
  const health = { troubles: async () => (stopping ? ['the server is shutting down'] : look()) }
  metrics.add({
    ready: {
      help: '1 if the process can serve requests, else 0.',
      read: () => Number(!stopping && !failing()),
    },
  })
  await setUpBySettings(store, config.accounts, clock())
  const shown = {
    metrics,
    metricsToken: config.watch.metricsToken,
    trustProxy: server.trustProxy,
    transferIdle: config.conversion.transferIdle,
  }
  const deps: CommonDependencies = {
    config,
    warm,
    log,
    clock,
    store,
    instance,
    scratch,
    blobs,
    notifications,
    health,
    ...shown,
  }

  const {
    listeners,
    setup,
    stop,
    proxied,
    converterPool,
    queue = NO_REQUESTS,
  } = server.role === 'worker'
    ? { listeners: createWorkerApp(deps) }
    : await openWeb(deps, starting)
  if (proxied !== undefined) failing = () => instance.failing() || proxied.failing()
  const listening = await listen(listeners, { ...server, log, clock })
  metrics.add({
    connections_turned_away_total: {
      help: 'Connections and requests rejected by the limit per address.',
      read: listening.rejectedConnections,
      counts: true,
    },
  })
  // Where the start fails from here on.
  starting.defer(() => listening.close({ graceMs: 0 }))
  const jobs = server.role === 'web' ? null : openJobs(deps, queue, starting)
  const setupLink =
    setup !== undefined && (await setupRequired(store))
      ? new URL(`/setup?token=${setup}`, server.publicUrl ?? listening.url).href
      : null
  const running = starting.move()
  const end = async ({ drainMs = 0, force }: ShutdownOptions): Promise<void> => {
    stopping = true
    listening.closeAfterResponses()
    // Another process can claim the job while this one drains.
    const handedBack = jobs?.worker[Symbol.asyncDispose]()
    await pause(drainMs, force)
    stop?.()
    const idleMs = drainMs > 0 ? IDLE_CONNECTIONS_MS : 0
    await listening.close({
      graceMs: server.shutdownTimeout,
      idleMs,
      ...(force === undefined ? {} : { force }),
    })
    await handedBack
    await running.disposeAsync()
  }
  let ending: Promise<void> | undefined
  const shutDown = (options: ShutdownOptions = {}): Promise<void> => (ending ??= end(options))
  return {
    url: listening.url,
    setupLink,
    port: listening.port,
    store,
    keys: proxied?.keys,
    shutDown,
    abandon: () => {
      for (const pool of [converterPool, jobs?.converterPool]) void pool?.[Symbol.asyncDispose]()
      scratch[Symbol.dispose]()
    },
    [Symbol.asyncDispose]: () => shutDown(),
  }
}

/**
 * How long idle connections live on after a drain (milliseconds). A balancer without health checks
 * learns from refused connections that this server is down, and uses none of them from then on.
 */
const IDLE_CONNECTIONS_MS = 1_000

/** Resolves after a time, or when `signal` aborts. */
function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return sleep(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => {})
}

/** What runs jobs. */
function openJobs(
  deps: CommonDependencies,
  queue: Pick<ConversionQueue, 'beginJob' | 'running'>,
  starting: AsyncDisposableStack,
) {
  const { config, warm } = deps
  // Where the same process answers requests, a job leaves one processor to them.
  const spared = config.server.role === 'all' ? 1 : 0
  const converterPool = starting.use(
    openConverterPool({ ...converterLimits(config, spared), warm }),
  )
  const retentionMs = config.conversion.retention
  const worker = starting.use(startWorker({ ...deps, converterPool, queue, retentionMs }))
  return { converterPool, worker }
}

/** Interval of the sweep that deletes what has expired and what killed processes left behind. */
const SWEEP_MS = 60_000

/** Where all conversions are jobs. */
const NO_REQUESTS: Pick<ConversionQueue, 'beginJob' | 'running'> = {
  beginJob: () => ({ [Symbol.dispose]() {} }),
  running: () => [],
}

interface WebParts {
  listeners: RequestListeners
  /** Conversions that are no jobs. */
  queue: ConversionQueue
  converterPool: ConverterPool
  proxied: Proxy
  /** What the link to the first account must hold. */
  setup: string
  /** Ends the streams that would not end by themselves. */
  stop: () => void
}

/** The parts that answer requests. */
async function openWeb(
  deps: CommonDependencies,
  starting: AsyncDisposableStack,
): Promise<WebParts> {
  const { config, warm, log, clock, store, instance, notifications, metrics } = deps
  const { storage, conversion, accounts } = config
  const master = readMasterKey(storage.masterKey, storage.data)
  const proxied = starting.use(
    await openProxy(config, store, master, instance.id, systemClock(clock), log),
  )
  const converterPool = starting.use(openConverterPool({ ...converterLimits(config, 0), warm }))
  const queue = createConversionQueue({ atOnce: converterPool.size, queue: conversion.queue })
  const receiver = starting.use(openUploadReceiver(createThrottle(() => proxied.shares.open > 0)))
  const watch = starting.use(openJobWatcher(store, notifications))
  const { keys, credentials } = proxied
  metrics.add({
    proxy_open_requests: { help: 'Proxied requests in progress.', read: () => proxied.shares.open },
    proxy_held_bytes: {
      help: 'Bytes of request bodies buffered in memory.',
      read: () => proxied.shares.held,
    },
    proxy_dropped_for_places_total: {
      help: 'Unfinished requests dropped to make room for requests of other keys.',
      read: () => proxied.shares.dropped.open,
      counts: true,
    },
    proxy_dropped_for_bytes_total: {
      help: 'Unfinished requests dropped to make room for bodies of other keys.',
      read: () => proxied.shares.dropped.held,
      counts: true,
    },
    keys_stale: {
      help: '1 if changes of proxy keys cannot be read, else 0.',
      read: () => Number(!keys.fresh),
    },
    credentials_resting: {
      help: 'Provider credentials in cool-down.',
      read: () => credentials.all.filter(({ id }) => credentials.coolingFor(id) > 0).length,
    },
    conversions_running: {
      help: 'Conversion steps running.',
      read: () => converterPool.load().running,
    },
    conversions_waiting: {
      help: 'Conversions and conversion steps waiting.',
      read: () => converterPool.load().waiting + queue.waiting,
    },
  })
  const setup = setupToken(master)
  const listeners = createApp({
    ...deps,
    converterPool,
    queue,
    watcher: watch,
    plans: readPlans(accounts),
    limits: conversion,
    proxied,
    setupToken: setup,
    receiver,
    dashboard: openDashboard(DASHBOARD),
  })
  return { listeners, proxied, queue, converterPool, setup, stop: () => watch[Symbol.dispose]() }
}

/**
 * @param spared processors that are left to others where nobody has said how many conversions may
 * run
 */
function converterLimits({ conversion }: Config, spared: number): ConverterLimits {
  const {
    maxEntries: entries,
    maxPage: pageBytes,
    maxPages: pagesBytes,
    maxParts: partBytes,
  } = conversion
  const archive = { entries, pageBytes, pagesBytes, partBytes }
  return {
    ...conversion,
    archive,
    atOnce: conversion.atOnce ?? Math.max(1, availableParallelism() - spared),
  }
}

/** What keeps the process, or part of it, from working. */
async function healthProblems(store: Store, failing: boolean, blobs: BlobStore): Promise<string[]> {
  const [readable, storable] = await Promise.all([
    respondsInTime(store.db.selectFrom('instances').select('id').limit(1).execute()),
    respondsInTime(blobs.check()),
  ])
  return [
    ...(readable && !failing ? [] : ['the store does not answer']),
    ...(storable ? [] : ['files cannot be stored']),
  ]
}

/**
 * Whether a check succeeds within `HEALTH_TIMEOUT_MS`: a health check must answer soon, and what
 * hangs does not work.
 */
function respondsInTime(look: Promise<unknown>): Promise<boolean> {
  const late = new Promise<boolean>((resolve) =>
    setTimeout(() => resolve(false), HEALTH_TIMEOUT_MS).unref(),
  )
  return Promise.race([
    look.then(
      () => true,
      () => false,
    ),
    late,
  ])
}

/**
 * Shares one check among all callers while it runs, so that a flood of health checks costs the
 * store one at a time.
 */
function createSharedCheck<T>(look: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined
  return () => (pending ??= look().finally(() => (pending = undefined)))
}

/** How long the store and the blobs may take to say that they are there (milliseconds). */
const HEALTH_TIMEOUT_MS = 1_500

/** Runs a task regularly, and reports when it fails. Dispose it to stop. */
function every(
  every: number,
  deed: () => Promise<void>,
  onError: (error: unknown) => void,
): Disposable {
  const act = (): void => void deed().catch(onError)
  act()
  const timer = setInterval(act, every).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/**
 * Runs the server until SIGTERM, SIGINT or SIGHUP; resolves when everything is closed. A second
 * signal ends the process at once.
 *
 * @param over settings that win over the environment
 * @param json whether what a person is told at the start is JSON, one line each
 * @throws SetupError
 */
export async function main(
  over: Readonly<Record<string, string>> = {},
  json = false,
): Promise<void> {
  const env = { ...environment(process.cwd()), ...over }
  const config = readConfig(env)
  const sink = openLogSink(1)
  process.on('exit', sink.flush)
  const log = openLog(config.server.logLevel, sink)
  for (const name of unknownSettings(env, config.customProviders))
    log.warn('a setting is not known', { name })
  limitThreadHeaps()
  const signals = handleStopSignals(() => performance.now())
  const started = serve(config, log).catch(shortError)
  const first = await Promise.race([signals.first, started])
  // Nothing has been accepted yet.
  if (typeof first === 'string') process.exit(exitCodeOf(first))
  const running = first
  log.info('listening', { url: running.url, role: config.server.role })
  if (!isLoopback(config.server.host))
    log.warn(
      'the server can be reached from other machines; put a reverse proxy with TLS in front of it',
    )
  const write = (sentence: string, fields: Record<string, string>): void =>
    void process.stderr.write(`${json ? JSON.stringify(fields) : sentence}\n`)
  write(`Tollmark is at ${running.url}`, { url: running.url })
  if (running.setupLink !== null)
    write(`Open this once to make the first account:\n${running.setupLink}`, {
      setup_url: running.setupLink,
    })
  await shutDownOn(signals, running, config, log)
}

/** The store may go away during startup: no bug, so no stack. */
function shortError(error: unknown): never {
  const trouble = transientProblem(error)
  throw trouble
    ? new SetupError(`The server cannot start. ${trouble.detail}`, { cause: error })
    : error
}

/**
 * What settling the ledger, handing back a job and closing the store may take once the requests
 * have ended, and once a second signal has come (milliseconds).
 */
const CLOSE_MS = 3_000
const FORCED_CLOSE_MS = 1_000

/**
 * Shuts down at the first signal. Whatever a part does, the process ends within the drain, the
 * shutdown timeout and `CLOSE_MS`; after a second signal within `FORCED_CLOSE_MS`.
 */
async function shutDownOn(
  { first, second }: StopSignals,
  running: Running,
  config: Config,
  log: Log,
): Promise<void> {
  const signal = await first
  const drainMs = signal === 'SIGTERM' ? drainOf(config) : 0
  log.info('shutting down', { signal, drain_ms: drainMs })
  const finish = (code: number): void => {
    log.error(
      'the shutdown took too long',
      new Error('some requests or jobs may not be recorded as ended'),
    )
    running.abandon()
    process.exit(code)
  }
  // The stop was asked for and happens, so a supervisor need not be told of a failure.
  setTimeout(() => finish(0), drainMs + config.server.shutdownTimeout + CLOSE_MS)
  const forced = (): void => {
    log.warn('ending at once', { signal: String(second.reason) })
    setTimeout(() => finish(exitCodeOf(second.reason as StopSignal)), FORCED_CLOSE_MS)
  }
  second.addEventListener('abort', forced)
  if (second.aborted) forced()
  await running.shutDown({ drainMs, force: second })
  // Whatever a library has left open.
  process.exit(second.aborted ? exitCodeOf(second.reason as StopSignal) : 0)
}

/** Milliseconds between SIGTERM and the end of accepting. */
function drainOf({ server, storage }: Config): number {
  const isBalanced =
    server.role !== 'worker' && storage.databaseUrl?.protocol.startsWith('postgres')
  return server.drain ?? (isBalanced === true ? BALANCED_DRAIN_MS : 0)
}

/** Longer than twice the health interval of deploy/Caddyfile. */
const BALANCED_DRAIN_MS = 5_000
