// Files that live no longer than a request: a folder for each instance, on the same file system as
// the blobs. Files left by a killed process are removed at the next start.
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SetupError, codeOf } from '../common/errors.ts'
import { randomText } from '../common/ids.ts'
import { isDiskFull } from './transient-errors.ts'

/** The scratch folder of this instance. Dispose of it at shutdown. */
export interface Scratch extends Disposable {
  /** An unused path; the file or folder there is removed when it is disposed of. */
  place(): AsyncDisposable & { readonly path: string }
}

/**
 * A converter may outlive its server briefly and still write, so removing a folder is retried for
 * 5.5 s in total.
 */
const WHOLE = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 } as const

/** The scratch folders of this process. */
const own = new Set<string>()

/**
 * Removes the scratch folders of this process when it exits without closing anything. Never throws.
 */
export function removeScratchFolders(): void {
  for (const path of own) {
    try {
      rmSync(path, { recursive: true, force: true })
    } catch {
      // The next start removes it.
    }
  }
}

/**
 * Creates the scratch folder of this instance.
 *
 * @param folder the folder of all scratch folders
 * @param living ids of all living instances, including this one; all other folders are deleted
 * @throws SetupError if the folder cannot be written
 */
export async function openScratch(
  folder: string,
  id: string,
  living: () => Promise<readonly string[]>,
): Promise<Scratch> {
  const path = join(folder, id)
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (error) {
    if (isDiskFull(error)) throw error
    throw new SetupError(
      `The folder ${folder} cannot be written (${codeOf(error) ?? 'unknown reason'}). Make it writable for the user that runs the server.`,
      { cause: error },
    )
  }
  own.add(path)
  // In this order: an instance's row is inserted before its folder is created, so a folder's
  // instance has a row if it is alive.
  const names = readdirSync(folder)
  const known = await living()
  for (const name of names) if (!known.includes(name)) await rm(join(folder, name), WHOLE)
  return {
    place: () => {
      const place = join(path, randomText(16))
      return { path: place, [Symbol.asyncDispose]: () => rm(place, WHOLE) }
    },
    [Symbol.dispose]: () => {
      own.delete(path)
      try {
        rmSync(path, WHOLE)
      } catch {
        // On a disk that has failed. The next process deletes it.
      }
    },
  }
}
