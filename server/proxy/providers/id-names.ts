// Field names for ids of stored objects: `voice_id`, `fileIds`, `input_dataset_id`. At an unknown
// endpoint, a generated id in such a field counts in any form, because no row gives the places of
// bare ids.
import type { EndpointRow } from './endpoint-row.ts'
import { looseName } from './object-ref.ts'

/** The names of one provider's kinds; made once for its row. */
export interface IdNames {
  /**
   * The kind of object that a key or field of this name gives, however it is written; null for any
   * other.
   */
  kindOf(name: string): string | null
}

/**
 * Names that say nothing by themselves, or under which callers have ids of their own; and kinds
 * whose ids callers choose, or repeat inline.
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
/** Kinds that many servers have, also where no row of the provider's makes one. */
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
/** Longer keys are no such names. */
const LONGEST = 64

/**
 * `model`, `models[]`, `judge_model_name`, `modelArn`: a lenient server, or one that we do not
 * know, may take the value for a model.
 */
const GIVES_MODEL = /model(?:s|ids?|names?|arns?)?$/

/** Whether a key, field or parameter of this name may give a model. */
export const givesModel = (name: string): boolean =>
  name.length <= LONGEST && GIVES_MODEL.test(looseName(name))

/** Whether a key or field of this name may give an id. */
export const givesId = (name: string): boolean =>
  name.length <= LONGEST && /ids?$/.test(looseName(name))

/**
 * Keys that hold the ids if an object is in the place of an id: `file: {id}`, `file_ids: {"$in":
 * []}`, `file_ids: {"0": …}`.
 */
const SAYS_WHICH =
  /^(?:(?:uu)?ids?|in|nin|eq|any|all|anyof|allof|include[sd]?|exclude[sd]?|set|add|remove|values?|items?|data|list|\d+)$/

/** Whether a key within such an object says which one is meant. */
export const saysWhich = (name: string): boolean =>
  name.length <= LONGEST && SAYS_WHICH.test(looseName(name))

const known = new WeakMap<readonly EndpointRow[], IdNames>()

/**
 * The names in a provider's rows, and those that its kinds make. Worked out when one is asked for
 * first, once.
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
