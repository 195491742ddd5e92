// The store on PostgreSQL: the same tables, queries and procedures as on SQLite, shared by any
// number of processes.
import { randomText } from '../../common/ids.ts'
import { kyselyOn, queryBuilder, type Executor } from '../dialect.ts'
import type { Store } from '../store.ts'
import { NOBODY, SHARES, openReading, reportsOf } from '../report-queue.ts'
import { openReadingThread } from '../sqlite/reader-client.ts'
import { onlyResult, statement } from '../statement.ts'
import { listen } from './listener.ts'
import { migrate } from './migrate.ts'
import { openConnections, type Connections } from './pool.ts'
import { readProcedure, runProcedure, runStatements } from './transaction.ts'
import { KeyedMutex } from './keyed-mutex.ts'

/**
 * Connections of one process, in addition to the one that listens. Ten processes fit into
 * PostgreSQL's default of 100.
 */
const CONNECTIONS = 5
const REPORT_CONNECTIONS = 2
const LOOKUP_CONNECTIONS = 1
/** How long a statement may run (milliseconds): for a request, and for a report. */
const PATIENCE = 2_000
const REPORT_PATIENCE = 10_000

/**
 * Opens a PostgreSQL database and migrates it to this program's schema.
 *
 * A transaction always ends within seconds: with `busy` if the database cannot keep up, with
 * `unavailable` if it cannot be reached. The next transaction gets a new connection.
 *
 * @param now milliseconds since 1970
 * @throws SetupError with a sentence for the person at the terminal
 */
export async function openPostgres(url: URL, now: number): Promise<Store> {
  const builder = queryBuilder('postgres')
  await migrate(url, builder, now)

  const name = `tollmark-${randomText(12)}`
  const connections = openConnections({ url, name, most: CONNECTIONS, patience: PATIENCE })
  // In a thread, because the driver's work on many rows would block the main thread.
  const source = {
    url: url.href,
    name,
    most: REPORT_CONNECTIONS,
    patience: REPORT_PATIENCE,
    patient: true,
  }
  const patient = openReadingThread(source)
  const reading = openReading(patient, SHARES.reports)
  const prompt = openReadingThread({ ...source, most: LOOKUP_CONNECTIONS, patient: false })
  const lookups = openReading(prompt, SHARES.lookups)
  const mutex = new KeyedMutex()
  const listeners = new Set<() => void>()
  const listener = await listen(url, name, () => listeners.forEach((listener) => listener()))

  const one = executeOn(connections)
  const close = async (): Promise<void> => {
    for (const one of [reading, lookups]) one.close()
    await Promise.all([listener.close(), connections.close(), patient.close(), prompt.close()])
  }

  const store: Store = {
    dialect: 'postgres',
    db: kyselyOn({ read: one, write: one }, 'postgres'),
    ...reportsOf(reading, NOBODY, one, 'postgres'),
    readNow: (procedure, args) => readProcedure(connections, builder, procedure, args),
    // Connections are opened at the start.
    warm: () => {},
    readingFor: (owner) => ({ ...store, ...reportsOf(reading, owner, one, 'postgres') }),
    lookingUpFor: (owner) => ({ ...store, ...reportsOf(lookups, owner, one, 'postgres') }),
    write: (...queries) => runStatements(connections, queries.map(statement)),
    run: (procedure, args) => runProcedure(connections, mutex, builder, procedure, args),
    time: async () => {
      const { rows } = await one({
        sql: 'select floor(extract(epoch from clock_timestamp()) * 1000) as now',
        parameters: [],
      })
      return (rows[0] as { now: number }).now
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
  return store
}

function executeOn(connections: Connections): Executor['write'] {
  return async (only) => onlyResult(await runStatements(connections, [only]))
}
