// A cache of the owners of stored objects, so that a conversation that names the same objects in
// each turn costs no query.

/** Entries per generation, of which two are kept. About 200 bytes each. */
const GENERATION = 20_000

/** A map that drops entries that have not been used for long. */
export interface RecentObjects<T> {
  get(name: string): T | undefined
  set(name: string, value: T): void
  /** All entries. */
  values(): Iterable<T>
}

/**
 * Keeps recently used entries, in two generations: no map loses an entry with each request
 * (ARCHITECTURE.md, "A proxied request"). Owners never change, so nothing in it goes stale.
 */
export function createRecentObjects<T>(generation = GENERATION): RecentObjects<T> {
  let young = new Map<string, T>()
  let old = new Map<string, T>()
  const set = (name: string, value: T): void => {
    if (young.size >= generation && !young.has(name)) {
      old = young
      young = new Map()
    }
    young.set(name, value)
  }
  return {
    get(name) {
      const value = young.get(name)
      if (value !== undefined) return value
      const kept = old.get(name)
      if (kept !== undefined) set(name, kept)
      return kept
    },
    set,
    *values() {
      for (const [name, value] of old) if (!young.has(name)) yield value
      yield* young.values()
    },
  }
}
