// What /api/v1/credentials reads and answers. No answer holds a secret.
import { z } from '@hono/zod-openapi'
import { patchOf } from './request/patch.ts'
import { strictObject } from './request/strict.ts'
import { CREDENTIAL, HOST_PART } from '../config/setting-kinds.ts'
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
      .openapi({ description: 'Why there was no complete response.' }),
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
      .openapi({ description: 'Whether the master key can decrypt it; if not, it is not used.' }),
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

/** How a test call went. */
export const TestSchema = z
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

/** A credential to store. */
export const CredentialInput = strictObject({
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
/** What of a stored credential can be changed. */
export const CredentialChange = patchOf(
  CredentialSchema,
  { name: Name, weight, status: z.enum(['active', 'paused']) },
  ['readable', 'resting_ms', 'last_error', 'last_test'],
)
