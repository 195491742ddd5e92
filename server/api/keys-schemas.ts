// Schemas of /api/v1/keys.
import { z } from '@hono/zod-openapi'
import { PageQuery } from './api.ts'
import { normalizeOrigin } from '../keys/authenticate.ts'
import { KEY_SORTS } from '../keys/key-list.ts'
import { MAX_RPM } from '../keys/keys.ts'
import { ENDED } from '../keys/purge.ts'
import { SCOPE_LIMITS, scopeEntryProblem } from '../keys/scope.ts'
import { patchOf } from './request/patch.ts'
import { strictObject } from './request/strict.ts'
import { AccountScopeParams } from './account-scope.ts'
import { TOKEN_SCHEMAS } from './ledger-schemas.ts'
import { Moment, Name, oneOrMore } from './schemas.ts'

const Status = z.enum(['active', 'disabled', 'expired', 'revoked'])
const count = z.number().int()
const Objects = z.enum(['own', 'upstream']).openapi({
  description:
    "`own`: objects that the key created or that were shared with it. `upstream`: all objects of the operator's account at the provider; only administrators can set it.",
})

/**
 * A proxy key as the API shows it, without its secret; `showKeys` in keys/key-record.ts makes it.
 */
export const KeySchema = z
  .object({
    id: z.string(),
    object: z.literal('key'),
    account_id: z.string(),
    account_name: z.string(),
    name: z.string(),
    prefix: z
      .string()
      .openapi({ description: 'The first characters of the newest secret, for display.' }),
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
      description: 'Whether it may only generate and read, and not change what a provider stores.',
    }),
    parent_id: z
      .string()
      .nullable()
      .openapi({ description: 'The parent of a child key; null for other keys.' }),
    end_user: z
      .string()
      .nullable()
      .openapi({ description: 'The person a child key was created for; null for other keys.' }),
    expires_at: z.iso.datetime().nullable(),
    status: Status,
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().nullable(),
    previous_secret_expires_at: z.iso.datetime().nullable().openapi({
      description: 'When the previous secret stops working; null if none still works.',
    }),
    usage: z.object({
      requests: count,
      errors: count,
      ...TOKEN_SCHEMAS,
    }),
  })
  .openapi('Key')

/** A proxy key with its secret: the response to creating or rotating it. */
export const NewKeySchema = KeySchema.extend({
  secret: z.string().openapi({ description: 'The key itself. It is not shown again.' }),
}).openapi('NewKey')

/** TABLE of the fields of a key that a caller sets. */
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

/** The fields by which a child key narrows its parent. */
export const RESTRICTION_FIELDS = {
  models: inputFields.models,
  rpm: inputFields.rpm,
  allowed_origins: inputFields.allowed_origins,
}

/** A key to create. */
export const KeyInput = strictObject({
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

/** The statuses that a PATCH can set. It may also repeat the current one. */
export const SETTABLE_STATUSES = ['active', 'disabled'] as const
/** The fields of a key that can change. */
export const KeyChange = patchOf(
  KeySchema,
  {
    ...inputFields,
    status: Status.openapi({
      description:
        '`disabled` disables the key, `active` enables it again. The current status is accepted, too.',
    }),
  },
  ['last_used_at', 'previous_secret_expires_at', 'usage'],
)

/** The longest time that a replaced secret stays valid: 30 days. */
const MAX_GRACE_SECONDS = 30 * 86_400
/** The request to rotate a key. */
export const RotationInput = strictObject({
  grace_seconds: count
    .min(0)
    .max(MAX_GRACE_SECONDS)
    .default(86_400)
    .openapi({ description: 'How long the old secret stays valid.' }),
})

/** The request to purge keys. */
export const PurgeInput = strictObject({
  status: z.array(z.enum(ENDED)).min(1).openapi({ description: 'How the requests ended.' }),
})

/** The response to a purge. */
export const PurgeSchema = z
  .object({
    object: z.literal('purge'),
    purged: count.openapi({ description: 'Their number.' }),
  })
  .openapi('Purge')

/** The query of a list of keys. */
export const ListQuery = PageQuery.extend({
  ...AccountScopeParams.shape,
  status: oneOrMore(Status.options).optional().openapi({
    type: 'string',
    description: 'One or more of active, disabled, expired, revoked, separated by commas.',
    example: 'active,disabled',
  }),
  search: z.string().max(200).optional().openapi({
    description: 'Part of the name, the beginning of the prefix (`tmk_…`), or the id.',
  }),
  parent_id: z.string().min(1).max(100).optional().openapi({
    description:
      'Child keys of this key. Without it, child keys are left out, unless `search` is the beginning of the prefix of one.',
  }),
  model: z.string().max(300).optional().openapi({ description: 'Keys that may call this model.' }),
  sort: z
    .enum(KEY_SORTS)
    .default('-created_at')
    .openapi({ description: 'A leading minus reverses the order.' }),
})
