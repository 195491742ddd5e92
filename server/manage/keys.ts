// /api/v1/keys: the account's proxy keys.
import { z } from '@hono/zod-openapi'
import type { Caller } from '../accounts/tokens.ts'
import { IdParams, PageQuery, answers, callerOf, countedListOf, createRoute, done, guarded, jsonContent, newApi, type Api, type ApiContext } from '../api.ts'
import { Problem, invalidField } from '../errors.ts'
import { normalOrigin } from '../keys/authenticate.ts'
import { countKeys, KEY_SORTS, listKeys, looksAtAll } from '../keys/key-list.ts'
import { changeKey, createKey, getKey, MOST_RPM, revokeKey } from '../keys/keys.ts'
import { ENDED, purgeKey, purgeKeys } from '../keys/purge.ts'
import { endPreviousSecrets, rotateKey } from '../keys/rotation.ts'
import { SCOPE_LIMITS, scopeEntryProblem } from '../keys/scope.ts'
import type { Proxy } from '../proxy/open.ts'
import { patchOf } from '../request/patch.ts'
import { strictObject } from '../request/strict.ts'
import type { Store } from '../store/open.ts'
import { Moment, Name, Purge, expiryOf, oneOrMore } from './fields.ts'
import { Whose, ownerOf, whose } from '../whose.ts'

const Status = z.enum(['active', 'disabled', 'expired', 'revoked'])
const count = z.number().int()
const Objects = z
  .enum(['own', 'upstream'])
  .openapi({ description: '`own`: objects that the key made, or that were shared with it. `upstream`: all that the account with the provider holds; only administrators set it.' })

const KeySchema = z
  .object({
    id: z.string(),
    object: z.literal('key'),
    account_id: z.string(),
    name: z.string(),
    prefix: z.string().openapi({ description: 'The public head of the newest secret, for display.' }),
    models: z.array(z.string()).nullable().openapi({ description: 'Exact names and `*` globs; null means every model.' }),
    rpm: count.nullable().openapi({ description: 'Requests in any 60 seconds; null means no limit.' }),
    allowed_origins: z.array(z.string()).nullable(),
    objects: Objects,
    providers: z.array(z.string()).nullable().openapi({ description: 'Ids of providers; null means every provider.' }),
    read_only: z.boolean().openapi({ description: 'Whether it may generate and read, and change nothing that a provider stores.' }),
    expires_at: z.iso.datetime().nullable(),
    status: Status,
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().nullable(),
    previous_secret_expires_at: z.iso.datetime().nullable().openapi({ description: 'When the secret that was rotated away stops working; null where none does any more.' }),
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

const NewKeySchema = KeySchema.extend({ secret: z.string().openapi({ description: 'The key itself. It is not shown again.' }) }).openapi('NewKey')

/** TABLE of what a person decides about a key. */
const wishes = {
  name: Name,
  models: z
    .array(z.string().superRefine((entry, issues) => {
      const problem = scopeEntryProblem(entry)
      if (problem !== null) issues.addIssue({ code: 'custom', message: problem.replace(/\.$/, '') })
    }))
    .min(1)
    .max(SCOPE_LIMITS.entries)
    .nullable(),
  rpm: count.min(1).max(MOST_RPM).nullable(),
  allowed_origins: z
    .array(
      z.string().transform((text, issues) => {
        const origin = normalOrigin(text)
        if (origin !== null) return origin
        issues.addIssue({ code: 'custom', message: 'an origin looks like https://app.example.com' })
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
  name: wishes.name,
  models: wishes.models.default(null),
  rpm: wishes.rpm.default(null),
  allowed_origins: wishes.allowed_origins.default(null),
  objects: wishes.objects.default('own'),
  providers: wishes.providers.default(null),
  read_only: wishes.read_only.default(false),
  expires_at: wishes.expires_at.default(null),
  account_id: z.string().optional().openapi({ description: 'Another account; administrators only.' }),
})

/** A record is sent back with the status that it has; only these two can be chosen. */
const CHOSEN = ['active', 'disabled'] as const
const Change = patchOf(
  KeySchema,
  { ...wishes, status: Status.openapi({ description: 'Disables the key, or enables it again: `active` or `disabled`, or what it is.' }) },
  ['last_used_at', 'previous_secret_expires_at', 'usage'],
)

/** The longest time for which a replaced secret goes on working: 30 days. */
const LONGEST_GRACE = 30 * 86_400
const Rotation = strictObject({
  grace_seconds: count.min(0).max(LONGEST_GRACE).default(86_400).openapi({ description: 'How long the old secret goes on working.' }),
})

const Ended = strictObject({
  status: z.array(z.enum(ENDED)).min(1).openapi({ description: 'How they have ended.' }),
})

const PurgeSchema = z.object({ object: z.literal('purge'), purged: count.openapi({ description: 'How many there were.' }) }).openapi('Purge')

const ListQuery = PageQuery.extend({
  ...Whose.shape,
  status: oneOrMore(Status.options).optional().openapi({ type: 'string', description: 'One or more of active, disabled, expired, revoked, with commas between them.', example: 'active,disabled' }),
  search: z.string().max(200).optional().openapi({ description: 'Part of the name, the beginning of the prefix (`tmk_…`), or the id.' }),
  model: z.string().max(300).optional().openapi({ description: 'Keys that may reach this model.' }),
  sort: z.enum(KEY_SORTS).default('-created_at').openapi({ description: 'A leading minus reverses the order.' }),
})

/** @throws Problem `insufficient_scope`: what is nobody's, or another key's, is the operator's to open */
function mayOpenUpstream({ account }: Caller): void {
  if (account.role !== 'admin') throw new Problem('insufficient_scope', 'Only an administrator may set "objects" to "upstream".')
}

/** What knows the keys that are in use, and the providers that there are. */
interface Proxied {
  keys: Pick<Proxy['keys'], 'refresh'>
  table: () => { byId: (id: string) => unknown }
}

/** The routes of keys. */
export function keyRoutes(store: Store, { keys, table }: Proxied, clock: () => number): Api {
  const api = newApi()
  const guard = guarded(store, clock)
  /** A key, or a page of them, waits for no report: another account's could be long. */
  const of = (c: ApiContext): Store => store.lookingUpFor(callerOf(c).account.id)
  /** @throws Problem `invalid_field` where a provider is none of the table: a misspelt one would lock the key out */
  const checkProviders = (ids: readonly string[] | null | undefined): void => {
    const unknown = ids?.find((id) => table().byId(id) === undefined)
    if (unknown !== undefined) throw invalidField('providers', `"providers" names ${JSON.stringify(unknown)}, which is no provider here. GET /api/v1/providers lists them.`)
  }

  const create = createRoute({
    method: 'post',
    path: '/api/v1/keys',
    summary: 'Make a proxy key',
    ...guard,
    request: { body: jsonContent(Wanted) },
    responses: answers(201, 'The key, with its secret', NewKeySchema, 'account_not_found'),
  })
  api.openapi(create, async (c) => {
    const { account_id, expires_at, ...wanted } = c.req.valid('json')
    const owner = await ownerOf(store, callerOf(c), account_id, 'keys')
    if (wanted.objects === 'upstream') mayOpenUpstream(callerOf(c))
    checkProviders(wanted.providers)
    const key = await createKey(of(c), owner.id, { ...wanted, expires_at: expiryOf(expires_at, clock()) }, clock())
    await keys.refresh()
    return c.json(key, 201)
  })

  const list = createRoute({
    method: 'get',
    path: '/api/v1/keys',
    summary: 'List proxy keys',
    ...guard,
    request: { query: ListQuery },
    responses: answers(200, 'A page of keys', countedListOf(KeySchema)),
  })
  api.openapi(list, async (c) => {
    const { limit, cursor, account, ...filter } = c.req.valid('query')
    const wanted = { ...filter, account: whose(callerOf(c), account) }
    const reading = looksAtAll(wanted) ? store.readingFor(callerOf(c).account.id) : of(c)
    const [found, total] = await Promise.all([listKeys(reading, wanted, limit, cursor, clock()), countKeys(reading, wanted, clock())])
    return c.json({ object: 'list' as const, data: found.keys, next_cursor: found.next, total }, 200)
  })

  const read = createRoute({
    method: 'get',
    path: '/api/v1/keys/{id}',
    summary: 'Read a proxy key',
    ...guard,
    request: { params: IdParams, query: Whose },
    responses: answers(200, 'The key', KeySchema, 'key_not_found'),
  })
  api.openapi(read, async (c) => c.json(await getKey(of(c), c.req.valid('param').id, whose(callerOf(c), c.req.valid('query').account), clock()), 200))

  const change = createRoute({
    method: 'patch',
    path: '/api/v1/keys/{id}',
    summary: 'Change, disable or enable a proxy key',
    ...guard,
    request: { params: IdParams, query: Whose, body: jsonContent(Change.body) },
    responses: answers(200, 'The key', KeySchema, 'key_not_found', 'key_revoked'),
  })
  api.openapi(change, async (c) => {
    const { id } = c.req.valid('param')
    const account = whose(callerOf(c), c.req.valid('query').account)
    const { expires_at, status, ...plain } = Change.changes(c.req.valid('json'), await getKey(of(c), id, account, clock()))
    if (status !== undefined && !CHOSEN.some((one) => one === status)) throw invalidField('status', '"status" must be one of "active", "disabled", or what it is.')
    const wanted = { ...plain, expires_at: expires_at === undefined ? undefined : expiryOf(expires_at, clock()), disabled: status && status === 'disabled' }
    checkProviders(wanted.providers)
    if (wanted.objects === 'upstream') mayOpenUpstream(callerOf(c))
    const key = await changeKey(of(c), id, account, wanted, clock())
    await keys.refresh()
    return c.json(key, 200)
  })

  const revoke = createRoute({
    method: 'delete',
    path: '/api/v1/keys/{id}',
    summary: 'Revoke a proxy key, for good',
    ...guard,
    request: { params: IdParams, query: Whose.extend(Purge.shape) },
    responses: done('Revoked, and with `purge` in no list any more', 'key_not_found'),
  })
  api.openapi(revoke, async (c) => {
    const { account, purge } = c.req.valid('query')
    const end = purge === 'true' ? purgeKey : revokeKey
    await end(store, c.req.valid('param').id, whose(callerOf(c), account), clock())
    await keys.refresh()
    return c.body(null, 204)
  })

  const purgeAll = createRoute({
    method: 'post',
    path: '/api/v1/keys/purge',
    summary: 'Take all proxy keys that have ended out of every list',
    ...guard,
    request: { query: Whose, body: jsonContent(Ended) },
    responses: answers(200, 'How many there were', PurgeSchema),
  })
  api.openapi(purgeAll, async (c) => {
    const purged = await purgeKeys(store, whose(callerOf(c), c.req.valid('query').account), c.req.valid('json').status, clock())
    await keys.refresh()
    return c.json({ object: 'purge' as const, purged }, 200)
  })

  const rotate = createRoute({
    method: 'post',
    path: '/api/v1/keys/{id}/rotate',
    summary: 'Give a proxy key a new secret, while the old one works for a time',
    ...guard,
    request: { params: IdParams, query: Whose, body: { content: { 'application/json': { schema: Rotation } } } },
    responses: answers(200, 'The key, with its new secret', NewKeySchema, 'key_not_found', 'key_revoked'),
  })
  api.openapi(rotate, async (c) => {
    const { grace_seconds } = Rotation.parse(c.req.valid('json') ?? {})
    const key = await rotateKey(of(c), c.req.valid('param').id, whose(callerOf(c), c.req.valid('query').account), grace_seconds * 1000, clock())
    await keys.refresh()
    return c.json(key, 200)
  })

  const end = createRoute({
    method: 'post',
    path: '/api/v1/keys/{id}/rotate/end',
    summary: 'End the secrets of a proxy key that were rotated away',
    ...guard,
    request: { params: IdParams, query: Whose },
    responses: answers(200, 'The key', KeySchema, 'key_not_found', 'key_revoked'),
  })
  api.openapi(end, async (c) => {
    const key = await endPreviousSecrets(of(c), c.req.valid('param').id, whose(callerOf(c), c.req.valid('query').account), clock())
    await keys.refresh()
    return c.json(key, 200)
  })

  return api
}
