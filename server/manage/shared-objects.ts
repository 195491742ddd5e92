// /api/v1/keys/{id}/objects: stored objects of providers that an administrator lets a key read and use.
import { z } from '@hono/zod-openapi'
import { IdParams, answers, countedListOf, createRoute, done, guarded, jsonContent, newApi, whole, type Api } from '../api.ts'
import { invalidField } from '../errors.ts'
import { listSharedObjects, shareObject, unshareObject } from '../keys/shared-objects.ts'
import type { Proxy } from '../proxy/open.ts'
import { objectRef } from '../proxy/providers/object-ref.ts'
import { strictObject } from '../request/strict.ts'
import type { Store } from '../store/open.ts'

const SharedObjectSchema = z
  .object({
    id: z.string(),
    object: z.literal('shared_object'),
    key_id: z.string(),
    provider: z.string(),
    kind: z.string(),
    object_id: z.string().openapi({ description: "The provider's id, without what stands before it (`files/abc` is `abc`)." }),
    created_at: z.iso.datetime(),
  })
  .openapi('SharedObject')

const Wanted = strictObject({
  provider: z.string().min(1).max(64).openapi({ example: 'openai' }),
  kind: z.string().min(1).max(64).openapi({ description: 'What kind of object it is; a wrong one is answered with the kinds of the provider.', example: 'vector_store' }),
  object_id: z.string().min(1).max(2_048).openapi({ description: 'As the provider spells it: an id, a name with slashes, or an address.', example: 'vs_abc123' }),
})

const ObjectParams = IdParams.extend({ object: z.string() })

/** The routes of objects that are shared with keys. */
export function sharedObjectRoutes(store: Store, { keys, table }: Pick<Proxy, 'keys' | 'table'>, clock: () => number): Api {
  const api = newApi()
  const guard = guarded(store, clock, 'admin')

  const share = createRoute({
    method: 'post',
    path: '/api/v1/keys/{id}/objects',
    summary: "Let a key read and use a provider's stored object (administrators)",
    ...guard,
    request: { params: IdParams, body: jsonContent(Wanted) },
    responses: answers(201, 'What is shared', SharedObjectSchema, 'key_not_found'),
  })
  api.openapi(share, async (c) => {
    const { provider, kind, object_id } = c.req.valid('json')
    const kinds = table().byId(provider)?.endpoints.kinds
    if (kinds === undefined) throw invalidField('provider', '"provider" is none that is known here. GET /api/v1/providers lists them.')
    if (!kinds.includes(kind)) throw invalidField('kind', `"kind" must be one of ${kinds.toSorted().join(', ')}.`)
    const { id } = objectRef(kind, object_id)
    if (id === '') throw invalidField('object_id', '"object_id" ends with a slash, and so names nothing.')
    const shared = await shareObject(store, c.req.valid('param').id, { provider, kind, object_id: id }, clock())
    await keys.refresh()
    return c.json(shared, 201)
  })

  const list = createRoute({
    method: 'get',
    path: '/api/v1/keys/{id}/objects',
    summary: 'List what is shared with a key (administrators)',
    ...guard,
    request: { params: IdParams },
    responses: answers(200, 'All of it', countedListOf(SharedObjectSchema), 'key_not_found'),
  })
  api.openapi(list, async (c) => c.json(whole(await listSharedObjects(store, c.req.valid('param').id)), 200))

  const unshare = createRoute({
    method: 'delete',
    path: '/api/v1/keys/{id}/objects/{object}',
    summary: 'End the sharing of an object (administrators)',
    ...guard,
    request: { params: ObjectParams },
    responses: done('No longer shared', 'key_not_found', 'object_not_found'),
  })
  api.openapi(unshare, async (c) => {
    const { id, object } = c.req.valid('param')
    await unshareObject(store, id, object)
    await keys.refresh()
    return c.body(null, 204)
  })

  return api
}
