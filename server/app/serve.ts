// Starts the server: config → dependencies → app → listen. The only place that reads the clock.
import { setUpBySettings, setupRequired } from '../accounts/setup.ts'
import type { Log } from '../common/log.ts'
import type { Config } from '../config/settings.ts'
import { createJobNotifications } from '../conversion/jobs/notifications.ts'
import { KeptWorkspaces } from '../conversion/kept-workspaces.ts'
import { listen } from '../http1/listen.ts'
import type { KeyCache } from '../keys/cache.ts'
import type { Store } from '../store/open.ts'
import { openTelemetry } from '../telemetry/open.ts'
import { Readiness } from './health.ts'
import { NO_REQUESTS, openJobs, openWeb, type CommonDependencies } from './roles.ts'
import { createShutdown, type ShutdownOptions } from './shutdown.ts'
import { openStorage } from './storage.ts'
import { createWorkerListeners } from './surface.ts'

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

/** What tests set of a server besides its settings. */
export interface ServeOptions {
  /** Milliseconds since 1970. Default: the machine's clock. */
  clock?: () => number
  /**
   * Whether to start converters before the first conversion. Tests that start many servers do not.
   */
  warm?: boolean
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
  const { server, conversion } = config
  const { log, metrics } = await openTelemetry(config, logged, clock, starting)
  const storage = await openStorage(config, log, clock, starting)
  const { store, instance, scratch } = storage
  const notifications = createJobNotifications(store)
  const readiness = new Readiness(store, storage.blobs)
  readiness.watch(() => instance.failing())
  metrics.add({
    ready: {
      help: '1 if the process can serve requests, else 0.',
      read: () => Number(readiness.isReady()),
    },
  })
  await setUpBySettings(store, config.accounts, clock())
  const deps: CommonDependencies = {
    config,
    warm,
    log,
    clock,
    ...storage,
    notifications,
    workspaces: starting.use(new KeptWorkspaces()),
    health: readiness,
    metrics,
    metricsToken: config.watch.metricsToken,
    trustProxy: server.trustProxy,
    transferIdle: conversion.transferIdle,
  }

  const web = server.role === 'worker' ? undefined : await openWeb(deps, starting)
  if (web !== undefined) readiness.watch(() => web.proxied.failing())
  const listeners = web?.listeners ?? createWorkerListeners(deps)
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
  const jobs =
    server.role === 'web' ? undefined : openJobs(deps, web?.queue ?? NO_REQUESTS, starting)
  const setupLink =
    web !== undefined && (await setupRequired(store))
      ? new URL(`/setup?token=${web.setup}`, server.publicUrl ?? listening.url).href
      : null
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
    setupLink,
    port: listening.port,
    store,
    keys: web?.proxied.keys,
    shutDown,
    abandon: () => {
      for (const pool of [web?.converterPool, jobs?.converterPool])
        void pool?.[Symbol.asyncDispose]()
      scratch[Symbol.dispose]()
    },
    [Symbol.asyncDispose]: () => shutDown(),
  }
}
