// Turns zod's issues into field errors with our own sentences, all faults of a request at once.
import type { z } from '@hono/zod-openapi'
import { counted } from '../../common/counted.ts'
import type { FieldError } from '../../common/errors.ts'
import { nearestName } from '../../common/nearest-name.ts'

/** Unknown names compared with known ones per request. */
const MAX_COMPARED = 50
/** Characters of an unknown name that the error repeats. */
const MAX_NAME = 100

/** The part of a request that a value is in. */
export type Place = 'body' | 'query'

/** The parsed value, or every fault. `valid` has the fields that are valid on their own. */
export type Read<Output> =
  | { readonly value: Output; readonly valid: Partial<Output>; readonly errors: readonly [] }
  | {
      readonly value: null
      readonly valid: Partial<Output>
      readonly errors: readonly FieldError[]
    }

/** Parses a part of a request. */
export function readPart<S extends z.ZodType>(
  schema: S,
  value: unknown,
  place: Place,
): Read<z.output<S>> {
  const read = schema.safeParse(value, { error: sentenceOf })
  if (read.success) return { value: read.data, valid: read.data, errors: [] }
  const isRepeated = ({ path: [name] }: z.core.$ZodIssue): boolean =>
    place === 'query' && isObject(value) && typeof name === 'string' && Array.isArray(value[name])
  const errors = read.error.issues.flatMap((issue) =>
    isRepeated(issue) ? [repeated(issue)] : errorsOf(issue, place),
  )
  return { value: null, valid: validFields(schema, value), errors }
}

/**
 * The fields of an object that are valid on their own, so that checks across fields can still run
 * on them.
 */
function validFields(schema: z.ZodType, value: unknown): object {
  if (!('shape' in schema) || !isObject(schema.shape) || !isObject(value)) return {}
  const fields = Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(
    ([name, field]) => {
      const read = field.safeParse(Object.hasOwn(value, name) ? value[name] : undefined)
      return read.success ? [[name, read.data] as const] : []
    },
  )
  return Object.fromEntries(fields)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/**
 * The error map of `strictObject`. Only here does zod pass the schema, which has the known names.
 *
 * @returns JSON: for each unknown key the nearest known one, or null
 */
export function nearestKeys(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'unrecognized_keys') return undefined
  const shape: unknown =
    issue.inst instanceof Object && 'shape' in issue.inst ? issue.inst.shape : {}
  const known = Object.keys(shape ?? {})
  return JSON.stringify(issue.keys.slice(0, MAX_COMPARED).map((key) => nearestName(key, known)))
}

const repeated = ({ path }: z.core.$ZodIssue): FieldError => ({
  param: shorten(String(path[0])),
  code: 'duplicate',
  detail: 'This parameter was sent twice. Send it once.',
})

function errorsOf(issue: z.core.$ZodIssue, place: Place): FieldError[] {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') return unknownNames(issue, path, place)
  const code = issue.message === MISSING ? 'missing' : 'invalid_value'
  const detail = issue.message.endsWith('.') ? issue.message : `${issue.message}.`
  return [{ param: shorten(path.join('.')), code, detail }]
}

function unknownNames(
  { keys, message }: z.core.$ZodIssueUnrecognizedKeys,
  path: readonly string[],
  place: Place,
): FieldError[] {
  const nearest: unknown = message.startsWith('[') ? JSON.parse(message) : []
  const [code, what] =
    place === 'query'
      ? (['unknown_parameter', 'query parameter'] as const)
      : (['unknown_field', 'field'] as const)
  return keys.map((key, index) => {
    const name: unknown = Array.isArray(nearest) ? nearest[index] : null
    const hint =
      typeof name === 'string' ? ` Did you mean ${JSON.stringify([...path, name].join('.'))}?` : ''
    return { param: shorten([...path, key].join('.')), code, detail: `Unknown ${what}.${hint}` }
  })
}

function shorten(name: string): string {
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name
}

const MISSING = 'This field is required.'

/** The error map of a request: sentences for issues without a message of their own. */
function sentenceOf(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined && (issue.path?.length ?? 0) > 0) return MISSING
  const rule = ruleOf(issue)
  const subject = (issue.path?.length ?? 0) === 0 ? 'The body must' : 'Must'
  return rule === null ? 'This value is not valid.' : `${subject} ${rule}.`
}

/** TABLE of the names of types. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

/** The rule, to follow "must"; null if zod's issue does not contain it. */
function ruleOf(issue: z.core.$ZodRawIssue): string | null {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] === undefined ? null : `be ${TYPES[issue.expected]}`
    case 'invalid_value':
      return `be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`
    case 'too_small':
      return sizeRule('at least', issue.origin, Number(issue.minimum))
    case 'too_big':
      return sizeRule('at most', issue.origin, Number(issue.maximum))
    default:
      return null
  }
}

function sizeRule(bound: 'at least' | 'at most', origin: string, size: number): string {
  if (origin === 'string') return `have ${bound} ${counted(size, 'character')}`
  if (origin === 'array') return `have ${bound} ${size} ${size === 1 ? 'entry' : 'entries'}`
  return `be ${bound} ${size}`
}
