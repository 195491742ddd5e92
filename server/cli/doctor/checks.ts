// TABLE of the checks of `tollmark doctor`.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { open, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { SetupError, codeOf } from '../../common/errors.ts'
import { randomText } from '../../common/ids.ts'
import { counted } from '../../common/counted.ts'
import { readMasterKey } from '../../config/master-key.ts'
import type { Config } from '../../config/settings.ts'
import { openCredentials } from '../../proxy/credentials/stored.ts'
import { withStoreErrors, type BlobStore } from '../../store/blobs/blobs.ts'
import { openBlobs } from '../../store/blobs/open.ts'
import { inspectStore } from '../../store/inspect.ts'
import { openStore, sqlitePath } from '../../store/open.ts'
import type { Store } from '../../store/store.ts'
import { outageFolder } from '../../store/persistent-folder.ts'
import { StoreError } from '../../store/store-error.ts'

/** `warning`: it works now, but may not always. `failed`: something does not work. */
export type Finding = readonly [status: 'ok' | 'warning' | 'failed', detail: string]

/** What the checks inspect. */
export interface Examined {
  readonly config: Config
  /** Null if it cannot be opened without changing it. */
  readonly store: Store | null
}

interface Check {
  readonly name: string
  readonly look: (examined: Examined) => Promise<Finding>
}

/** Milliseconds that the database's clock may differ before it is a warning. */
const CLOCK_MS = 2_000
/** Milliseconds for one durable write; above this, every request is noticeably slower. */
const SYNC_MS = 20
/** Files that a process should be able to open: each proxied request needs two. */
const OPEN_FILES = 4_096
const FREE_BYTES = 1_073_741_824
/** Unused bytes of the SQLite file that are worth a vacuum if they are more than half of it. */
const UNUSED_BYTES = 64 * 1024 * 1024

/** All checks, in display order. */
export const CHECKS: readonly Check[] = [
  { name: 'versions', look: versions },
  { name: 'clock', look: clock },
  { name: 'disk_sync', look: diskSync },
  { name: 'disk_space', look: diskSpace },
  { name: 'data_folder', look: dataFolder },
  { name: 'limits', look: limits },
  { name: 'files', look: files },
  { name: 'master_key', look: masterKey },
  { name: 'credentials', look: credentials },
  { name: 'balancer', look: balancer },
]

/**
 * Opens what the checks inspect. Does not open a store that lacks migrations, because that would
 * run them.
 */
export async function examine(config: Config): Promise<Examined> {
  const { storage } = config
  const { isEmpty, pending } = await inspectStore(storage)
  const store =
    isEmpty || pending.length > 0
      ? null
      : await openStore({ ...storage, now: Date.now(), existing: true })
  return { config, store }
}

async function versions({ config }: Examined): Promise<Finding> {
  const { store, version, pending, isEmpty } = await inspectStore(config.storage)
  const text = `Node ${process.versions.node}, ${store === 'sqlite' ? 'SQLite' : 'PostgreSQL'} ${version}`
  if (isEmpty) return ['warning', `${text}; no server has run on this database yet`]
  return pending.length === 0
    ? ['ok', text]
    : ['warning', `${text}; the next start runs ${counted(pending.length, 'migration')}`]
}

async function clock({ store }: Examined): Promise<Finding> {
  if (store === null) return UNOPENED
  if (store.dialect === 'sqlite') return ['ok', "only this machine's clock matters"]
  const before = Date.now()
  const theirs = await store.time(before)
  const apart = Math.round(theirs - (before + Date.now()) / 2)
  const text = `the database's clock is ${Math.abs(apart)} ms ${apart < 0 ? 'behind' : 'ahead'}`
  return Math.abs(apart) <= CLOCK_MS
    ? ['ok', text]
    : ['warning', `${text}: limits use it, logs do not. Use NTP on both machines`]
}

async function diskSync({ config }: Examined): Promise<Finding> {
  const path = join(config.storage.data, `.doctor-${randomText(12)}`)
  const times: number[] = []
  try {
    await using file = await open(path, 'wx', 0o600)
    for (let i = 0; i < 21; i++) {
      const began = performance.now()
      await file.write(Buffer.alloc(4096, i))
      await file.datasync()
      times.push(performance.now() - began)
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT')
      return ['warning', `the data folder does not exist yet: ${config.storage.data}`]
    return [
      'failed',
      `the data folder cannot be written (${codeOf(error) ?? 'unknown reason'}): ${config.storage.data}`,
    ]
  } finally {
    await rm(path, { force: true })
  }
  const median = times.sort((a, b) => a - b)[10] ?? 0
  const text = `a durable write takes ${median.toFixed(1)} ms`
  return median <= SYNC_MS
    ? ['ok', text]
    : ['warning', `${text}: the disk is slow, or on a network`]
}

async function diskSpace({ config: { storage } }: Examined): Promise<Finding> {
  const { bavail, bsize } = await statfs(existingFolder(storage.data))
  const free = bavail * bsize
  const text = `${gibibytes(free)} free for ${storage.data}`
  const { bytes, unused } = await inspectStore(storage)
  if (unused >= UNUSED_BYTES && unused > bytes / 2)
    return [
      'warning',
      `${text}; ${gibibytes(unused)} of the database's ${gibibytes(bytes)} are unused: "tollmark vacuum" frees them`,
    ]
  return free >= FREE_BYTES ? ['ok', text] : ['warning', text]
}

const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`

async function dataFolder({ config }: Examined): Promise<Finding> {
  const { data, dataPersistent } = config.storage
  const folder = await outageFolder(existingFolder(data), dataPersistent)
  return folder === null
    ? [
        'warning',
        'the data folder does not outlive the process: while the database is down, requests get 503',
      ]
    : ['ok', 'the data folder outlives the process']
}

async function limits(): Promise<Finding> {
  if (process.platform !== 'linux') return ['ok', 'not checked on this system']
  // Node raises the soft limit to the hard one at start.
  const found = /^Max open files\s+(\w+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  const text = `open files: ${found ?? 'unknown'}`
  return found === 'unlimited' || Number(found) >= OPEN_FILES
    ? ['ok', text]
    : ['warning', `${text}; set at least ${OPEN_FILES} (LimitNOFILE of systemd, ulimit -n)`]
}

async function files({ config }: Examined): Promise<Finding> {
  const { storage } = config
  await using closing = new AsyncDisposableStack()
  const unused = {
    place: (): never => {
      throw new Error('this check must not read blobs')
    },
    [Symbol.dispose]: () => {},
  }
  try {
    const blobs = await openBlobs(storage, unused, closing)
    await blobs.check()
    if (storage.s3Bucket !== null) await withStoreErrors(() => tryOut(blobs))
    return ['ok', storage.s3Bucket === null ? 'a folder' : `the bucket ${storage.s3Bucket}`]
  } catch (error) {
    if (!(error instanceof StoreError || error instanceof SetupError)) throw error
    return ['failed', `files cannot be stored: ${error.message}`]
  }
}

/** Stores, reads and deletes an object, which takes other rights than to find the bucket. */
async function tryOut(blobs: BlobStore): Promise<void> {
  const id = `doctor_${randomText(12)}`
  const path = join(tmpdir(), `tollmark-${id}`)
  try {
    await writeFile(path, id, { flag: 'wx', mode: 0o600 })
    await blobs.put(id, path)
    await buffer((await blobs.open(id)).stream)
    await blobs.remove(id)
  } finally {
    await rm(path, { force: true })
  }
}

async function masterKey({ config }: Examined): Promise<Finding> {
  if (config.storage.masterKey !== null) return ['ok', 'TOLLMARK_MASTER_KEY']
  const path = join(config.storage.data, 'master.key')
  if (sqlitePath(config.storage) === null)
    return [
      'warning',
      `TOLLMARK_MASTER_KEY is not set: web processes with other data folders than ${config.storage.data} cannot use stored credentials`,
    ]
  if (!existsSync(path))
    return ['warning', `${path} does not exist yet; the first start creates it`]
  const open = statSync(path).mode & 0o077
  return open === 0 ? ['ok', path] : ['failed', `other users can read ${path}; run chmod 600 on it`]
}

async function credentials({ config, store }: Examined): Promise<Finding> {
  const { masterKey: given, data } = config.storage
  if (store === null) return UNOPENED
  if (given === null && !existsSync(join(data, 'master.key')))
    return ['warning', 'there is no master key yet']
  const { usable, unreadable } = await openCredentials(store, readMasterKey(given, data))
  return unreadable.length === 0
    ? ['ok', `${usable.length} stored, all readable`]
    : [
        'failed',
        `the master key cannot decrypt ${unreadable.join(', ')}; restore the right key, or store them again`,
      ]
}

async function balancer({ config }: Examined): Promise<Finding> {
  const { host, trustProxy } = config.server
  return trustProxy && host !== 'localhost' && !host.startsWith('127.')
    ? [
        'warning',
        `TOLLMARK_TRUST_PROXY is set and the server listens on ${host}: only the reverse proxy may reach it`,
      ]
    : ['ok', trustProxy ? 'the reverse proxy is trusted' : 'no reverse proxy is trusted']
}

const UNOPENED: Finding = ['warning', 'not checked: no database with the schema of this version']

/** The folder, or the nearest existing parent. */
function existingFolder(path: string): string {
  return existsSync(path) ? path : existingFolder(join(path, '..'))
}
