// The findings of one request body: models, stored objects, ids anywhere, and whether the response
// is stored. One collector for every kind of body: strict when a model is decided, lenient when the
// body is only read for the ledger and for object ownership.
import { parseJson } from '../json/paths.ts'
import type { JsonSink, Oddity, StringWatch } from '../json/scanner.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import { REFERENCE } from '../providers/ids.ts'
import type { IdForms } from '../providers/id-spelling.ts'
import { ToolModels, type ToolRun } from './tool-models.ts'
import { ByteStrings } from './byte-strings.ts'
import { ambiguous, unknownModel, type InspectionError } from './inspection-error.ts'
import { GivenIdReader, type GivenIds } from './given-ids.ts'
import type { KeyedStrings } from './keyed-strings.ts'
import { NamedObjects } from './named-objects.ts'
import { MAX_IDS, MAX_NAME_LENGTH, MAX_NAMED, refsIn, type BodyPaths } from './places.ts'

/**
 * Number of strings of a body that are checked as they arrive. The others wait, because there may
 * be too many to check at all.
 */
const LOOKED_AT_ONCE = 32

const MANY_NAMED = `${MAX_NAMED} models and stored objects`
const MANY_IDS = `${MAX_IDS} different strings that could be ids of stored objects`

/** Strings, and how many of them have been checked. */
interface Waiting {
  readonly strings: ByteStrings
  readonly tell: TellString
  readonly cost: number
  next: number
}

/** A part of a body, and how many of its ids have been merged. */
interface Part {
  readonly part: Findings
  readonly perhaps: boolean
  next: number
}

type TellString = (bytes: Buffer, from: number, to: number, hash: number) => void

/** Collects the findings of one body. One per body, and per part of it that is read separately. */
export class Findings implements JsonSink {
  /** Every model that is named, in the order of the body. */
  readonly models: string[] = []
  /** The model for the ledger. */
  model: string | null = null
  /** Whether a place where the endpoint expects its model names one. */
  named = false
  /** Whether it asks the provider to keep the response. */
  kept = false
  /**
   * Strict: why an upstream may read the body differently than we do, although the models are
   * known.
   */
  hidden: string | null = null
  /** Strict: why the request is refused. */
  problem: InspectionError | null = null
  /**
   * Lenient: a part cannot be read reliably, or possible names of objects are too long or too many
   * to check.
   */
  unclear = false
  /** Lenient: a key that some servers may read as one that names an object. */
  lookalike = false
  /** Whether nothing that follows can change the result. */
  decided = false
  readonly #places: BodyPaths
  readonly #strict: boolean
  readonly idForms: IdForms | undefined
  /** Null while it names none, as most bodies do. */
  #objects: NamedObjects | null = null
  /** Unchecked candidates for ids: strings, and parts of the body. */
  readonly #waiting: Waiting[] = []
  readonly #parts: Part[] = []
  #strings: ByteStrings | null = null
  /** The cost of the strings that were checked as they arrived. */
  #looked = 0
  /** The number of models and stored objects so far, repeated ones included. */
  #values = 0
  /** The place of the last model. */
  #modelAt = ''
  /** The last value at each path. */
  #last: Map<string, unknown> | null = null
  #tools: ToolModels | null = null
  #twofold = false

  readonly #fields: GivenIds | null

  /** @param fields how to find ids by keys and fields, if no row gives their places */
  constructor(
    places: BodyPaths,
    strict: boolean,
    idForms: IdForms | undefined,
    fields: GivenIds | null = null,
  ) {
    this.#places = places
    this.#strict = strict
    this.idForms = idForms
    this.#fields = fields
  }

  /** Everything that it names; objects in expected places come first. */
  get mentioned(): readonly ObjectRef[] {
    return this.#objects?.all ?? NONE
  }

  /** Stored objects in places where the endpoint expects one. */
  get objects(): readonly ObjectRef[] {
    return this.#objects?.placed ?? NONE
  }

  /** Whole strings anywhere else that are one of the provider's ids: each once. */
  get elsewhere(): readonly ObjectRef[] {
    return this.#objects?.elsewhere ?? NONE
  }

  /** Whether it refers to stored items; see NamedObjects. */
  get refers(): boolean {
    return this.#objects?.refers ?? false
  }

  get #named(): NamedObjects {
    return (this.#objects ??= new NamedObjects())
  }

  /** A collector for a part of the body whose kind is not known yet. */
  aside(): Findings {
    return new Findings(this.#places, this.#strict, this.idForms, this.#fields)
  }

  /**
   * Adds the ids that such a part names. @param perhaps whether they may be something else, so that
   * only another key's objects count
   */
  take(part: Findings, perhaps: boolean): void {
    if (part.unclear || part.decided) this.#tooMany(MANY_IDS)
    else if (part.#hasAny()) this.#parts.push({ part, perhaps, next: 0 })
  }

  /**
   * Registers strings to check when the findings are settled; more may be added to them until then.
   * @param cost the number of strings that one of them counts as
   */
  later(strings: ByteStrings, tell: TellString, cost = 1): void {
    this.#waiting.push({ strings, tell, cost, next: 0 })
  }

  /**
   * Checks the waiting candidates. Only then is `mentioned` complete.
   *
   * @param most maximum number of strings to check
   * @returns whether all have been
   */
  settle(most: number): boolean {
    return this.decided || this.#settle(most) > 0
  }

  /** @returns how many more could have been checked; 0 if some may be left */
  #settle(most: number): number {
    let left = most
    for (const one of this.#waiting) {
      for (; left > 0 && one.next < one.strings.size; left -= one.cost)
        one.strings.tell(one.next++, one.tell)
    }
    for (const one of this.#parts) {
      if (left > 0) left = one.part.#settle(left)
      if (left > 0) left = this.#takeIds(one, left)
    }
    return left
  }

  #takeIds(one: Part, most: number): number {
    const { part, perhaps } = one
    if (part.unclear || part.decided) this.#tooMany(MANY_IDS)
    if (part.refers && !perhaps) this.#named.refers = true
    let left = most
    for (; left > 0 && one.next < part.elsewhere.length; left--) {
      // oxlint-disable-next-line typescript/no-non-null-assertion -- an index below the length
      const ref = part.elsewhere[one.next++]!
      this.mention(perhaps ? { ...ref, mayBeUnknown: true } : ref)
    }
    return left
  }

  #hasAny(): boolean {
    return (
      this.refers || this.elsewhere.length > 0 || this.#waiting.length > 0 || this.#parts.length > 0
    )
  }

  /** Selects the strings of a body that can be an id; undefined if the provider has no ids. */
  strings(): StringWatch | undefined {
    const forms = this.idForms
    if (forms === undefined) return undefined
    const cost = forms.listed === undefined ? 1 : LOOKED_AT_ONCE
    const look: TellString = (bytes, from, to, hash) => {
      const raw = bytes.toString('utf8', from, to)
      const text = (hash & 1) === 1 ? parseJson(`"${raw}"`) : raw
      if (typeof text === 'string') this.text(text)
    }
    return {
      filter: forms,
      each: (bytes, from, to, _escaped, hash) => {
        if (this.decided) return
        if (this.#looked < LOOKED_AT_ONCE) {
          this.#looked += cost
          look(bytes, from, to, hash)
          return
        }
        if (this.#strings === null) {
          this.#strings = new ByteStrings(MAX_IDS)
          this.later(this.#strings, look, cost)
        }
        if (!this.#strings.add(bytes, from, to, hash)) this.#tooMany(MANY_IDS)
      },
    }
  }

  /**
   * A whole, decoded string of the body. @param perhaps whether it may be something other than an
   * id, so that only another key's objects count
   */
  text(text: string, perhaps = false): void {
    if (text === REFERENCE && !perhaps) this.#named.refers = true
    const listed = this.idForms?.listed?.(text) ?? null
    if (listed !== null) return listed.forEach((ref) => this.mention(ref))
    const ref = text.length > MAX_NAME_LENGTH ? null : (this.idForms?.refOf(text) ?? null)
    if (ref !== null) this.mention(perhaps ? { ...ref, mayBeUnknown: true } : ref)
  }

  /** Reads the values under the keys of a JSON body; undefined if rows give the places of ids. */
  keyed(): KeyedStrings | undefined {
    return this.#fields === null ? undefined : new GivenIdReader(this.#fields, this).keyed()
  }

  /** A field of a form. */
  field(name: string, text: string): void {
    if (this.#fields !== null) new GivenIdReader(this.#fields, this).field(name, text)
  }

  /**
   * A word that may name an object of any of these kinds: letters, digits, `_.~-`. Called once for
   * each.
   */
  word(word: string, kinds: readonly string[]): void {
    for (const kind of kinds) this.#named.placePerhaps({ kind, id: word, mayBeUnknown: true })
    if (word === REFERENCE) this.#named.refers = true
    const ref = this.idForms?.refOf(word) ?? null
    if (ref !== null && !(ref.id === word && kinds.includes(ref.kind))) this.mention(ref)
  }

  /** An id anywhere. */
  mention(ref: ObjectRef): void {
    if (!this.decided && !this.#named.mention(ref)) this.#tooMany(MANY_IDS)
  }

  /** An object that the body names in a way that only its kind of body has. */
  object(ref: ObjectRef): void {
    if (++this.#values > MAX_NAMED) this.#tooMany()
    else this.place(ref)
  }

  /** An object in a place where the endpoint expects one. */
  place(ref: ObjectRef): void {
    this.#named.place(ref)
  }

  value(path: string, raw: Buffer | null): void {
    if (this.decided) return
    if (++this.#values > MAX_NAMED) return this.#tooMany()
    const value = raw === null ? undefined : valueOf(raw)
    if (raw !== null) (this.#last ??= new Map()).set(path, value)
    this.#take(path, value, raw)
  }

  again(path: string): void {
    if (this.decided) return
    if (++this.#values > MAX_NAMED) return this.#tooMany()
    this.#take(path, this.#last?.get(path))
  }

  /** The value at a place. @param raw null if it is too long to be checked */
  #take(path: string, value: unknown, raw?: Buffer | null): void {
    // `null` means that there is no value.
    if (value === null) return
    const places = this.#places
    const { keeps } = places
    if (this.#strict && places.stored.has(path)) {
      this.problem ??= unknownModel(
        `The body refers to a stored object (\`${path}\`) that may choose another model.`,
      )
      return
    }
    const kind = places.objects.get(path)
    if (kind !== undefined) {
      if (raw === null) this.#tooLong(path)
      else for (const ref of refsIn(kind, value)) this.place(ref)
      // A stored object may be in the place of a model, and is then checked against the scope like
      // a model.
      if (!places.required.has(path)) return
    }
    if (places.tools.types.has(path)) this.#noteType(path, value)
    else if (path === keeps?.at) this.kept = keeps.by.includes(value)
    else this.#nameModel(path, value)
  }

  closed(path: string): void {
    if (this.#strict) this.#toolModels().closed(path)
  }

  /**
   * The tools that run a model without naming it, once the body has ended. @param header whether a
   * header names a model
   */
  unnamedTools(header: boolean): readonly ToolRun[] {
    return this.#tools?.unnamed(header) ?? []
  }

  /** Most bodies have no such tools. */
  #toolModels(): ToolModels {
    return (this.#tools ??= new ToolModels(this.#places.tools))
  }

  #noteType(path: string, value: unknown): void {
    if (!this.#strict) return
    if (typeof value === 'string') this.#toolModels().type(path, value)
    else this.problem ??= unknownModel(`The body's \`${path}\` is not a type of tool.`)
  }

  #nameModel(path: string, value: unknown): void {
    const required = this.#places.required.has(path)
    if (typeof value !== 'string' || value === '' || !value.isWellFormed()) {
      if (this.#strict) this.problem ??= unknownModel(`The body's \`${path}\` is not a name.`)
      return
    }
    // All models count only if the request's model is decided. A scan may report the last one of a
    // place again.
    if (this.#strict && !(path === this.#modelAt && value === this.models.at(-1)))
      this.models.push(value)
    this.#modelAt = path
    this.named ||= required
    this.storedModel(value)
    if (this.#strict && this.#places.tools.models.has(path)) this.#toolModels().model(path)
    if (required || (path === 'model' && this.model === null)) this.model = value
  }

  /** The stored object that a model's name refers to, if it belongs to a key. */
  storedModel(name: string): void {
    for (const ref of this.idForms?.models?.refsOf(name) ?? NONE)
      if (!this.#named.isPlaced(ref)) this.place(ref)
  }

  oddity(kind: Oddity, path: string): void {
    const places = this.#places
    if (!this.#strict) {
      if (kind === 'lookalike' && places.objectPaths.some((place) => place.startsWith(path)))
        this.lookalike = true
    } else if (kind === 'mismatch' || kind === 'text') {
      if (this.problem !== null || (kind === 'text' && places.texts.has(path))) return
      if (!places.modelPaths.some((place) => place.startsWith(path))) return
      this.problem = unknownModel(
        path === ''
          ? 'The body is not a JSON object.'
          : `The body's \`${path}\` is not what this endpoint expects.`,
      )
    } else if (kind === 'escaped')
      this.hidden ??= `The body spells the key \`${path}\` with escapes, which some parsers do not read.`
    else if (!this.#twofold) {
      this.#twofold = true
      this.problem = ambiguous(
        kind === 'duplicate'
          ? `The body contains \`${path}\` twice.`
          : `The body contains a key that some parsers read as \`${path}\`.`,
      )
      this.decided = true
    }
  }

  /** A part of the body cannot be read reliably. */
  unreadable(why: string): void {
    if (this.#strict) this.problem ??= ambiguous(why)
    else this.unclear = true
  }

  #tooLong(path: string): void {
    if (this.#strict)
      this.problem ??= ambiguous(
        `The body's \`${path}\` is too long to see which stored objects it names.`,
      )
    else this.unclear = true
  }

  #tooMany(many = MANY_NAMED): void {
    if (this.#strict) this.problem ??= ambiguous(`The body contains more than ${many}.`)
    else this.unclear = true
    this.decided = true
  }
}

const NONE: readonly ObjectRef[] = []

/**
 * Parses the bytes of a JSON value; undefined if they are invalid. Most are plain strings, which
 * need no full parser.
 */
function valueOf(raw: Buffer): unknown {
  const text = raw.toString('utf8')
  // oxlint-disable-next-line no-control-regex -- RFC 8259, section 7: these must be escaped
  return raw[0] === 0x22 && !/[\\\u0000-\u001f]/.test(text) ? text.slice(1, -1) : parseJson(text)
}
