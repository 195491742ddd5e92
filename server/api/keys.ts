// /api/v1/keys: the account's proxy keys.
import { z } from '@hono/zod-openapi'
import type { Caller } from '../accounts/tokens.ts'
import { PageQuery, countedListOf, type Api } from './api.ts'
import { Problem, fieldError, type FieldError } from '../common/errors.ts'
import { normalizeOrigin } from '../keys/authenticate.ts'
import { countKeys, KEY_SORTS, listKeys, needsScan } from '../keys/key-list.ts'
import { changeKey, createKey, getKey, MAX_RPM, revokeKey } from '../keys/keys.ts'
import { ENDED, purgeKey, purgeKeys } from '../keys/purge.ts'
import { endPreviousSecrets, rotateKey } from '../keys/rotation.ts'
import { SCOPE_LIMITS, scopeEntryProblem } from '../keys/scope.ts'
import type { Proxy } from '../proxy/index.ts'
import { patchOf } from './request/patch.ts'
import { strictObject } from './request/strict.ts'
import { created, done, ok, route, routes, type Route } from './route.ts'
import type { Store } from '../store/open.ts'
import { AccountScopeParams, findOwner, resolveAccountScope } from './account-scope.ts'
import { Moment, Name, Purge, expiryError, momentOf, oneOrMore } from './schemas.ts'

const Status = z.enum(['active', 'disabled', 'expired', 'revoked'])
const count = z.number().int()
const Objects = z.enum(['own', 'upstream']).openapi({
  description:
    '`own`: objects that the key made, or that were shared with it. `upstream`: all that the account with the provider holds; only administrators set it.',
})

const KeySchema = z
  .object({
    id: z.string(),
    object: z.literal('key'),
    account_id: z.string(),
    account_name: z.string(),
    name: z.string(),
    prefix: z
      .string()
      .openapi({ description: 'The public head of the newest secret, for display.' }),
    models: z
      .array(z.string())
      .nullable()
      .openapi({ description: 'Exact names and `*` globs; null means every model.' }),
    rpm: count
      .nullable()
      .openapi({ description: 'Requests in any 60 seconds; null means no limit.' }),
    allowed_origins: z.array(z.string()).nullable(),
    objects: Objects,
    providers: z
      .array(z.string())
      .nullable()
      .openapi({ description: 'Ids of providers; null means every provider.' }),
    read_only: z.boolean().openapi({
      description: 'Whether it may generate and read, and change nothing that a provider stores.',
    }),
    parent_id: z
      .string()
      .nullable()
      .openapi({ description: 'The key that this one came of; null for a key of its own.' }),
    expires_at: z.iso.datetime().nullable(),
    status: Status,
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().nullable(),
    previous_secret_expires_at: z.iso.datetime().nullable().openapi({
      description:
        'When the secret that was rotated away stops working; null where none does any more.',
    }),
    usage: z.object({
      requests: count,
      errors: count,
      tokens_in: count.nullable(),
      tokens_out: count.nullable(),
      tokens_cached: count.nullable(),
      tokens_reasoning: count.nullable(),
    }),
  })
  .openapi('Key')

const NewKeySchema = KeySchema.extend({
  secret: z.string().openapi({ description: 'The key itself. It is not shown again.' }),
}).openapi('NewKey')

/** TABLE of what a person decides about a key. */
const inputFields = {
  name: Name,
  models: z
    .array(
      z.string().superRefine((entry, issues) => {
        const problem = scopeEntryProblem(entry)
        if (problem !== null) issues.addIssue({ code: 'custom', message: problem })
      }),
    )
    .min(1)
    .max(SCOPE_LIMITS.entries)
    .nullable(),
  rpm: count.min(1).max(MAX_RPM).nullable(),
  allowed_origins: z
    .array(
      z.string().transform((text, issues) => {
        const origin = normalizeOrigin(text)
        if (origin !== null) return origin
        issues.addIssue({
          code: 'custom',
          message: 'Must be an origin such as https://app.example.com.',
        })
        return z.NEVER
      }),
    )
    .min(1)
    .max(100)
    .nullable(),
  objects: Objects,
  providers: z.array(z.string().max(64)).min(1).max(100).nullable(),
  read_only: z.boolean(),
  expires_at: Moment.nullable(),
}

const Wanted = strictObject({
  name: inputFields.name,
  models: inputFields.models.default(null),
  rpm: inputFields.rpm.default(null),
  allowed_origins: inputFields.allowed_origins.default(null),
  objects: inputFields.objects.default('own'),
  providers: inputFields.providers.default(null),
  read_only: inputFields.read_only.default(false),
  expires_at: inputFields.expires_at.default(null),
  account_id: z
    .string()
    .optional()
    .openapi({ description: 'Another account; administrators only.' }),
})

/** A record is sent back with the status that it has; only these two can be chosen. */
const KEY_FIELDS = ['active', 'disabled'] as const
const Change = patchOf(
  KeySchema,
  {
    ...inputFields,
    status: Status.openapi({
      description: 'Disables the key, or enables it again: `active` or `disabled`, or what it is.',
    }),
  },
  ['last_used_at', 'previous_secret_expires_at', 'usage'],
)

/** The longest time for which a replaced secret goes on working: 30 days. */
const MAX_GRACE_SECONDS = 30 * 86_400
const Rotation = strictObject({
  grace_seconds: count
    .min(0)
    .max(MAX_GRACE_SECONDS)
    .default(86_400)
    .openapi({ description: 'How long the old secret goes on working.' }),
})

const Ended = strictObject({
  status: z.array(z.enum(ENDED)).min(1).openapi({ description: 'How they have ended.' }),
})

const PurgeSchema = z
  .object({
    object: z.literal('purge'),
    purged: count.openapi({ description: 'How many there were.' }),
  })
  .openapi('Purge')

const ListQuery = PageQuery.extend({
  ...AccountScopeParams.shape,
  status: oneOrMore(Status.options).optional().openapi({
    type: 'string',
    description: 'One or more of active, disabled, expired, revoked, with commas between them.',
    example: 'active,disabled',
  }),
  search: z.string().max(200).optional().openapi({
    description: 'Part of the name, the beginning of the prefix (`tmk_…`), or the id.',
  }),
  model: z.string().max(300).optional().openapi({ description: 'Keys that may reach this model.' }),
  sort: z
    .enum(KEY_SORTS)
    .default('-created_at')
    .openapi({ description: 'A leading minus reverses the order.' }),
})

/**
 * @throws Problem `insufficient_scope`: what is nobody's, or another key's, is the operator's to
 * open
 */
function requireUpstreamAccess({ account }: Caller): void {
  if (account.role !== 'admin')
    throw new Problem(
      'insufficient_scope',
      'Only an administrator may set "objects" to "upstream".',
    )
}

/** The keys that are in use, and the providers. */
interface Proxied {
  readonly keys: Pick<Proxy['keys'], 'refresh'>
  readonly table: () => { readonly providers: readonly { readonly id: string }[] }
}

/** A misspelt provider would lock the key out of all of them. */
function providerErrors(
  { table }: Proxied,
  ids: readonly string[] | null | undefined,
): FieldError[] {
  const known = table()
    .providers.map(({ id }) => id)
    .toSorted()
  return (ids ?? []).flatMap((id, index) =>
    known.includes(id)
      ? []
      : [
          fieldError(
            `providers.${index}`,
            `There is no provider ${JSON.stringify(id)}. Choose from ${known.join(', ')}.`,
          ),
        ],
  )
}

function statusError(status: string | undefined): FieldError | null {
  if (status === undefined || KEY_FIELDS.some((one) => one === status)) return null
  return fieldError('status', 'Must be "active", "disabled", or what it is.')
}

/** A key, or a page of them, waits for no report: another account's could be long. */
const lookingUp = (store: Store, { account }: Caller): Store => store.lookingUpFor(account.id)

/** The routes of keys. */
export function keyRoutes(store: Store, proxied: Proxied, clock: () => number): Api {
  return routes(store, clock, [
    ...recordRoutes(store, proxied, clock),
    ...endRoutes(store, proxied),
  ])
}

/** Making, listing, reading and changing keys. */
function recordRoutes(store: Store, proxied: Proxied, clock: () => number): Route[] {
  return [
    route({
      method: 'post',
      path: '/api/v1/keys',
      summary: 'Make a proxy key',
      access: 'manage',
      body: Wanted,
      check: (_, { providers, expires_at }) => [
        ...providerErrors(proxied, providers),
        expiryError(expires_at, clock()),
      ],
      answer: created('The key, with its secret', NewKeySchema),
      problems: ['account_not_found'],
      act: async ({ body: { account_id, expires_at, ...wanted }, caller, now }) => {
        const owner = await findOwner(store, caller, account_id, 'keys')
        if (wanted.objects === 'upstream') requireUpstreamAccess(caller)
        const key = await createKey(
          lookingUp(store, caller),
          owner.id,
          { ...wanted, expires_at: momentOf(expires_at) },
          now,
        )
        await proxied.keys.refresh()
        return key
      },
    }),
    route({
      method: 'get',
      path: '/api/v1/keys',
      summary: 'List proxy keys',
      access: 'manage',
      query: ListQuery,
      answer: ok('A page of keys', countedListOf(KeySchema)),
      act: async ({ query: { limit, cursor, account, ...filter }, caller, now }) => {
        const wanted = { ...filter, account: resolveAccountScope(caller, account) }
        const reading = needsScan(wanted)
          ? store.readingFor(caller.account.id)
          : lookingUp(store, caller)
        const [found, total] = await Promise.all([
          listKeys(reading, wanted, limit, cursor, now),
          countKeys(reading, wanted, now),
        ])
        return { object: 'list' as const, data: found.keys, next_cursor: found.next, total }
      },
    }),
    route({
      method: 'get',
      path: '/api/v1/keys/{id}',
      summary: 'Read a proxy key',
      access: 'manage',
      query: AccountScopeParams,
      answer: ok('The key', KeySchema),
      problems: ['key_not_found'],
      act: ({ params, query, caller, now }) =>
        getKey(
          lookingUp(store, caller),
          params.id,
          resolveAccountScope(caller, query.account),
          now,
        ),
    }),
    route({
      method: 'patch',
      path: '/api/v1/keys/{id}',
      summary: 'Change, disable or enable a proxy key',
      access: 'manage',
      query: AccountScopeParams,
      body: Change.body,
      answer: ok('The key', KeySchema),
      problems: ['key_not_found', 'key_revoked'],
      act: async ({ params: { id }, query, body, caller, now }) => {
        const account = resolveAccountScope(caller, query.account)
        const reading = lookingUp(store, caller)
        const { expires_at, status, ...plain } = Change.changes(
          body,
          await getKey(reading, id, account, now),
          (change) => [
            statusError(change.status),
            expiryError(change.expires_at, now),
            ...providerErrors(proxied, change.providers),
          ],
        )
        if (plain.objects === 'upstream') requireUpstreamAccess(caller)
        const expires = expires_at === undefined ? undefined : momentOf(expires_at)
        const key = await changeKey(
          reading,
          id,
          account,
          { ...plain, expires_at: expires, disabled: status && status === 'disabled' },
          now,
        )
        await proxied.keys.refresh()
        return key
      },
    }),
  ]
}

/** Rotating, revoking and purging keys. */
function endRoutes(store: Store, { keys }: Proxied): Route[] {
  return [
    route({
      method: 'delete',
      path: '/api/v1/keys/{id}',
      summary: 'Revoke a proxy key, for good',
      access: 'manage',
      query: AccountScopeParams.extend(Purge.shape),
      answer: done('Revoked, and with `purge` in no list any more'),
      problems: ['key_not_found'],
      act: async ({ params, query: { account, purge }, caller, now }) => {
        const end = purge === 'true' ? purgeKey : revokeKey
        await end(store, params.id, resolveAccountScope(caller, account), now)
        await keys.refresh()
      },
    }),
    route({
      method: 'post',
      path: '/api/v1/keys/purge',
      summary: 'Take all proxy keys that have ended out of every list',
      access: 'manage',
      query: AccountScopeParams,
      body: Ended,
      answer: ok('How many there were', PurgeSchema),
      act: async ({ query, body, caller, now }) => {
        const purged = await purgeKeys(
          store,
          resolveAccountScope(caller, query.account),
          body.status,
          now,
        )
        await keys.refresh()
        return { object: 'purge' as const, purged }
      },
    }),
    route({
      method: 'post',
      path: '/api/v1/keys/{id}/rotate',
      summary: 'Give a proxy key a new secret, while the old one works for a time',
      access: 'manage',
      query: AccountScopeParams,
      body: Rotation,
      answer: ok('The key, with its new secret', NewKeySchema),
      problems: ['key_not_found', 'key_revoked'],
      act: async ({ params, query, body, caller, now }) => {
        const account = resolveAccountScope(caller, query.account)
        const key = await rotateKey(
          lookingUp(store, caller),
          params.id,
          account,
          body.grace_seconds * 1000,
          now,
        )
        await keys.refresh()
        return key
      },
    }),
    route({
      method: 'post',
      path: '/api/v1/keys/{id}/rotate/end',
      summary: 'End the secrets of a proxy key that were rotated away',
      access: 'manage',
      query: AccountScopeParams,
      answer: ok('The key', KeySchema),
      problems: ['key_not_found', 'key_revoked'],
      act: async ({ params, query, caller, now }) => {
        const key = await endPreviousSecrets(
          lookingUp(store, caller),
          params.id,
          resolveAccountScope(caller, query.account),
          now,
        )
        await keys.refresh()
        return key
      },
    }),
  ]
}
