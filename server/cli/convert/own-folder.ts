// A folder into which files are written without ever leaving it: no link in it is followed.
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  writeSync,
  type Stats,
} from 'node:fs'
import { rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf } from '../../common/errors.ts'
import { hashNow } from './file-hash.ts'
import { WriteError } from './write-error.ts'

/** Paths in it are relative, with `/` between folders. */
export class OwnFolder {
  readonly root: string
  /** Folders that were looked at, or made. */
  readonly #folders = new Set<string>([''])

  constructor(root: string) {
    this.root = root
  }

  /** The file's place on this system. */
  at(path: string): string {
    return join(this.root, ...path.split('/'))
  }

  /**
   * Whether there is a file.
   *
   * @throws WriteError where a link or a folder is in its place, or a link or a file in that of a
   *   folder above it
   */
  has(path: string): boolean {
    const segments = path.split('/')
    for (let depth = 1; depth < segments.length; depth++) {
      const folder = segments.slice(0, depth).join('/')
      if (this.#folders.has(folder)) continue
      const stats = this.#stats(folder)
      if (!stats) return false
      if (!stats.isDirectory()) throw inTheWay(this.at(folder), stats.isSymbolicLink())
      this.#folders.add(folder)
    }
    const stats = this.#stats(path)
    if (stats && !stats.isFile()) throw inTheWay(this.at(path), stats.isSymbolicLink())
    return stats !== undefined
  }

  /** The SHA-256 of a file, hexadecimal; null where there is none. @throws WriteError as `has` */
  sha256(path: string): string | null {
    return this.has(path) ? hashNow(this.at(path)) : null
  }

  /** Whether two paths are one file, as on systems that ignore case. */
  isSame(a: string, b: string): boolean {
    const [one, other] = [this.#stats(a), this.#stats(b)]
    return one !== undefined && one.ino === other?.ino && one.dev === other.dev
  }

  /** Writes a file at once, so that nobody sees half of it. @throws WriteError as `has` */
  async write(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    this.has(path)
    const target = this.at(path)
    const part = join(dirname(target), `.tollmark-${randomUUID()}`)
    this.#makeFolder(path)
    try {
      const file = openSync(part, 'wx')
      try {
        for await (const piece of content)
          for (let done = 0; done < piece.length;) done += writeSync(file, piece, done)
      } finally {
        closeSync(file)
      }
      renameSync(part, target)
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  }

  #makeFolder(path: string): void {
    const folder = path.split('/').slice(0, -1).join('/')
    if (this.#folders.has(folder)) return
    mkdirSync(dirname(this.at(path)), { recursive: true })
    this.#folders.add(folder)
  }

  /** Removes a file, and the folders above it that are empty then. @throws WriteError as `has` */
  async remove(path: string): Promise<void> {
    if (!this.has(path)) return
    await rm(this.at(path))
    const segments = path.split('/')
    for (let depth = segments.length - 1; depth > 0; depth--) {
      const folder = segments.slice(0, depth).join('/')
      try {
        await rmdir(this.at(folder))
      } catch {
        return // it is not empty
      }
      this.#folders.delete(folder)
    }
  }

  #stats(path: string): Stats | undefined {
    try {
      return lstatSync(this.at(path), { throwIfNoEntry: false })
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }
}

function inTheWay(path: string, isLink: boolean): WriteError {
  return new WriteError(
    isLink
      ? `${path} is a link, through which nothing is written. Remove it, or choose another folder.`
      : `${path} is in the way. Remove it, or choose another folder.`,
  )
}
