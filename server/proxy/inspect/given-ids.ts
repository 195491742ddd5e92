// Finds models and ids by the keys of a JSON body, or the fields of a form, where no row gives
// their places.
import { parseJson } from '../json/paths.ts'
import { IDENTITY, isOperated } from '../providers/cloud-resources.ts'
import { givesId, givesModel, saysWhich, type IdNames } from '../providers/id-names.ts'
import { ANY_KIND, NUMBERED } from '../providers/ids.ts'
import { idOf, type ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import type { IdForms } from '../providers/id-spelling.ts'
import { piecesOf } from '../providers/spelled.ts'
import { givenId } from '../providers/unknown-ids.ts'
import { KeyedStrings } from './keyed-strings.ts'
import { MAX_IDS } from './places.ts'

/** Number of different keys of a body that are remembered. */
const MOST_KEYS = 1_000

/** How to find models and ids by a body's keys and fields, if no row gives their places. */
export interface GivenIds {
  /** The keys whose values are ids; null if rows give their places, so that only models count. */
  readonly names: IdNames | null
  /** Whether an id is public. */
  readonly publicObjects: Provider['publicObjects']
  /** The keys that use resources of the operator. */
  readonly operated?: Provider['operated']
  /** Whether an id may be a number, under any key. */
  readonly numbers: boolean
}

/** Instead of a kind: the value names a model. */
const MODEL = 'model'
/** Instead of a kind: the value is an id if it is a number. */
const NUMBER = 'number'

/** Collects what is found. */
interface GivenSink {
  readonly idForms: IdForms | undefined
  /** An id. */
  mention(ref: ObjectRef): void
  /** The name of a model, which may refer to a stored object. */
  storedModel(name: string): void
}

/** Reads the ids that one body gives under its keys. */
export class GivenIdReader {
  readonly #fields: GivenIds
  readonly #sink: GivenSink

  constructor(fields: GivenIds, sink: GivenSink) {
    this.#fields = fields
    this.#sink = sink
  }

  /** A reader of the values under the keys of a JSON body. */
  keyed(): KeyedStrings {
    // Bodies repeat the same few keys, and often the same ids.
    const kinds = new Map<string, string | null>()
    const given = new Set<string>()
    const kindOf = (key: string, outer: string | null): string | null => {
      let kind = kinds.get(key)
      if (kind === undefined) kind = this.#kindUnder(key)
      if (kinds.size < MOST_KEYS) kinds.set(key, kind)
      const isOpen = kind === null || kind === NUMBER
      return isOpen && outer !== null && saysWhich(key) ? outer : kind
    }
    const onString = (kind: string, text: string): void => {
      const name = `${kind} ${text}`
      if (given.has(name)) return
      if (given.size < MAX_IDS) given.add(name)
      this.#give(kind, text)
    }
    // A key of a schema does not name a resource: `connection_id: {"type": "string"}`.
    const onKey = (kind: string, key: string): void => {
      if (!isOperated(kind)) onString(kind, key)
    }
    const onNumber = (kind: string | null, text: string): void => {
      const name = `${kind} ${text}`
      if (given.has(name)) return
      if (given.size < MAX_IDS) given.add(name)
      this.#number(kind, idOf(parseJson(text)) ?? '')
    }
    return new KeyedStrings({
      kindOf,
      onString,
      onKey,
      ...(this.#fields.numbers ? { onNumber } : {}),
    })
  }

  /** A field of a form. */
  field(name: string, text: string): void {
    const kind = this.#kindUnder(name)
    if (kind !== null) this.#give(kind, text)
  }

  /** Tells what to look for in a value under this key. */
  #kindUnder(name: string): string | null {
    const { names, operated, numbers } = this.#fields
    if (operated?.isUse(name) === true) this.#sink.mention({ kind: IDENTITY, id: name })
    const kind = operated?.kindOf(name) ?? null
    if (kind !== null) return kind
    return this.#sink.idForms?.models !== undefined && givesModel(name)
      ? MODEL
      : (names?.kindOf(name) ?? (numbers && givesId(name) ? NUMBER : null))
  }

  /** A number that can be an id; only another key's objects count. */
  #number(kind: string | null, digits: string): void {
    if (kind === MODEL || !/^\d+$/.test(digits)) return
    if (kind !== null || NUMBERED.test(digits))
      this.#sink.mention({ kind: ANY_KIND, id: digits, mayBeUnknown: true })
  }

  #give(kind: string, text: string): void {
    const { publicObjects, operated } = this.#fields
    const { idForms } = this.#sink
    if (kind === MODEL) return this.#sink.storedModel(text)
    this.#number(kind, text.trim())
    if (kind === NUMBER) return
    const ref = operated?.refOf(kind, text) ?? givenId(text, idForms, publicObjects?.[kind])
    if (ref !== null) return this.#sink.mention(ref)
    for (const piece of piecesOf(text)) {
      const within = givenId(piece, idForms, publicObjects?.[kind])
      if (within !== null) this.#sink.mention(within)
    }
  }
}
