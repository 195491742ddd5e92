// Decides whether a key may name an object that it did not create, and normalizes ids for that.
import { sharedName, type CachedKey } from '../../keys/cache.ts'
import type { ObjectRow } from '../../store/schema.ts'
import { BATCH_INPUT } from '../inspect/places.ts'
import { changesStored } from '../providers/changes.ts'
import type { Match } from '../providers/match.ts'
import { ANY_KIND } from '../providers/ids.ts'
import { withoutFormat, type ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import { uuidOf, withoutDashes } from '../providers/uuids.ts'
import { ITEM } from './item-ranges.ts'

/**
 * Why a request may not name an object. `foreign`: another key created it. `unknown`: no key here
 * did. `shared`: it may be used, but not changed. `unread`: a file whose lines this server has not
 * read.
 */
export type Denial = 'foreign' | 'unknown' | 'shared' | 'unread'

/** The objects of a request. */
export interface ObjectLookup {
  readonly provider: Pick<Provider, 'id' | 'publicObjects' | 'endpoints' | 'instead'>
  readonly key: CachedKey
  readonly match: Match
  readonly method: string
  /** All that the request names, including those in its path. */
  readonly objects: readonly ObjectRef[]
  /**
   * `objects` without ids that occur only in prose; computed only if the owner of an object is
   * unknown.
   */
  readonly outsideProse?: (() => readonly ObjectRef[]) | undefined
}

/** Kinds that change when used: shared ones can only be read. */
const ALTERED_BY_USE: ReadonlySet<string> = new Set([
  'conversation',
  'thread',
  'session',
  'container',
  'environment',
  'memory_store',
  'code_session',
  'browser_session',
  'execution',
  'queued',
  'upload',
])

/** The names of an id of unknown kind. */
export function ofAnyKind(
  { endpoints }: ObjectLookup['provider'],
  object: ObjectRef,
): readonly ObjectRef[] {
  const { id } = object
  const spelled = [
    ...(uuidOf(id) === null ? [id] : [id, withoutDashes(id)]),
    ...lenientSpellings(object).map((one) => one.id),
  ]
  return endpoints.kinds.flatMap((kind) => spelled.map((one) => ({ kind, id: one })))
}

/** A number with leading zeros. */
const PADDED = /^0+(?=\d+$)/

/**
 * Other spellings that some servers accept: without a format (`file-x.json`) or a dot at the end,
 * in lower case, and as a number.
 */
export function lenientSpellings({ kind, id }: ObjectRef): readonly ObjectRef[] {
  const stem = withoutFormat(id)
  return [...new Set([stem, id.toLowerCase(), stem.toLowerCase(), id.replace(PADDED, '')])].flatMap(
    (one) => (one === id || one === '' ? [] : [{ kind, id: one }]),
  )
}

/** Whether an administrator shared an object with a key. */
function isShared(key: CachedKey, provider: ObjectLookup['provider'], object: ObjectRef): boolean {
  if (key.shared.size === 0) return false
  const kinds = object.kind === ANY_KIND ? ofAnyKind(provider, object) : [object]
  return kinds.some(({ kind, id }) => key.shared.has(sharedName(provider.id, kind, id)))
}

/** Why a key may not name an object that it did not create; null if it may. */
export function denialOf(
  { provider, key, match, method }: ObjectLookup,
  object: ObjectRef,
  owner: ObjectRow | undefined,
): Denial | null {
  const { kind, id, mayBeUnknown = kind === ITEM } = object
  if (id === '') return null
  const inPath = match.objects.includes(object)
  const alters = inPath
    ? changesStored(match, method)
    : method !== 'GET' && method !== 'HEAD' && ALTERED_BY_USE.has(kind)
  if (isShared(key, provider, object)) return alters ? 'shared' : null
  if (owner !== undefined) return 'foreign'
  // Naming it may create it.
  if (key.readOnly && provider.instead?.[kind] !== undefined) return 'unknown'
  if (key.objects === 'upstream' || mayBeUnknown) return null
  if (kind === BATCH_INPUT)
    return ['file', 'dataset'].some((from) => key.shared.has(sharedName(provider.id, from, id)))
      ? null
      : 'unread'
  return !(inPath && alters) && provider.publicObjects?.[kind]?.test(id) === true ? null : 'unknown'
}
