// /api/v1/providers: who can be called through the proxy. Everybody sees which are ready;
// administrators add their own.
import { z } from '@hono/zod-openapi'
import { countedListOf, whole, type Api } from './api.ts'
import { fieldError, invalidField } from '../common/errors.ts'
import { createCredential } from '../proxy/credentials/stored.ts'
import type { Proxy } from '../proxy/index.ts'
import type { Auth, Provider } from '../proxy/providers/provider.ts'
import {
  changeProvider,
  createProvider,
  deleteProvider,
  noSuchProvider,
  storedProviders,
  type ProviderWishes,
} from '../proxy/providers/stored.ts'
import { hostValues } from '../proxy/providers/table.ts'
import { patchOf } from './request/patch.ts'
import { strictObject } from './request/strict.ts'
import { created, done, ok, route, routes } from './route.ts'
import type { Store } from '../store/open.ts'
import {
  CredentialSchema,
  LastErrorSchema,
  Tested,
  allCredentials,
  secret,
  testCredential,
  weight,
} from './credentials.ts'
import { Name } from './schemas.ts'
import { HEALTH, healthOf } from './provider-health.ts'

const AuthSchema = strictObject({
  header: z.string().max(100),
  scheme: z
    .string()
    .max(100)
    .nullable()
    .default(null)
    .openapi({ description: 'What stands before the credential: `Bearer`; null means nothing.' }),
})

const ProviderSchema = z
  .object({
    id: z.string(),
    object: z.literal('provider'),
    name: z.string(),
    source: z
      .enum(['built_in', 'settings', 'stored'])
      .openapi({ description: 'Where it comes from; only stored ones are changed here.' }),
    base: z.string().openapi({
      description: 'The address that callers use: an origin and the usual first path.',
    }),
    hosts: z.array(z.string()).openapi({
      description: 'Hosts that callers may use. `{…}` stands for a value of a credential.',
    }),
    auth: z.object({ header: z.string(), scheme: z.string().nullable() }),
    ready: z.boolean().openapi({ description: 'Whether there is a credential to use.' }),
    health: z.enum(HEALTH).openapi({
      description:
        'What the last calls showed, in this process. `failing`: no credential works, or the provider cannot be reached. `degraded`: some do not, or the provider was limited or in trouble. `no_credential`: requests are answered 502 `upstream_credential_missing`.',
    }),
    last_error: LastErrorSchema,
    dial: z
      .string()
      .nullable()
      .openapi({ description: 'Where the proxy connects instead; administrators only.' }),
    credentials: z
      .array(CredentialSchema)
      .nullable()
      .openapi({ description: 'With their health; administrators only.' }),
  })
  .openapi('Provider')

const inputFields = {
  origin: z.string().max(300).openapi({
    description: 'The address that callers use: https://host or https://host:port.',
    example: 'https://llm.example.com',
  }),
  dial: z
    .url({ protocol: /^https?$/, error: 'Must be an address such as http://10.0.0.5:8000/v1.' })
    .max(300)
    .nullable()
    .openapi({
      description:
        'Where the proxy connects instead, with a path if needed. Only an address given here may be private.',
    }),
  auth: AuthSchema.nullable().openapi({
    description: '`Authorization: Bearer …` where it is null.',
  }),
}
const id = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    'Must be 1 to 64 lower-case letters, digits, hyphens and underscores, and begin with a letter or a digit.',
  )
const Wanted = strictObject({
  id,
  origin: inputFields.origin,
  dial: inputFields.dial.default(null),
  auth: inputFields.auth.default(null),
  credential: strictObject({ name: Name.default('default'), secret, weight: weight.default(1) })
    .nullable()
    .default(null)
    .openapi({ description: 'Its first credential.' }),
})
const Change = patchOf(ProviderSchema, inputFields, [
  'ready',
  'health',
  'last_error',
  'credentials',
])

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
  const showOne = async (id: string) => {
    const found = (await shownProviders(store, proxied, true, clock())).find((one) => one.id === id)
    if (!found) throw noSuchProvider()
    return found
  }
  /** @throws Problem `invalid_field` for what the table could not hold, before it is stored */
  const check = async (id: string, { origin, dial, auth }: ProviderWishes) => {
    const fault = await proxied.validateProvider({
      id,
      origin,
      ...(dial === null ? {} : { dial }),
      ...(auth === null ? {} : { auth }),
    })
    if (fault !== null) throw invalidField(fault.param, fault.detail)
  }

  return routes(store, clock, [
    route({
      method: 'get',
      path: '/api/v1/providers',
      summary: 'List providers, and whether they are ready',
      access: 'manage',
      answer: ok('All providers', countedListOf(ProviderSchema)),
      act: async ({ caller, now }) =>
        whole(await shownProviders(store, proxied, caller.account.role === 'admin', now)),
    }),
    route({
      method: 'post',
      path: '/api/v1/providers',
      summary: "Add a server that speaks OpenAI's dialect (administrators)",
      access: 'admin',
      query: Tested,
      body: Wanted,
      check: (_, { id }) => [
        id !== undefined && proxied.table().byId(id)
          ? fieldError('id', 'A provider with this id already exists. Choose another id.')
          : null,
      ],
      answer: created('The provider', ProviderSchema),
      problems: ['provider_not_found'],
      act: async ({ query, body: { id, auth, credential, ...plain }, now }) => {
        const wanted = { ...plain, auth: authOf(auth) }
        await check(id, wanted)
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
        return showOne(id)
      },
    }),
    route({
      method: 'patch',
      path: '/api/v1/providers/{id}',
      summary: 'Change a provider that was added here (administrators)',
      access: 'admin',
      body: Change.body,
      answer: ok('The provider', ProviderSchema),
      problems: ['provider_not_found'],
      act: async ({ params: { id }, body }) => {
        const known = (await storedProviders(store)).find((one) => one.id === id)
        if (!known) throw noSuchProvider()
        const { origin, dial, ...more } = Change.changes(body, await showOne(id))
        const auth = more.auth === undefined ? undefined : authOf(more.auth)
        await check(id, {
          origin: origin ?? known.origin,
          dial: dial === undefined ? (known.dial ?? null) : dial,
          auth: auth === undefined ? (known.auth ?? null) : auth,
        })
        await changeProvider(store, id, { origin, dial, auth })
        await proxied.refresh()
        return showOne(id)
      },
    }),
    route({
      method: 'delete',
      path: '/api/v1/providers/{id}',
      summary: 'Delete a provider that was added here, with its credentials (administrators)',
      access: 'admin',
      answer: done('Deleted'),
      problems: ['provider_not_found'],
      act: async ({ params: { id } }) => {
        await deleteProvider(store, id)
        await proxied.refresh()
      },
    }),
  ])
}

/**
 * All providers as the API shows them. @param admin whether addresses behind the proxy, and
 * credentials, are shown
 */
async function shownProviders(store: Store, proxied: Proxied, admin: boolean, now: number) {
  const stored = new Set((await storedProviders(store)).map(({ id }) => id))
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
      dial: admin && dialled ? `${dialled.origin}${dialled.basePath}` : null,
      credentials: admin ? mine : null,
    }
  })
}

/**
 * Where callers start: for an added provider at its own origin, whatever row of the table it has
 * its ways from.
 */
function baseOf(provider: Provider, origin: string | undefined): string {
  const { base } = provider
  return origin === undefined || hostValues(provider).length > 0
    ? base
    : `${origin}${new URL(base).pathname.replace(/\/$/, '')}`
}

/** The hosts that can be called; where none can yet, the patterns. */
function hostsOf({ hosts }: Provider, known: string[]): string[] {
  return known.length > 0 ? known : [...hosts]
}

/** Without a `null` that stands for nothing. */
function authOf(auth: z.infer<typeof AuthSchema> | null): Auth | null {
  return auth && { header: auth.header, ...(auth.scheme === null ? {} : { scheme: auth.scheme }) }
}
