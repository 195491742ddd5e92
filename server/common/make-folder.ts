// Creates folders that users name.
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from './errors.ts'

/**
 * Creates a folder and its parents; an existing folder is fine. Node's `recursive` option never
 * returns where a folder cannot contain folders, as in /proc.
 *
 * @throws Error of the file system
 */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (isFolder(path)) return
    const parent = dirname(path)
    if (codeOf(error) !== 'ENOENT' || isFolder(parent)) throw error
    makeFolder(parent, mode)
    makeFolder(path, mode)
  }
}

/** False for a path through a file, too. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
