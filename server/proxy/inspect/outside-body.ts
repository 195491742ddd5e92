// Finds the model of a request outside its body: in its query, in headers and trailers, and in its
// content type.
import { nameAt, valueAt } from '../../http1/header-fields.ts'
import { requestHeaders } from '../forward/apply-header-rules.ts'
import { compileRules, plainName } from '../forward/header-rules.ts'
import type { Match } from '../providers/match.ts'
import type { ModelPlace } from '../providers/endpoint-row.ts'
import { looseName } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'

/**
 * A parameter's name that some server reads as `model`: `Model`, `model[]`, `model[a]`, `+model`,
 * and `deployment`, which older versions of Azure's API take. `model_version` is not one.
 */
const READ_AS_MODEL = /^[^a-z]*(?:models?|deployments?)(?:[^\w-].*)?$/is

/** How often a name is decoded; servers behind servers decode again. */
const MOST_DECODINGS = 4

/**
 * Values of the query parameter that names the model, then those of its qualifiers; null if servers
 * could read one differently.
 *
 * @param place where the endpoint takes the model
 */
export function queryModels(pathAndQuery: string, place?: ModelPlace): string[] | null {
  const question = pathAndQuery.indexOf('?')
  if (question < 0) return []
  const parameter = (place !== undefined && 'parameter' in place && place.parameter) || 'model'
  const qualifiers = place?.at === 'query' ? (place.qualifiers ?? []) : []
  if (qualifiers.length === 0 && !/mod|deploy|%/i.test(pathAndQuery.slice(question))) return []
  const isOtherSpelling = (name: string): boolean =>
    READ_AS_MODEL.test(name) || looseName(name) === looseName(parameter)
  const models: string[] = []
  const qualified: string[] = []
  for (const part of pathAndQuery.slice(question + 1).split('&')) {
    const equals = part.indexOf('=')
    const raw = equals < 0 ? part : part.slice(0, equals)
    const value = decoded(equals < 0 ? '' : part.slice(equals + 1), 1)
    const name = decoded(raw, MOST_DECODINGS)
    if (name === null || value === null) return null
    // Some servers also separate parameters at a semicolon (HTML 4.01, appendix B.2.2).
    const names = [name, ...`${name}=${value}`.split(';').map((one) => one.replace(/=.*$/s, ''))]
    if (raw === parameter && !/[+;]/.test(value)) models.push(value)
    else if (names.some(isOtherSpelling)) return null
    if (names.some((one) => qualifiers.includes(looseName(one)))) qualified.push(value)
  }
  return [...models, ...qualified]
}

/** Percent-decoded until nothing changes, at most `rounds` times; null if that is not possible. */
function decoded(text: string, rounds: number): string | null {
  let now = text
  for (let round = 0; round < rounds && now.includes('%'); round++) {
    try {
      const next = decodeURIComponent(now)
      if (next === now) break
      now = next
    } catch {
      // A percent sign that cannot be decoded again is literal.
      return round === 0 ? null : now
    }
  }
  return now
}

/** One media type (RFC 9110, section 8.3.1), in any case. */
const MEDIA_TYPE = /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+$/

/**
 * Whether a server could read a body as another kind than the beginning of its content type says,
 * because the content type names two.
 */
export function isTwofoldType(type: string): boolean {
  const [essence = '', ...parameters] = type.split(';')
  return (
    (essence.trim() !== '' && !MEDIA_TYPE.test(essence.trim())) ||
    parameters.some((one) => /urlencoded|multipart\s*\/|\bjson\b/i.test(one))
  )
}

/**
 * The values of headers that name a model; servers that pass headers on as variables (CGI, WSGI) do
 * not distinguish `_` from `-`.
 */
export function headerModels(names: readonly string[], headers: readonly string[]): string[] {
  if (names.length === 0) return []
  return headers.filter(
    (_, i) => i % 2 === 1 && isOneOfNames(plainName(nameAt(headers, i - 1)), names),
  )
}

/** Whether a header is one of those that name a model; `*model` is any with "model" in its name. */
const isOneOfNames = (plain: string, names: readonly string[]): boolean =>
  names.some((name) => (name.startsWith('*') ? plain.includes(name.slice(1)) : plain === name))

/**
 * Fields that describe a body or its framing, which trailers may not contain (RFC 9110, section
 * 6.5.1).
 */
const isBarredFromTrailers = compileRules([
  {
    why: 'A recipient may merge trailers into the headers that we checked.',
    prefixes: ['content-'],
  },
])

/**
 * The trailers of a request that may be forwarded: none that would change a decision if a server
 * treated it as a header.
 */
export function outboundTrailers(
  received: readonly string[],
  { provider, match }: { readonly provider: Provider; readonly match: Match },
): string[] {
  if (received.length === 0) return []
  const trailers = requestHeaders(received, provider, match.endpoint)
  const place = match.endpoint?.model
  const names = (place !== undefined && 'body' in place ? place.headers : undefined) ?? []
  const kept: string[] = []
  for (let i = 0; i < trailers.length; i += 2) {
    const plain = plainName(nameAt(trailers, i))
    if (!isBarredFromTrailers(plain) && !isOneOfNames(plain, names))
      kept.push(nameAt(trailers, i), valueAt(trailers, i))
  }
  return kept
}
