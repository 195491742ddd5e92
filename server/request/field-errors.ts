// What is wrong with the fields of a request, in our own sentences: every fault at once, each with its field (RFC 9457, section 3.1: extension members).
import type { z } from '@hono/zod-openapi'
import { Problem, type FieldError } from '../errors.ts'
import { nearestName } from './nearest-name.ts'

/** Faults that are listed in one answer. */
const MAX_ERRORS = 50
/** Faults whose sentences stand in `detail`. */
const MAX_SENTENCES = 5
/** Characters of a caller's own name that are repeated to it. */
const MAX_NAME = 100

/** Where a value stands in a request. */
type Place = 'json' | 'query' | 'param' | 'header' | 'cookie' | 'form'

type Issue = z.core.$ZodIssue

/**
 * The error map of `strictObject`: zod calls it with the schema, so the nearest known name can be found here and nowhere later.
 *
 * @returns for each unknown key the nearest known one or null, as JSON
 */
export function nearestKeys(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'unrecognized_keys') return undefined
  const shape: unknown = issue.inst instanceof Object && 'shape' in issue.inst ? issue.inst.shape : {}
  const known = Object.keys(shape ?? {})
  return JSON.stringify(issue.keys.slice(0, MAX_ERRORS).map((key) => nearestName(key, known)))
}

/** The problem that a request with these issues is answered: one `invalid_field` with all of them. */
export function invalidFields(issues: readonly Issue[], place: Place): Problem {
  return problemOf(issues.flatMap((issue) => errorsOf(issue, place)))
}

/** One problem for several faults. */
export function problemOf(errors: readonly FieldError[]): Problem {
  const listed = errors.slice(0, MAX_ERRORS)
  const sentences = listed.slice(0, MAX_SENTENCES).map(({ detail }) => detail)
  const more = errors.length - sentences.length
  const detail = [...sentences, ...(more > 0 ? [`There are ${more} more faults.`] : [])].join(' ')
  return new Problem('invalid_field', detail, { errors: listed })
}

function errorsOf(issue: Issue, place: Place): FieldError[] {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') return unknownNames(issue, path, place)
  const param = shorten(path.join('.'))
  const subject = param === '' ? whole(place) : `"${param}"`
  const own = ownMessage(issue.message)
  if (isMissing(issue)) return [{ param, code: 'missing', detail: `${subject} is required.` }]
  if (own !== null) return [{ param, code: 'invalid_value', detail: `${subject} is not valid: ${own}.` }]
  const rule = ruleOf(issue)
  return [{ param, code: 'invalid_value', detail: rule === null ? `${subject} is not valid.` : `${subject} must ${rule}.` }]
}

function unknownNames({ keys, message }: z.core.$ZodIssueUnrecognizedKeys, path: readonly string[], place: Place): FieldError[] {
  const nearest: unknown = message.startsWith('[') ? JSON.parse(message) : []
  const what = place === 'query' ? 'query parameter' : 'field'
  return keys.map((key, index) => {
    const param = shorten([...path, key].join('.'))
    const name: unknown = Array.isArray(nearest) ? nearest[index] : null
    const hint = typeof name === 'string' ? ` Did you mean ${JSON.stringify([...path, name].join('.'))}?` : ''
    return { param, code: place === 'query' ? 'unknown_parameter' : 'unknown_field', detail: `Unknown ${what} ${JSON.stringify(param)}.${hint}` }
  })
}

function whole(place: Place): string {
  return place === 'json' ? 'The body' : 'The request'
}

function shorten(name: string): string {
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name
}

/** The message that a schema of ours gives; zod's own are written for programmers. */
function ownMessage(message: string): string | null {
  return /^(?:Invalid|Too (?:big|small)|Expected)\b/.test(message) ? null : message.replace(/\.$/, '')
}

/** Zod says only in its message that nothing was there. */
function isMissing(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.path.length > 0 && issue.message.endsWith('received undefined')
}

/** TABLE of types: how a value of it is called. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'a string', number: 'a number', int: 'a whole number', boolean: 'true or false', array: 'a list', object: 'an object', record: 'an object', null: 'null',
}

/** What a value must do, behind "must"; null where zod does not say it in parts. */
function ruleOf(issue: Issue): string | null {
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
  if (origin === 'string') return `have ${bound} ${size} character${size === 1 ? '' : 's'}`
  if (origin === 'array') return `have ${bound} ${size} ${size === 1 ? 'entry' : 'entries'}`
  return `be ${bound} ${size}`
}
