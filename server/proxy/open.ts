// Puts the proxy together from the settings and the store.
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import { SetupError } from '../errors.ts'
import type { Caller } from '../http/caller.ts'
import { openKeyCache, type KeyCache } from '../keys/cache.ts'
import { openLedger } from '../ledger/admit.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/open.ts'
import { createPool, type Credential, type CredentialPool } from './credentials.ts'
import { credentialsVersion, openCredentials } from './credentials/stored.ts'
import { createProxy } from './handler.ts'
import { openObjects } from './objects.ts'
import { createProviderTable, type ProviderTable } from './providers/table.ts'
import { createUpstream } from './upstream.ts'

export interface Proxy extends AsyncDisposable {
  handle(caller: Caller): void
  /** Requests under way. */
  open(): number
  readonly keys: KeyCache
  readonly credentials: CredentialPool
  /** The provider table as it is now. */
  table(): ProviderTable
  readonly master: Buffer
  /** Looks for changed credentials now; `keys.refresh` does the same for keys. */
  refreshCredentials(): Promise<void>
}

/** How often it is looked for changed credentials besides being told. */
const LOOK_MS = 500

/**
 * Opens everything that proxied requests need.
 *
 * @param master the key that seals stored credentials
 * @param instance id of this process among the instances of the store
 * @throws SetupError with a sentence for the person at the terminal
 */
export async function openProxy(config: Config, store: Store, master: Buffer, instance: string, clock: Clock, log: Log): Promise<Proxy> {
  const { proxy: settings } = config
  const pool = createPool(() => clock.mono())
  const fixed = credentialsOf(config)
  const given = settingsOf(config)
  let table = buildTable(given, fixed)
  let version = ''

  const refreshCredentials = async (): Promise<void> => {
    const now = await credentialsVersion(store)
    if (now === version) return
    const { usable, unreadable } = await openCredentials(store, master)
    for (const id of unreadable) log.warn('A stored credential cannot be opened with this master key.', { credential: id })
    const all = [...fixed, ...usable]
    pool.use(all)
    table = buildTable(given, all)
    version = now
  }
  await refreshCredentials()

  await using opening = new AsyncDisposableStack()
  const look = () => void refreshCredentials().catch((error: unknown) => log.error('Stored credentials cannot be read.', error))
  const timer = setInterval(look, LOOK_MS).unref()
  opening.defer(() => clearInterval(timer))
  opening.defer(store.onChange(look))
  const keys = opening.use(await openKeyCache(store, (error) => log.error('Keys cannot be read; those that are known go on working.', error)))
  const upstream = createUpstream(
    { connect: settings.connectTimeout, firstByte: settings.firstByteTimeout, idle: settings.idleTimeout, keepAlive: settings.keepAlive, idlePerDial: 256 },
    () => clock.mono(),
  )
  opening.defer(() => upstream.close())
  const ledger = opening.use(await openLedger(store, instance, clock, log))
  const objects = openObjects(store, (error) => log.error('An object that a provider made for a key could not be noted.', error))
  const proxy = createProxy({
    table: () => table, keys, ledger, credentials: pool, objects, upstream, clock, log, limits: { body: settings.maxBody, open: settings.maxOpen },
  })
  const opened = opening.move()
  return { ...proxy, keys, credentials: pool, table: () => table, master, refreshCredentials, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

type Given = Pick<NonNullable<Parameters<typeof createProviderTable>[0]>, 'overrides' | 'custom'>

function settingsOf({ upstreams, customProviders }: Config): Given {
  const overrides = Object.fromEntries(Object.entries(upstreams).flatMap(([id, url]) => (url === null ? [] : [[id, url.href]])))
  return { overrides, custom: customProviders }
}

function buildTable(given: Given, credentials: readonly Credential[]): ProviderTable {
  try {
    return createProviderTable({ ...given, instances: credentials.filter(({ values }) => Object.keys(values).length > 0) })
  } catch (error) {
    throw new SetupError(error instanceof Error ? error.message : 'The providers cannot be set up.', { cause: error })
  }
}

/** The credentials that the environment holds. */
function credentialsOf({ credentials, proxy, customProviders }: Config): Credential[] {
  const values: Record<string, Record<string, string>> = {
    azure: proxy.azureResource === null ? {} : { resource: proxy.azureResource },
    bedrock: proxy.bedrockRegion === null ? {} : { region: proxy.bedrockRegion },
  }
  const found = new Map<string, string>()
  for (const [id, secret] of Object.entries(credentials)) if (secret !== null) found.set(id, secret)
  for (const { id, secret } of customProviders) if (secret !== null) found.set(id, secret)
  return [...found].map(([provider, secret]) => ({ id: `env_${provider}`, provider, secret, values: values[provider] ?? {}, weight: 1 }))
}
