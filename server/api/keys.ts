// /api/v1/keys: the account's proxy keys.
import type { Caller } from '../accounts/tokens.ts'
import { countedListOf, type Api } from './api.ts'
import { Problem, fieldError, type FieldError } from '../common/errors.ts'
import { requireRoom } from '../keys/held-keys.ts'
import { countKeys, listKeys, needsScan } from '../keys/key-list.ts'
import { changeKey, createKey, getKey, revokeKey } from '../keys/keys.ts'
import { purgeKey, purgeKeys } from '../keys/purge.ts'
import { endPreviousSecrets, rotateKey } from '../keys/rotation.ts'
import type { Proxy } from '../proxy/index.ts'
import { created, done, ok, route, routes, type Route } from './route.ts'
import type { Store } from '../store/store.ts'
import { AccountScopeParams, findOwner, resolveAccountScope } from './account-scope.ts'
import { Purge, expiryError, momentOf } from './schemas.ts'
import {
  KeySchema,
  NewKeySchema,
  KeyInput,
  SETTABLE_STATUSES,
  KeyChange,
  RotationInput,
  PurgeInput,
  PurgeSchema,
  ListQuery,
} from './keys-schemas.ts'

/**
 * @throws Problem `insufficient_scope`: only administrators may open objects of other keys, or of
 *   none
 */
function requireUpstreamAccess({ account }: Caller): void {
  if (account.role !== 'admin')
    throw new Problem(
      'insufficient_scope',
      'Only an administrator may set "objects" to "upstream".',
    )
}

/** Live keys and providers. */
interface Proxied {
  readonly keys: Pick<Proxy['keys'], 'heldBy' | 'refresh'>
  readonly table: () => { readonly providers: readonly { readonly id: string }[] }
}

/** Without this check, a misspelt provider would lock the key out of all providers. */
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
  if (status === undefined || SETTABLE_STATUSES.some((one) => one === status)) return null
  return fieldError('status', 'Must be "active", "disabled" or the current status.')
}

/** Look-ups do not queue behind reports, which may be long. */
const lookingUp = (store: Store, { account }: Caller): Store => store.lookingUpFor(account.id)

/** The routes of keys. */
export function keyRoutes(store: Store, proxied: Proxied, clock: () => number): Api {
  return routes(store, clock, [
    createRoute(store, proxied, clock),
    listRoute(store),
    readRoute(store),
    changeRoute(store, proxied),
    revokeRoute(store, proxied),
    purgeRoute(store, proxied),
    rotateRoute(store, proxied),
    endRotationRoute(store, proxied),
  ])
}

function createRoute(store: Store, proxied: Proxied, clock: () => number): Route {
  return route({
    method: 'post',
    path: '/api/v1/keys',
    summary: 'Create a proxy key',
    access: 'manage',
    body: KeyInput,
    check: (_, { providers, expires_at }) => [
      ...providerErrors(proxied, providers),
      expiryError(expires_at, clock()),
    ],
    response: created('The key, with its secret', NewKeySchema),
    problems: ['account_not_found', 'too_many_keys'],
    act: async ({ body: { account_id, expires_at, ...wanted }, caller, now }) => {
      const owner = await findOwner(store, caller, account_id, 'keys')
      requireRoom(proxied.keys, caller.account)
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
  })
}

function listRoute(store: Store): Route {
  return route({
    method: 'get',
    path: '/api/v1/keys',
    summary: 'List proxy keys',
    access: 'manage',
    query: ListQuery,
    response: ok('A page of keys', countedListOf(KeySchema)),
    act: async ({
      query: { limit, cursor, account, parent_id: parent, ...filter },
      caller,
      now,
    }) => {
      const wanted = { ...filter, parent, account: resolveAccountScope(caller, account) }
      const reading = needsScan(wanted)
        ? store.readingFor(caller.account.id)
        : lookingUp(store, caller)
      const [found, total] = await Promise.all([
        listKeys(reading, wanted, limit, cursor, now),
        countKeys(reading, wanted, now),
      ])
      return { object: 'list' as const, data: found.keys, next_cursor: found.next, total }
    },
  })
}

function readRoute(store: Store): Route {
  return route({
    method: 'get',
    path: '/api/v1/keys/{id}',
    summary: 'Read a proxy key',
    access: 'manage',
    query: AccountScopeParams,
    response: ok('The key', KeySchema),
    problems: ['key_not_found'],
    act: ({ params, query, caller, now }) =>
      getKey(lookingUp(store, caller), params.id, resolveAccountScope(caller, query.account), now),
  })
}

function changeRoute(store: Store, proxied: Proxied): Route {
  return route({
    method: 'patch',
    path: '/api/v1/keys/{id}',
    summary: 'Change, disable or enable a proxy key',
    access: 'manage',
    query: AccountScopeParams,
    body: KeyChange.body,
    response: ok('The key', KeySchema),
    problems: ['key_not_found', 'key_revoked', 'key_is_child', 'too_many_keys'],
    act: async ({ params: { id }, query, body, caller, now }) => {
      const account = resolveAccountScope(caller, query.account)
      const reading = lookingUp(store, caller)
      const { expires_at, status, ...plain } = KeyChange.changes(
        body,
        await getKey(reading, id, account, now),
        (change) => [
          statusError(change.status),
          expiryError(change.expires_at, now),
          ...providerErrors(proxied, change.providers),
        ],
      )
      if (plain.objects === 'upstream') requireUpstreamAccess(caller)
      if (plain.models || plain.allowed_origins) requireRoom(proxied.keys, caller.account)
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
  })
}

function revokeRoute(store: Store, proxied: Proxied): Route {
  return route({
    method: 'delete',
    path: '/api/v1/keys/{id}',
    summary: 'Revoke a proxy key permanently',
    access: 'manage',
    query: AccountScopeParams.extend(Purge.shape),
    response: done('Revoked, and with `purge` removed from every list'),
    problems: ['key_not_found'],
    act: async ({ params, query: { account, purge }, caller, now }) => {
      const end = purge === 'true' ? purgeKey : revokeKey
      await end(store, params.id, resolveAccountScope(caller, account), now)
      await proxied.keys.refresh()
    },
  })
}

function purgeRoute(store: Store, proxied: Proxied): Route {
  return route({
    method: 'post',
    path: '/api/v1/keys/purge',
    summary: 'Remove all expired or revoked proxy keys from every list',
    access: 'manage',
    query: AccountScopeParams,
    body: PurgeInput,
    response: ok('How many were removed', PurgeSchema),
    act: async ({ query, body, caller, now }) => {
      const purged = await purgeKeys(
        store,
        resolveAccountScope(caller, query.account),
        body.status,
        now,
      )
      await proxied.keys.refresh()
      return { object: 'purge' as const, purged }
    },
  })
}

function rotateRoute(store: Store, proxied: Proxied): Route {
  return route({
    method: 'post',
    path: '/api/v1/keys/{id}/rotate',
    summary: 'Rotate a proxy key: the old secret stays valid for a while',
    access: 'manage',
    query: AccountScopeParams,
    body: RotationInput,
    response: ok('The key, with its new secret', NewKeySchema),
    problems: ['key_not_found', 'key_revoked', 'key_is_child', 'too_many_secrets'],
    act: async ({ params, query, body, caller, now }) => {
      const account = resolveAccountScope(caller, query.account)
      const key = await rotateKey(
        lookingUp(store, caller),
        params.id,
        account,
        body.grace_seconds * 1000,
        now,
      )
      await proxied.keys.refresh()
      return key
    },
  })
}

function endRotationRoute(store: Store, proxied: Proxied): Route {
  return route({
    method: 'post',
    path: '/api/v1/keys/{id}/rotate/end',
    summary: 'Revoke the old secrets of a proxy key now',
    access: 'manage',
    query: AccountScopeParams,
    response: ok('The key', KeySchema),
    problems: ['key_not_found', 'key_revoked', 'key_is_child'],
    act: async ({ params, query, caller, now }) => {
      const key = await endPreviousSecrets(
        lookingUp(store, caller),
        params.id,
        resolveAccountScope(caller, query.account),
        now,
      )
      await proxied.keys.refresh()
      return key
    },
  })
}
