// Describes /proxy in /openapi.json. proxy/pipeline.ts handles it, outside the API's routes.
import { z } from '@hono/zod-openapi'
import type { Api } from './api.ts'
import { METHODS } from '../proxy/forward/cors.ts'
import { GATEWAY_ERRORS, type GatewayErrorCode } from '../proxy/error-response.ts'

const DESCRIPTION = [
  "Sends the request to a provider with the operator's credential in place of the key, and passes the provider's response on unchanged: status, headers and body, as they arrive. PUT, PATCH and DELETE work like GET and POST.",
  'The body is whatever the provider accepts. An error of the proxy itself has the header `X-Proxy-Error`, and the format of the provider’s own errors.',
].join('\n\n')

/** TABLE of the two ways to name an address. */
const FORMS = [
  {
    path: '/proxy',
    summary: 'Call a provider by its address',
    description: DESCRIPTION,
    params: {
      query: z.object({
        url: z.string().openapi({
          description: "The provider's whole address, percent-encoded.",
          example: 'https://api.openai.com/v1/chat/completions',
        }),
      }),
    },
  },
  {
    path: '/proxy/{host}/{path}',
    summary: 'Call a provider by base URL',
    description: [
      "The same for clients that take a base URL: `/proxy/<host>/<path>?<query>` stands for `https://<host>/<path>?<query>`. The key may also be sent where the provider's own key would be: `x-api-key`, `x-goog-api-key`, `api-key`.",
      DESCRIPTION,
    ].join('\n\n'),
    params: {
      params: z.object({
        host: z.string().openapi({
          description: "The provider's host, with its port if it has one.",
          example: 'api.openai.com',
        }),
        path: z.string().openapi({
          description: 'The path at the provider, with its slashes, followed by the query.',
          example: 'v1/chat/completions',
        }),
      }),
    },
  },
] as const

/** Describes every supported method, in both forms. */
export function describeProxy(api: Api): void {
  const { openAPIRegistry: registry } = api
  registry.registerComponent('securitySchemes', 'key', {
    type: 'http',
    scheme: 'bearer',
    description: 'A proxy key (tmk_…).',
  })
  const anyJson = { 'application/json': { schema: z.unknown() } }
  for (const { path, summary, description, params } of FORMS) {
    for (const named of METHODS.map((method) => method.toLowerCase()).filter(isDescribed)) {
      registry.registerPath({
        method: named,
        path,
        summary: `${summary} (${named.toUpperCase()})`,
        description,
        security: [{ key: [] }],
        request: { ...params, ...(WITH_BODY.has(named) && { body: { content: anyJson } }) },
        responses: {
          200: { description: "The provider's response, whatever its status", content: anyJson },
          ...refusals(),
        },
      })
    }
  }
}

/** Methods that OpenAPI can describe and clients use. */
const DESCRIBED = ['get', 'post', 'put', 'patch', 'delete'] as const
const WITH_BODY: ReadonlySet<string> = new Set(['post', 'put', 'patch'])

function isDescribed(method: string): method is (typeof DESCRIBED)[number] {
  return DESCRIBED.some((one) => one === method)
}

/** The proxy's own responses by status, with the codes of each. */
function refusals(): Record<string, { description: string }> {
  const codes = Object.keys(GATEWAY_ERRORS) as GatewayErrorCode[]
  const byStatus = Map.groupBy(codes, (code) => GATEWAY_ERRORS[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      { description: `\`X-Proxy-Error\`: ${codes.join(', ')}` },
    ]),
  )
}
