// Databases as CSV (RFC 4180, with a byte order mark): those for which an export has no table.

import { cleanText } from './clean-text.ts'

/** A database of the archive. */
export interface Database {
  /** The folder of its CSV, to which its files are relative. Empty at the archive's root. */
  readonly folder: string
  /** The first row has the names of the columns, the first column the titles. */
  readonly rows: readonly (readonly string[])[]
  /**
   * The key of the page of the next row with this title, as far as files' names tell; each page is
   * returned once.
   */
  pageOf(title: string): string | undefined
  /** The keys of pages with the title of a row that were not returned. */
  namesakes(): readonly string[]
}

/** Reads CSV. Nothing is an error: an unclosed quote extends to the end. */
export function parseCsv(source: string): string[][] {
  const text = cleanText(source)
  const rows: string[][] = []
  let row: string[] = []
  const end = /[,\n]|$/g
  for (let at = 0; at < text.length;) {
    const { value, next } = text[at] === '"' ? quotedField(text, at) : { value: '', next: at }
    end.lastIndex = next
    const stop = end.exec(text)?.index ?? text.length
    row.push(value + text.slice(next, stop))
    at = stop + 1
    if (text[stop] === ',') {
      if (at < text.length) continue
      row.push('')
    }
    rows.push(row)
    row = []
  }
  return rows.filter((cells) => cells.length > 1 || cells[0] !== '')
}

/** The field that begins with a quote at `from`; two quotes inside mean one. */
function quotedField(text: string, from: number): { value: string; next: number } {
  const parts: string[] = []
  for (let at = from + 1; ;) {
    const quote = text.indexOf('"', at)
    if (quote < 0) return { value: parts.join('') + text.slice(at), next: text.length }
    parts.push(text.slice(at, quote))
    if (text[quote + 1] !== '"') return { value: parts.join(''), next: quote + 1 }
    parts.push('"')
    at = quote + 2
  }
}

/**
 * The key that spellings of one title share: file names lose most characters that are not letters.
 */
export function titleKey(title: string): string {
  const letters = title
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
  return letters === '' ? title.trim() : letters
}
