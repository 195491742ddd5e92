// Holds the server to its own description: every answer that a test receives must be in /openapi.json.
import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'

interface Described {
  paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, unknown>; headers?: Record<string, unknown> }> }>>
}

const documents = new Map<string, Promise<Described>>()

/** TABLE of headers that are described wherever they are sent. */
const HEADERS = ['x-request-id', 'ratelimit', 'ratelimit-policy', 'retry-after', 'location', 'www-authenticate']

/** Checks method, path, status, headers and content type against the server's description. Addresses that are not described must be 404 or 405. */
export async function checkDescribed(
  url: string,
  method: string,
  path: string,
  answer: { status: number; headers: IncomingMessage['headers'] },
): Promise<void> {
  let document = documents.get(url)
  if (!document) {
    document = fetch(`${url}/openapi.json`).then((response) => response.json() as Promise<Described>)
    documents.set(url, document)
  }
  const { paths } = await document
  const pathname = path.split('?')[0] ?? ''
  const operations = Object.entries(paths).find(([pattern]) => new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname))?.[1]
  const operation = operations?.[method === 'HEAD' ? 'get' : method.toLowerCase()]
  if (!operation) {
    assert.equal(answer.status, operations ? 405 : 404, `${method} ${path} is not described, and answered ${answer.status}`)
    return
  }
  const described = operation.responses[String(answer.status)]
  assert.ok(described, `${method} ${path} answered ${answer.status}, which is not described`)
  const known = new Set(Object.keys(described.headers ?? {}).map((name) => name.toLowerCase()))
  for (const name of HEADERS) assert.ok(answer.headers[name] === undefined || known.has(name), `${method} ${path} answered ${answer.status} with ${name}, which is not described`)
  const type = answer.headers['content-type']?.split(';')[0]
  if (type !== undefined) assert.ok(described.content?.[type], `${method} ${path} answered ${answer.status} with ${type}, which is not described`)
}
