// /api/v1/keys/{id}/objects: stored provider objects that administrators share with a key.
import { z } from '@hono/zod-openapi'
import { countedListOf, whole, type Api } from './api.ts'
import { fieldError, type FieldError } from '../common/errors.ts'
import { listSharedObjects, shareObject, unshareObject } from '../keys/shared-objects.ts'
import type { Proxy } from '../proxy/index.ts'
import { objectRef } from '../proxy/providers/object-ref.ts'
import { strictObject } from './request/strict.ts'
import { created, done, ok, route, routes, type Route } from './route.ts'
import type { Store } from '../store/store.ts'

const SharedObjectSchema = z
  .object({
    id: z.string(),
    object: z.literal('shared_object'),
    key_id: z.string(),
    provider: z.string(),
    kind: z.string(),
    object_id: z.string().openapi({
      description: "The provider's id, without a path before it (`abc` for `files/abc`).",
    }),
    created_at: z.iso.datetime(),
  })
  .openapi('SharedObject')

const Wanted = strictObject({
  provider: z.string().min(1).max(64).openapi({ example: 'openai' }),
  kind: z.string().min(1).max(64).openapi({
    description: "The kind of the object; the error for a wrong one lists the provider's kinds.",
    example: 'vector_store',
  }),
  object_id: z.string().min(1).max(2_048).openapi({
    description: 'As the provider writes it: an id, a name with slashes, or a URL.',
    example: 'vs_abc123',
  }),
})

type Proxied = Pick<Proxy, 'keys' | 'table'>

/** The routes of shared objects. */
export function sharedObjectRoutes(store: Store, proxied: Proxied, clock: () => number): Api {
  return routes(store, clock, [
    shareRoute(store, proxied),
    listRoute(store),
    unshareRoute(store, proxied),
  ])
}

function shareRoute(store: Store, proxied: Proxied): Route {
  return route({
    method: 'post',
    path: '/api/v1/keys/{id}/objects',
    summary: "Let a key read and use a provider's stored object (administrators)",
    access: 'admin',
    body: Wanted,
    check: (_, body) => inputErrors(proxied.table, body),
    response: created('The shared object', SharedObjectSchema),
    problems: ['key_not_found', 'key_is_child'],
    act: async ({ params, body: { provider, kind, object_id }, now }) => {
      const shared = await shareObject(
        store,
        params.id,
        { provider, kind, object_id: objectRef(kind, object_id).id },
        now,
      )
      await proxied.keys.refresh()
      return shared
    },
  })
}

function listRoute(store: Store): Route {
  return route({
    method: 'get',
    path: '/api/v1/keys/{id}/objects',
    summary: 'List the objects shared with a key (administrators)',
    access: 'admin',
    response: ok('All shared objects', countedListOf(SharedObjectSchema)),
    problems: ['key_not_found', 'key_is_child'],
    act: async ({ params }) => whole(await listSharedObjects(store, params.id)),
  })
}

function unshareRoute(store: Store, proxied: Proxied): Route {
  return route({
    method: 'delete',
    path: '/api/v1/keys/{id}/objects/{object}',
    summary: 'Stop sharing an object (administrators)',
    access: 'admin',
    response: done('No longer shared'),
    problems: ['key_not_found', 'key_is_child', 'object_not_found'],
    act: async ({ params: { id, object } }) => {
      await unshareObject(store, id, object)
      await proxied.keys.refresh()
    },
  })
}

/** Field errors of an object to share: unknown provider, unknown kind, or no object. */
function inputErrors(
  table: Proxy['table'],
  { provider, kind, object_id }: Partial<z.output<typeof Wanted>>,
): (FieldError | null)[] {
  const kinds = provider === undefined ? [] : table().byId(provider)?.endpoints.kinds
  return [
    kinds === undefined ? fieldError('provider', `Must be one of ${idsOf(table)}.`) : null,
    kind !== undefined && kinds !== undefined && kinds.length > 0 && !kinds.includes(kind)
      ? fieldError('kind', `Must be one of ${kinds.toSorted().join(', ')}.`)
      : null,
    object_id !== undefined && objectRef('', object_id).id === ''
      ? fieldError(
          'object_id',
          'Does not name a stored object. Send its id, or its name at the provider.',
        )
      : null,
  ]
}

function idsOf(table: Proxy['table']): string {
  return table()
    .providers.map(({ id }) => id)
    .toSorted()
    .join(', ')
}
