// What /openapi.json says of /proxy, which no route of the API answers: see proxy/handler.ts.
import { z } from '@hono/zod-openapi'
import type { Api } from '../api.ts'
import { METHODS } from '../proxy/cors.ts'
import { REFUSALS, type RefusalCode } from '../proxy/refusal.ts'

const DESCRIPTION = [
  "Sends the request to a provider with the operator's credential in place of the key, and gives the provider's answer as it comes: status, headers, body, byte for byte.",
  'The body is whatever the provider takes, up to a megabyte or as the operator says where it has to be read. An answer of our own has `X-Proxy-Error`, and is written as the provider writes its errors.',
  '`/proxy/<host>/<path>?<query>` is the same for clients that take a base URL; the key may then stand where the provider\'s own would.',
].join('\n\n')

/** A description of every method that passes. */
export function describeProxy(api: Api): void {
  api.openAPIRegistry.registerComponent('securitySchemes', 'key', { type: 'http', scheme: 'bearer', description: 'A proxy key (tmk_…).' })
  const answer = { 'application/json': { schema: z.unknown() } }
  for (const method of METHODS) {
    const named = method.toLowerCase()
    if (!isDescribed(named)) continue
    api.openAPIRegistry.registerPath({
      method: named,
      path: '/proxy',
      summary: `Call a provider (${method})`,
      description: DESCRIPTION,
      security: [{ key: [] }],
      request: {
        query: z.object({ url: z.string().openapi({ description: "The provider's whole address, percent-encoded.", example: 'https://api.openai.com/v1/chat/completions' }) }),
        ...(WITH_BODY.has(named) && { body: { content: answer } }),
      },
      responses: { 200: { description: "The provider's answer, whatever its status", content: answer }, ...refusals() },
    })
  }
}

/** Methods that a description can hold and a client sends by itself. */
const DESCRIBED = ['get', 'post', 'put', 'patch', 'delete'] as const
const WITH_BODY: ReadonlySet<string> = new Set(['post', 'put', 'patch'])

function isDescribed(method: string): method is (typeof DESCRIBED)[number] {
  return DESCRIBED.some((one) => one === method)
}

/** Our own answers by status, with the codes of each. */
function refusals(): Record<string, { description: string }> {
  const codes = Object.keys(REFUSALS) as RefusalCode[]
  const byStatus = Map.groupBy(codes, (code) => REFUSALS[code].status)
  return Object.fromEntries([...byStatus].map(([status, codes]) => [String(status), { description: `\`X-Proxy-Error\`: ${codes.join(', ')}` }]))
}
