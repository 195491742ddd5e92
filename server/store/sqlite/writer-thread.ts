// The only writer's thread. It takes all tasks that have arrived, runs them in one transaction, and
// sends all results when that is on disk: many callers share one fsync.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { readError } from '../store-error.ts'
import { findProcedure } from '../find-procedure.ts'
import { Connection } from './connection.ts'
import type { Reply, Changes, FromThread, ToThread, Task } from './messages.ts'

/**
 * How often the writer looks for commits of other processes, in milliseconds. A key revoked there
 * stops working here within a second.
 */
const LOOK = 200
/**
 * A transaction with this many tasks takes no more messages, so that its first task does not wait
 * too long for the last.
 */
const GROUP = 2000

const { path } = workerData as { path: string }
// oxlint-disable-next-line typescript/no-non-null-assertion -- this file runs as a thread
const port = parentPort!
const send = (message: FromThread): void => port.postMessage(message)
const connection = new Connection(path, 'write')
// Read before anyone relies on notifications: later writes are changes.
let seen = connection.version()
send({ opened: true })
// Kysely takes longer to load than everything else here. The opener continues meanwhile, and its
// messages wait in the port.
const db = (await import('../dialect.ts')).queryBuilder('sqlite')

/** Takes the waiting messages of the port after `first`, up to a full group. */
function gather(first: ToThread): { tasks: Task[]; takes: number[]; close: boolean } {
  const tasks: Task[] = []
  const takes: number[] = []
  let message: ToThread | undefined = first
  while (message) {
    if ('close' in message) return { tasks, takes, close: true }
    if ('takeChanges' in message) takes.push(message.takeChanges)
    else tasks.push(...message.tasks)
    if (tasks.length >= GROUP) break
    message = receiveMessageOnPort(port)?.message
  }
  return { tasks, takes, close: false }
}

/** The version of the file when changes were last taken. */
let recorded: unknown

function takeChanges(id: number): Reply {
  try {
    const version = connection.version()
    const value: Changes = { whole: version === recorded, changes: connection.takeChanges() }
    recorded = version
    return { id, value }
  } catch (error) {
    return { id, error: readError(error) }
  }
}

/** Runs the tasks in one transaction; only a task that fails is rolled back. */
function commit(tasks: Task[]): Reply[] {
  try {
    connection.exec('BEGIN IMMEDIATE')
    let replies = attempt(tasks, false)
    if (replies === null) {
      connection.exec('ROLLBACK')
      connection.exec('BEGIN IMMEDIATE')
      // oxlint-disable-next-line typescript/no-non-null-assertion -- run one by one, each task has its reply
      replies = attempt(tasks, true)!
    }
    connection.exec('COMMIT')
    return replies
  } catch (thrown) {
    // Nothing of this group is stored: the disk is full or faulty, or another process held the lock
    // for too long.
    if (connection.inTransaction) connection.exec('ROLLBACK')
    const error = readError(thrown)
    return tasks.map(({ id }) => ({ id, error }))
  }
}

/**
 * Runs the tasks in order. After a savepoint, SQLite copies every page before it changes it, and
 * tasks seldom fail. So they run without savepoints; if one fails and has to be rolled back (null),
 * all of them run again, `guarded`.
 */
function attempt(tasks: Task[], guarded: boolean): Reply[] | null {
  const replies: Reply[] = []
  for (const task of tasks) {
    // SQLite itself rolls back a single failed statement.
    const alone = 'statements' in task && task.statements.length === 1
    const savepoint = guarded && !alone
    if (savepoint) connection.exec('SAVEPOINT task')
    try {
      replies.push({ id: task.id, value: perform(task) })
    } catch (thrown) {
      // Some failures (full or faulty disk) end the whole transaction, so no write is stored.
      if (!connection.inTransaction) throw thrown
      if (!guarded && !alone) return null
      if (savepoint) connection.exec('ROLLBACK TO task')
      replies.push({ id: task.id, error: readError(thrown) })
    }
    if (savepoint) connection.exec('RELEASE task')
  }
  return replies
}

function perform(task: Task): unknown {
  if ('statements' in task) return task.statements.map((statement) => connection.execute(statement))
  const steps = findProcedure(task.procedure).body(db, task.args)
  let step = steps.next()
  while (!step.done) {
    let result
    try {
      result = connection.execute(step.value)
    } catch (error) {
      // The body must not see an error that ends the whole transaction.
      if (!connection.inTransaction) throw error
      step = steps.throw(error)
      continue
    }
    step = steps.next(result)
  }
  return step.value
}

port.on('message', (message: ToThread) => {
  const { tasks, takes, close } = gather(message)
  if (tasks.length > 0) send({ replies: commit(tasks) })
  if (takes.length > 0) send({ replies: takes.map(takeChanges) })
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
