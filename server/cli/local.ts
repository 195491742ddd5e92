// The API on the local store without a server: its routes run in this process.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { ensureAccount } from '../accounts/accounts.ts'
import { FREE, readPlans, type Plans } from '../accounts/plans.ts'
import type { Caller } from '../accounts/tokens.ts'
import { createApi, type Api } from '../api/api.ts'
import type { Config } from '../config/settings.ts'
import { Problem, SetupError } from '../common/errors.ts'
import { newId } from '../common/ids.ts'
import { openStore, sqlitePath } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import type { AccountRow } from '../store/schema.ts'
import { ApiClient, type Resource } from './client.ts'

interface LocalDependencies {
  store: Store
  config: Config
  plans: Plans
  clock: () => number
  closing: AsyncDisposableStack
}

/** A running server notices changed keys within a second. */
const NO_CACHE = { heldBy: () => 0, refresh: () => Promise.resolve() }

/** Refusals that a running server has not written yet are missing here. */
const NO_BUFFER = { flush: () => Promise.resolve() }

/** TABLE of resources and their routes, loaded when first called. */
const ROUTES: Readonly<Record<Resource, (deps: LocalDependencies) => Promise<Api>>> = {
  accounts: async ({ store, plans, clock }) => {
    const { accountRoutes } = await import('../api/accounts.ts')
    const { passwordResetRoutes } = await import('../api/password-resets.ts')
    const api = createApi()
    api.route('/', accountRoutes(store, plans, NO_CACHE, clock))
    api.route('/', passwordResetRoutes(store, plans, clock))
    return api
  },
  tokens: async ({ store, clock }) => (await import('../api/tokens.ts')).tokenRoutes(store, clock),
  keys: async ({ store, config, clock }) => {
    const { keyRoutes } = await import('../api/keys.ts')
    const { childKeyRoutes } = await import('../api/child-keys.ts')
    const { PROVIDERS } = await import('../proxy/providers/rows/index.ts')
    const { storedProviders } = await import('../proxy/providers/stored.ts')
    const all = [...PROVIDERS, ...config.customProviders, ...(await storedProviders(store))]
    const providers = [...new Set(all.map(({ id }) => id))].map((id) => ({ id }))
    const api = createApi()
    api.route('/', keyRoutes(store, { keys: NO_CACHE, table: () => ({ providers }) }, clock))
    api.route('/', childKeyRoutes(store, NO_CACHE, clock))
    return api
  },
  usage: async ({ store, clock }) => (await import('../api/usage.ts')).usageRoutes(store, clock),
  requests: async ({ store, clock }) =>
    (await import('../api/requests.ts')).requestRoutes(store, NO_BUFFER, clock),
  refusals: async ({ store, clock }) =>
    (await import('../api/refusals.ts')).refusalRoutes(store, NO_BUFFER, clock),
  credentials: async (deps) => {
    const { credentialRoutes } = await import('../api/credentials.ts')
    return credentialRoutes(deps.store, await openLocalProviders(deps), deps.clock)
  },
  providers: async (deps) => {
    const { providerRoutes } = await import('../api/providers.ts')
    return providerRoutes(deps.store, await openLocalProviders(deps), deps.clock)
  },
  jobs: async (deps) => jobRoutes(deps),
}

const isResource = (word: string): word is Resource => Object.hasOwn(ROUTES, word)

const neverTested = () => Promise.resolve(undefined)

/** The providers and their credentials. None is tested from here. */
async function openLocalProviders({ store, config }: LocalDependencies) {
  const { readMasterKey } = await import('../config/master-key.ts')
  const { openProviders } = await import('../proxy/open-providers.ts')
  const master = readMasterKey(config.storage.masterKey, config.storage.data)
  const host = {
    clock: { mono: () => performance.now() },
    log: { warn: () => {} },
    probe: neverTested,
  }
  return { ...(await openProviders(config, store, master, host)), probe: neverTested }
}

async function jobRoutes({ store, config, clock, closing }: LocalDependencies): Promise<Api> {
  const { jobRoutes } = await import('../api/jobs.ts')
  const { createJobNotifications } = await import('../conversion/jobs/notifications.ts')
  const { openJobWatcher } = await import('../conversion/jobs/job-watcher.ts')
  const { openBlobs } = await import('../store/blobs/open.ts')
  const folder = mkdtempSync(join(tmpdir(), 'tollmark-'))
  closing.defer(() => rmSync(folder, { recursive: true, force: true }))
  let files = 0
  const scratchFile = () => {
    const path = join(folder, String(files++))
    return {
      path,
      [Symbol.asyncDispose]: async () => rmSync(path, { recursive: true, force: true }),
    }
  }
  const blobs = await openBlobs(
    config.storage,
    { place: scratchFile, [Symbol.dispose]: () => {} },
    closing,
  )
  const notifications = createJobNotifications(store)
  const watcher = closing.use(openJobWatcher(store, notifications))
  return jobRoutes({ store, blobs, notifications, watcher, clock, limits: config.conversion })
}

/** What a command does if there is no store. */
export interface OpenOptions {
  /**
   * The command creates something, and with it the first account, on this plan and with this name
   * (null: a default).
   */
  creates: { plan: string; account: string | null } | null
  /** Whether to create a new store. */
  init: boolean
}

/**
 * Opens the local store.
 *
 * @param env the settings as given, which tell whether the store's place was set
 * @throws SetupError
 */
export async function openLocal(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  { creates, init }: OpenOptions,
): Promise<AsyncDisposable & { client: ApiClient; store: Store }> {
  const { storage } = config
  const path = sqlitePath(storage)
  const isConfigured = Boolean(env['TOLLMARK_DATA'] || env['DATABASE_URL'])
  if (path !== null && !existsSync(path) && !isConfigured && !init) {
    const how = creates === null ? '' : ', or create a new database here with --init'
    throw new SetupError(
      `There is no Tollmark database at ${path}. Run this in the server's folder, set TOLLMARK_DATA or ` +
        `DATABASE_URL to what the server uses, ${how === '' ? 'or ' : ''}name a running server with --url${how}.`,
    )
  }
  const closing = new AsyncDisposableStack()
  try {
    return {
      ...(await openClient(config, creates, closing)),
      [Symbol.asyncDispose]: () => closing.disposeAsync(),
    }
  } catch (error) {
    await closing.disposeAsync()
    throw error
  }
}

/** @param closing collects what must be closed, including what the first call opens */
async function openClient(
  config: Config,
  creates: OpenOptions['creates'],
  closing: AsyncDisposableStack,
): Promise<{ client: ApiClient; store: Store }> {
  const { storage } = config
  const clock = Date.now
  const store = closing.use(
    await openStore({ ...storage, now: clock(), existing: creates === null }),
  )
  const deps = { store, config, plans: readPlans(config.accounts), clock, closing }
  const caller = await findOperator(store, deps.plans, creates)
  const apis = new Map<string, Promise<Api>>()
  const origin =
    config.server.publicUrl?.origin ?? `http://${config.server.host}:${config.server.port}`
  const client = new ApiClient(true, async (path, init) => {
    const [, , , word = ''] = path.split(/[/?]/)
    if (!isResource(word)) throw new Error(`no local routes for ${path}`)
    const api =
      apis.get(word) ?? ROUTES[word](deps).then((routes) => serveLocally(routes, caller, origin))
    apis.set(word, api)
    const incoming = new IncomingMessage(new Socket())
    return (await api).fetch(new Request(`${origin}${path}`, init), {
      incoming,
      outgoing: new ServerResponse(incoming),
    })
  })
  return { client, store }
}

/**
 * Acts as the first administrator, because anyone who can read the store may do everything. Creates
 * that account if there is none.
 */
async function findOperator(
  store: Store,
  plans: Plans,
  creates: OpenOptions['creates'],
): Promise<Caller> {
  const now = Date.now()
  if (creates !== null && !plans.has(creates.plan)) {
    const names = plans.all.map(({ name }) => name).join(', ')
    throw new SetupError(
      `There is no plan "${creates.plan}". The plans are ${names}; TOLLMARK_PLANS adds others.`,
    )
  }
  const first = await store.db
    .selectFrom('accounts')
    .selectAll()
    .where('role', '=', 'admin')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  const account =
    first ??
    (creates === null
      ? undefined
      : await store.run(ensureAccount, {
          name: creates.account,
          plan: creates.plan,
          newId: newId('acc', now),
          now,
        }))
  const nobody: AccountRow = {
    id: '-',
    name: '',
    email: null,
    plan: FREE,
    role: 'admin',
    created_at: now,
    disabled: 0,
  }
  return {
    account: account?.role === 'admin' ? account : nobody,
    tokenId: null,
    sessionId: null,
    scopes: ['convert', 'manage'],
  }
}

/** Serves routes in this process, with the operator as caller. */
function serveLocally(routes: Api, operator: Caller, origin: string): Api {
  const api = createApi()
  api.use(async (c, next) => {
    c.set('operator', operator)
    c.set('requestId', '')
    c.set('client', { origin, secure: false, address: 'local' })
    c.set('transferIdle', 60_000)
    c.set('turn', () => Promise.resolve())
    await next()
  })
  api.onError((error) => {
    if (!(error instanceof Problem)) throw error
    return new Response(JSON.stringify(error.body('')), {
      status: error.status,
      headers: error.headers(),
    })
  })
  api.route('/', routes)
  return api
}
