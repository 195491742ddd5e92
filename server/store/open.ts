// Opens the store: the data folder, the SQLite file in it, its writer thread, and this thread's
// connection for reading.
import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SetupError, codeOf } from '../common/errors.ts'
import { makeFolder } from '../common/make-folder.ts'
import { startThread } from './sqlite/thread-client.ts'
import { kyselyOn, queryBuilder } from './dialect.ts'
import { StoreError, readError } from './store-error.ts'
import { migrate } from './sqlite/migrate.ts'
import type { Procedure } from './procedure.ts'
import { NOBODY, SHARES, openReading, reportsOf } from './report-queue.ts'
import { openReadingThread } from './sqlite/reader-client.ts'
import { Connection } from './sqlite/connection.ts'
import { onlyResult, statement, type Statement, type StatementResult } from './statement.ts'
import type { Store } from './store.ts'

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
