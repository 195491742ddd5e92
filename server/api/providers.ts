// /api/v1/providers: the providers behind the proxy. Every caller sees which are ready;
// administrators add their own.
import { z } from '@hono/zod-openapi'
import { countedListOf, whole, type Api } from './api.ts'
import { fieldError, invalidFields } from '../common/errors.ts'
import { createCredential } from '../proxy/credentials/stored.ts'
import type { Proxy } from '../proxy/index.ts'
import type { Provider } from '../proxy/providers/provider.ts'
import type { Auth } from '../proxy/providers/wire-format.ts'
import {
  changeProvider,
  createProvider,
  deleteProvider,
  noSuchProvider,
  storedProviders,
  type ProviderSettings,
} from '../proxy/providers/stored.ts'
import { hostValues } from '../proxy/providers/host-patterns.ts'
import { created, done, ok, route, routes, type Route } from './route.ts'
import type { Store } from '../store/store.ts'
import { allCredentials, testCredential } from './credentials.ts'
import { Tested } from './credentials-schemas.ts'
import { healthOf } from './provider-health.ts'
import { AuthSchema, ProviderSchema, ProviderInput, ProviderChange } from './providers-schemas.ts'

type Proxied = Pick<
  Proxy,
  | 'credentials'
  | 'unreadable'
  | 'table'
  | 'configured'
  | 'refresh'
  | 'validateProvider'
  | 'master'
  | 'probe'
>

/** The routes of providers. */
export function providerRoutes(store: Store, proxied: Proxied, clock: () => number): Api {
  return routes(store, clock, [
    listRoute(store, proxied),
    createRoute(store, proxied, clock),
    changeRoute(store, proxied, clock),
    deleteRoute(store, proxied),
  ])
}

function listRoute(store: Store, proxied: Proxied): Route {
  return route({
    method: 'get',
    path: '/api/v1/providers',
    summary: 'List providers, and whether they are ready',
    access: 'manage',
    response: ok('All providers', countedListOf(ProviderSchema)),
    act: async ({ caller, now }) =>
      whole(await shownProviders(store, proxied, caller.account.role === 'admin', now)),
  })
}

function createRoute(store: Store, proxied: Proxied, clock: () => number): Route {
  return route({
    method: 'post',
    path: '/api/v1/providers',
    summary: "Add a server that speaks OpenAI's dialect, or another provider's (administrators)",
    access: 'admin',
    query: Tested,
    body: ProviderInput,
    check: (_, { id }) => [
      id !== undefined && proxied.table().byId(id)
        ? fieldError('id', 'A provider with this id already exists. Choose another id.')
        : null,
    ],
    response: created('The provider', ProviderSchema),
    problems: ['provider_not_found'],
    act: async ({ query, body: { id, auth, credential, ...plain }, now }) => {
      const { endpoints, minting, admin, ...address } = plain
      const wanted = { ...address, auth: authOf(auth), api: { endpoints, minting, admin } }
      await validate(proxied, id, wanted)
      await createProvider(store, id, wanted, now)
      const stored =
        credential &&
        (await createCredential(
          store,
          proxied.master,
          { ...credential, provider: id, values: {} },
          true,
          now,
        ))
      await proxied.refresh()
      if (stored && query.test === 'true') await testCredential(store, proxied, stored.id, clock)
      return showProvider(store, proxied, id, clock())
    },
  })
}

function changeRoute(store: Store, proxied: Proxied, clock: () => number): Route {
  return route({
    method: 'patch',
    path: '/api/v1/providers/{id}',
    summary: 'Change a provider that was added here (administrators)',
    access: 'admin',
    body: ProviderChange.body,
    response: ok('The provider', ProviderSchema),
    problems: ['provider_not_found'],
    act: async ({ params: { id }, body }) => {
      const known = (await storedProviders(store)).find((one) => one.id === id)
      if (!known) throw noSuchProvider()
      const { origin, dial, speaks, ...more } = ProviderChange.changes(
        body,
        await showProvider(store, proxied, id, clock()),
      )
      const auth = more.auth === undefined ? undefined : authOf(more.auth)
      const own = {
        endpoints: more.endpoints ?? known.endpoints ?? [],
        minting: more.minting ?? known.minting ?? [],
        admin: more.admin ?? known.admin ?? [],
      }
      await validate(proxied, id, {
        api: own,
        origin: origin ?? known.origin,
        dial: dial === undefined ? (known.dial ?? null) : dial,
        auth: auth === undefined ? (known.auth ?? null) : auth,
        speaks: speaks === undefined ? (known.speaks ?? null) : speaks,
      })
      await changeProvider(store, id, { origin, dial, speaks, auth, api: own })
      await proxied.refresh()
      return showProvider(store, proxied, id, clock())
    },
  })
}

function deleteRoute(store: Store, proxied: Proxied): Route {
  return route({
    method: 'delete',
    path: '/api/v1/providers/{id}',
    summary: 'Delete a provider that was added here, with its credentials (administrators)',
    access: 'admin',
    response: done('Deleted'),
    problems: ['provider_not_found'],
    act: async ({ params: { id } }) => {
      await deleteProvider(store, id)
      await proxied.refresh()
    },
  })
}

/**
 * Checks a provider before it is stored.
 *
 * @throws Problem `invalid_field` if the table could not use it
 */
async function validate(
  { validateProvider }: Proxied,
  id: string,
  { origin, dial, speaks, auth, api }: ProviderSettings,
): Promise<void> {
  const invalid = await validateProvider({
    id,
    origin,
    ...(dial === null ? {} : { dial }),
    ...(auth === null ? {} : { auth }),
    ...(speaks === null ? {} : { speaks }),
    ...api,
  })
  if (invalid !== null)
    throw invalidFields(invalid.faults.map(({ param, detail }) => fieldError(param, detail)))
}

/** One provider as an administrator sees it. @throws Problem `provider_not_found` */
async function showProvider(store: Store, proxied: Proxied, id: string, now: number) {
  const found = (await shownProviders(store, proxied, true, now)).find((one) => one.id === id)
  if (!found) throw noSuchProvider()
  return found
}

/**
 * All providers as the API shows them.
 *
 * @param admin whether to show upstream addresses and credentials
 */
async function shownProviders(store: Store, proxied: Proxied, admin: boolean, now: number) {
  const stored = new Map((await storedProviders(store)).map((one) => [one.id, one]))
  const credentials = await allCredentials(store, proxied, now)
  const { providers, upstreams: all } = proxied.table()
  return providers.map((provider) => {
    const mine = credentials.filter((one) => one.provider === provider.id)
    const usable = mine.filter(
      ({ status, readable, weight }) => status === 'active' && readable && weight > 0,
    )
    const upstreams = all.filter((one) => one.provider.id === provider.id)
    const dialled = upstreams.find(
      ({ origin, dial }) => dial.origin !== origin || dial.basePath !== '',
    )?.dial
    const source: z.infer<typeof ProviderSchema>['source'] = stored.has(provider.id)
      ? 'stored'
      : proxied.configured.has(provider.id)
        ? 'settings'
        : 'built_in'
    return {
      id: provider.id,
      object: 'provider' as const,
      name: provider.name,
      base: baseOf(provider, upstreams[0]?.origin),
      source,
      hosts: hostsOf(
        provider,
        upstreams.map(({ origin }) => new URL(origin).host),
      ),
      auth: { header: provider.auth.header, scheme: provider.auth.scheme ?? null },
      ready: usable.length > 0,
      ...healthOf(usable),
      speaks: stored.get(provider.id)?.speaks ?? null,
      endpoints: [...(stored.get(provider.id)?.endpoints ?? [])],
      minting: [...(stored.get(provider.id)?.minting ?? [])],
      admin: [...(stored.get(provider.id)?.admin ?? [])],
      dial: admin && dialled ? `${dialled.origin}${dialled.basePath}` : null,
      credentials: admin ? mine : null,
    }
  })
}

/**
 * The base URL for callers. An added provider has its own origin, whatever built-in provider's API
 * it speaks.
 */
function baseOf(provider: Provider, origin: string | undefined): string {
  const { base } = provider
  return origin === undefined || hostValues(provider).length > 0
    ? base
    : `${origin}${new URL(base).pathname.replace(/\/$/, '')}`
}

/** The hosts that can be called, or the patterns if none can yet. */
function hostsOf({ hosts }: Provider, known: string[]): string[] {
  return known.length > 0 ? known : [...hosts]
}

/** Omits a null scheme. */
function authOf(auth: z.infer<typeof AuthSchema> | null): Auth | null {
  return auth && { header: auth.header, ...(auth.scheme === null ? {} : { scheme: auth.scheme }) }
}
