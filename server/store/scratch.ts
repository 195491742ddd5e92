// Files that live no longer than a request: a folder for each instance, on the same file system as
// the blobs. What a killed process left there is cleared away at the next start.
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SetupError, codeOf } from '../common/errors.ts'
import { randomText } from '../common/secrets.ts'
import { isDiskFull } from './transient-errors.ts'

/** The scratch folder of this instance. Dispose it at shutdown. */
export interface Scratch extends Disposable {
  /** A path that nothing lies at, removed (file or folder) with the disposable. */
  place(): AsyncDisposable & { readonly path: string }
}

/**
 * A converter outlives its server by a moment, and writes: a folder that is not empty after all is
 * tried again, for 5.5 s in all.
 */
const WHOLE = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 } as const

/** The scratch folders of this process. */
const own = new Set<string>()

/** Removes the scratch folders of this process, for an end that closes nothing. Never throws. */
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
 * Makes the scratch folder of this instance.
 *
 * @param folder the folder of all scratch folders
 * @param living ids of all living instances, this one's included; every other one's folder is
 *   deleted
 * @throws SetupError where the folder cannot be written
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
      rmSync(path, WHOLE)
      own.delete(path)
    },
  }
}
