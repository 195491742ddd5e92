// TABLE of what can stand behind the processes: a folder, or PostgreSQL and S3. Each with the
// troubles that can be made for it.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../support/free-port.ts'
import { NODE_FLAGS } from '../support/node.ts'
import { query, startPostgres } from '../support/postgres.ts'
import { S3_CREDENTIALS } from '../store/s3-server.ts'
import type { Backing } from './chaos.ts'

const run = promisify(execFile)

/** Milliseconds that something is away, and that the disk is full. */
const [AWAY, FULL] = [3_000, 2_000]
const BUCKET = 'tollmark'

/** TABLE of the backings. */
export const BACKINGS: Readonly<Record<'embedded' | 'distributed', () => Promise<Backing>>> = {
  embedded,
  distributed,
}

/** Two processes over one data folder, with SQLite. */
async function embedded(): Promise<Backing> {
  const data = temporary()
  const disk = await mountDisk(data)
  const database = join(data, 'tollmark.db')
  return {
    // The small disk lies in memory, and outlives the processes all the same.
    env: {
      TOLLMARK_DATA: data,
      TOLLMARK_DATA_PERSISTENT: 'yes',
      DATABASE_URL: `sqlite:${database}`,
    },
    roles: ['all', 'all'],
    troubles: {
      'SQLite locked for 3 s by another process': () => lock(database),
      ...(disk === undefined ? {} : { 'disk full for 2 s': disk.fill }),
    },
    leftOut: disk === undefined ? ['disk full (only root can mount a small disk here)'] : [],
    blobs: async () =>
      readdirSync(join(data, 'blobs'), { recursive: true, withFileTypes: true })
        .filter((file) => file.isFile())
        .map(({ name }) => basename(name)),
    [Symbol.asyncDispose]: async () => {
      await disk?.unmount()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

/**
 * Two processes that respond and two that work, over a PostgreSQL that keeps what it says (fsync)
 * and an S3 server.
 */
async function distributed(): Promise<Backing> {
  await using starting = new AsyncDisposableStack()
  const [data, objects] = [temporary(), temporary()]
  starting.defer(() =>
    [data, objects].forEach((folder) => rmSync(folder, { recursive: true, force: true })),
  )
  const postgres = starting.use(await startPostgres({}))
  const s3 = starting.use(await startS3(objects))
  const running = starting.move()
  return {
    env: {
      TOLLMARK_DATA: data,
      TOLLMARK_DATA_PERSISTENT: 'yes',
      DATABASE_URL: postgres.url.href,
      S3_ENDPOINT: s3.endpoint,
      S3_BUCKET: BUCKET,
      S3_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
      S3_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
    },
    roles: ['web', 'web', 'worker', 'worker'],
    troubles: {
      'PostgreSQL stands still for 3 s': async () => {
        postgres.signal('SIGSTOP')
        await sleep(AWAY)
        postgres.signal('SIGCONT')
      },
      'PostgreSQL ended at once, and started 3 s later': async () => {
        await postgres.stop()
        await sleep(AWAY)
        await postgres.start()
      },
      'a backend of PostgreSQL killed': () => killBackend(postgres.url),
      'S3 killed, and started 3 s later': async () => {
        await s3.kill()
        await sleep(AWAY)
        await s3.start()
      },
    },
    leftOut: [],
    blobs: async () => list(objects),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

function temporary(): string {
  return mkdtempSync(join(tmpdir(), 'tollmark-chaos-'))
}

interface Disk {
  /** Leaves no byte free for a while. */
  fill(): Promise<void>
  unmount(): Promise<void>
}

/** Makes `folder` a disk of its own, in memory; undefined where this user may not. */
async function mountDisk(folder: string): Promise<Disk | undefined> {
  const size = '1g'
  const mounted = await run('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=${size},mode=700`,
    'tollmark',
    folder,
  ]).then(
    () => true,
    () => false,
  )
  if (!mounted) return undefined
  const resize = (to: string): Promise<unknown> =>
    run('mount', ['-o', `remount,size=${to}`, folder])
  const shrink = async (): Promise<void> => {
    const { blocks, bfree, bsize } = await statfs(folder)
    await resize(String((blocks - bfree) * bsize))
  }
  return {
    async fill() {
      // It cannot be made smaller than what is on it, which changes while we ask.
      for (
        let tries = 0;
        tries < 50 &&
        !(await shrink().then(
          () => true,
          () => false,
        ));
        tries++
      );
      await sleep(FULL)
      await resize(size)
    },
    unmount: async () => void (await run('umount', ['-l', folder])),
  }
}

/** Holds SQLite's write lock for a while. */
async function lock(path: string): Promise<void> {
  const database = new DatabaseSync(path, { timeout: 5 })
  try {
    for (let held = false; !held;) {
      try {
        database.exec('BEGIN IMMEDIATE')
        held = true
      } catch {
        await sleep(5)
      }
    }
    await sleep(AWAY)
    database.exec('ROLLBACK')
  } finally {
    database.close()
  }
}

/**
 * Kills one process of PostgreSQL that serves a client: it then ends all others, and recovers from
 * its log.
 */
async function killBackend(url: URL): Promise<void> {
  const [row] = (await query(
    url,
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() order by random() limit 1`,
  )) as { pid: number }[]
  if (row) process.kill(row.pid, 'SIGKILL')
}

interface KillableS3 extends AsyncDisposable {
  readonly endpoint: string
  kill(): Promise<void>
  /** Starts it again at the same address with what it held. */
  start(): Promise<void>
}

async function startS3(folder: string): Promise<KillableS3> {
  const port = await freePort()
  let child: ChildProcess
  const start = async (): Promise<void> => {
    child = spawn(
      process.execPath,
      [...NODE_FLAGS, join(import.meta.dirname, 's3-process.ts'), folder, String(port)],
      { stdio: ['pipe', 'pipe', 'ignore'] },
    )
    await once(child.stdout!, 'data')
  }
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await start()
  return { endpoint: `http://127.0.0.1:${port}`, start, kill, [Symbol.asyncDispose]: kill }
}

/**
 * The names of all objects in the bucket, as they lie on the disk: s3rver's own list fails over an
 * object whose writing a kill has cut off.
 */
function list(folder: string): string[] {
  const end = '._S3rver_object'
  return readdirSync(join(folder, BUCKET))
    .filter((name) => name.endsWith(end))
    .map((name) => name.slice(0, -end.length))
}
