// Assembles the proxy from the settings and the store.
import { readOrigin } from '../common/client-info.ts'
import type { Clock } from '../common/clock.ts'
import type { Config } from '../config/settings.ts'
import type { HttpExchange } from '../http1/exchange.ts'
import { valueOf } from '../http1/header-fields.ts'
import { openKeyCache, type KeyCache } from '../keys/cache.ts'
import { openLedger, type Ledger } from '../ledger/ledger.ts'
import { openRefusalLog, type RefusalLog } from '../ledger/refusals/refusal-log.ts'
import { startMaintenance } from '../ledger/retention/maintenance.ts'
import type { Log } from '../common/log.ts'
import type { Store } from '../store/store.ts'
import { outageFolder } from '../store/persistent-folder.ts'
import type { Credential } from './credentials/pool.ts'
import { recentFailures } from './credentials/recent-failures.ts'
import { InspectionQueue } from './inspect/scheduler.ts'
import { createProxy, type ProxyHandler, type ProxyLimits } from './pipeline.ts'
import { createTurns, TurnBudget } from '../common/fairness/turn-budget.ts'
import { Minter } from './minting/handle-mint.ts'
import { openObjectOwners } from './objects/objects.ts'
import { HandshakePace } from './socket/handshake-pace.ts'
import { OpenSockets } from './socket/open-sockets.ts'
import { SocketPublisher } from './socket/publish-sockets.ts'
import { openProviders, type Providers } from './open-providers.ts'
import { probe, type Probe } from './credentials/probe.ts'
import { createHttpClient, type HttpClient } from '../http1/client/client.ts'
import { createRouteCache } from './find-route.ts'

/**
 * The proxy of a process, with the parts that the API and shutdown need. Dispose of it at shutdown.
 */
export interface Proxy extends AsyncDisposable, Omit<Providers, 'current'> {
  handle(exchange: HttpExchange): void
  /** Usage of the shared resources. */
  readonly shares: ProxyHandler['shares']
  /** The open sockets of this process, and their publication to other processes. */
  readonly sockets: OpenSockets
  readonly publisher: SocketPublisher
  /** Whether requests can be admitted. */
  readonly admission: Pick<Ledger, 'failing' | 'admitsAlone' | 'canAdmitAlone'>
  readonly refusals: RefusalLog
  readonly keys: KeyCache
  /** Tests a credential, including one from the environment; undefined for an unknown id. */
  probe(credentialId: string): Promise<Probe | undefined>
}

/** Makes a test call with a credential. */
type ProbeCredential = (credential: Credential) => Promise<Probe>

/** Interval of polling for changed credentials, in addition to notifications. */
const REFRESH_MS = 500

/**
 * Opens everything that proxied requests need.
 *
 * @param master the key that encrypts stored credentials
 * @param instance id of this process among the instances of the store
 * @throws SetupError with a sentence for the person at the terminal
 */
export async function openProxy(
  config: Config,
  store: Store,
  master: Buffer,
  instance: string,
  clock: Clock,
  log: Log,
): Promise<Proxy> {
  const stopping = new AbortController()
  const probeCredential: ProbeCredential = (credential) =>
    probe({ table: table(), routes, client, credentials, stopped: stopping.signal }, credential)
  const deps = { clock, log, probe: probeCredential }
  const providers = await openProviders(config, store, master, deps)
  const { current, table, credentials, refresh } = providers
  for (const [id, { at, ...failure }] of await recentFailures(store))
    credentials.restore(id, { ...failure, ago: Math.max(0, clock.now() - at) })

  await using resources = new AsyncDisposableStack()
  keepFresh(resources, store, refresh, log)
  const keys = resources.use(
    await openKeyCache(store, (error) =>
      log.error('Keys cannot be read; known keys keep working.', error),
    ),
  )
  const client = openClient(config.proxy, clock)
  resources.defer(() => client.close())
  resources.defer(() => stopping.abort())
  const { ledger, refusals } = await openRecords(resources, config, store, instance, clock, log)
  const routes = createRouteCache(current)
  const { sockets, publisher } = openSockets(resources, store, instance, log)
  const proxy = createProxy({
    originOf: originReader(config.server),
    keys,
    routes,
    ledger,
    credentials,
    objects: openObjectOwners(store, (error) =>
      log.error('An object that a provider made for a key could not be recorded.', error),
    ),
    client,
    minter: new Minter(store, keys, () => clock.now()),
    inspectionQueue: new InspectionQueue(() => clock.mono()),
    sockets,
    handshakes: new HandshakePace(() => clock.mono()),
    turns: new TurnBudget(1),
    refusalLog: refusals,
    clock,
    log,
    limits: limitsOf(config.proxy),
  })
  const ownedResources = resources.move()
  return {
    ...proxy,
    ...providers,
    admission: ledger,
    refusals,
    keys,
    sockets,
    publisher,
    probe: (id) => probeById(id, providers, probeCredential),
    [Symbol.asyncDispose]: () => ownedResources.disposeAsync(),
  }
}

/** Opens the ledger, its maintenance, and the log of refusals. */
async function openRecords(
  resources: AsyncDisposableStack,
  config: Config,
  store: Store,
  instance: string,
  clock: Clock,
  log: Log,
): Promise<{ ledger: Ledger; refusals: RefusalLog }> {
  const ledger = resources.use(
    await openLedger(store, instance, clock, log, {
      maxOutage: config.ledger.storeGrace,
      folder: await outageFolder(config.storage.data, config.storage.dataPersistent),
    }),
  )
  resources.use(
    startMaintenance(
      store,
      () => clock.now(),
      config.ledger.retention,
      (error) =>
        log.error(
          'Hours cannot be added to the roll-ups by day, or old requests not deleted.',
          error,
        ),
    ),
  )
  const refusals = resources.use(
    openRefusalLog(store, (error) => log.error('Refused requests cannot be written.', error)),
  )
  return { ledger, refusals }
}

/** The sockets of this process, and the publisher that lists them for other processes. */
function openSockets(
  resources: AsyncDisposableStack,
  store: Store,
  instance: string,
  log: Log,
): { sockets: OpenSockets; publisher: SocketPublisher } {
  const sockets = resources.use(new OpenSockets())
  const publisher = resources.use(
    new SocketPublisher(store, instance, sockets, (error) =>
      log.error('Open sockets cannot be written; other processes do not see them.', error),
    ),
  )
  return { sockets, publisher }
}

/** Reloads stored credentials and providers when they change, and twice a second. */
function keepFresh(
  resources: AsyncDisposableStack,
  store: Store,
  refresh: () => Promise<void>,
  log: Log,
): void {
  const refreshInBackground = () =>
    void refresh().catch((error: unknown) =>
      log.error('Stored credentials and providers cannot be read.', error),
    )
  const timer = setInterval(refreshInBackground, REFRESH_MS).unref()
  resources.defer(() => clearInterval(timer))
  resources.defer(store.onChange(refreshInBackground))
}

const openClient = (settings: Config['proxy'], clock: Clock): HttpClient =>
  createHttpClient(
    {
      connect: settings.connectTimeout,
      firstByte: settings.firstByteTimeout,
      idle: settings.idleTimeout,
      keepAlive: settings.keepAlive,
      maxIdlePerDestination: 256,
    },
    () => clock.mono(),
    createTurns,
  )

const limitsOf = (settings: Config['proxy']): ProxyLimits => ({
  body: Math.min(settings.maxBody, settings.maxHeld),
  still: settings.firstByteTimeout,
  grace: settings.bodyGrace,
  idle: settings.idleTimeout,
  open: settings.maxOpen,
  held: settings.maxHeld,
})

async function probeById(
  id: string,
  { credentials, unreadable }: Providers,
  probeCredential: ProbeCredential,
): Promise<Probe | undefined> {
  if (unreadable().has(id))
    return {
      ok: false,
      status: null,
      detail:
        'The master key of this server cannot decrypt this credential. Restore the key that it was stored with, or store the credential again.',
    }
  const credential = credentials.all.find((one) => one.id === id)
  return credential && probeCredential(credential)
}

/** Returns a function that gives the origin by which a caller reached us. */
function originReader({
  trustProxy,
  publicUrl,
}: Config['server']): (headers: readonly string[]) => string {
  return (headers) =>
    publicOrigin(
      readOrigin((name) => valueOf(headers, name), trustProxy),
      publicUrl,
    )
}

/**
 * The origin by which a caller reached us. A TLS proxy that is not configured as trusted changes
 * the scheme; the public address has the right one.
 */
function publicOrigin(origin: string, publicUrl: URL | null): string {
  return publicUrl !== null && origin.endsWith(`//${publicUrl.host}`) ? publicUrl.origin : origin
}
