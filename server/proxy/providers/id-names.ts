// Field names for ids of stored objects: `voice_id`, `fileIds`, `input_dataset_id`. At an unknown
// endpoint, a generated id in such a field counts in any form, because no row gives the places of
// bare ids.
import type { EndpointRow } from './endpoint-row.ts'
import { looseName } from './object-ref.ts'

/** The names of one provider's kinds; compiled once for its row. */
export interface IdNames {
  /**
   * The kind of object that a key or field with this name, in any spelling, gives; null for any
   * other.
   */
  kindOf(name: string): string | null
}

/**
 * Names that are not specific, or under which callers have their own ids; and kinds whose ids
 * callers choose, or repeat inline.
 */
const SAYS_NOTHING: ReadonlySet<string> = new Set([
  'id',
  'name',
  'uri',
  'fileuri',
  'source',
  'key',
  'agent',
  'model',
  'environment',
  'credential',
  'requestid',
  'sessionid',
  'traceid',
  'userid',
])
const CALLERS_OWN: ReadonlySet<string> = new Set([
  'item',
  'message',
  'session',
  'completion',
  'generation',
  'execution',
  'user_profile',
  '*',
])
/** Kinds of places that mean another kind. */
const STANDS_FOR: Readonly<Record<string, string>> = {
  batch_input: 'file',
  batch_dataset: 'dataset',
}
/** Kinds that many servers have, even if none of the provider's rows creates one. */
const COMMON = [
  'agent',
  'assistant',
  'collection',
  'connection',
  'connector',
  'dataset',
  'document',
  'file',
  'index',
  'knowledge_base',
  'library',
  'voice',
  'workflow',
]
/** Longer keys are not such names. */
const LONGEST = 64

/**
 * `model`, `models[]`, `judge_model_name`, `modelArn`: a lenient or unknown server may read the
 * value as a model.
 */
const GIVES_MODEL = /model(?:s|ids?|names?|arns?)?$/

/** Whether a key, field or parameter of this name may give a model. */
export const givesModel = (name: string): boolean =>
  name.length <= LONGEST && GIVES_MODEL.test(looseName(name))

/** Whether a key or field of this name may give an id. */
export const givesId = (name: string): boolean =>
  name.length <= LONGEST && /ids?$/.test(looseName(name))

/**
 * Keys that contain the ids if there is an object instead of an id: `file: {id}`, `file_ids:
 * {"$in": []}`, `file_ids: {"0": …}`.
 */
const SAYS_WHICH =
  /^(?:(?:uu)?ids?|in|nin|eq|any|all|anyof|allof|include[sd]?|exclude[sd]?|set|add|remove|values?|items?|data|list|\d+)$/

/** Whether a key inside such an object contains the id. */
export const saysWhich = (name: string): boolean =>
  name.length <= LONGEST && SAYS_WHICH.test(looseName(name))

const known = new WeakMap<readonly EndpointRow[], IdNames>()

/**
 * The names in a provider's rows, and those derived from its kinds. Computed once, at the first
 * use.
 */
export function idNamesOf(rows: readonly EndpointRow[], kinds: readonly string[]): IdNames {
  let names = known.get(rows)
  if (names === undefined) {
    let found: ReadonlyMap<string, string> | null = null
    const kindOf: IdNames['kindOf'] = (name) =>
      name.length > LONGEST ? null : ((found ??= compile(rows, kinds)).get(looseName(name)) ?? null)
    known.set(rows, (names = { kindOf }))
  }
  return names
}

function compile(
  rows: readonly EndpointRow[],
  kinds: readonly string[],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const enter = (name: string, given: string): void => {
    const kind = STANDS_FOR[given] ?? given
    const loose = looseName(name)
    if (loose !== '' && !CALLERS_OWN.has(kind) && !SAYS_NOTHING.has(loose) && !found.has(loose))
      found.set(loose, kind)
  }
  for (const { names, asks, model } of rows) {
    const inBody = model !== undefined && 'body' in model ? model.body.objects : undefined
    for (const places of [names, asks, inBody])
      for (const [place, kind] of Object.entries(places ?? {}))
        enter(place.slice(place.lastIndexOf('.') + 1), kind)
  }
  for (const kind of [...kinds, ...COMMON])
    for (const end of ['_id', '_ids']) enter(kind + end, kind)
  return found
}
