// Collects the objects that a response creates: the values at the places of the endpoint's row.
import { valuesAt } from '../json/paths.ts'
import { CITATION, idOf, objectRef, VERSION, type ObjectRef } from '../providers/object-ref.ts'

/** Places of a response that name an object, and its kind. */
export type CreatedPaths = Readonly<Record<string, string>>

/** A response that names more objects than this is a list, or broken. */
const MAX_IDS = 100

/** Collects the ids of one response. */
export class CreatedIds {
  readonly creates: CreatedPaths
  readonly #found: ObjectRef[] = []
  readonly objects: readonly ObjectRef[] = this.#found
  /** Whether this response created it; null until the response's version has been read. */
  #isNew: boolean | null
  readonly #waiting: ObjectRef[] = []

  constructor(creates: CreatedPaths) {
    this.creates = creates
    this.#isNew = Object.values(creates).includes(VERSION) ? null : true
  }

  /** Records the value at a place. */
  note(place: string, name: unknown): void {
    const kind = this.creates[place]
    if (kind === VERSION) this.#decide(String(name) === '1')
    else if (kind === CITATION) this.#cite(name)
    else {
      const id = idOf(name)
      if (kind !== undefined && id !== null) this.add(objectRef(kind, id))
    }
  }

  #decide(isNew: boolean): void {
    // Duplicate values must be equal.
    this.#isNew = isNew && this.#isNew !== false
    const waiting = this.#waiting.splice(0)
    if (this.#isNew) for (const object of waiting) this.add(object)
  }

  #cite(citation: unknown): void {
    const container = idOf(valuesAt(citation, 'container_id')[0])
    const file = idOf(valuesAt(citation, 'file_id')[0])
    if (container === null) return
    this.add(objectRef('container', container))
    if (file !== null) this.add(objectRef('file', file))
  }

  add(object: ObjectRef): void {
    if (object.id === '' || this.#found.length >= MAX_IDS || this.#isNew === false) return
    if (this.#isNew === null)
      return void (this.#waiting.length < MAX_IDS && this.#waiting.push(object))
    if (!this.#found.some(({ kind, id }) => kind === object.kind && id === object.id))
      this.#found.push(object)
  }

  /** Reads all places of a parsed response or event. */
  search(response: unknown): void {
    for (const place in this.creates)
      for (const name of valuesAt(response, place)) this.note(place, name)
  }
}

/** For every response that creates no object. */
export const NOTHING_CREATED = new CreatedIds({})
