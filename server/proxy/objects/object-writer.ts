// Records which key created an object, after the response that named it.
import type { Store } from '../../store/store.ts'
import { first, procedure, run, type Steps } from '../../store/procedure.ts'
import type { ObjectRow } from '../../store/schema.ts'
import { transientProblem } from '../../store/transient-errors.ts'
import { createRecentObjects } from './cache.ts'
import { rangeOf } from './item-ranges.ts'

/** Maximum number of rows that wait for a store that does not respond. */
const MAX_UNWRITTEN = 10_000
/** How soon a failed write is retried (milliseconds). */
const RETRY_MS = 1_000

/** The name of an object in the cache. */
export const cacheKey = (provider: string, kind: string, id: string): string =>
  `${provider} ${kind} ${id}`

const nameOf = (row: ObjectRow): string => cacheKey(row.provider, row.kind, row.object_id)

/** Caches owners immediately and writes them as soon as the store responds. One per process. */
export class ObjectWriter {
  /** Recently used owners, by `cacheKey`. */
  readonly known = createRecentObjects<ObjectRow>()
  readonly #store: Store
  readonly #onError: (error: unknown) => void
  /**
   * Items whose range is being written: if the range turns out to be another key's, they get rows
   * of their own.
   */
  readonly #undecided = new Map<string, ObjectRow[]>()
  readonly #unwritten: ObjectRow[] = []
  #timer: NodeJS.Timeout | null = null

  /** @param onError called when an object cannot be written; it will be retried */
  constructor(store: Store, onError: (error: unknown) => void) {
    this.#store = store
    this.#onError = onError
  }

  /** @param response the id of the response to which an item belongs, if it is known */
  record(row: ObjectRow, response: string | undefined): void {
    const name = nameOf(row)
    // Responses name the same objects repeatedly.
    if (this.known.get(name) !== undefined) return
    const range = rangeOf({ kind: row.kind, id: row.object_id }, response)
    if (range === null) return this.#enter(row)
    this.known.set(name, row)
    const common = cacheKey(row.provider, range.kind, range.id)
    const owner = this.known.get(common)
    if (owner === undefined) this.#enter({ ...row, kind: range.kind, object_id: range.id })
    if (owner === undefined || this.#undecided.has(common))
      this.#undecided.set(common, [...(this.#undecided.get(common) ?? []), row])
    else if (owner.key_id !== row.key_id) this.#enter(row)
  }

  #enter(row: ObjectRow): void {
    this.known.set(nameOf(row), row)
    this.#write(row)
  }

  #write(row: ObjectRow): void {
    this.#store.run(insertObject, row).then(
      (kept) => this.#settle(row, kept),
      (error: unknown) => this.#retry(row, error),
    )
  }

  /** The first owner stays; the store decides which that is. */
  #settle(row: ObjectRow, kept: ObjectRow): void {
    this.known.set(nameOf(kept), kept)
    const name = nameOf(row)
    const items = this.#undecided.get(name) ?? []
    this.#undecided.delete(name)
    if (kept.key_id !== row.key_id) for (const item of items) this.#enter(item)
  }

  #retry(row: ObjectRow, error: unknown): void {
    if (this.#timer === null) this.#onError(error)
    if (transientProblem(error) === undefined || this.#unwritten.length === MAX_UNWRITTEN)
      return void this.#undecided.delete(nameOf(row))
    this.#unwritten.push(row)
    this.#timer ??= setTimeout(() => this.#writeOwed(), RETRY_MS).unref()
  }

  #writeOwed(): void {
    this.#timer = null
    for (const row of this.#unwritten.splice(0)) this.#write(row)
  }
}

/**
 * Keeps the first owner, and returns it: if a provider assigns one id twice, the object must not
 * change its owner.
 */
export const insertObject = procedure(
  import.meta.url,
  'insertObject',
  function* (db, row: ObjectRow): Steps<ObjectRow> {
    const { provider, kind, object_id } = row
    const isNew = yield* run(
      db
        .insertInto('objects')
        .values(row)
        .onConflict((conflict) => conflict.columns(['provider', 'kind', 'object_id']).doNothing()),
    )
    if (isNew > 0) return row
    return (
      (yield* first(
        db
          .selectFrom('objects')
          .selectAll()
          .where('provider', '=', provider)
          .where('kind', '=', kind)
          .where('object_id', '=', object_id),
      )) ?? row
    )
  },
)
