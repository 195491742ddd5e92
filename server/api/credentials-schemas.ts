// Schemas of /api/v1/credentials. No response contains a secret.
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
    .openapi({ description: "The provider's status; null if there was no response." }),
  detail: z.string().openapi({ description: 'A sentence that says what to do.' }),
  at: z.iso.datetime(),
}

/** Without `.openapi(name)`: a nullable use of a named schema makes it nullable everywhere. */
export const LastErrorSchema = z
  .object({
    status: z.number().int().nullable().openapi({ description: 'Null if there was no response.' }),
    code: z
      .enum(['upstream_unreachable', 'upstream_timeout'])
      .nullable()
      .openapi({ description: 'Why there was no complete response.' }),
    at: z.iso.datetime(),
  })
  .nullable()
  .openapi({
    description:
      'The last failed call: refused, rate-limited, failed at the provider or not answered. As seen by this process, or in the ledger before it started; null if a call has succeeded since.',
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
        'How long this process uses other credentials in its place: after the provider rejected it, or after a rate limit or failure (then only for that model). 0 means in use, also if it fails and no other one is better.',
    }),
    last_error: LastErrorSchema,
    last_test: z
      .object(tested)
      .nullable()
      .openapi({ description: 'The last test call; null if there was none.' }),
    created_at: z.iso.datetime().nullable(),
  })
  .openapi('Credential')

/** The result of a test call. */
export const TestSchema = z
  .object({ object: z.literal('credential_test'), ...tested })
  .openapi('CredentialTest')

/** The query parameter that tests a credential after storing it. */
export const Tested = strictObject({
  test: z.enum(['true', 'false']).default('false').openapi({
    description:
      '`true`: test the credential with one cheap call. It is stored even if the test fails (`last_test`).',
  }),
})

/** A credential's share of the requests to its provider; 0 means unused. */
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
/** The fields of a stored credential that can change. */
export const CredentialChange = patchOf(
  CredentialSchema,
  { name: Name, weight, status: z.enum(['active', 'paused']) },
  ['readable', 'resting_ms', 'last_error', 'last_test'],
)
