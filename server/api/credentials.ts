// /api/v1/credentials: the credentials for providers. Their secrets are never shown again;
// administrators only.
import { z } from '@hono/zod-openapi'
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
import { PROVIDERS, hostValues } from '../proxy/providers/table.ts'
import { patchOf } from './request/patch.ts'
import { strictObject } from './request/strict.ts'
import { created, done, ok, route, routes } from './route.ts'
import { CREDENTIAL, HOST_PART } from '../config/setting-kinds.ts'
import type { Store } from '../store/open.ts'
import { Name } from './schemas.ts'

const tested = {
  ok: z.boolean(),
  status: z
    .number()
    .int()
    .nullable()
    .openapi({ description: "The provider's status; null where there was no answer." }),
  detail: z.string().openapi({ description: 'A sentence that a person can act on.' }),
  at: z.iso.datetime(),
}

/** Not `.openapi(name)`: a named schema that is nullable would be so everywhere. */
export const LastErrorSchema = z
  .object({
    status: z.number().int().nullable().openapi({ description: 'Null where there was no answer.' }),
    code: z
      .enum(['upstream_unreachable', 'upstream_timeout'])
      .nullable()
      .openapi({ description: 'Why there was no answer, or not to its end.' }),
    at: z.iso.datetime(),
  })
  .nullable()
  .openapi({
    description:
      'The last call that the provider refused, limited, had trouble with or did not answer, as this process saw it, or the ledger before it started; null if one has worked since.',
  })

/** A credential as the API shows it, without its secret. */
export const CredentialSchema = z
  .object({
    id: z.string(),
    object: z.literal('credential'),
    provider: z.string(),
    name: z.string(),
    values: z
      .record(z.string(), z.string())
      .openapi({ description: "Azure's `resource`, Bedrock's `region`." }),
    weight: z.number().int(),
    status: z.enum(['active', 'paused']),
    source: z.enum(['environment', 'stored']),
    readable: z
      .boolean()
      .openapi({ description: 'Whether the master key opens it; if not, it is not used.' }),
    resting_ms: z.number().int().openapi({
      description:
        'How long this process leaves it unused: because the provider refuses it, or, while another credential is healthy, after a limit or trouble (then only for that model). 0 means that it is used.',
    }),
    last_error: LastErrorSchema,
    last_test: z
      .object(tested)
      .nullable()
      .openapi({ description: 'The last test call; null where there was none.' }),
    created_at: z.iso.datetime().nullable(),
  })
  .openapi('Credential')

const TestSchema = z
  .object({ object: z.literal('credential_test'), ...tested })
  .openapi('CredentialTest')

/** The query parameter that tests a credential once it is stored. */
export const Tested = strictObject({
  test: z.enum(['true', 'false']).default('false').openapi({
    description:
      '`true`: the credential is tried with one cheap call; it is stored, whatever comes of it (`last_test`).',
  }),
})

/** A credential's share of the requests to its provider; 0 uses it for none. */
export const weight = z.number().int().min(0).max(1000)
/** The secret of a credential. */
export const secret = z.string().trim().regex(CREDENTIAL, 'Must be printable ASCII without spaces.')

const Wanted = strictObject({
  provider: z.string().max(64),
  name: Name.default('default'),
  secret,
  values: z
    .record(
      z.string().max(32),
      z.string().regex(HOST_PART, 'Must be one part of a host name: letters, digits and hyphens.'),
    )
    .default({}),
  weight: weight.default(1),
})
const Change = patchOf(
  CredentialSchema,
  { name: Name, weight, status: z.enum(['active', 'paused']) },
  ['readable', 'resting_ms', 'last_error', 'last_test'],
)

type Proxied = Health & Pick<Proxy, 'table' | 'configured' | 'master' | 'refresh' | 'probe'>
/** Where the health of credentials comes from. */
type Health = Pick<Proxy, 'credentials' | 'unreadable'>

/** The routes of credentials. */
export function credentialRoutes(store: Store, proxied: Proxied, clock: () => number): Api {
  const show = async (row: ShownCredential) =>
    withHealth(row, 'stored', proxied, await lastTests(store), clock())
  return routes(store, clock, [
    route({
      method: 'get',
      path: '/api/v1/credentials',
      summary: 'List provider credentials (administrators)',
      access: 'admin',
      answer: ok(
        'All credentials, those of the environment first',
        countedListOf(CredentialSchema),
      ),
      act: async ({ now }) => whole(await allCredentials(store, proxied, now)),
    }),
    route({
      method: 'post',
      path: '/api/v1/credentials',
      summary: 'Store a provider credential (administrators)',
      access: 'admin',
      query: Tested,
      body: Wanted,
      check: (_, body) => [providerError(proxied, body), valuesError(proxied, body)],
      answer: created('The credential, without its secret', CredentialSchema),
      act: async ({ query, body, now }) => {
        const isStored =
          !proxied.configured.has(body.provider) &&
          !PROVIDERS.some(({ id }) => id === body.provider)
        const row = await createCredential(store, proxied.master, body, isStored, now)
        await proxied.refresh()
        // Another process has just deleted the provider.
        if (!row) throw invalidField('provider', unknownProvider(proxied))
        if (query.test === 'true') await testCredential(store, proxied, row.id, clock)
        return show(row)
      },
    }),
    route({
      method: 'get',
      path: '/api/v1/credentials/{id}',
      summary: 'Read a provider credential, without its secret (administrators)',
      access: 'admin',
      answer: ok('The credential', CredentialSchema),
      problems: ['credential_not_found'],
      act: async ({ params: { id }, now }) => {
        const found = (await allCredentials(store, proxied, now)).find((one) => one.id === id)
        if (!found) throw noSuchCredential()
        return found
      },
    }),
    route({
      method: 'patch',
      path: '/api/v1/credentials/{id}',
      summary: 'Rename, weigh or pause a provider credential (administrators)',
      access: 'admin',
      body: Change.body,
      answer: ok('The credential', CredentialSchema),
      problems: ['credential_not_found'],
      act: async ({ params: { id }, body }) => {
        const current = (await listCredentials(store)).find((one) => one.id === id)
        if (!current) throw noSuchCredential()
        const { status, ...wanted } = Change.changes(body, await show(current))
        const row = await changeCredential(store, id, {
          ...wanted,
          paused: status && status === 'paused',
        })
        await proxied.refresh()
        return show(row)
      },
    }),
    route({
      method: 'post',
      path: '/api/v1/credentials/{id}/test',
      summary: 'Try a provider credential with one cheap call (administrators)',
      access: 'admin',
      answer: ok('How it went', TestSchema),
      problems: ['credential_not_found'],
      act: async ({ params: { id } }) => {
        const outcome = await testCredential(store, proxied, id, clock)
        if (!outcome) throw noSuchCredential()
        return { object: 'credential_test' as const, ...outcome }
      },
    }),
    route({
      method: 'delete',
      path: '/api/v1/credentials/{id}',
      summary: 'Delete a provider credential (administrators)',
      access: 'admin',
      answer: done('Deleted'),
      problems: ['credential_not_found'],
      act: async ({ params: { id } }) => {
        await deleteCredential(store, id)
        await proxied.refresh()
      },
    }),
  ])
}

function unknownProvider({ table }: Pick<Proxied, 'table'>): string {
  return `Must be one of ${table()
    .providers.map(({ id }) => id)
    .toSorted()
    .join(', ')}.`
}

function providerError(
  proxied: Pick<Proxied, 'table'>,
  { provider }: { provider?: string },
): FieldError | null {
  if (provider === undefined || proxied.table().byId(provider)) return null
  return fieldError('provider', unknownProvider(proxied))
}

/** The part of a provider's host name that a credential for it lacks. */
function valuesError(
  { table }: Pick<Proxied, 'table'>,
  { provider = '', values = {} }: { provider?: string; values?: object },
): FieldError | null {
  const row = table().byId(provider)
  const missing = row && hostValues(row).find((value) => !Object.hasOwn(values, value))
  if (missing === undefined) return null
  return fieldError(
    'values',
    `A credential for ${row!.name} needs ${JSON.stringify(missing)} here: it is part of the host name.`,
  )
}

/** All credentials with their health, those of the environment first. */
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
