// Names of files and folders that are readable and that every file system accepts.
import type { FlavorRules } from './flavors.ts'

/** Bytes (UTF-8) of a name without its extension. File systems allow 255; paths add up. */
const MAX_NAME_BYTES = 72

/**
 * TABLE of Windows device names, reserved with any extension
 * (https://learn.microsoft.com/windows/win32/fileio/naming-a-file).
 */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³])(?=\.|$)/i

/** Extensions of the files next to a folder, which must not have the same name as one of them. */
const OWN_EXTENSION = /\.(?=(?:md|mdx|csv|json)$)/i

/**
 * Characters not allowed in names: those that Windows refuses; those with a meaning in an address
 * or an Obsidian link; invisible ones (controls, direction marks, unassigned and private
 * characters, unpaired surrogates).
 */
const REFUSED = /[\\/:*?"<>|#^[\]%\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u{FE0F}]+/gu

/** TABLE of the styles of names: which further characters each replaces or drops. */
const STYLES: Readonly<Record<FlavorRules['names'], (name: string) => string>> = {
  spaces: (name) => name,
  dashes: (name) => name.replace(/[ `]+/g, '-').replace(/-{2,}/g, '-'),
  letters: (name) =>
    name
      .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
      .replace(/-{2,}/g, '-')
      .replace(/-+(?=\.)|(?<=\.)-+/g, ''),
}

/** A title as the name of a file, without an extension; `Untitled` if nothing is left of it. */
export function nameOf(title: string, style: FlavorRules['names']): string {
  const clean = (text: string): string =>
    STYLES[style](text.toWellFormed().replace(REFUSED, ' ').trim())
      .replace(/^[\s._~-]+|[\s.-]+$/g, '')
      .normalize('NFC')
  const name = clean(cutBytes(clean(title), MAX_NAME_BYTES)).replace(OWN_EXTENSION, '-')
  return (DEVICE.test(name) ? name.replace(DEVICE, '$&_') : name) || 'Untitled'
}

/** The beginning of a text with at most `most` bytes (UTF-8), cut between graphemes. */
export function cutBytes(text: string, most: number): string {
  // No character has more than three bytes for each of its units.
  if (text.length * 3 <= most || Buffer.byteLength(text) <= most) return text
  let bytes = 0
  let kept = ''
  for (const { segment } of new Intl.Segmenter('en').segment(text.slice(0, most))) {
    bytes += Buffer.byteLength(segment)
    if (bytes > most) break
    kept += segment
  }
  return kept
}

/**
 * A key that is the same for names that some file system treats as equal: macOS and Windows ignore
 * case, macOS also the form of accents.
 */
export function foldName(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC')
}

/** A file or folder to name. */
export interface Named {
  /** Its preferred name. */
  readonly name: string
  /**
   * The suffix that distinguishes it from others of the same name: a page's id, or a digest;
   * letters and digits.
   */
  readonly key: string
}

/** Digits of a key that are tried to distinguish names, before the whole key. */
const SHORT_KEY = 8

/** The names in one folder, no two of which are equal on any file system. */
export class FolderNames {
  readonly #taken: Set<string>

  /** @param reserved names that must not be used */
  constructor(reserved: Iterable<string> = []) {
    this.#taken = new Set([...reserved].map(foldName))
  }

  /**
   * Assigns names independently of the order: items that share a name get the beginning of their
   * key as a suffix.
   *
   * @returns a name for each, in order
   */
  add(wanted: readonly Named[]): string[] {
    let named = wanted.map((item) => ({ item, name: item.name }))
    for (const digits of [SHORT_KEY, 32]) {
      const counts = countFolded(named.map(({ name }) => name))
      named = named.map(({ item, name }) => {
        const folded = foldName(name)
        const isFree = counts.get(folded) === 1 && !this.#taken.has(folded)
        return { item, name: isFree ? name : withSuffix(item, item.key.slice(0, digits)) }
      })
    }
    return named.map(({ item, name }) => {
      let free = name
      for (let n = 2; this.#taken.has(foldName(free)); n++)
        free = withSuffix(item, `${item.key}-${n}`)
      this.#taken.add(foldName(free))
      return free
    })
  }
}

function countFolded(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) {
    const folded = foldName(name)
    counts.set(folded, (counts.get(folded) ?? 0) + 1)
  }
  return counts
}

function withSuffix({ name }: Named, suffix: string): string {
  const before = cutBytes(name, MAX_NAME_BYTES - suffix.length - 1).replace(/[\s._-]+$/, '')
  return `${before}-${suffix}`
}
