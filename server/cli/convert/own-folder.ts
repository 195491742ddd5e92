// An output folder. Writing never leaves it, because no link in it is followed.
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

/** A folder that we write to. Paths in it are relative to it, with `/` between folders. */
export class OwnFolder {
  readonly root: string
  /** Folders that were checked or created. */
  readonly #folders = new Set<string>([''])

  constructor(root: string) {
    this.root = root
  }

  /** The path on this system. */
  at(path: string): string {
    return join(this.root, ...path.split('/'))
  }

  /**
   * Whether the file exists.
   *
   * @throws WriteError if the path is a link or a folder, or a parent is a link or a file
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

  /** The SHA-256 of a file, hexadecimal; null if it does not exist. @throws WriteError as `has` */
  sha256(path: string): string | null {
    return this.has(path) ? hashNow(this.at(path)) : null
  }

  /** Whether two paths are the same file, as on systems that ignore case. */
  isSame(a: string, b: string): boolean {
    const [one, other] = [this.#stats(a), this.#stats(b)]
    return one !== undefined && one.ino === other?.ino && one.dev === other.dev
  }

  /** Writes a file atomically. @throws WriteError as `has` */
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

  /** Removes a file, and parent folders that are then empty. @throws WriteError as `has` */
  async remove(path: string): Promise<void> {
    if (!this.has(path)) return
    await rm(this.at(path))
    const segments = path.split('/')
    for (let depth = segments.length - 1; depth > 0; depth--) {
      const folder = segments.slice(0, depth).join('/')
      try {
        await rmdir(this.at(folder))
      } catch {
        return // not empty
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
      ? `${path} is a link, which is not followed. Remove it, or choose another folder.`
      : `${path} is in the way. Remove it, or choose another folder.`,
  )
}
