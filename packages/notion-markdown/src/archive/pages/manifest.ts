// The list of the files in a folder of pages, stored in the folder: it identifies the files when
// the folder is written again.
import { checkName } from '../names.ts'
import { FLAVOR_NAMES, type Flavor } from './flavors.ts'

/** The list's own path. */
export const MANIFEST = '.tollmark.json'

/** One file. */
export interface ManifestFile {
  readonly path: string
  /** The id of its page; null for a page without one, undefined if it is not a page. */
  readonly page?: string | null
  /** Of its content, in hexadecimal. */
  readonly sha256: string
}

/** The list. */
export interface Manifest {
  readonly flavor: Flavor
  /** The key of the export that the folder was made from, if it is known (export-key.ts). */
  readonly exportKey?: string
  readonly files: readonly ManifestFile[]
}

/**
 * Writes the list, sorted by path, one file per line, so that a diff of it shows the changed files.
 */
export function writeManifest({ flavor, exportKey, files }: Manifest): string {
  const lines = files
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, page, sha256 }) => JSON.stringify({ path, page, sha256 }))
  const head = { object: 'pages', flavor, export_key: exportKey }
  return `${JSON.stringify(head).slice(0, -1)},"files":[\n${lines.join(',\n')}\n]}\n`
}

/** Parses a list; null if the text is not one. Paths that lead out of the folder are left out. */
export function readManifest(text: string): Manifest | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (!isObject(value) || !Array.isArray(value['files'])) return null
  const flavor = FLAVOR_NAMES.find((name) => name === value['flavor'])
  const files: unknown[] = value['files']
  if (flavor === undefined) return null
  const key = value['export_key']
  return {
    flavor,
    ...(typeof key === 'string' && { exportKey: key }),
    files: files.flatMap(readFile),
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

function readFile(file: unknown): ManifestFile[] {
  if (!isObject(file)) return []
  const { path, sha256, page } = file
  if (typeof path !== 'string' || typeof sha256 !== 'string' || !staysInside(path)) return []
  if (page !== undefined && page !== null && typeof page !== 'string') return []
  return [{ path, sha256, ...(page !== undefined && { page }) }]
}

function staysInside(path: string): boolean {
  try {
    checkName(path)
    // On Windows, it would be a separator.
    return !path.includes('\\')
  } catch {
    return false
  }
}
