// Config → parts → app → listen; shutdown in reverse order. The clock and the process's signals are read here and nowhere else.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { readPlans } from './accounts/plans.ts'
import { setUpBySettings, setupRequired, setupToken } from './accounts/setup.ts'
import { app } from './app.ts'
import { environment, readConfig, unknownSettings } from './config.ts'
import type { Config } from './config.ts'
import { systemClock } from './clock.ts'
import { openConverters } from './convert/converters.ts'
import { openDashboard } from './dashboard.ts'
import { listen } from './listen.ts'
import type { RawHandler } from './listen.ts'
import type { KeyCache } from './keys/cache.ts'
import { observed, openLog } from './log.ts'
import type { Log } from './log.ts'
import { masterKey } from './master-key.ts'
import { openProxy } from './proxy/open.ts'
import { sweepRegularly } from './store/blobs/blobs.ts'
import { folderBlobs } from './store/blobs/folder.ts'
import { enterInstance } from './store/instance.ts'
import { openStore } from './store/open.ts'
import type { Store } from './store/open.ts'
import { openScratch } from './store/scratch.ts'
import { openMetrics } from './watch/metrics.ts'

export interface Running extends AsyncDisposable {
  readonly url: string
  /** Where the first account gets its e-mail and password; null where it has them. */
  readonly setupLink: string | null
  readonly port: number
  readonly store: Store
  /** The keys that the proxy knows; whoever changes one calls `refresh`. */
  readonly keys: KeyCache
}

export interface ServeOptions {
  /** Takes `/proxy` on the raw request. */
  proxy?: RawHandler
  /** Milliseconds since 1970; the machine's clock unless a test has another. */
  clock?: () => number
}

/** Where the built dashboard is. */
const DASHBOARD = join(import.meta.dirname, '..', 'dashboard', 'dist')

/**
 * Starts the server. Disposing of it stops accepting, lets requests under way end within `shutdownTimeout`, and closes everything.
 *
 * @throws SetupError with a sentence for the person at the terminal
 */
export async function serve(config: Config, logged: Log, { proxy, clock = Date.now }: ServeOptions = {}): Promise<Running> {
  await using starting = new AsyncDisposableStack()
  const { server, storage, conversion } = config
  let stopping = false

  const metrics = openMetrics({
    ready: { help: '1 while the server takes requests.', read: () => Number(!stopping && !instance.failing()) },
    keys_stale: { help: '1 while changes of proxy keys cannot be read.', read: () => Number(!proxied.keys.fresh) },
    credentials_resting: { help: 'Provider credentials that rest after a failure.', read: () => proxied.credentials.all.filter(({ id }) => proxied.credentials.resting(id) > 0).length },
    conversions_running: { help: 'Steps of conversions that run.', read: () => converters.load().running },
    conversions_waiting: { help: 'Steps of conversions that wait.', read: () => converters.load().waiting },
  })
  const observers = [metrics.request]
  if (config.watch.otlpEndpoint !== null) {
    // Loaded only where it is used: it takes a fifth of a second.
    const { openTraces } = await import('./watch/traces.ts')
    const { otlpEndpoint, otlpHeaders, serviceName, traceRatio } = config.watch
    observers.push(starting.use(openTraces({ endpoint: otlpEndpoint.href, headers: otlpHeaders, serviceName, ratio: traceRatio }, clock)).request)
  }
  const log = observed(logged, observers)
  const fatal = (error: Error): void => {
    log.error('the store has failed; the process ends', error)
    process.exit(1)
  }
  const store = starting.use(await openStore({ data: storage.data, databaseUrl: storage.databaseUrl, now: clock(), onFailure: fatal }))
  const instance = starting.use(await enterInstance(store, clock, (error) => log.error('the store takes no sign of life', error)))
  const living = await store.db.selectFrom('instances').select('id').execute()
  const scratch = starting.use(openScratch(join(storage.data, 'scratch'), instance.id, living.map((row) => row.id)))
  const blobs = folderBlobs(join(storage.data, 'blobs'))
  starting.use(sweepRegularly(store, blobs, clock, (error) => log.error('expired files cannot be deleted', error)))
  const master = masterKey(storage.masterKey, storage.data)
  await setUpBySettings(store, config.accounts, clock())
  const proxied = starting.use(await openProxy(config, store, master, instance.id, systemClock(clock), log))
  const converters = starting.use(openConverters({ ...conversion, atOnce: conversion.atOnce ?? availableParallelism() }))

  const health = {
    troubles: async () => {
      if (stopping) return ['the server is shutting down']
      const readable = await store.db.selectFrom('instances').select('id').limit(1).execute().then(() => true, () => false)
      return readable && !instance.failing() ? [] : ['the store does not answer']
    },
  }
  const parts = {
    store, blobs, scratch, converters, instance, plans: readPlans(config.accounts), clock, limits: conversion, log, health, proxied, proxy: proxy ?? proxied.handle,
    metrics, metricsToken: config.watch.metricsToken, dashboard: openDashboard(DASHBOARD),
    trustProxy: server.trustProxy, setupToken: setupToken(master),
  }
  const listening = await listen(app(parts), server.host, server.port, server.headersTimeout)
  starting.defer(() => {
    stopping = true
    return listening.close(server.shutdownTimeout)
  })
  const setupLink = (await setupRequired(store)) ? `${listening.url}/setup?token=${parts.setupToken}` : null
  const running = starting.move()
  return { url: listening.url, setupLink, port: listening.port, store, keys: proxied.keys, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** Runs the server until SIGTERM or SIGINT; resolves when everything is closed. @throws SetupError */
export async function main(): Promise<void> {
  const env = environment(process.cwd())
  const config = readConfig(env)
  const log = openLog(config.server.logLevel)
  for (const name of unknownSettings(env)) log.warn('a setting is not known', { name })
  await using running = await serve(config, log)
  log.info('listening', { url: running.url })
  if (!isLoopback(config.server.host)) log.warn('the server can be reached from other machines; put a reverse proxy with TLS in front of it')
  process.stderr.write(`Tollmark is at ${running.url}\n`)
  if (running.setupLink !== null) process.stderr.write(`Open this once to make the first account:\n${running.setupLink}\n`)
  const signal = await firstSignal()
  log.info('shutting down', { signal })
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

/** Later signals are ignored: a terminal and the launcher may both send one, and the shutdown is bounded anyway. */
function firstSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => resolve(signal))
  })
}
