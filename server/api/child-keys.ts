// /api/v1/keys/{id}/children: short-lived keys that narrow one of the account's proxy keys.
import { z } from '@hono/zod-openapi'
import { withoutSecrets } from '../common/issued-secrets.ts'
import { duration } from '../config/setting-kinds.ts'
import { createChild, MAX_CHILDREN, MAX_TTL_SECONDS } from '../keys/children.ts'
import { requireRoom } from '../keys/held-keys.ts'
import type { Proxy } from '../proxy/index.ts'
import type { Store } from '../store/store.ts'
import { AccountScopeParams, resolveAccountScope } from './account-scope.ts'
import type { Api } from './api.ts'
import { NewKeySchema, RESTRICTION_FIELDS } from './keys-schemas.ts'
import { strictObject } from './request/strict.ts'
import { created, route, routes } from './route.ts'

export const MAX_END_USER = 128

const TTL_RULE = `Must be seconds, or ${duration.what}.`

const Ttl = z
  .union(
    [
      z.number().int(),
      z.string().transform((text, issues) => {
        const milliseconds = duration.parse(text)
        if (milliseconds !== undefined) return Math.round(milliseconds / 1000)
        issues.addIssue({ code: 'custom', message: TTL_RULE })
        return z.NEVER
      }),
    ],
    { error: ({ input }) => (input === undefined ? undefined : TTL_RULE) },
  )
  .refine((seconds) => seconds >= 1 && seconds <= MAX_TTL_SECONDS, {
    message: `Must be from 1 second to a day (${MAX_TTL_SECONDS}).`,
  })
  .openapi({
    type: ['integer', 'string'],
    description: `How long the key works: seconds, or a length of time such as \`10m\`; ${MAX_TTL_SECONDS} seconds at most. It never outlives its parent.`,
    example: 600,
  })

const ChildKeyInput = strictObject({
  ttl: Ttl,
  models: RESTRICTION_FIELDS.models.default(null).openapi({
    description: 'Models or globs within the parent’s; null means all of the parent’s.',
  }),
  rpm: RESTRICTION_FIELDS.rpm.default(null).openapi({
    description:
      'Its own limit of requests in any 60 seconds, at most the parent’s. They also count towards the parent’s limit.',
  }),
  allowed_origins: RESTRICTION_FIELDS.allowed_origins.default(null).openapi({
    description: 'Some of the parent’s; null means all of the parent’s.',
  }),
  end_user: z
    .string()
    .trim()
    .min(1)
    .max(MAX_END_USER)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'Must not contain control characters.')
    .refine((name) => withoutSecrets(name) === name, 'Must not contain a key or a token.')
    .nullable()
    .default(null)
    .openapi({ description: 'The person the key is for; recorded with each of its requests.' }),
})

/** The routes of child keys. */
export function childKeyRoutes(
  store: Store,
  keys: Pick<Proxy['keys'], 'heldBy' | 'refresh'>,
  clock: () => number,
): Api {
  return routes(store, clock, [
    route({
      method: 'post',
      path: '/api/v1/keys/{id}/children',
      summary: 'Create a short-lived child key, which can only narrow its parent',
      description: `A child key counts towards its parent’s limit, shares its stored objects, and ends with it. A key can have at most ${MAX_CHILDREN} at a time.`,
      access: 'mint',
      query: AccountScopeParams,
      body: ChildKeyInput,
      response: created('The child key, with its secret', NewKeySchema),
      problems: [
        'key_not_found',
        'key_revoked',
        'key_inactive',
        'key_is_child',
        'too_many_child_keys',
        'too_many_keys',
      ],
      act: async ({ params, query, body, caller, now }) => {
        const account = resolveAccountScope(caller, query.account)
        const reading = store.lookingUpFor(caller.account.id)
        requireRoom(keys, caller.account)
        const key = await createChild(reading, params.id, account, body, now)
        await keys.refresh()
        return key
      },
    }),
  ])
}
