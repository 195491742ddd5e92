// A thread that only reads: reports, and other reads that would block the main thread. Tasks run
// concurrently, one statement at a time, with turns by the time that each has used, so a long task
// of many statements delays no other.
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { StoreError, readError } from '../store-error.ts'
import { findProcedure } from '../find-procedure.ts'
import type { Steps } from '../procedure.ts'
import type { QueryBuilder, Statement, StatementResult } from '../statement.ts'
import { TimedTurns, type Runner } from './timed-turns.ts'
import type { Reply, FromThread, ReadSource, ToThread, Task } from './messages.ts'

const source = workerData as ReadSource
// oxlint-disable-next-line typescript/no-non-null-assertion -- this file runs as a thread
const port = parentPort!
const turns = new TimedTurns('url' in source ? source.most : 1)
const send = (message: FromThread, moved: ArrayBuffer[] = []): void =>
  port.postMessage(message, moved)

interface Opened {
  execute(statement: Statement): StatementResult | Promise<StatementResult>
  close(): void | Promise<void>
}

const { execute, close } = await open()
send({ opened: true })
let builder: Promise<QueryBuilder> | undefined
let isPatient = false

/**
 * Lowers the priority only now: the first report waits for modules to load, which would otherwise
 * take seconds on a busy machine.
 */
function giveWay(): void {
  // On Linux this is the priority of the calling thread alone (sched(7)); elsewhere it would be
  // that of the whole process.
  if (!isPatient && source.patient && process.platform === 'linux')
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  isPatient = true
}

/** Kysely takes longer to load than everything else here, and only procedures need it. */
function loadBuilder(): Promise<QueryBuilder> {
  return (builder ??= import('../dialect.ts').then(({ queryBuilder }) =>
    queryBuilder('url' in source ? 'postgres' : 'sqlite'),
  ))
}

async function open(): Promise<Opened> {
  if ('url' in source) {
    const { openConnections } = await import('../postgres/pool.ts')
    const { storeError } = await import('../postgres/error.ts')
    const connections = openConnections({ ...source, url: new URL(source.url) })
    const execute = (statement: Statement): Promise<StatementResult> =>
      connections
        .use((session) => session.execute(statement))
        .catch((thrown: unknown) => {
          throw storeError(thrown)
        })
    return { execute, close: connections.close }
  }
  const { Connection } = await import('./connection.ts')
  const connection = new Connection(source.path, 'read')
  return { execute: (statement) => connection.execute(statement), close: () => connection.close() }
}

async function perform(task: Task, runner: Runner): Promise<unknown> {
  const { within = Infinity } = task
  const steps =
    'procedure' in task
      ? findProcedure(task.procedure).body(await loadBuilder(), task.args)
      : each(task.statements)
  giveWay()
  // Loading modules does not count as the first task's time.
  const began = performance.now()
  const step = async (statement: Statement): Promise<StatementResult> => {
    await turns.turn(runner)
    if (performance.now() - began > within)
      throw new StoreError('slow', `it took longer than ${within / 1000} s`)
    const result = await execute(statement)
    return { ...result, elapsed: performance.now() - began }
  }
  let next = steps.next()
  while (!next.done) next = steps.next(await step(next.value))
  return next.value
}

/** Statements, one after the other. */
function* each(statements: readonly Statement[]): Steps<StatementResult[]> {
  const results: StatementResult[] = []
  for (const one of statements) results.push(yield one)
  return results
}

async function reply(task: Task): Promise<Reply> {
  const runner = turns.enter()
  try {
    return { id: task.id, value: await perform(task, runner) }
  } catch (thrown) {
    return { id: task.id, error: readError(thrown) }
  } finally {
    turns.leave(runner)
  }
}

/** The memory of binary parts is transferred to the caller; everything else is copied. */
function moved(reply: Reply): ArrayBuffer[] {
  const value: unknown = 'value' in reply ? reply.value : null
  const parts: unknown[] = typeof value === 'object' && value !== null ? Object.values(value) : []
  return parts.flatMap((part) =>
    ArrayBuffer.isView(part) && part.buffer instanceof ArrayBuffer ? [part.buffer] : [],
  )
}

let under = 0
let closing = false

function closeWhenDone(): void {
  if (closing && under === 0) void Promise.resolve(close()).finally(() => port.close())
}

async function serve(task: Task): Promise<void> {
  under++
  const one = await reply(task)
  send({ replies: [one] }, moved(one))
  under--
  closeWhenDone()
}

port.on('message', (message: ToThread) => {
  if ('tasks' in message) for (const task of message.tasks) void serve(task)
  else {
    closing = true
    closeWhenDone()
  }
})
