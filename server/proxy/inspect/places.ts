// The places in a request's body that name models and stored objects. Those in its headers and its
// query are in outside-body.ts.
import { withoutSecrets } from '../../common/issued-secrets.ts'
import { type WantedPaths, wantPaths } from '../json/paths.ts'
import { idOf, NEW, objectRef, plainKind, type ObjectRef } from '../providers/object-ref.ts'
import type { BodyRule } from '../providers/body-rule.ts'
import type { Provider } from '../providers/provider.ts'
import { toolPaths, type ToolPaths } from './tool-models.ts'

/** The places of a rule, grouped by what they name; paths are compiled once. */
export interface BodyPaths {
  readonly wanted: WantedPaths
  /** Paths that are read if no model must be decided. */
  readonly observed: WantedPaths
  readonly required: ReadonlySet<string>
  /** Paths of stored objects that may choose the model. */
  readonly stored: ReadonlySet<string>
  readonly texts: ReadonlySet<string>
  /** Paths of prose, each once. */
  readonly prose: readonly string[]
  readonly tools: ToolPaths
  readonly keyedTools: BodyRule['keyedTools']
  /** The kinds of stored objects, by their paths. */
  readonly objects: ReadonlyMap<string, string>
  /** The kinds of stored objects among them. */
  readonly kinds: readonly string[]
  readonly keeps: BodyRule['keeps']
  /** The places that can be fields of a form, and those of them that name stored objects. */
  readonly fields: ReadonlySet<string>
  readonly objectFields: ReadonlySet<string>
  /** The paths of objects. */
  readonly objectPaths: readonly string[]
  /** The paths that decide the model: of models, stored objects that may choose one, and tools. */
  readonly modelPaths: readonly string[]
}

const known = new WeakMap<BodyRule, BodyPaths>()

const isField = (place: string): boolean => /^\w+(?:\[\w*\])*$/.test(place)

/** The places of a rule, compiled once. */
export function compilePaths(rule: BodyRule): BodyPaths {
  let places = known.get(rule)
  if (!places) {
    const objects = Object.keys(rule.objects ?? {})
    const tools = toolPaths(rule.tools ?? [])
    const models = [...rule.required, ...(rule.also ?? [])]
    const modelPaths = [
      ...models,
      ...(rule.stored ?? []),
      ...tools.types.keys(),
      ...tools.models.keys(),
    ]
    const others = [...objects, ...(rule.keeps === undefined ? [] : [rule.keeps.at])]
    places = {
      wanted: wantPaths([...modelPaths, ...others], new Set(tools.ends.keys())),
      observed: wantPaths([...models, ...others]),
      required: new Set(rule.required),
      stored: new Set(rule.stored),
      texts: new Set(rule.texts),
      prose: [...new Set(rule.prose)],
      tools,
      keyedTools: rule.keyedTools,
      objects: new Map(Object.entries(rule.objects ?? {})),
      kinds: [...new Set(Object.values(rule.objects ?? {}).map(plainKind))],
      keeps: rule.keeps,
      fields: new Set([...rule.required, ...(rule.also ?? []), ...objects].filter(isField)),
      objectFields: new Set(objects.filter(isField)),
      objectPaths: objects,
      modelPaths,
    }
    known.set(rule, places)
  }
  return places
}

/** The kind that records that a file's lines have been read, under the file's id. */
export const BATCH_INPUT = 'batch_input'

/** The kind of a place that names a batch's input, if that is a dataset. */
const BATCH_DATASET = 'batch_dataset'

/** Longest model name or object id that is checked. */
export const MAX_NAME_LENGTH = 2_048

/**
 * Maximum number of models and stored objects that a body may name; a batch has at most 100,000
 * requests. Each is checked while all other requests wait.
 */
export const MAX_NAMED = 200_000

/**
 * Maximum number of distinct strings of a body that could be ids. A long conversation repeats some
 * thousands of items, all of which are looked up.
 */
export const MAX_IDS = 10_000

/**
 * Longest model name that is stored, in UTF-16 units: lists cannot filter by a longer one, and
 * database indexes limit the length.
 */
const MAX_LOGGED_LENGTH = 300

/**
 * A model in the first of its spellings, by which people know it: `gemini-x` for `models/gemini-x`.
 */
export const bareModel = ({ modelNames }: Pick<Provider, 'modelNames'>, model: string): string =>
  modelNames(model)[0] ?? model

/**
 * The model for the ledger, which may be any text, as `bareModel`: usage is grouped by it. Null if
 * there is none.
 */
export function loggedModel(
  provider: Pick<Provider, 'modelNames'>,
  model: string | null | undefined,
): string | null {
  if (!model) return null
  const name = bareModel(provider, model)
  return name.length > MAX_LOGGED_LENGTH ? null : withoutSecrets(name)
}

/** A prefix before a colon that is part of the id: `ag:0684fac8:20250612:name:1a2b3c4d`. */
const BEGINS_ID = /^[a-z]{1,3}$/

/** The id at a place for objects. A training step or a version may follow it after a colon. */
export function refsIn(kind: string, given: unknown): ObjectRef[] {
  const value = idOf(given)
  if (value === null) return []
  // A batch's input is a file whose lines have been read.
  if (kind === BATCH_INPUT || kind === BATCH_DATASET)
    return [
      objectRef(kind === BATCH_INPUT ? 'file' : 'dataset', value),
      objectRef(BATCH_INPUT, value),
    ]
  if (kind.startsWith(NEW)) return [{ ...objectRef(plainKind(kind), value), mayBeUnknown: true }]
  const ref = objectRef(kind, value)
  const [id = ''] = ref.id.split(':', 1)
  return id === ref.id || BEGINS_ID.test(id)
    ? [ref]
    : [
        { ...ref, mayBeUnknown: true },
        { kind, id },
      ]
}
