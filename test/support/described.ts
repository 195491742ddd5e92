// Checks every response that a test receives against /openapi.json, down to the last field.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { z } from 'zod'

type Schema = Record<string, unknown>
interface Response {
  headers?: Record<string, { required?: boolean; schema: Schema }>
  content?: Record<string, { schema?: Schema }>
}
interface Described {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>
  components: { schemas: Record<string, Schema> }
}

/**
 * The description from the first server of this run (saved in TEST_OPENAPI) or of this process.
 * Generating it takes longer than starting a server, and all servers have the same routes.
 */
let first: Promise<Described> | undefined
const documents = new Map<string, Promise<Described>>()
/**
 * Keyed by their text: the servers of a test file have the same description, so each schema is
 * compiled once.
 */
const parsed = new Map<string, Described>()

function parse(text: string): Described {
  let document = parsed.get(text)
  if (!document) parsed.set(text, (document = JSON.parse(text) as Described))
  return document
}

/** TABLE of headers that must be described wherever they are sent. */
const HEADERS = [
  'x-request-id',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'location',
  'www-authenticate',
  'set-cookie',
  'content-disposition',
  'content-range',
  'accept-ranges',
  'etag',
  'x-tollmark-warnings',
  'x-tollmark-failed-pages',
]

interface Received {
  status: number
  headers: IncomingMessage['headers']
  text: string
}

function descriptionOf(url: string): Promise<Described> {
  let document = documents.get(url)
  if (!document) {
    document = fetch(`${url}/openapi.json`).then(async (response) => parse(await response.text()))
    documents.set(url, document)
  }
  return document
}

async function firstDescription(url: string): Promise<Described> {
  const file = process.env['TEST_OPENAPI']
  if (file === undefined) return descriptionOf(url)
  if (existsSync(file)) return parse(readFileSync(file, 'utf8'))
  const document = await descriptionOf(url)
  // Renamed into place, so that another process never reads half a file.
  const written = `${file}.${process.pid}`
  writeFileSync(written, JSON.stringify(document))
  renameSync(written, file)
  return document
}

/**
 * Checks method, path, status, headers, content type and JSON against the first server's
 * description, or, if a route is missing there, against this server's. Paths that are not described
 * must respond with 404 or 405.
 */
export async function checkDescribed(
  url: string,
  method: string,
  path: string,
  response: Received,
): Promise<void> {
  first ??= firstDescription(url)
  // If this server fails, the next one provides the description.
  first.catch(() => (first = undefined))
  const shared = await first
  try {
    check(shared, method, path, response)
  } catch (error) {
    const own = await descriptionOf(url)
    if (own === shared) throw error
    check(own, method, path, response)
  }
}

function check(described: Described, method: string, path: string, response: Received): void {
  const pathname = path.split('?')[0] ?? ''
  // A literal path takes precedence over one with a parameter.
  const patterns = Object.keys(described.paths).sort(
    (a, b) => a.split('{').length - b.split('{').length,
  )
  const pattern = patterns.find((one) =>
    new RegExp(`^${one.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  )
  const operation =
    pattern === undefined
      ? undefined
      : described.paths[pattern]![method === 'HEAD' ? 'get' : method.toLowerCase()]
  const what = `${method} ${path} got ${response.status}`
  if (!operation)
    return assert.equal(
      response.status,
      pattern === undefined ? 404 : 405,
      `${what}, and is not described`,
    )
  const expected = operation.responses[String(response.status)]
  assert.ok(expected, `${what}, which is not described`)
  for (const [name, { required }] of Object.entries(expected.headers ?? {})) {
    if (required)
      assert.ok(
        response.headers[name.toLowerCase()] !== undefined,
        `${what} without the header ${name}`,
      )
  }
  const known = new Set(Object.keys(expected.headers ?? {}).map((name) => name.toLowerCase()))
  for (const name of HEADERS)
    assert.ok(
      response.headers[name] === undefined || known.has(name),
      `${what} with ${name}, which is not described`,
    )
  const type = response.headers['content-type']?.split(';')[0]
  if (type === undefined) return
  const content = expected.content?.[type]
  assert.ok(content, `${what} with ${type}, which is not described`)
  // Ranges and compressed bytes are not JSON.
  if (
    !/\bjson$/.test(type) ||
    method === 'HEAD' ||
    response.status === 206 ||
    response.headers['content-encoding'] !== undefined
  )
    return
  assert.ok(content.schema, `${what} with JSON whose shape is not described`)
  const { success, error } = shapeOf(described, content.schema).safeParse(JSON.parse(response.text))
  assert.ok(
    success,
    `${what} with another shape than is described: ${error && z.prettifyError(error)}\n${response.text}`,
  )
}

const shapes = new WeakMap<Schema, z.ZodType>()

function shapeOf(document: Described, schema: Schema): z.ZodType {
  let shape = shapes.get(schema)
  if (!shape)
    shapes.set(
      schema,
      (shape = z.fromJSONSchema(
        closed(document, schema) as Parameters<typeof z.fromJSONSchema>[0],
      )),
    )
  return shape
}

/** The schema with references resolved, and closed: objects may have no undescribed fields. */
function closed(document: Described, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((one) => closed(document, one))
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref, allOf, ...rest } = schema as { $ref?: string; allOf?: Schema[] } & Schema
  if ($ref !== undefined)
    return closed(document, document.components.schemas[$ref.split('/').at(-1)!]!)
  if (allOf !== undefined) {
    const parts = allOf.map(
      (one) => closed(document, one) as { properties: object; required: string[] },
    )
    return {
      type: 'object',
      properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as object,
      required: parts.flatMap(({ required }) => required),
      additionalProperties: false,
    }
  }
  const whole = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [
      name,
      name === 'properties' ? eachOf(document, value as object) : closed(document, value),
    ]),
  )
  return 'properties' in whole && !('additionalProperties' in whole)
    ? { ...whole, additionalProperties: false }
    : whole
}

function eachOf(document: Described, properties: object): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, closed(document, schema)]),
  )
}
