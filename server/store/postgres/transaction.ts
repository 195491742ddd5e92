// Runs atomic units on PostgreSQL.
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from '../store-error.ts'
import type { Procedure } from '../procedure.ts'
import type { QueryBuilder, Statement, StatementResult } from '../statement.ts'
import { isCollision, storeError } from './error.ts'
import { lockNumber } from './lock.ts'
import type { Connections, Session } from './pool.ts'
import type { KeyedMutex } from './keyed-mutex.ts'

/** How long a transaction that conflicts with others is retried (milliseconds). */
const PERSISTENCE = 2_000
/** The longest pause before a retry (milliseconds). */
const PAUSE = 50

/** Runs statements in one transaction, in order. @throws StoreError */
export function runStatements(
  connections: Connections,
  statements: readonly Statement[],
): Promise<StatementResult[]> {
  const [only] = statements
  if (only && statements.length === 1)
    return persist(() => connections.use(async (session) => [await session.execute(only)]))
  return transact(connections, 'begin isolation level read committed', async (session) => {
    const results: StatementResult[] = []
    for (const statement of statements) results.push(await session.execute(statement))
    return results
  })
}

/**
 * Runs a procedure in one transaction. Without a lock, it is SERIALIZABLE, and is retried if
 * PostgreSQL detects a conflict; see `Lock` for the other modes.
 *
 * @throws StoreError
 */
export function runProcedure<A, R>(
  connections: Connections,
  mutex: KeyedMutex,
  db: QueryBuilder,
  { body, lock }: Procedure<A, R>,
  args: A,
): Promise<R> {
  const attempt = async (begin: string): Promise<R> => {
    try {
      return await transact(connections, begin, (session) => walk(session, body(db, args), false))
    } catch (thrown) {
      if (!(thrown instanceof Caught)) throw thrown
      return transact(connections, begin, (session) => walk(session, body(db, args), true))
    }
  }
  if (lock === undefined) return attempt('begin isolation level serializable')
  if (lock === 'rows') return attempt('begin isolation level read committed')
  const name = lock(args)
  return mutex.run(name, () =>
    attempt(
      `begin isolation level read committed; select pg_advisory_xact_lock(${lockNumber(name)})`,
    ),
  )
}

/** Runs a procedure that only reads, each statement on its own. @throws StoreError */
export async function readProcedure<A, R>(
  connections: Connections,
  db: QueryBuilder,
  { body }: Procedure<A, R>,
  args: A,
): Promise<R> {
  try {
    return await connections.use((session) => walk(session, body(db, args), false))
  } catch (thrown) {
    throw storeError(thrown)
  }
}

/**
 * The body caught the failure of a statement. PostgreSQL continues after a failure only with a
 * savepoint, and there was none.
 */
class Caught extends Error {}

async function walk<R>(
  session: Session,
  steps: Generator<Statement, R, StatementResult>,
  savepoints: boolean,
): Promise<R> {
  let step = take(() => steps.next())
  for (let count = 0; !step.done; count++) {
    const statement = step.value
    let result: StatementResult
    try {
      if (savepoints)
        await session.command(count === 0 ? 'savepoint step' : 'release step; savepoint step')
      result = await session.execute(statement)
    } catch (thrown) {
      const error = storeError(thrown)
      // The body must not see an error that ends the whole transaction.
      if (isCollision(thrown) || error.code === 'unavailable') throw thrown
      step = take(() => steps.throw(error))
      if (!savepoints) throw new Caught()
      await session.command('rollback to step')
      continue
    }
    step = take(() => steps.next(result))
  }
  return step.value
}

/** One step of a body. Errors of the body itself are kept apart from the database's. */
function take<R>(advance: () => IteratorResult<Statement, R>): IteratorResult<Statement, R> {
  try {
    return advance()
  } catch (thrown) {
    throw thrown instanceof StoreError
      ? thrown
      : new StoreError('failed', thrown instanceof Error ? thrown.message : String(thrown))
  }
}

/** Runs `work` between `begin` and `commit`; any error rolls back. */
function transact<R>(
  connections: Connections,
  begin: string,
  work: (session: Session) => Promise<R>,
): Promise<R> {
  return persist(() =>
    connections.use(async (session) => {
      try {
        // May fail after its first statement, if a lock is not released in time.
        await session.command(begin)
        const value = await work(session)
        if ((await session.command('commit')) !== 'COMMIT')
          throw new StoreError('failed', 'the transaction was rolled back')
        return value
      } catch (thrown) {
        // a lost connection has no transaction
        await session.command('rollback').catch(() => {})
        throw thrown
      }
    }),
  )
}

/**
 * Retries transactions that conflicted, which PostgreSQL has rolled back. Not after a lost
 * connection, because the commit may have happened.
 */
async function persist<R>(attempt: () => Promise<R>): Promise<R> {
  const until = performance.now() + PERSISTENCE
  for (let pause = 2; ; pause = Math.min(2 * pause, PAUSE)) {
    try {
      return await attempt()
    } catch (thrown) {
      if (thrown instanceof Caught) throw thrown
      if (!isCollision(thrown) || performance.now() > until) throw storeError(thrown)
      await sleep(Math.random() * pause)
    }
  }
}
