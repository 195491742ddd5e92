// Procedures for the store's tests.
import { all, first, procedure, run, type Steps } from '../../server/store/procedure.ts'

/** Renames an account only while it has the expected name; tells whether it did. */
export const rename = procedure(
  import.meta.url,
  'rename',
  function* (db, { id, from, to }: { id: string; from: string; to: string }) {
    const row = yield* first(db.selectFrom('accounts').select('name').where('id', '=', id))
    if (row?.name !== from) return false
    return (yield* run(db.updateTable('accounts').set({ name: to }).where('id', '=', id))) === 1
  },
)

/** Writes, and then fails: nothing of it may stay. */
export const fail = procedure(import.meta.url, 'fail', function* (db, { id }: { id: string }) {
  yield* run(db.updateTable('accounts').set({ name: 'half done' }).where('id', '=', id))
  throw new Error('on purpose')
})

/** Ends the writer's thread, as only a bug or a broken machine does. */
export const end = procedure(import.meta.url, 'end', function* (db): Steps<void> {
  yield* run(db.updateTable('accounts').set({ name: 'half done' }))
  process.exit()
})

/** Names of all accounts on a plan, read inside the writer. */
export const names = procedure(
  import.meta.url,
  'names',
  function* (db, { plan }: { plan: string }) {
    return (yield* all(
      db.selectFrom('accounts').select('name').where('plan', '=', plan).orderBy('name'),
    )).map((row) => row.name)
  },
)

/**
 * Inserts an account, or tells that the name is taken: a procedure may catch the failure of one of
 * its statements.
 */
export const insertOrTell = procedure(
  import.meta.url,
  'insertOrTell',
  function* (db, { id, name }: { id: string; name: string }) {
    try {
      yield* run(
        db.insertInto('accounts').values({
          id,
          name,
          email: null,
          plan: 'free',
          role: 'member',
          created_at: 0,
          disabled: 0,
        }),
      )
      return 'made'
    } catch {
      return 'taken'
    }
  },
)

/** The same under a lock that all callers share. */
export const lockedNames = procedure(
  import.meta.url,
  'lockedNames',
  function* (db, { plan }: { plan: string }) {
    return yield* names.body(db, { plan })
  },
  () => 'names',
)
