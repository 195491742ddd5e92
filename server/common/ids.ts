// Ids of records: `acc_…`, `tok_…`, `job_…`, `key_…`. They begin with the time, so that rows
// created together are adjacent in an index.
import { base62, randomText } from './secrets.ts'

/**
 * A new id: the kind, eight characters of time, fourteen random ones (83 bits).
 *
 * @param now milliseconds since 1970
 */
export function newId(kind: string, now: number): string {
  return `${kind}_${base62(now, 8)}${randomText(14)}`
}
