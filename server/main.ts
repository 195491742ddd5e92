// Config → parts → app → listen; shutdown in reverse order. The clock and the process's signals are read here and nowhere else.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { readPlans } from './accounts/plans.ts'
import { app, workerApp } from './app.ts'
import { environment, readConfig, unknownSettings } from './config.ts'
import type { Config } from './config.ts'
import { systemClock } from './clock.ts'
import { jobChanges } from './convert/changes.ts'
import type { JobChanges } from './convert/changes.ts'
import { openConverters } from './convert/converters.ts'
import type { ConverterLimits } from './convert/converters.ts'
import { sweepJobs } from './convert/jobs.ts'
import { watchJobs } from './convert/watch.ts'
import { openWorker } from './convert/worker.ts'
import type { Health } from './health.ts'
import { listen } from './listen.ts'
import type { RawHandler } from './listen.ts'
import type { KeyCache } from './keys/cache.ts'
import { openLog } from './log.ts'
import type { Log } from './log.ts'
import { masterKey } from './master-key.ts'
import { openProxy } from './proxy/open.ts'
import { sweepBlobs } from './store/blobs/blobs.ts'
import type { BlobStore } from './store/blobs/blobs.ts'
import { openBlobs } from './store/blobs/open.ts'
import { enterInstance } from './store/instance.ts'
import type { Instance } from './store/instance.ts'
import { openStore } from './store/open.ts'
import type { Store } from './store/open.ts'
import { openScratch } from './store/scratch.ts'
import type { Scratch } from './store/scratch.ts'

export interface Running extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly store: Store
  /** The keys that the proxy knows; whoever changes one calls `refresh`. A process that only works has none. */
  readonly keys: KeyCache | undefined
}

export interface ServeOptions {
  /** Takes `/proxy` on the raw request. */
  proxy?: RawHandler
  /** Milliseconds since 1970; the machine's clock unless a test has another. */
  clock?: () => number
}

/** What every process has, whatever its role. */
interface Common {
  readonly config: Config
  readonly log: Log
  readonly clock: () => number
  readonly store: Store
  readonly instance: Instance
  readonly scratch: Scratch
  readonly blobs: BlobStore
  readonly changes: JobChanges
  readonly health: Health
}

/**
 * Starts the server. Disposing of it hands back the job under way, stops accepting, lets requests under way end within `shutdownTimeout`, and
 * closes everything.
 *
 * @throws SetupError with a sentence for the person at the terminal
 */
export async function serve(config: Config, log: Log, { proxy, clock = Date.now }: ServeOptions = {}): Promise<Running> {
  await using starting = new AsyncDisposableStack()
  const { server, storage } = config
  let stopping = false

  const fatal = (error: Error): void => {
    log.error('the store has failed; the process ends', error)
    process.exit(1)
  }
  const store = starting.use(await openStore({ data: storage.data, databaseUrl: storage.databaseUrl, now: clock(), onFailure: fatal }))
  const instance = starting.use(await enterInstance(store, clock, (error) => log.error('the store takes no sign of life', error)))
  const living = async (): Promise<string[]> => (await store.db.selectFrom('instances').select('id').execute()).map((row) => row.id)
  const scratch = starting.use(await openScratch(join(storage.data, 'scratch'), instance.id, living))
  const blobs = await openBlobs(storage, scratch, starting)
  await blobs.check().catch((error: unknown) => log.error('files cannot be stored for now', error))
  const sweep = async (): Promise<void> => {
    await store.run(sweepJobs, { now: clock() })
    await sweepBlobs(store, blobs, clock())
  }
  starting.use(regularly(SWEEP_EVERY, sweep, (error) => log.error('what has expired cannot be deleted', error)))
  const changes = jobChanges(store)
  const health = { troubles: async () => (stopping ? ['the server is shutting down'] : troublesOf(store, instance, blobs)) }
  const common: Common = { config, log, clock, store, instance, scratch, blobs, changes, health }

  const { handler, keys, stop } = server.role === 'worker' ? { handler: workerApp(common) } : await openWeb(common, proxy, starting)
  const listening = await listen(handler, server.host, server.port, server.headersTimeout)
  starting.defer(() => {
    stopping = true
    stop?.()
    return listening.close(server.shutdownTimeout)
  })
  if (server.role !== 'web') {
    const converters = starting.use(openConverters(convertersOf(config)))
    starting.use(openWorker({ ...common, converters, retention: config.conversion.retention }))
  }
  const running = starting.move()
  return { url: listening.url, port: listening.port, store, keys, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** How often what has expired is deleted, and what a killed process left behind. */
const SWEEP_EVERY = 60_000

/** The parts that answer requests. `stop` ends the streams that would not end by themselves. */
async function openWeb(common: Common, proxy: RawHandler | undefined, starting: AsyncDisposableStack): Promise<{ handler: RawHandler; keys: KeyCache; stop: () => void }> {
  const { config, log, clock, store, instance, changes } = common
  const { storage, conversion, accounts } = config
  const proxied = starting.use(await openProxy(config, store, masterKey(storage.masterKey, storage.data), instance.id, systemClock(clock), log))
  const converters = starting.use(openConverters(convertersOf(config)))
  const watch = starting.use(watchJobs(store, changes))
  const handler = app({ ...common, converters, watch, plans: readPlans(accounts), limits: conversion, proxied, proxy: proxy ?? proxied.handle })
  return { handler, keys: proxied.keys, stop: () => watch[Symbol.dispose]() }
}

function convertersOf({ conversion }: Config): ConverterLimits {
  return { ...conversion, atOnce: conversion.atOnce ?? availableParallelism() }
}

/** What keeps the process from working, or a part of it. */
async function troublesOf(store: Store, instance: Instance, blobs: BlobStore): Promise<string[]> {
  const [readable, storable] = await Promise.all([works(store.db.selectFrom('instances').select('id').limit(1).execute()), works(blobs.check())])
  return [...(readable && !instance.failing() ? [] : ['the store does not answer']), ...(storable ? [] : ['files cannot be stored'])]
}

function works(look: Promise<unknown>): Promise<boolean> {
  return look.then(() => true, () => false)
}

/** Does something now and then, and says when it fails. Ends with the disposable. */
function regularly(every: number, deed: () => Promise<void>, onError: (error: unknown) => void): Disposable {
  const act = (): void => void deed().catch(onError)
  act()
  const timer = setInterval(act, every).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Runs the server until SIGTERM or SIGINT; resolves when everything is closed. `over` wins over the environment. @throws SetupError */
export async function main(over: Readonly<Record<string, string>> = {}): Promise<void> {
  const env = { ...environment(process.cwd()), ...over }
  const config = readConfig(env)
  const log = openLog(config.server.logLevel)
  for (const name of unknownSettings(env)) log.warn('a setting is not known', { name })
  await using running = await serve(config, log)
  log.info('listening', { url: running.url, role: config.server.role })
  if (!isLoopback(config.server.host)) log.warn('the server can be reached from other machines; put a reverse proxy with TLS in front of it')
  process.stderr.write(`Tollmark is at ${running.url}\n`)
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
