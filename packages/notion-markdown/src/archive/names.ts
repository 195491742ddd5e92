import { InvalidArchive, type ArchiveFault } from './invalid-archive.ts'

/**
 * The upper half of code page 437, which the format prescribes for names without the UTF-8 flag.
 */
const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»' +
  '░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀' +
  'αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * A name as text. Notion writes UTF-8 without the flag, so valid UTF-8 is read as such; the rest is
 * code page 437.
 *
 * @throws InvalidArchive if the name is declared as UTF-8, but is not
 */
export function decodeName(bytes: Uint8Array, saysUtf8: boolean): string {
  try {
    return utf8.decode(bytes)
  } catch {
    const name = Array.from(bytes, (byte) =>
      byte < 0x80 ? String.fromCharCode(byte) : CP437[byte - 0x80],
    ).join('')
    if (saysUtf8) throw new InvalidArchive('name_encoding', { name })
    return name
  }
}

/**
 * The path that a name means: `/` between folders, and no `./` at the beginning. Some tools write
 * backslashes, although the format allows only `/` (APPNOTE 4.4.17.1). All checks are of this path,
 * so that two names for one path are duplicates.
 */
export function pathOfName(name: string): string {
  const path = name.includes('\\') ? name.replaceAll('\\', '/') : name
  return path.startsWith('./') ? path.replace(/^(?:\.\/)+(?=.)/, '') : path
}

/** TABLE of paths that no honest exporter writes, checked in this order. */
const REFUSED: [fault: ArchiveFault, pattern: RegExp][] = [
  ['name_empty', /^$/],
  ['name_nul', /\0/],
  ['name_absolute', /^\//],
  ['name_drive', /^[a-z]:/i],
  ['name_traversal', /(?:^|\/)\.\.(?:\/|$)/],
  ['name_segment', /\/\/|\/\.(?:\/|$)|^\.(?:\/.|$)/],
]

/**
 * Accepts a path only if it stays inside the folder it is unpacked into, on every system.
 *
 * @throws InvalidArchive
 */
export function checkName(name: string): void {
  for (const [fault, pattern] of REFUSED)
    if (pattern.test(name)) throw new InvalidArchive(fault, { name })
}

/**
 * The lookup key of a path. Exporters and repacking tools (above all macOS) and the links in pages
 * differ in composed and decomposed accents, so both sides use this.
 */
export function pathKey(path: string): string {
  return path.normalize('NFC')
}

/**
 * Rejects paths that two readers could read as different sets of files: the same path twice, or a
 * file where another path needs a folder. Paths that differ only in case are different, because
 * Notion writes such paths.
 *
 * @throws InvalidArchive
 */
export function checkDistinct(paths: readonly string[]): void {
  // With the separator sorted before everything else, a folder's content directly follows the name
  // of the folder.
  const rows = paths.map((path) => ({ path, key: pathKey(path).replaceAll('/', '\0') }))
  rows.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
  let before: Row | undefined
  for (const row of rows) {
    if (before) assertApart(before, row)
    before = row
  }
}

interface Row {
  readonly path: string
  readonly key: string
}

/** @throws InvalidArchive if two paths, neighbours in order, exclude each other */
function assertApart(before: Row, row: Row): void {
  const isFolder = before.key.endsWith('\0')
  if (row.key === before.key)
    throw new InvalidArchive(row.path === before.path ? 'duplicate' : 'duplicate_unicode', {
      name: row.path,
    })
  if (!isFolder && row.key.startsWith(`${before.key}\0`))
    throw new InvalidArchive('file_and_folder', { name: before.path })
}
