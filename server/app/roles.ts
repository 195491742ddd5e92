// What a process opens for its role: web processes serve requests, workers run jobs.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { readPlans } from '../accounts/plans.ts'
import { setupToken } from '../accounts/setup.ts'
import { systemClock } from '../common/clock.ts'
import { readMasterKey } from '../config/master-key.ts'
import type { Config } from '../config/settings.ts'
import { openJobWatcher } from '../conversion/jobs/job-watcher.ts'
import { startWorker } from '../conversion/jobs/worker.ts'
import {
  openConverterPool,
  type ConverterLimits,
  type ConverterPool,
} from '../conversion/pool/converter-pool.ts'
import { createConversionQueue, type ConversionQueue } from '../conversion/queue.ts'
import type { ConversionDependencies } from '../conversion/run-conversion.ts'
import { createThrottle } from '../conversion/upload/throttle.ts'
import { openUploadReceiver } from '../conversion/upload/upload-receiver.ts'
import type { RequestListeners } from '../http1/listen.ts'
import { openProxy, type Proxy } from '../proxy/index.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { openDashboard } from '../web/dashboard-files.ts'
import { createApp } from './app.ts'
import type { SurfaceDependencies } from './surface.ts'

/** The folder of the built dashboard. */
const DASHBOARD = join(import.meta.dirname, '..', '..', 'dashboard', 'dist')

/** What every process depends on, whatever its role. */
export interface CommonDependencies
  extends SurfaceDependencies, Omit<ConversionDependencies, 'converterPool'> {
  config: Config
  warm: boolean
  dashboardBuilt: Promise<unknown> | null
}

/** The opened parts of a web process. */
export interface WebParts {
  listeners: RequestListeners
  /** The queue of conversions that are not jobs. */
  queue: ConversionQueue
  converterPool: ConverterPool
  proxied: Proxy
  /** The token of the setup link. */
  setup: string
  /** Ends event streams, which do not end on their own. */
  endStreams: () => void
}

/** Opens the parts that serve requests. */
export async function openWeb(
  deps: CommonDependencies,
  starting: AsyncDisposableStack,
): Promise<WebParts> {
  const { config, warm, log, clock, store, instance, notifications, metrics } = deps
  if (warm) store.warm()
  const { storage, conversion, accounts } = config
  const master = readMasterKey(storage.masterKey, storage.data)
  const proxied = starting.use(
    await openProxy(config, store, master, instance.id, systemClock(clock), log),
  )
  const converters = converterLimits(config, 0)
  const converterPool = starting.use(
    openConverterPool({ ...converters, beyond: converters.atOnce, warm }),
  )
  const queue = createConversionQueue({ atOnce: converterPool.size, queue: conversion.queue })
  const receiver = starting.use(openUploadReceiver(createThrottle(() => proxied.shares.open > 0)))
  const watch = starting.use(openJobWatcher(store, notifications))
  addMetrics(metrics, proxied)
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
    dashboard: openDashboard(DASHBOARD, deps.dashboardBuilt),
  })
  const endStreams = (): void => watch[Symbol.dispose]()
  return { listeners, proxied, queue, converterPool, setup, endStreams }
}

/** Registers the metrics of a web process; they are read when scraped. */
function addMetrics(metrics: Metrics, { shares, keys, credentials }: Proxy): void {
  metrics.add({
    proxy_open_requests: { help: 'Proxied requests in progress.', read: () => shares.open },
    proxy_held_bytes: {
      help: 'Bytes of request bodies buffered in memory.',
      read: () => shares.held,
    },
    proxy_dropped_for_places_total: {
      help: 'Unfinished requests dropped to make room for requests of other keys.',
      read: () => shares.dropped.open,
      counts: true,
    },
    proxy_dropped_for_bytes_total: {
      help: 'Unfinished requests dropped to make room for bodies of other keys.',
      read: () => shares.dropped.held,
      counts: true,
    },
    keys_stale: {
      help: '1 if changes of proxy keys cannot be read, otherwise 0.',
      read: () => Number(!keys.fresh),
    },
    credentials_resting: {
      help: 'Provider credentials that are rejected or in cool-down.',
      read: () =>
        credentials.all.filter(
          ({ id }) => credentials.rejectedFor(id) > 0 || credentials.coolingFor(id) > 0,
        ).length,
    },
  })
}

/** Opens the parts that run jobs: converters and a worker. */
export function openJobs(
  deps: CommonDependencies,
  queue: Pick<ConversionQueue, 'beginJob' | 'running'>,
  starting: AsyncDisposableStack,
) {
  const { config, warm } = deps
  // If the process also serves requests, jobs leave one processor to them.
  const spared = config.server.role === 'all' ? 1 : 0
  const converterPool = starting.use(
    openConverterPool({ ...converterLimits(config, spared), warm }),
  )
  const retentionMs = config.conversion.retention
  const ended = { succeeded: 0, failed: 0 }
  const worker = starting.use(startWorker({ ...deps, converterPool, queue, retentionMs, ended }))
  return { converterPool, worker, ended }
}

/** The conversion queue of a process whose conversions are all jobs. */
export const NO_REQUESTS: Pick<ConversionQueue, 'beginJob' | 'running'> = {
  beginJob: () => ({ [Symbol.dispose]() {} }),
  running: () => [],
}

/** @param spared processors left to other work if the number of conversions is not configured */
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
