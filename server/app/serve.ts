// Starts the server: config → dependencies → app → listen. The clock is read only here.
import { setUpBySettings, setupRequired } from '../accounts/setup.ts'
import type { Log } from '../common/log.ts'
import type { Config } from '../config/settings.ts'
import { createJobNotifications } from '../conversion/jobs/notifications.ts'
import { KeptWorkspaces } from '../conversion/kept-workspaces.ts'
import type { RequestListeners, RunningServer } from '../http1/listen.ts'
import { addConversionMetrics } from './conversion-metrics.ts'
import { listenBySettings } from './listening.ts'
import type { KeyCache } from '../keys/cache.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { openTelemetry } from '../telemetry/open.ts'
import { Readiness } from './readiness.ts'
import { NO_REQUESTS, openJobs, openWeb, type CommonDependencies, type WebParts } from './roles.ts'
import { createShutdown, type ShutdownOptions } from './shutdown.ts'
import { openStorage, type Storage } from './storage.ts'
import { createWorkerListeners, type SurfaceDependencies } from './surface.ts'
import { createWaitingListeners, openWhenReachable } from './waiting.ts'

/** A running server. Dispose it to shut down. */
export interface Running extends AsyncDisposable {
  readonly url: string
  /** The link that creates the first account; null once it exists. */
  readonly setupLink: string | null
  readonly port: number
  readonly store: Store
  /** The proxy's key cache; call `refresh` after changing a key. Undefined in a worker process. */
  readonly keys: KeyCache | undefined
  /**
   * Shuts everything down in order; see `ShutdownOptions`. Every call returns the same promise.
   */
  shutDown(options?: ShutdownOptions): Promise<void>
  /** Kills the converters and deletes scratch files, if `shutDown` takes too long. */
  abandon(): void
}

/** Options of a server besides its settings. */
export interface ServeOptions {
  /** Milliseconds since 1970. Default: the machine's clock. */
  clock?: () => number
  /**
   * Whether to start converters before the first conversion. Tests that start many servers do not.
   */
  warm?: boolean
  /** Settles when the dashboard has been built; its pages wait for that. Null if no build runs. */
  dashboardBuilt?: Promise<unknown> | null
  /**
   * Called once if the database is down: the server listens at `url`, is not ready, and retries
   * each second. `error` is the first failure.
   */
  onWaiting?: (url: string, error: unknown) => void
  /** Ends the wait for the database. */
  signal?: AbortSignal
  /** The store, if it is already being opened. */
  opening?: Promise<Store> | undefined
}

/**
 * Starts the server. Shutting it down (or disposing of it) requeues the job in progress, drains,
 * stops accepting, gives requests in progress `shutdownTimeout` to end, and closes everything.
 *
 * @throws SetupError with a sentence for the operator
 */
export async function serve(
  config: Config,
  logged: Log,
  options: ServeOptions = {},
): Promise<Running> {
  const { clock = Date.now, warm = true, dashboardBuilt = null, onWaiting, opening } = options
  await using starting = new AsyncDisposableStack()
  const { server } = config
  const { log, metrics } = await openTelemetry(config, logged, clock, starting)
  const readiness = new Readiness()
  const surface = createSurfaceDependencies(config, log, clock, metrics, readiness)
  let listening: RunningServer | undefined
  const startListening = async (listeners: RequestListeners): Promise<RunningServer> => {
    const opened = await listenBySettings(listeners, server, log, clock)
    // If the start fails from here on.
    starting.defer(() => opened.close({ graceMs: 0 }))
    return opened
  }
  const waitForStore = async (error: unknown): Promise<void> => {
    if (listening !== undefined) return
    listening = await startListening(createWaitingListeners(surface, server.role !== 'worker'))
    log.warn('the database is not reachable; the server starts when it is', {
      reason: error instanceof Error ? error.message : String(error),
    })
    onWaiting?.(listening.url, error)
  }
  const open = (opened: AsyncDisposableStack): Promise<Opened> =>
    openParts({ ...surface, config, warm, dashboardBuilt }, opened, opening)
  const isRemote = config.storage.databaseUrl?.protocol.startsWith('postgres') === true
  const parts = isRemote
    ? await openWhenReachable(open, starting, waitForStore, options.signal)
    : await open(starting)
  const { storage, web, deps } = parts
  readiness.opened(storage, web?.proxied.admission)
  const listeners = web?.listeners ?? createWorkerListeners(surface)
  if (listening === undefined) listening = await startListening(listeners)
  else listening.switchTo(listeners)
  addConnectionMetrics(metrics, listening)
  const jobs =
    server.role === 'web' ? undefined : openJobs(deps, web?.queue ?? NO_REQUESTS, starting)
  addConversionMetrics(deps, web, jobs)
  const shutDown = createShutdown({
    readiness,
    listening,
    worker: jobs?.worker,
    endStreams: web?.endStreams,
    shutdownTimeout: server.shutdownTimeout,
    opened: starting.move(),
  })
  return {
    url: listening.url,
    setupLink:
      web !== undefined && parts.needsSetup
        ? new URL(`/setup?token=${web.setup}`, server.publicUrl ?? listening.url).href
        : null,
    port: listening.port,
    store: storage.store,
    keys: web?.proxied.keys,
    shutDown,
    abandon: () => {
      for (const pool of [web?.converterPool, jobs?.converterPool])
        void pool?.[Symbol.asyncDispose]()
      storage.scratch[Symbol.dispose]()
    },
    [Symbol.asyncDispose]: () => shutDown(),
  }
}

function createSurfaceDependencies(
  { server, watch, conversion }: Config,
  log: Log,
  clock: () => number,
  metrics: Metrics,
  readiness: Readiness,
): SurfaceDependencies {
  metrics.add({
    ready: {
      help: '1 if the process can serve requests, otherwise 0.',
      read: () => Number(readiness.isReady()),
    },
    store_failing: {
      help: '1 if the database does not respond or cannot be written, otherwise 0.',
      read: () => Number(readiness.isStoreFailing()),
    },
  })
  return {
    log,
    clock,
    health: readiness,
    metrics,
    metricsToken: watch.metricsToken,
    trustProxy: server.trustProxy,
    transferIdle: conversion.transferIdle,
  }
}

/** The parts opened before the process listens, or while it waits for its database. */
interface Opened {
  readonly storage: Storage
  readonly deps: CommonDependencies
  /** Undefined in a worker process. */
  readonly web: WebParts | undefined
  /** Whether there is no account yet. */
  readonly needsSetup: boolean
}

/** Opens the storage and the parts that serve requests. */
async function openParts(
  given: SurfaceDependencies & Pick<CommonDependencies, 'config' | 'warm' | 'dashboardBuilt'>,
  opened: AsyncDisposableStack,
  opening: Promise<Store> | undefined,
): Promise<Opened> {
  const { config, log, clock } = given
  const storage = await openStorage(config, log, clock, opened, opening)
  const { store } = storage
  await setUpBySettings(store, config.accounts, clock())
  const needsSetup = await setupRequired(store)
  const deps = {
    ...given,
    ...storage,
    notifications: createJobNotifications(store),
    workspaces: opened.use(new KeptWorkspaces()),
  }
  const web = config.server.role === 'worker' ? undefined : await openWeb(deps, opened)
  return { storage, deps, web, needsSetup }
}

function addConnectionMetrics(metrics: Metrics, listening: RunningServer): void {
  metrics.add({
    connections_turned_away_total: {
      help: 'Connections and requests rejected by the limit per address.',
      read: listening.rejectedConnections,
      counts: true,
    },
  })
}
