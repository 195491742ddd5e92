// A change of a key that takes its time before it is committed.
import { sql } from 'kysely'
import { updateKey } from '../../server/keys/keys.ts'
import { procedure } from '../../server/store/procedure.ts'
import { statement } from '../../server/store/statement.ts'

export const slowChange = procedure(
  import.meta.url,
  'slowChange',
  function* (db, { id, name, seconds }: { id: string; name: string; seconds: number }) {
    const done = yield* updateKey.body(db, { id, change: { name } })
    yield statement({ compile: () => sql`select pg_sleep(${seconds})`.compile(db) })
    return done
  },
  updateKey.lock as () => string,
)
