// Finds the objects that a request's headers and trailers name: in headers for ids, and in any
// other header as an id in its full spelling.
import { nameAt, valueAt } from '../../http1/header-fields.ts'
import { copyString } from '../../common/copy-string.ts'
import { normalizedName, requestHeaders } from '../forward/apply-header-rules.ts'
import { headerModels } from './outside-body.ts'
import type { Match } from '../providers/match.ts'
import { ANY_KIND } from '../providers/ids.ts'
import { objectRef, type ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import type { IdForms } from '../providers/id-spelling.ts'
import { mayBeId, mayWrapId, refsOf } from '../providers/spelled.ts'

const NOTHING: readonly ObjectRef[] = []

/** Number of values remembered, and their maximum length: the same few come with every request. */
const MAX_VALUES = 2_000
const MAX_VALUE_LENGTH = 128
const seen = new WeakMap<IdForms, Map<string, readonly ObjectRef[]>>()

/**
 * The objects that headers or trailers name.
 *
 * @param raw name, value, name, value, …
 */
export function headerRefs(
  provider: Provider,
  raw: readonly string[],
  ids = provider.ids,
): readonly ObjectRef[] {
  const { objectHeaders } = provider
  let found: ObjectRef[] | null = null
  for (let i = 0; i < raw.length; i += 2) {
    const value = valueAt(raw, i)
    const kind =
      objectHeaders === undefined ? undefined : objectHeaders[normalizedName(nameAt(raw, i))]
    if (kind !== undefined) (found ??= []).push(objectRef(kind, value))
    if (ids === undefined || !(mayBeId(value, ids) || mayWrapId(value))) continue
    const refs = spelledIn(value, ids)
    // Headers that are not forwarded do not count.
    if (refs.length > 0 && requestHeaders([nameAt(raw, i), value], provider).length > 0)
      (found ??= []).push(...refs.filter((ref) => kind === undefined || ref.kind !== kind))
  }
  return found ?? NOTHING
}

/** The parts of a request that name objects outside its body. */
interface NamingRequest {
  readonly provider: Provider
  readonly match: Match
  readonly headers: readonly string[]
}

/** The objects that a request's headers name, and the stored models in headers for a model. */
export function refsInHead({ provider, match, headers }: NamingRequest): readonly ObjectRef[] {
  const spelled = headerRefs(
    provider,
    headers,
    match.class === 'unknown' ? provider.unknownIds : provider.ids,
  )
  const place = match.endpoint?.model
  const names = place !== undefined && 'body' in place ? place.headers : undefined
  const models = provider.ids?.models
  return names === undefined || models === undefined
    ? spelled
    : spelled.concat(headerModels(names, headers).flatMap((name) => models.refsOf(name)))
}

/**
 * Whether a request names stored objects, or lists them: only then it matters whose they are.
 * @param named the objects in its path, query and body
 */
export const namesObjects = (request: NamingRequest, named: readonly ObjectRef[]): boolean =>
  named.length > 0 || request.match.endpoint?.lists !== undefined || refsInHead(request).length > 0

function spelledIn(value: string, ids: IdForms): readonly ObjectRef[] {
  let values = seen.get(ids)
  if (values === undefined) seen.set(ids, (values = new Map()))
  const known = values.get(value)
  if (known !== undefined) return known
  const refs = refsOf(value, ids)
  // Not remembered, because a UUID is seldom seen twice.
  if (value.length > MAX_VALUE_LENGTH || refs.some(({ kind }) => kind === ANY_KIND)) return refs
  if (values.size >= MAX_VALUES) values.clear()
  values.set(copyString(value), refs)
  return refs
}
