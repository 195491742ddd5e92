// Whether a folder of pages is as an export would make it again: by the export's key, and by its files.
import { createHash } from 'node:crypto'
import { closeSync, lstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { MANIFEST, readManifest } from '@tollmark/notion-markdown/archive'
import { codeOf } from '../../common/errors.ts'

/**
 * How many files a folder has that was made of the export with this key, and has the content it was
 * made with; null where anything differs. Files are read, because their times tell nothing after a
 * checkout.
 */
export function unchangedFiles(root: string, key: string): number | null {
  const list = join(root, MANIFEST)
  const manifest = isFile(list) ? readManifest(readFileSync(list, 'utf8')) : null
  if (manifest?.exportKey !== key) return null
  const hash = hasher()
  const isSame = manifest.files.every(({ path, sha256 }) => {
    const file = join(root, ...path.split('/'))
    return isFile(file) && hash(file) === sha256
  })
  return isSame ? manifest.files.length : null
}

/** Hashes files one after another. At once, for nothing else is done meanwhile. */
function hasher(): (path: string) => string {
  const piece = Buffer.allocUnsafe(256 * 1024)
  return (path) => {
    const hash = createHash('sha256')
    const file = openSync(path, 'r')
    try {
      for (let read = -1; read !== 0;) {
        read = readSync(file, piece)
        hash.update(piece.subarray(0, read))
      }
    } finally {
      closeSync(file)
    }
    return hash.digest('hex')
  }
}

function isFile(path: string): boolean {
  try {
    return lstatSync(path).isFile()
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false
    throw error
  }
}
