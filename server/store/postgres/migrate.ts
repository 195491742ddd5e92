// Migrates a PostgreSQL database to this program's schema: every migration once, in order, under an
// advisory lock.
import { Client, DatabaseError } from 'pg'
import { SetupError } from '../../common/errors.ts'
import type { Migration } from '../migrations/migration.ts'
import type { MigrationName } from '../migrations/names.ts'
import { CREATE_MIGRATIONS, SELECT_MIGRATIONS, pendingNames } from '../sqlite/migrate.ts'
import { statement, type QueryBuilder } from '../statement.ts'
import { StoreUnreachable } from '../unreachable.ts'
import { isAway, reasonOf } from './error.ts'
import { lockNumber } from './lock.ts'
import { connectionConfig } from './pool.ts'

/** PostgreSQL 15, as the server numbers versions. */
const OLDEST = 150_000

/**
 * Runs pending migrations, all or none up to one that prepares itself, and the same from there on.
 * Any number of processes may call it concurrently: the first does the work, the others wait.
 *
 * @param now milliseconds since 1970, recorded with each migration
 * @throws SetupError with a sentence for the person at the terminal; StoreUnreachable if it may
 *   succeed later
 */
export async function migrate(url: URL, db: QueryBuilder, now: number): Promise<void> {
  await withClient(url, async (client) => {
    // Held until the connection ends, even if this process is killed.
    await client.query(`select pg_advisory_lock(${lockNumber('migrations')})`)
    let next = await runPending(client, db, now, null)
    while (next !== null) {
      for (const sql of next.prepare ?? []) await client.query(sql)
      next = await runPending(client, db, now, next)
    }
  })
}

/**
 * Runs pending migrations in a transaction, up to one that must be prepared first, which it
 * returns; null if all are done.
 */
async function runPending(
  client: Client,
  db: QueryBuilder,
  now: number,
  prepared: Migration | null,
): Promise<Migration | null> {
  await client.query('begin')
  await client.query(CREATE_MIGRATIONS)
  const names = pendingNames((await client.query(SELECT_MIGRATIONS)).rows)
  const migrations = names.length === 0 ? [] : (await import('../migrations/index.ts')).MIGRATIONS
  let next: Migration | null = null
  for (const migration of migrations.filter(({ name }) => names.includes(name))) {
    if (migration.prepare !== undefined && migration !== prepared) {
      next = migration
      break
    }
    if (migration.lock !== undefined) await client.query(migration.lock)
    for (const query of migration.up(db.schema)) await client.query(statement(query).sql)
    for (const sql of migration.postgres ?? []) await client.query(sql)
    await client.query('INSERT INTO migrations (name, applied_at) VALUES ($1, $2)', [
      migration.name,
      now,
    ])
  }
  await client.query('commit')
  return next
}

/**
 * Names of the migrations that a database still needs, and the server's version; nothing is
 * changed.
 *
 * @throws SetupError as `migrate`
 */
export async function inspectPostgres(url: URL): Promise<{
  readonly pending: readonly MigrationName[]
  readonly isEmpty: boolean
  readonly version: string
}> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ found: boolean; version: string }>(
      `select to_regclass('migrations') is not null as found, current_setting('server_version') as version`,
    )
    const { found = false, version = '' } = rows[0] ?? {}
    const applied: unknown[] = found ? (await client.query(SELECT_MIGRATIONS)).rows : []
    return { pending: pendingNames(applied), isEmpty: !found, version }
  })
}

/** Runs `work` with a connection to a supported server. @throws SetupError for every failure */
async function withClient<T>(url: URL, work: (client: Client) => Promise<T>): Promise<T> {
  let client: Client | undefined
  try {
    // Also reads the files that the URL names, such as certificates.
    client = new Client(connectionConfig(url))
    client.on('error', () => {})
    await client.connect()
    await checkServer(client)
    return await work(client)
  } catch (thrown) {
    if (thrown instanceof SetupError) throw thrown
    const Failure = isAway(thrown) ? StoreUnreachable : SetupError
    throw new Failure(`The database ${placeOf(url)} cannot be opened: ${sentenceOf(thrown)}`, {
      cause: thrown,
    })
  } finally {
    await client?.end().catch(() => {})
  }
}

async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
  )
  const { version = 0, encoding = '' } = rows[0] ?? {}
  if (version < OLDEST)
    throw new SetupError(
      `The database is PostgreSQL ${Math.floor(version / 10_000)}; Tollmark needs 15 or later.`,
    )
  if (encoding !== 'UTF8')
    throw new SetupError(
      `The database keeps its text as ${encoding}; Tollmark needs UTF8 (create database … encoding 'UTF8').`,
    )
}

/** The location of a database, without user and password. */
function placeOf({ host, pathname }: URL): string {
  return `${decodeURIComponent(pathname.slice(1)) || 'of the user'} on ${host || 'this machine'}`
}

/** TABLE of SQLSTATEs that the person at the terminal can fix. */
const SENTENCES: Readonly<Record<string, string>> = {
  '28P01': 'the server rejects the user and password of DATABASE_URL.',
  '28000': 'the server does not allow the user of DATABASE_URL to connect.',
  '3D000': 'the server has no such database. Create it first.',
  '42501': 'the user of DATABASE_URL may not create tables there.',
  '57P03': 'the server is still starting. Try again in a moment.',
  '53300': 'the server has no free connection. Raise its max_connections.',
}

function sentenceOf(thrown: unknown): string {
  const known = thrown instanceof DatabaseError ? SENTENCES[thrown.code ?? ''] : undefined
  return known ?? `${reasonOf(thrown)}. Check DATABASE_URL, and that the server is running.`
}
