// The providers and their credentials from the settings and the store, shared by the proxy and the
// management API.
import type { Clock } from '../common/clock.ts'
import type { Config } from '../config/settings.ts'
import { SetupError } from '../common/errors.ts'
import type { Log } from '../common/log.ts'
import type { Store } from '../store/store.ts'
import { createCredentialPool, type Credential, type CredentialPool } from './credentials/pool.ts'
import { credentialsVersion, openCredentials } from './credentials/stored.ts'
import type { CustomProvider } from './providers/provider.ts'
import { storedProviders } from './providers/stored.ts'
import { createProviderTable, type ProviderTable, type TableSettings } from './providers/table.ts'
import { InvalidProvider } from './providers/added-provider.ts'

/** The providers and credentials of a process. */
export interface Providers {
  readonly credentials: CredentialPool
  /** Ids of the stored credentials that the master key cannot decrypt, which are not used. */
  unreadable(): ReadonlySet<string>
  /** The current provider table. */
  table(): ProviderTable
  /** The same, for a reader that asks with each request. */
  readonly current: { readonly table: ProviderTable }
  /** Ids of the providers that the settings add or change. */
  readonly configured: ReadonlySet<string>
  readonly master: Buffer
  /** Reads changed credentials and providers now. */
  refresh(): Promise<void>
  /**
   * Why the table could not contain this stored provider in addition to (or in place of) the
   * others; null if it could.
   */
  validateProvider(provider: CustomProvider): Promise<InvalidProvider | null>
}

interface ProviderDeps {
  clock: Pick<Clock, 'mono'>
  log: Pick<Log, 'warn'>
  /** Makes a test call with a credential. */
  probe: (credential: Credential) => Promise<unknown>
}

/**
 * Reads the providers and their credentials from the settings and the store; `refresh` reads them
 * again.
 */
export async function openProviders(
  config: Config,
  store: Store,
  master: Buffer,
  { clock, log, probe }: ProviderDeps,
): Promise<Providers> {
  const pool = createCredentialPool(() => clock.mono(), probe)
  const fromEnvironment = environmentCredentials(config)
  const base = tableInput(config)
  const current = { table: buildTable(base, fromEnvironment) }
  let unreadable: ReadonlySet<string> = new Set()
  let version = ''

  const load = async (): Promise<void> => {
    const added = await storedProviders(store)
    const now = `${await credentialsVersion(store)} ${JSON.stringify(added)}`
    if (now === version) return
    const { usable, ...rest } = await openCredentials(store, master)
    unreadable = new Set(rest.unreadable)
    for (const id of unreadable)
      log.warn('A stored credential cannot be opened with this master key.', { credential: id })
    const all = [...fromEnvironment, ...usable]
    pool.replace(all)
    // A stored provider that conflicts with the settings of this process is left out; all others
    // are served.
    let fitting = base
    for (const provider of added) {
      const more = { ...fitting, custom: [...fitting.custom, provider] }
      const wrong = validate(more, all)
      if (wrong === null) fitting = more
      else
        log.warn('A stored provider cannot be used.', {
          provider: provider.id,
          reason: wrong.message,
        })
    }
    current.table = buildTable(fitting, all)
    version = now
  }
  // One read at a time, so that an older result never replaces a newer one.
  let looks = load()
  const refresh = (): Promise<void> => (looks = looks.catch(() => {}).then(load))
  await looks
  return {
    credentials: pool,
    unreadable: () => unreadable,
    current,
    table: () => current.table,
    configured: new Set(config.customProviders.map(({ id }) => id)),
    master,
    refresh,
    validateProvider: async (provider) => {
      const others = (await storedProviders(store)).filter(({ id }) => id !== provider.id)
      return validate({ ...base, custom: [...base.custom, ...others, provider] }, pool.all)
    },
  }
}

type TableInput = Required<Pick<TableSettings, 'overrides' | 'custom'>>

function tableInput({ upstreams, customProviders }: Config): TableInput {
  const overrides = Object.fromEntries(
    Object.entries(upstreams).flatMap(([id, url]) => (url === null ? [] : [[id, url.href]])),
  )
  return { overrides, custom: customProviders }
}

/** Why these settings give no table; null if they do. */
function validate(base: TableInput, credentials: readonly Credential[]): InvalidProvider | null {
  try {
    buildTable(base, credentials)
    return null
  } catch (error) {
    if (error instanceof SetupError && error.cause instanceof InvalidProvider) return error.cause
    throw error
  }
}

function buildTable(base: TableInput, credentials: readonly Credential[]): ProviderTable {
  try {
    return createProviderTable({
      ...base,
      instances: credentials.filter(({ values }) => Object.keys(values).length > 0),
    })
  } catch (error) {
    throw new SetupError(
      error instanceof Error ? error.message : 'The providers cannot be set up.',
      { cause: error },
    )
  }
}

/** The credentials from the environment. */
function environmentCredentials({ credentials, proxy, customProviders }: Config): Credential[] {
  const values: Record<string, Record<string, string>> = {
    azure: proxy.azureResource === null ? {} : { resource: proxy.azureResource },
    bedrock: proxy.bedrockRegion === null ? {} : { region: proxy.bedrockRegion },
  }
  const found = new Map<string, string>()
  for (const [id, secret] of Object.entries(credentials)) if (secret !== null) found.set(id, secret)
  for (const { id, secret } of customProviders) if (secret !== null) found.set(id, secret)
  return [...found].map(([provider, secret]) => ({
    id: `env_${provider}`,
    provider,
    secret,
    values: values[provider] ?? {},
    weight: 1,
  }))
}
