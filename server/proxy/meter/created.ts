// The objects that come into being with an answer: what stands at the places where the endpoint's row expects their names.
import { valuesAt } from '../json-paths.ts'
import { objectRef, type ObjectRef } from '../providers/object-ref.ts'

/** Places of an answer that name an object, and its kind. */
export type Creates = Readonly<Record<string, string>>

/** An answer that names more objects than this is a list, or broken. */
const MOST = 100

export class Created {
  readonly creates: Creates
  readonly #found: ObjectRef[] = []

  constructor(creates: Creates) {
    this.creates = creates
  }

  get objects(): readonly ObjectRef[] {
    return this.#found
  }

  /** Takes note of what stands at a place. */
  note(place: string, name: unknown): void {
    const kind = this.creates[place]
    if (kind !== undefined && typeof name === 'string') this.add(objectRef(kind, name))
  }

  add(object: ObjectRef): void {
    if (object.id === '' || this.#found.length >= MOST) return
    if (!this.#found.some(({ kind, id }) => kind === object.kind && id === object.id)) this.#found.push(object)
  }

  /** Looks at all places of a parsed answer or event. */
  search(answer: unknown): void {
    for (const place in this.creates) for (const name of valuesAt(answer, place)) this.note(place, name)
  }
}
