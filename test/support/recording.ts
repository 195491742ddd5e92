// A store whose readings are noted, statement by statement.
import { CompiledQuery } from 'kysely'
import { kyselyOn, queryBuilder } from '../../server/store/dialect.ts'
import type { Store } from '../../server/store/store.ts'
import type { Procedure } from '../../server/store/procedure.ts'
import type { Statement, StatementResult } from '../../server/store/statement.ts'

/** A statement for Kysely. */
export const raw = ({ sql, parameters }: Statement): CompiledQuery =>
  CompiledQuery.raw(sql, [...parameters])

/** The same store, whose readings run here, statement by statement, and are noted. */
export function recording(store: Store, seen: Statement[]): Store {
  const read = async (one: Statement): Promise<StatementResult> => {
    seen.push(one)
    const { rows } = await store.db.executeQuery(raw(one))
    return { rows, affected: rows.length }
  }
  const db = kyselyOn({ read, write: () => Promise.reject(new Error('only reads')) }, store.dialect)
  const drive = async <A, R>({ body }: Procedure<A, R>, args: A): Promise<R> => {
    const steps = body(queryBuilder(store.dialect), args)
    let next = steps.next()
    while (!next.done) next = steps.next(await read(next.value))
    return next.value
  }
  const recorded: Store = {
    ...store,
    db,
    reports: db,
    read: drive,
    readNow: drive,
    readingFor: () => recorded,
    lookingUpFor: () => recorded,
  }
  return recorded
}
