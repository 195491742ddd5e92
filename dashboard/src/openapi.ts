// Reads the server's OpenAPI description, as far as the reference shows it.
import * as z from 'zod/mini'

interface RawSchema {
  $ref?: string | undefined
  type?: string | string[] | undefined
  format?: string | undefined
  description?: string | undefined
  enum?: unknown[] | undefined
  const?: unknown
  default?: unknown
  example?: unknown
  properties?: Record<string, RawSchema> | undefined
  required?: string[] | undefined
  readOnly?: boolean | undefined
  items?: RawSchema | undefined
  anyOf?: RawSchema[] | undefined
  oneOf?: RawSchema[] | undefined
  allOf?: RawSchema[] | undefined
}

const text = z.optional(z.string())
const Schema: z.ZodMiniType<RawSchema> = z.lazy(() =>
  z.object({
    $ref: text,
    type: z.optional(z.union([z.string(), z.array(z.string())])),
    format: text,
    description: text,
    enum: z.optional(z.array(z.unknown())),
    const: z.optional(z.unknown()),
    default: z.optional(z.unknown()),
    example: z.optional(z.unknown()),
    properties: z.optional(z.record(z.string(), Schema)),
    required: z.optional(z.array(z.string())),
    readOnly: z.optional(z.boolean()),
    items: z.optional(Schema),
    anyOf: z.optional(z.array(Schema)),
    oneOf: z.optional(z.array(Schema)),
    allOf: z.optional(z.array(Schema)),
  }),
)
const Content = z.optional(z.record(z.string(), z.object({ schema: z.optional(Schema) })))
const RawOperation = z.object({
  summary: text,
  description: text,
  security: z.optional(z.array(z.unknown())),
  parameters: z.optional(
    z.array(
      z.object({
        name: z.string(),
        in: z.string(),
        required: z.optional(z.boolean()),
        description: text,
        schema: z.optional(Schema),
      }),
    ),
  ),
  requestBody: z.optional(z.object({ content: Content })),
  responses: z.record(z.string(), z.object({ description: text, content: Content })),
})

/** The parts of an OpenAPI document that the docs page reads. */
export const OpenApi = z.object({
  paths: z.record(z.string(), z.record(z.string(), RawOperation)),
  components: z.optional(z.object({ schemas: z.optional(z.record(z.string(), Schema)) })),
})
type OpenApi = z.output<typeof OpenApi>

/** One field of a body, with the path to it. */
export interface Field {
  name: string
  type: string
  required: boolean
  description: string
  /** Its place: path, query or header. */
  place?: string
}

/** One operation, resolved for display. */
export interface Operation {
  /** Unique, and valid in a URL fragment. */
  id: string
  method: string
  path: string
  summary: string
  description: string
  /** Whether it needs a token or a session. */
  guarded: boolean
  parameters: Field[]
  bodyType: string | null
  body: Field[]
  /** An example body; null for none. */
  example: string | null
  responses: { status: string; description: string; types: string; fields: Field[] }[]
}

/** Operations that share the first word of their path. */
export interface Group {
  name: string
  operations: Operation[]
}

const METHODS = ['get', 'post', 'patch', 'put', 'delete']

/** Groups the operations by the first word of their path. */
export function readGroups(document: OpenApi): Group[] {
  const resolve = (schema: RawSchema | undefined): RawSchema => {
    const name = schema?.$ref?.split('/').at(-1)
    const found = name === undefined ? schema : document.components?.schemas?.[name]
    return found?.allOf
      ? Object.assign({}, ...found.allOf.map(resolve), {
          properties: Object.assign({}, ...found.allOf.map((part) => resolve(part).properties)),
        })
      : (found ?? {})
  }
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => !isProxy(path) || PROXY_METHODS.has(method)).flatMap((method) => {
      const raw = item[method]
      return raw ? [read(method.toUpperCase(), path, raw, resolve)] : []
    }),
  )
  const groups = [...Map.groupBy(operations, ({ path }) => groupOf(path))].map(
    ([name, operations]) => ({ name, operations }),
  )
  // First what programs call first, last the health routes.
  return groups.sort((a, b) => groupRank(a.name) - groupRank(b.name))
}

/** The proxy treats all methods alike, so show only two. */
const PROXY_METHODS: ReadonlySet<string> = new Set(['get', 'post'])
const isProxy = (path: string): boolean => path.startsWith('/proxy')

const FIRST = [
  'Proxy',
  'Conversion',
  'Jobs',
  'Limits',
  'Keys',
  'Requests',
  'Refusals',
  'Usage',
  'Overview',
  'Models',
  'Providers',
  'Credentials',
  'Tokens',
  'Accounts',
  'Plans',
  'Invitations',
  'Session',
  'Password resets',
  'Setup',
]
const groupRank = (name: string): number =>
  FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length

function groupOf(path: string): string {
  if (path.startsWith('/proxy')) return 'Proxy'
  const word = /^\/api\/v1\/([\w-]+)/.exec(path)?.[1]?.replace('-', ' ') ?? 'server'
  return word === 'convert' ? 'Conversion' : word.charAt(0).toUpperCase() + word.slice(1)
}

type Resolve = (schema: RawSchema | undefined) => RawSchema

function read(
  method: string,
  path: string,
  raw: z.output<typeof RawOperation>,
  resolve: Resolve,
): Operation {
  const [bodyType = null, content] = Object.entries(raw.requestBody?.content ?? {})[0] ?? []
  const schema = content?.schema
  return {
    id: `${method.toLowerCase()}${path.replaceAll(/[^a-z0-9]+/gi, '-').replace(/-$/, '')}`,
    method,
    path,
    summary: raw.summary ?? '',
    description: raw.description ?? '',
    guarded: (raw.security ?? []).length > 0,
    parameters: (raw.parameters ?? []).map(
      ({ name, in: place, required = false, description, schema }) => ({
        name,
        place,
        required,
        type: typeName(resolve(schema), resolve),
        description: description ?? resolve(schema).description ?? '',
      }),
    ),
    bodyType,
    body: listFields(schema, resolve),
    example:
      bodyType === 'application/json'
        ? JSON.stringify(exampleValue(resolve(schema), resolve), null, 2)
        : null,
    responses: Object.entries(raw.responses).map(
      ([status, { description = '', content = {} }]) => ({
        status,
        description,
        types: Object.keys(content).join(', '),
        fields: Number(status) < 300 ? listFields(Object.values(content)[0]?.schema, resolve) : [],
      }),
    ),
  }
}

const MAX_DEPTH = 3

function listFields(
  schema: RawSchema | undefined,
  resolve: Resolve,
  prefix = '',
  depth = 0,
): Field[] {
  const { properties = {}, required = [] } = resolve(schema)
  // Skip read-only fields, which a PATCH may only repeat.
  return Object.entries(properties)
    .filter(([, { readOnly }]) => readOnly !== true)
    .flatMap(([name, raw]) => {
      const found = {
        ...resolve(raw),
        ...(raw.description === undefined ? {} : { description: raw.description }),
      }
      const inner = notNull(found, resolve)
      const nested = inner.type === 'array' ? resolve(inner.items) : inner
      const field = {
        name: prefix + name,
        type: typeName(found, resolve),
        required: required.includes(name),
        description: found.description ?? inner.description ?? '',
      }
      const more =
        depth + 1 < MAX_DEPTH && nested.properties
          ? listFields(
              nested,
              resolve,
              `${prefix}${name}${inner.type === 'array' ? '[]' : ''}.`,
              depth + 1,
            )
          : []
      return [field, ...more]
    })
}

/** A schema without its `null`. */
function notNull(schema: RawSchema, resolve: Resolve): RawSchema {
  const choices = (schema.anyOf ?? schema.oneOf ?? [])
    .map(resolve)
    .filter(({ type }) => type !== 'null')
  const plain = choices.length === 1 ? (choices[0] ?? schema) : schema
  const type = Array.isArray(plain.type) ? plain.type.find((name) => name !== 'null') : plain.type
  return { ...plain, type }
}

function typeName(schema: RawSchema, resolve: Resolve): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices)
    return [...new Set(choices.map((choice) => typeName(resolve(choice), resolve)))].join(' | ')
  const types = [schema.type ?? 'any'].flat()
  return types
    .map((type) =>
      type === 'array'
        ? `${typeName(resolve(schema.items), resolve)}[]`
        : schema.format && type === 'string'
          ? schema.format
          : type,
    )
    .join(' | ')
}

function exampleValue(schema: RawSchema, resolve: Resolve): unknown {
  if (schema.example !== undefined) return schema.example
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  const plain = notNull(schema, resolve)
  if (plain.properties) {
    const { required = [] } = plain
    const shown = Object.entries(plain.properties).filter(
      ([name, raw]) => required.includes(name) || resolve(raw).default !== undefined,
    )
    return Object.fromEntries(
      shown.map(([name, raw]) => [name, exampleValue(resolve(raw), resolve)]),
    )
  }
  if (plain.type === 'array') return [exampleValue(resolve(plain.items), resolve)]
  if (plain.type === 'integer' || plain.type === 'number') return 1
  if (plain.type === 'boolean') return false
  return plain.type === 'string' ? 'text' : null
}
