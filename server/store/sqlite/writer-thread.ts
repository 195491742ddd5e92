// The thread of the one writer. It takes all units that have come in by now, runs them in one
// transaction, and answers all of them when that is on the disk: many callers share one fsync.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { readError } from '../store-error.ts'
import { findProcedure } from '../find-procedure.ts'
import { Connection } from './connection.ts'
import type { Answer, FromThread, ToThread, Unit } from './messages.ts'

/**
 * How often the writer looks for commits of other processes, in milliseconds. A key that was
 * revoked there is dead here within a second.
 */
const LOOK = 200
/** Units in one transaction at most, so that the first does not wait too long for the last. */
const GROUP = 2000

const { path } = workerData as { path: string }
const port = parentPort!
const send = (message: FromThread): void => port.postMessage(message)
const connection = new Connection(path, 'write')
// Before anybody counts on being told: what is written from now on is a change.
let seen = connection.version()
send({ opened: true })
// Kysely takes longer to load than everything else here. Whoever opened the store goes on
// meanwhile; what it sends waits in the port.
const db = (await import('../dialect.ts')).queryBuilder('sqlite')

/** Takes what waits in the port besides `first`, up to a full group. */
function gather(first: ToThread): { units: Unit[]; close: boolean } {
  const units: Unit[] = []
  let message: ToThread | undefined = first
  while (message) {
    if ('close' in message) return { units, close: true }
    units.push(...message.units)
    if (units.length >= GROUP) break
    message = receiveMessageOnPort(port)?.message
  }
  return { units, close: false }
}

/** Runs the units in one transaction; a unit that fails is undone alone. */
function commit(units: Unit[]): Answer[] {
  try {
    connection.exec('BEGIN IMMEDIATE')
    let answers = attempt(units, false)
    if (answers === null) {
      connection.exec('ROLLBACK')
      connection.exec('BEGIN IMMEDIATE')
      answers = attempt(units, true)!
    }
    connection.exec('COMMIT')
    return answers
  } catch (thrown) {
    // Nothing of this group is stored: the disk is full or broken, or another process held the lock
    // for too long.
    if (connection.inTransaction) connection.exec('ROLLBACK')
    const error = readError(thrown)
    return units.map(({ id }) => ({ id, error }))
  }
}

/**
 * Runs the units one after the other. Behind a savepoint SQLite copies every page before it
 * changes, and units seldom fail: so they run without, and only where one fails that has to be
 * undone (null), all of them run again, `guarded`.
 */
function attempt(units: Unit[], guarded: boolean): Answer[] | null {
  const answers: Answer[] = []
  for (const unit of units) {
    // SQLite undoes a single failing statement by itself.
    const alone = 'statements' in unit && unit.statements.length === 1
    const savepoint = guarded && !alone
    if (savepoint) connection.exec('SAVEPOINT unit')
    try {
      answers.push({ id: unit.id, value: perform(unit) })
    } catch (thrown) {
      // Some failures (disk full, broken disk) end the whole transaction: then nobody's write is
      // stored.
      if (!connection.inTransaction) throw thrown
      if (!guarded && !alone) return null
      if (savepoint) connection.exec('ROLLBACK TO unit')
      answers.push({ id: unit.id, error: readError(thrown) })
    }
    if (savepoint) connection.exec('RELEASE unit')
  }
  return answers
}

function perform(unit: Unit): unknown {
  if ('statements' in unit) return unit.statements.map((statement) => connection.execute(statement))
  const steps = findProcedure(unit.procedure).body(db, unit.args)
  let step = steps.next()
  while (!step.done) {
    let result
    try {
      result = connection.execute(step.value)
    } catch (error) {
      // The body shall not see what means that the whole transaction is over.
      if (!connection.inTransaction) throw error
      step = steps.throw(error)
      continue
    }
    step = steps.next(result)
  }
  return step.value
}

port.on('message', (message: ToThread) => {
  const { units, close } = gather(message)
  if (units.length > 0) send({ answers: commit(units) })
  if (!close) return
  clearInterval(looking)
  connection.close()
  port.close()
})

const looking = setInterval(() => {
  const version = connection.version()
  if (version !== seen) send({ changed: true })
  seen = version
}, LOOK)
