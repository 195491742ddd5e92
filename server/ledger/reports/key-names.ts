// Looks up the names of keys, for reports that are made outside the thread that serves requests.
import { all, type Steps } from '../../store/procedure.ts'
import type { QueryBuilder } from '../../store/statement.ts'

/** Maximum number of ids in one statement. */
const AT_ONCE = 500

/** The names of keys, or of accounts, by their ids. */
export function* namesOf(
  db: QueryBuilder,
  ids: Iterable<string>,
  table: 'keys' | 'accounts' = 'keys',
): Steps<Map<string, string>> {
  const names = new Map<string, string>()
  const asked = [...new Set(ids)]
  for (let from = 0; from < asked.length; from += AT_ONCE) {
    for (const { id, name } of yield* all(
      db
        .selectFrom(table)
        .select(['id', 'name'])
        .where('id', 'in', asked.slice(from, from + AT_ONCE)),
    ))
      names.set(id, name)
  }
  return names
}
