// Reads pages of Markdown whose links are not filled in yet, while other pages are still converted.
// When they are joined, it is enough to check that only their links have changed.
import { countsOf } from './certificate.ts'
import type { Dialect } from './dialect.ts'
import { readMarkdown } from './markdown-reader.ts'
import { countAsset, countLink, type Counts, type PageReading } from './reading.ts'

/** A mark around an unresolved address or, with an `@`, around a note. */
const MARKED = /\0([^\0]*)\0/g
const NOTE = '@'
/** Begins placeholders for addresses; texts have no such character (Unicode, noncharacters). */
const STAND_IN = '\uffff'
/** An address that no reader would end early or read as anything else. */
const ADDRESS = /[^\s()"<>[\]|\\`$&!\0]+/y

/** The difference of the reading of a page's Markdown from that of the export, if they match. */
export interface ConvertedMatch {
  words: number
  /** Addresses that were already known. */
  links: Counts['links']
  assets: Counts['assets']
  /** Which of the marked addresses, from 0 on, are links and images. */
  marked: { links: number[]; images: number[] }
}

/**
 * Reads a page's Markdown.
 *
 * @returns null if it does not match, or shows a mark: then it has to be read when it is complete
 */
export function matchConverted(
  exported: PageReading,
  markdown: string,
  dialect: Dialect,
): ConvertedMatch | null {
  let marks = 0
  const text = markdown.includes('\0')
    ? markdown.replace(MARKED, (_, marked: string) =>
        marked.startsWith(NOTE) ? '' : STAND_IN + marks++,
      )
    : markdown
  const reading = readMarkdown(text, null, dialect)
  const marked = reading.takeStandIns(STAND_IN)
  const { digest, counts } = reading.finish()
  if (digest !== exported.digest || marked.links.length + marked.images.length !== marks)
    return null
  if (counts.links.web < exported.counts.links.web) return null
  for (const [, expected, actual] of countsOf(exported.counts, counts))
    if (expected !== actual) return null
  return { words: counts.words, links: counts.links, assets: counts.assets, marked }
}

/** A page whose Markdown matched when it was converted, and its Markdown when it is complete. */
export interface MatchedPage {
  converted: string
  markdown: string
  dialect: Dialect
}

/**
 * The reading of a page that matched when it was converted.
 *
 * @returns null if more than its addresses has changed
 */
export function readingOfMatch(
  exported: PageReading,
  match: ConvertedMatch,
  { converted, markdown, dialect }: MatchedPage,
): PageReading | null {
  const addresses = addressesIn(converted, markdown)
  if (!addresses) return null
  const { words, links, assets, marked } = match
  const counts = { ...exported.counts, words, links: { ...links }, assets: { ...assets } }
  const at = (places: number[]): Set<string> => new Set(places.map((i) => addresses[i] ?? ''))
  for (const url of at(marked.links)) countLink(counts, url, dialect.page)
  for (const url of at(marked.images)) countAsset(counts, url)
  return { ...exported, counts }
}

/** The addresses that have replaced marks; null if anything else has changed. */
function addressesIn(converted: string, markdown: string): string[] | null {
  if (converted === markdown) return []
  const addresses: string[] = []
  let at = 0
  for (const [i, part] of converted.split('\0').entries()) {
    if (i % 2 === 0) {
      const end = at + part.length
      // Slices are compared as memory, `startsWith` a character at a time.
      if (markdown.slice(at, end) !== part) return null
      at = end
    } else if (!part.startsWith(NOTE)) {
      ADDRESS.lastIndex = at
      const address = ADDRESS.exec(markdown)?.[0]
      if (address === undefined) return null
      addresses.push(address)
      at += address.length
    }
  }
  return at === markdown.length ? addresses : null
}
