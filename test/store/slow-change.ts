// Changes that take their time before they are committed.
import { sql } from 'kysely'
import { insertIfUnchanged } from '../../server/accounts/sessions.ts'
import { updateKey } from '../../server/keys/keys.ts'
import { procedure } from '../../server/store/procedure.ts'
import type { Procedure, Steps } from '../../server/store/procedure.ts'
import { statement } from '../../server/store/statement.ts'

type Slow<A> = A & { seconds: number }

function slowed<A, R>(name: string, { body, lock }: Procedure<A, R>): Procedure<Slow<A>, R> {
  const steps = function* (db: Parameters<typeof body>[0], args: Slow<A>): Steps<R> {
    const done = yield* body(db, args)
    yield statement({ compile: () => sql`select pg_sleep(${args.seconds})`.compile(db) })
    return done
  }
  return procedure(import.meta.url, name, steps, lock)
}

export const slowChange = slowed('slowChange', updateKey)
export const slowEntry = slowed('slowEntry', insertIfUnchanged)
