// Opens the store: the data folder, the SQLite file in it, its writer, and this thread's own view
// for reading.
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Kysely } from 'kysely'
import { SetupError, codeOf } from '../common/errors.ts'
import { startThread } from './sqlite/thread-client.ts'
import { kyselyOn, queryBuilder, type DialectName } from './dialect.ts'
import { StoreError, readError } from './store-error.ts'
import { migrate } from './sqlite/migrate.ts'
import type { Procedure } from './procedure.ts'
import { NOBODY, SHARES, openReading, reportsOf } from './report-queue.ts'
import { openReadingThread } from './sqlite/reader-client.ts'
import type { Changes } from './sqlite/messages.ts'
import type { Database } from './schema.ts'
import { Connection } from './sqlite/connection.ts'
import {
  onlyResult,
  statement,
  type Query,
  type Statement,
  type StatementResult,
} from './statement.ts'

/** An open store. One per process; dispose it last. */
export interface Store extends AsyncDisposable {
  /** SQLite is for the processes of one machine, PostgreSQL for those of many. */
  readonly dialect: DialectName
  /**
   * Kysely. A select sees committed data; on SQLite it runs synchronously on this thread, so keep
   * it small. Any other query is a durable write of its own. There are no open transactions: see
   * `write` and `run`.
   */
  readonly db: Kysely<Database>
  /**
   * Kysely whose selects run in a thread of their own, for reports that read many rows. It writes
   * as `db` does. @throws StoreError also `slow`, `crowded`
   */
  readonly reports: Kysely<Database>
  /**
   * Runs a procedure that only reads in the thread of `reports`, each statement on its own. Typed
   * arrays in its result are transferred, not copied. @throws StoreError also `slow`, `crowded`
   */
  read<A, R>(procedure: Procedure<A, R>, args: A): Promise<R>
  /** The same where a request waits for it: it takes no turns with reports. */
  readNow<A, R>(procedure: Procedure<A, R>, args: A): Promise<R>
  /** Starts what `readNow` needs, so that the first request does not wait for it. */
  warm(): void
  /** The same store, whose reports take their turns among all reports as those of `owner`. */
  readingFor(owner: string): Store
  /**
   * The same with a separate reader that no report delays, for lookups by key and pages of a list.
   */
  lookingUpFor(owner: string): Store
  /**
   * Runs queries atomically, in order; resolves when they are durable. @throws StoreError, and then
   * nothing of them is stored
   */
  write(...queries: Query<unknown>[]): Promise<StatementResult[]>
  /**
   * Runs a procedure atomically; resolves to its result when its writes are durable. @throws
   * StoreError, and then nothing is stored
   */
  run<A, R>(procedure: Procedure<A, R>, args: A): Promise<R>
  /**
   * The time that all processes on this store agree on, in milliseconds since 1970: the database's,
   * where it may be on another machine.
   *
   * @param here this machine's clock, which is good enough on SQLite
   */
  time(here: number): Promise<number>
  /**
   * Calls back at most 200 ms after another process has written; not for this process's own writes.
   * On PostgreSQL it reports the tables that migrations `announce`, and nothing while the
   * connection is lost: code that must not miss a change also polls. Returns the function that ends
   * it.
   */
  onChange(listener: () => void): () => void
  /**
   * This process's writes since the last call: see `Changes`. Only on SQLite; recording begins with
   * the first call. @throws StoreError
   */
  takeChanges?(): Promise<Changes>
  /** Ends when all that was asked for is durable. */
  close(): Promise<void>
}

/** The settings that the store needs, and what to do when its writer has died. */
export interface StoreOptions {
  /** The data folder; made if it is not there. */
  data: string
  /** `sqlite:PATH`, `postgres://…`, or null for `tollmark.db` in the data folder. */
  databaseUrl: URL | null
  now: number
  /**
   * Whether the folder of a SQLite file must be there: who only reads makes none where it is
   * mistyped.
   */
  existing?: boolean
  onFailure?: (error: Error) => void
}

/** The file of a SQLite store; null for PostgreSQL. */
export function sqlitePath({
  data,
  databaseUrl,
}: Pick<StoreOptions, 'data' | 'databaseUrl'>): string | null {
  if (databaseUrl === null) return join(data, 'tollmark.db')
  return databaseUrl.protocol === 'sqlite:' ? decodeURIComponent(databaseUrl.pathname) : null
}

/**
 * Opens the store, brings it to the schema of this program, and starts its writer.
 *
 * @throws SetupError with a sentence for the person at the terminal
 */
export async function openStore({
  data,
  databaseUrl,
  now,
  existing = false,
  onFailure = () => {},
}: StoreOptions): Promise<Store> {
  const path = sqlitePath({ data, databaseUrl })
  if (existing && path !== null) assertFolder(dirname(path))
  makeFolder(data)
  // Loaded only where it is used: the driver takes longer to load than SQLite to open.
  // oxlint-disable-next-line typescript/no-non-null-assertion -- sqlitePath gives null for an address only
  if (path === null) return (await import('./postgres/open.ts')).openPostgres(databaseUrl!, now)
  prepare(path, now)

  const listeners = new Set<() => void>()
  const changed = (): void => listeners.forEach((listener) => listener())
  const writer = await startThread(
    new URL('sqlite/writer-thread.ts', import.meta.url),
    { path },
    changed,
    onFailure,
  )
  const here = new Connection(path, 'read')
  const patient = openReadingThread({ path, patient: true })
  const reading = openReading(patient, SHARES.reports)
  // Reads that requests wait for take turns with lookups, which are short.
  const prompt = openReadingThread({ path, patient: false }, Infinity)
  const lookups = openReading(prompt, SHARES.lookups)
  const urgent = openReading(prompt, SHARES.urgent)

  const write = async (...statements: Statement[]): Promise<StatementResult[]> =>
    (await writer.send({ statements })) as StatementResult[]
  const writeOne = async (one: Statement): Promise<StatementResult> => onlyResult(await write(one))
  let closing: Promise<void> | undefined
  const closeAll = async (): Promise<void> => {
    for (const one of [reading, lookups, urgent]) one.close()
    await Promise.all([patient.close(), prompt.close()])
    here.close()
    // Last, so that it finds itself alone and leaves one tidy file.
    await writer.close()
  }
  const close = (): Promise<void> => (closing ??= closeAll())

  const store: Store = {
    dialect: 'sqlite',
    db: kyselyOn({ read: (one) => readHere(here, one), write: writeOne }, 'sqlite'),
    ...reportsOf(reading, NOBODY, writeOne, 'sqlite'),
    readNow: async <A, R>({ address }: Procedure<A, R>, args: A) =>
      (await urgent.send(NOBODY, { procedure: address, args })) as R,
    warm: () => prompt.start(),
    readingFor: (owner) => ({ ...store, ...reportsOf(reading, owner, writeOne, 'sqlite') }),
    lookingUpFor: (owner) => ({ ...store, ...reportsOf(lookups, owner, writeOne, 'sqlite') }),
    write: (...queries) => write(...queries.map(statement)),
    // The result is what the procedure returned: plain data, as declared.
    run: async <A, R>({ address }: Procedure<A, R>, args: A) =>
      (await writer.send({ procedure: address, args })) as R,
    time: (now) => Promise.resolve(now),
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    takeChanges: () => writer.takeChanges(),
    close,
    [Symbol.asyncDispose]: close,
  }
  return store
}

function readHere(reader: Connection, one: Statement): StatementResult {
  try {
    return reader.execute(one)
  } catch (thrown) {
    const { code, message } = readError(thrown)
    throw new StoreError(code, message)
  }
}

/** Migrates the file, and turns every failure to open it into a sentence. */
function prepare(path: string, now: number): void {
  let connection: Connection | undefined
  try {
    // For its owner only, also where the folder lets others in; what SQLite puts beside it takes
    // the same mode.
    closeSync(openSync(path, 'a', 0o600))
    connection = new Connection(path, 'write')
    migrate(connection, queryBuilder('sqlite'), now)
  } catch (thrown) {
    throw openFailure(path, thrown)
  } finally {
    connection?.close()
  }
}

/** Why a database file cannot be opened, as a sentence. */
export function openFailure(path: string, thrown: unknown): SetupError {
  if (thrown instanceof SetupError) return thrown
  return new SetupError(`The database ${path} cannot be opened: ${readError(thrown).message}.`, {
    cause: thrown,
  })
}

/**
 * Makes a folder and those above it. Node's own `recursive` never returns where a folder refuses to
 * hold others, as /proc does.
 */
function makeAll(path: string): void {
  if (existsSync(path)) return
  if (!existsSync(dirname(path))) makeAll(dirname(path))
  mkdirSync(path, { mode: 0o700 })
}

function assertFolder(path: string): void {
  if (!existsSync(path))
    throw new SetupError(
      `There is no folder ${path}. Set TOLLMARK_DATA or DATABASE_URL as the server has them.`,
    )
}

/** Makes the data folder, for its owner only. */
function makeFolder(data: string): void {
  try {
    makeAll(data)
    // The slash at the end makes an existing file an error.
    accessSync(join(data, '/'), constants.W_OK)
  } catch (error) {
    throw new SetupError(
      `The data folder ${data} cannot be written (${codeOf(error) ?? 'unknown reason'}). Set TOLLMARK_DATA to a folder that can.`,
      { cause: error },
    )
  }
}
