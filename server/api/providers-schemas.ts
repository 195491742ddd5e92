// Schemas of /api/v1/providers.
import { z } from '@hono/zod-openapi'
import { ClosedPath, Endpoint, MAX_PATHS } from '../config/providers-file.ts'
import { patchOf } from './request/patch.ts'
import { strictObject } from './request/strict.ts'
import { CredentialSchema, LastErrorSchema, secret, weight } from './credentials-schemas.ts'
import { Name } from './schemas.ts'
import { HEALTH } from './provider-health.ts'

/** The header that carries the credential to the provider. */
export const AuthSchema = strictObject({
  header: z.string().max(100),
  scheme: z.string().max(100).nullable().default(null).openapi({
    description: 'The scheme before the credential, such as `Bearer`; null means none.',
  }),
})

const PLACES = { type: 'object', additionalProperties: { type: 'string' } } as const
/** Described by hand: the generator takes `exactOptional` for required. */
const endpoints = z
  .array(Endpoint)
  .max(MAX_PATHS)
  .openapi({
    type: 'array',
    items: {
      type: 'object',
      required: ['on'],
      additionalProperties: false,
      properties: {
        on: { type: 'string', description: 'Methods and a path: `POST /v1/jobs/{job}`.' },
        model: {
          description:
            'Where the model is named: `path`, `query`, `stored`, `{"body": [places]}` or `{"headers": [names]}`.',
        },
        name: {
          type: 'string',
          description:
            'The name of the endpoint in the models of a key, if requests name no model.',
        },
        creates: PLACES,
        names: PLACES,
        asks: PLACES,
        uploads: { type: 'string', enum: ['form', 'body'] },
      },
    },
  })
const closedPaths = z.array(ClosedPath).max(MAX_PATHS)

/** A provider as the API shows it. */
export const ProviderSchema = z
  .object({
    id: z.string(),
    object: z.literal('provider'),
    name: z.string(),
    source: z
      .enum(['built_in', 'settings', 'stored'])
      .openapi({ description: 'Where it is defined; only stored ones can change.' }),
    base: z.string().openapi({
      description: 'The base URL that callers use.',
    }),
    hosts: z.array(z.string()).openapi({
      description: 'Hosts that callers may use. `{…}` stands for a value of a credential.',
    }),
    auth: z.object({ header: z.string(), scheme: z.string().nullable() }),
    ready: z.boolean().openapi({ description: 'Whether it has a usable credential.' }),
    health: z.enum(HEALTH).openapi({
      description:
        "Health as seen by this process's last calls. `failing`: no credential works, or the provider cannot be reached. `degraded`: some credentials do not work, or the provider rate-limited or failed. `no_credential`: requests get 502 `upstream_credential_missing`.",
    }),
    last_error: LastErrorSchema,
    dial: z
      .string()
      .nullable()
      .openapi({ description: 'Where the proxy connects instead; administrators only.' }),
    speaks: z.string().nullable().openapi({
      description: 'The built-in provider whose API it speaks, if it was added here.',
    }),
    endpoints: endpoints.openapi({
      description: 'Its endpoints beyond that API, if it was added here.',
    }),
    minting: closedPaths.openapi({
      description: 'Paths that issue credentials, closed to every key.',
    }),
    admin: closedPaths.openapi({
      description: 'Paths that administer the account, closed to every key.',
    }),
    credentials: z
      .array(CredentialSchema)
      .nullable()
      .openapi({ description: 'Its credentials with their health; administrators only.' }),
  })
  .openapi('Provider')

const inputFields = {
  origin: z.string().max(300).openapi({
    description: 'The address that callers use: https://host or https://host:port.',
    example: 'https://llm.example.com',
  }),
  dial: z
    .url({ protocol: /^https?$/, error: 'Must be an address such as http://10.0.0.5:8000/v1.' })
    .max(300)
    .nullable()
    .openapi({
      description:
        'Where the proxy connects instead, with a path if needed. Only an address given here may be private.',
    }),
  auth: AuthSchema.nullable().openapi({
    description: 'Null means `Authorization: Bearer …`.',
  }),
  speaks: z.string().max(64).nullable().openapi({
    description:
      "The id of the built-in provider whose API it implements, such as `anthropic`; null means OpenAI's dialect.",
  }),
  endpoints: endpoints.openapi({
    description:
      'Endpoints that this API does not have: methods and a path, where requests name the model, and which stored objects they create and name.',
    example: [{ on: 'POST /v1/speak', model: { body: ['voice_model'] } }],
  }),
  minting: closedPaths.openapi({
    description:
      'Paths that issue credentials. They, and all paths below them, are closed to every key.',
    example: ['/v1/passes'],
  }),
  admin: closedPaths.openapi({
    description:
      'Paths that administer the account. They, and all paths below them, are closed to every key.',
    example: ['/v1/house'],
  }),
}
const id = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    'Must be 1 to 64 lower-case letters, digits, hyphens and underscores, and begin with a letter or a digit.',
  )
/** A provider to add. */
export const ProviderInput = strictObject({
  id,
  origin: inputFields.origin,
  dial: inputFields.dial.default(null),
  auth: inputFields.auth.default(null),
  speaks: inputFields.speaks.default(null),
  endpoints: inputFields.endpoints.default([]),
  minting: inputFields.minting.default([]),
  admin: inputFields.admin.default([]),
  credential: strictObject({ name: Name.default('default'), secret, weight: weight.default(1) })
    .nullable()
    .default(null)
    .openapi({ description: 'Its first credential.' }),
})
/** The fields of an added provider that can change. */
export const ProviderChange = patchOf(ProviderSchema, inputFields, [
  'ready',
  'health',
  'last_error',
  'credentials',
])
