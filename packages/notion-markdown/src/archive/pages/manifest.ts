// The list of the files in a folder of pages, which lies in it: whose files are whose, when the folder
// is written again.
import type { Flavor } from './flavors.ts'

/** The list's own path. */
export const MANIFEST = '.tollmark.json'

/** One file. */
export interface ManifestFile {
  readonly path: string
  /** The id of the page in it; null for a page without one, undefined for what is no page. */
  readonly page?: string | null
  /** Of its content, hexadecimal. */
  readonly sha256: string
}

/** Writes the list, by path, a file a line: so a version's changes are those of its files. */
export function writeManifest(flavor: Flavor, files: readonly ManifestFile[]): string {
  const lines = files
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, page, sha256 }) => JSON.stringify({ path, page, sha256 }))
  return `{"object":"pages","flavor":"${flavor}","files":[\n${lines.join(',\n')}\n]}\n`
}

/** Reads a list; null where the text is none. */
export function readManifest(text: string): ManifestFile[] | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null || !('files' in value)) return null
  if (!Array.isArray(value.files)) return null
  const files: unknown[] = value.files
  return files.flatMap((file): ManifestFile[] => {
    if (typeof file !== 'object' || file === null || !('path' in file) || !('sha256' in file))
      return []
    const { path, sha256 } = file
    const page = 'page' in file ? file.page : undefined
    if (typeof path !== 'string' || typeof sha256 !== 'string') return []
    if (page !== undefined && page !== null && typeof page !== 'string') return []
    return [{ path, sha256, ...(page !== undefined && { page }) }]
  })
}
