// Opens the store: the data folder, the SQLite file in it, its writer thread, and this thread's
// connection for reading.
import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Kysely } from 'kysely'
import { SetupError, codeOf } from '../common/errors.ts'
import { makeFolder } from '../common/make-folder.ts'
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

/** An open store. One per process; dispose of it last. */
export interface Store extends AsyncDisposable {
  /** SQLite is for the processes of one machine, PostgreSQL for those of many. */
  readonly dialect: DialectName
  /**
   * Kysely. A select sees committed data; on SQLite it runs synchronously on this thread, so keep
   * it small. Any other query is a durable write of its own. There are no interactive transactions:
   * see `write` and `run`.
   */
  readonly db: Kysely<Database>
  /**
   * A Kysely whose selects run in a thread of their own, for reports that read many rows. Writes
   * work as in `db`. @throws StoreError also `slow`, `crowded`
   */
  readonly reports: Kysely<Database>
  /**
   * Runs a procedure that only reads in the thread of `reports`, each statement on its own. Typed
   * arrays in its result are transferred, not copied. @throws StoreError also `slow`, `crowded`
   */
  read<A, R>(procedure: Procedure<A, R>, args: A): Promise<R>
  /** The same for a read that a request waits for: it does not wait behind reports. */
  readNow<A, R>(procedure: Procedure<A, R>, args: A): Promise<R>
  /** Starts what `readNow` needs, so that the first request does not wait for it. */
  warm(): void
  /** The same store, with `owner` as the owner of its reports. */
  readingFor(owner: string): Store
  /**
   * The same with a separate reader that reports do not delay, for lookups by key and pages of a
   * list.
   */
  lookingUpFor(owner: string): Store
  /**
   * Runs queries atomically, in order; resolves when they are durable. @throws StoreError, and
   * nothing is stored
   */
  write(...queries: Query<unknown>[]): Promise<StatementResult[]>
  /**
   * Runs a procedure atomically; resolves to its result when its writes are durable. @throws
   * StoreError, and nothing is stored
   */
  run<A, R>(procedure: Procedure<A, R>, args: A): Promise<R>
  /**
   * The time that all processes on this store agree on, in milliseconds since 1970: the database's
   * time if it may be on another machine.
   *
   * @param here this machine's clock, which is used on SQLite
   */
  time(here: number): Promise<number>
  /**
   * Calls back at most 200 ms after another process has written, not for this process's own writes.
   * On PostgreSQL it reports the tables that migrations `announce`, and nothing while the
   * connection is lost, so code that must not miss a change also polls. Returns a function that
   * unsubscribes.
   */
  onChange(listener: () => void): () => void
  /**
   * This process's writes since the last call: see `Changes`. Only on SQLite; recording begins with
   * the first call. @throws StoreError
   */
  takeChanges?(): Promise<Changes>
  /** Resolves when everything requested is durable. */
  close(): Promise<void>
}

/** The settings of the store, and a callback for when its writer has died. */
export interface StoreOptions {
  /** The data folder; created if it is missing. */
  data: string
  /** `sqlite:PATH`, `postgres://…`, or null for `tollmark.db` in the data folder. */
  databaseUrl: URL | null
  /** Milliseconds since 1970; recorded with the migrations that run. */
  now: number
  /**
   * Whether the folder of a SQLite file must exist: a command that only reads must not create a
   * mistyped one.
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
 * Opens the store, migrates it to this program's schema, and starts its writer.
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
  makeDataFolder(data)
  // Loaded only if it is used: loading the driver takes longer than opening SQLite.
  // oxlint-disable-next-line typescript/no-non-null-assertion -- sqlitePath gives null for an address only
  if (path === null) return (await import('./postgres/open.ts')).openPostgres(databaseUrl!, now)
  await prepare(path, now)

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
  // Reads that requests wait for share a thread with lookups, which are short.
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
    // Closed last, so that it is the only connection, and SQLite removes its extra files.
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
    // The result is what the procedure returned: plain data of the declared type.
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

/** Migrates the file, and turns every failure to open it into a SetupError. */
async function prepare(path: string, now: number): Promise<void> {
  let connection: Connection | undefined
  try {
    // Readable only by its owner, even if the folder is open to others; SQLite's extra files get
    // the same mode.
    closeSync(openSync(path, 'a', 0o600))
    connection = new Connection(path, 'write')
    await migrate(connection, queryBuilder('sqlite'), now)
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

function assertFolder(path: string): void {
  if (!existsSync(path))
    throw new SetupError(
      `There is no folder ${path}. Set TOLLMARK_DATA or DATABASE_URL to what the server uses.`,
    )
}

/** Creates the data folder, accessible only by its owner. @throws SetupError */
export function makeDataFolder(data: string): void {
  try {
    if (!existsSync(data)) makeFolder(data, 0o700)
    // The final slash makes an existing file an error.
    accessSync(join(data, '/'), constants.W_OK)
  } catch (error) {
    throw new SetupError(
      `The data folder ${data} cannot be written (${codeOf(error) ?? 'unknown reason'}). Set TOLLMARK_DATA to a folder that can.`,
      { cause: error },
    )
  }
}
