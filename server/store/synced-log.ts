// An append-only file of lines, each durable before its caller continues. Lines that are appended
// while the disk is busy share the next fdatasync (group commit).
import { mkdir, open, readFile, readdir, unlink, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { codeOf } from '../common/errors.ts'
import { StoreError } from './store-error.ts'
import { isDiskFull } from './transient-errors.ts'

interface WaitingLine {
  readonly bytes: Buffer
  readonly resolve: () => void
  readonly reject: (error: StoreError) => void
}

/** One file, created with its first line. Only one `SyncedLog` may write to a path. */
export class SyncedLog {
  readonly path: string
  readonly #header: Buffer
  #file: FileHandle | null = null
  /** The number of durable bytes; everything after them is overwritten by the next batch. */
  #length = 0
  #waiting: WaitingLine[] = []
  /** Whether the last write became durable; false before the first. */
  #isProven = false
  #isClosed = false
  #tail: Promise<void> = Promise.resolve()

  /** @param header the first line of the file */
  constructor(path: string, header: string) {
    this.path = path
    this.#header = encodeLine(header)
  }

  /**
   * Appends a line; resolves when it is durable. After a failure the file is as before.
   *
   * @throws StoreError `full` or `unavailable`; `unavailable` once the file is closed
   */
  append(line: string): Promise<void> {
    const appended = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ bytes: encodeLine(line), resolve, reject })
    })
    if (this.#waiting.length === 1) this.#tail = this.#tail.then(() => this.#flush())
    return appended
  }

  /** Whether the last write became durable; false before the first. */
  get isProven(): boolean {
    return this.#isProven
  }

  /**
   * Resolves when the file is known to be writable: after a failure, or if it has no lines, its
   * header is written.
   *
   * @throws StoreError `full` or `unavailable`
   */
  prove(): Promise<void> {
    const proven = this.#tail.then(() => this.#prove())
    this.#tail = proven.catch(() => {})
    return proven.catch((error: unknown) => {
      throw writeError(error)
    })
  }

  async #prove(): Promise<void> {
    if (!this.#isProven) await this.#write(this.#length === 0 ? [] : [this.#header])
  }

  /** Resolves when everything appended so far is durable or has failed. */
  async idle(): Promise<void> {
    await this.#tail
  }

  /** Deletes the file after everything appended so far. */
  remove(): Promise<void> {
    const removed = this.#tail.then(() => this.#discard())
    this.#tail = removed.catch(() => {})
    return removed
  }

  async #discard(): Promise<void> {
    const file = this.#file
    this.#file = null
    this.#length = 0
    this.#isProven = false
    if (file === null) return
    await file.close()
    await removeLog(this.path)
  }

  /** Closes the file for good, after everything appended so far, without deleting it. */
  close(): Promise<void> {
    this.#tail = this.#tail.then(() => this.#end())
    return this.#tail
  }

  async #end(): Promise<void> {
    this.#isClosed = true
    this.#isProven = false
    await this.#file?.close().catch(() => {})
    this.#file = null
  }

  async #flush(): Promise<void> {
    const batch = this.#waiting.splice(0)
    try {
      await this.#write(batch.map(({ bytes }) => bytes))
      for (const { resolve } of batch) resolve()
    } catch (error) {
      const failure = writeError(error)
      for (const { reject } of batch) reject(failure)
    }
  }

  async #write(lines: Buffer[]): Promise<void> {
    this.#isProven = false
    // Opening it again would truncate it.
    if (this.#isClosed) throw new Error('it is closed')
    const file = (this.#file ??= await create(this.path))
    const bytes = Buffer.concat(this.#length === 0 ? [this.#header, ...lines] : lines)
    try {
      for (let at = 0; at < bytes.length;)
        at += (await file.write(bytes, at, bytes.length - at, this.#length + at)).bytesWritten
      await file.datasync()
    } catch (error) {
      await file.truncate(this.#length).catch(() => {})
      throw error
    }
    this.#length += bytes.length
    this.#isProven = true
  }
}

/** Creates the file, and makes its name in the folder durable. */
async function create(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = await open(path, 'w', 0o600)
  const folder = await open(dirname(path), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
  return file
}

/** A line with its checksum, by which torn lines are detected. */
function encodeLine(text: string): Buffer {
  return Buffer.from(`${checksum(text)} ${text}\n`)
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}

function writeError(error: unknown): StoreError {
  return new StoreError(
    isDiskFull(error) ? 'full' : 'unavailable',
    `the outage file cannot be written: ${String(error)}`,
    { cause: error },
  )
}

/**
 * The lines of a log that a process left behind, and the number of torn ones: after a power failure
 * or a kill, the end of a batch that was never acknowledged.
 */
export async function readLog(path: string): Promise<{ lines: string[]; torn: number }> {
  const found = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '')
  const lines = found.flatMap((line) => {
    const text = line.slice(9)
    return line.startsWith(`${checksum(text)} `) ? [text] : []
  })
  return { lines, torn: found.length - lines.length }
}

/** The logs in a folder, with their owners; none if the folder does not exist. */
export async function listLogs(folder: string): Promise<{ id: string; path: string }[]> {
  try {
    const names = (await readdir(folder)).filter((name) => name.endsWith(LOG_SUFFIX)).sort()
    return names.map((name) => ({
      id: name.slice(0, -LOG_SUFFIX.length),
      path: join(folder, name),
    }))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

/** Deletes a log, if it exists. */
export async function removeLog(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
  })
}

const LOG_SUFFIX = '.log'

/** Path of the log of an instance. */
export function logPath(folder: string, instance: string): string {
  return join(folder, `${instance}${LOG_SUFFIX}`)
}
