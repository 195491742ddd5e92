// /api/v1/credentials: provider credentials, for administrators. Their secrets are never shown
// again.
import { nearestName } from '../common/nearest-name.ts'
import { countedListOf, whole, type Api } from './api.ts'
import { isoTime } from '../common/clock.ts'
import { fieldError, invalidField, type FieldError } from '../common/errors.ts'
import {
  changeCredential,
  createCredential,
  deleteCredential,
  listCredentials,
  noSuchCredential,
  type ShownCredential,
} from '../proxy/credentials/stored.ts'
import { keepTest, lastTests, type ShownTest } from '../proxy/credentials/tests.ts'
import type { Proxy } from '../proxy/index.ts'
import { PROVIDERS } from '../proxy/providers/rows/index.ts'
import { hostValues } from '../proxy/providers/host-patterns.ts'
import { created, done, ok, route, routes, type Route } from './route.ts'
import type { Store } from '../store/store.ts'
import {
  CredentialSchema,
  TestSchema,
  Tested,
  CredentialInput,
  CredentialChange,
} from './credentials-schemas.ts'

type Proxied = Health & Pick<Proxy, 'table' | 'configured' | 'master' | 'refresh' | 'probe'>
/** The source of credentials' health. */
type Health = Pick<Proxy, 'credentials' | 'unreadable'>

/** The routes of credentials. */
export function credentialRoutes(store: Store, proxied: Proxied, clock: () => number): Api {
  return routes(store, clock, [
    listRoute(store, proxied),
    createRoute(store, proxied, clock),
    readRoute(store, proxied),
    changeRoute(store, proxied, clock),
    testRoute(store, proxied, clock),
    deleteRoute(store, proxied),
  ])
}

function listRoute(store: Store, proxied: Proxied): Route {
  return route({
    method: 'get',
    path: '/api/v1/credentials',
    summary: 'List provider credentials (administrators)',
    access: 'admin',
    response: ok(
      'All credentials, those from the environment first',
      countedListOf(CredentialSchema),
    ),
    act: async ({ now }) => whole(await allCredentials(store, proxied, now)),
  })
}

function createRoute(store: Store, proxied: Proxied, clock: () => number): Route {
  return route({
    method: 'post',
    path: '/api/v1/credentials',
    summary: 'Store a provider credential (administrators)',
    access: 'admin',
    query: Tested,
    body: CredentialInput,
    check: (_, body) => [providerError(proxied, body), valuesError(proxied, body)],
    response: created('The credential, without its secret', CredentialSchema),
    act: async ({ query, body, now }) => {
      const isStored =
        !proxied.configured.has(body.provider) && !PROVIDERS.some(({ id }) => id === body.provider)
      const row = await createCredential(store, proxied.master, body, isStored, now)
      await proxied.refresh()
      // Another process may have just deleted the provider.
      if (!row) throw invalidField('provider', unknownProvider(proxied, body.provider))
      if (query.test === 'true') await testCredential(store, proxied, row.id, clock)
      return showStored(store, proxied, row, clock())
    },
  })
}

function readRoute(store: Store, proxied: Proxied): Route {
  return route({
    method: 'get',
    path: '/api/v1/credentials/{id}',
    summary: 'Read a provider credential, without its secret (administrators)',
    access: 'admin',
    response: ok('The credential', CredentialSchema),
    problems: ['credential_not_found'],
    act: async ({ params: { id }, now }) => {
      const found = (await allCredentials(store, proxied, now)).find((one) => one.id === id)
      if (!found) throw noSuchCredential()
      return found
    },
  })
}

function changeRoute(store: Store, proxied: Proxied, clock: () => number): Route {
  return route({
    method: 'patch',
    path: '/api/v1/credentials/{id}',
    summary: 'Rename, weight or pause a provider credential (administrators)',
    access: 'admin',
    body: CredentialChange.body,
    response: ok('The credential', CredentialSchema),
    problems: ['credential_not_found'],
    act: async ({ params: { id }, body }) => {
      const current = (await listCredentials(store)).find((one) => one.id === id)
      if (!current) throw noSuchCredential()
      const { status, ...wanted } = CredentialChange.changes(
        body,
        await showStored(store, proxied, current, clock()),
      )
      const row = await changeCredential(store, id, {
        ...wanted,
        paused: status && status === 'paused',
      })
      await proxied.refresh()
      return showStored(store, proxied, row, clock())
    },
  })
}

function testRoute(store: Store, proxied: Proxied, clock: () => number): Route {
  return route({
    method: 'post',
    path: '/api/v1/credentials/{id}/test',
    summary: 'Test a provider credential with one cheap call (administrators)',
    access: 'admin',
    response: ok('The result of the test', TestSchema),
    problems: ['credential_not_found'],
    act: async ({ params: { id } }) => {
      const outcome = await testCredential(store, proxied, id, clock)
      if (!outcome) throw noSuchCredential()
      return { object: 'credential_test' as const, ...outcome }
    },
  })
}

function deleteRoute(store: Store, proxied: Proxied): Route {
  return route({
    method: 'delete',
    path: '/api/v1/credentials/{id}',
    summary: 'Delete a provider credential (administrators)',
    access: 'admin',
    response: done('Deleted'),
    problems: ['credential_not_found'],
    act: async ({ params: { id } }) => {
      await deleteCredential(store, id)
      await proxied.refresh()
    },
  })
}

async function showStored(store: Store, health: Health, row: ShownCredential, now: number) {
  return withHealth(row, 'stored', health, await lastTests(store), now)
}

function unknownProvider({ table }: Pick<Proxied, 'table'>, given: string): string {
  const ids = table().providers.map(({ id }) => id)
  const nearest = nearestName(given, ids)
  const hint = nearest === null ? '' : ` Did you mean "${nearest}"?`
  return `Must be one of ${ids.toSorted().join(', ')}.${hint}`
}

function providerError(
  proxied: Pick<Proxied, 'table'>,
  { provider }: { provider?: string },
): FieldError | null {
  if (provider === undefined || proxied.table().byId(provider)) return null
  return fieldError('provider', unknownProvider(proxied, provider))
}

/** The field error for a missing part of the provider's host name; null if all are there. */
function valuesError(
  { table }: Pick<Proxied, 'table'>,
  { provider = '', values = {} }: { provider?: string; values?: object },
): FieldError | null {
  const row = table().byId(provider)
  if (row === undefined) return null
  const missing = hostValues(row).find((value) => !Object.hasOwn(values, value))
  if (missing === undefined) return null
  return fieldError(
    'values',
    `A credential for ${row.name} needs ${JSON.stringify(missing)} here: it is part of the host name.`,
  )
}

/** All credentials with their health, those from the environment first. */
export async function allCredentials(store: Store, health: Health, now: number) {
  const [stored, tests] = await Promise.all([listCredentials(store), lastTests(store)])
  const given = health.credentials.all
    .filter(({ id }) => id.startsWith('env_'))
    .map(({ id, provider, values, weight }) => {
      const row = {
        id,
        object: 'credential' as const,
        provider,
        name: 'environment',
        values: { ...values },
        weight,
        status: 'active' as const,
        created_at: null,
      }
      return withHealth(row, 'environment', health, tests, now)
    })
  return [...given, ...stored.map((row) => withHealth(row, 'stored', health, tests, now))]
}

/** Tests a credential and stores the result; undefined if there is no credential with this id. */
export async function testCredential(
  store: Store,
  { probe }: Pick<Proxy, 'probe'>,
  id: string,
  clock: () => number,
): Promise<ShownTest | undefined> {
  const outcome = await probe(id)
  return outcome && keepTest(store, id, outcome, clock())
}

function withHealth<R extends { id: string }, S extends 'environment' | 'stored'>(
  row: R,
  source: S,
  { credentials, unreadable }: Health,
  tests: ReadonlyMap<string, ShownTest>,
  now: number,
) {
  const error = credentials.lastError(row.id)
  return {
    ...row,
    source,
    readable: !unreadable().has(row.id),
    resting_ms: Math.ceil(credentials.coolingFor(row.id)),
    last_error:
      error === null
        ? null
        : { status: error.status, code: error.code, at: isoTime(now - error.ago) },
    last_test: tests.get(row.id) ?? null,
  }
}
