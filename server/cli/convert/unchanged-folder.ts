// Tells by its key and its files whether a folder of pages is up to date with an export.
import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MANIFEST, readManifest } from '@tollmark/notion-markdown/archive'
import { codeOf } from '../../common/errors.ts'
import { hashNow } from './file-hash.ts'

/**
 * The number of files, if the folder was made from the export with this key and no file has
 * changed; otherwise null. Reads the files, because their timestamps mean nothing after a checkout.
 */
export function unchangedFiles(root: string, key: string): number | null {
  const list = join(root, MANIFEST)
  const manifest = isFile(list) ? readManifest(readFileSync(list, 'utf8')) : null
  if (manifest?.exportKey !== key) return null
  const isSame = manifest.files.every(({ path, sha256 }) => {
    const file = join(root, ...path.split('/'))
    return isFile(file) && hashNow(file) === sha256
  })
  return isSame ? manifest.files.length : null
}

function isFile(path: string): boolean {
  try {
    return lstatSync(path).isFile()
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false
    throw error
  }
}
