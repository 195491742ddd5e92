// The date in a page's head. Notion's exporter writes none, but other tools may.
import { attribute, find, type Element } from './html.ts'

/** TABLE of the names of a document's date in `meta` elements, in order of preference. */
const NAMES = [
  'date',
  'dcterms.date',
  'dc.date',
  'last-modified',
  'article:modified_time',
  'article:published_time',
]

/** A day, or a time with or without a zone (ISO 8601); or a time in HTTP's format (RFC 9110). */
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/
const HTTP = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

/**
 * The document's date, if its head has one. A time without a zone is read as UTC, so that the
 * result is the same on every machine.
 */
export function documentDate(document: Element): Date | null {
  const head = find(document, 2, (element) => element.name === 'head') ?? document
  const given = new Map<string, Date>()
  for (const meta of head.children) {
    if (typeof meta === 'string' || meta.name !== 'meta') continue
    const name =
      attribute(meta, 'name') ?? attribute(meta, 'property') ?? attribute(meta, 'http-equiv')
    const date = readDate(attribute(meta, 'content')?.trim() ?? '')
    if (name !== undefined && date) given.set(name.trim().toLowerCase(), date)
  }
  return NAMES.map((name) => given.get(name)).find((date) => date !== undefined) ?? null
}

function readDate(text: string): Date | null {
  const iso = ISO.exec(text)
  if (!iso && !HTTP.test(text)) return null
  const date = new Date(iso && text.includes('T') && iso[1] === undefined ? `${text}Z` : text)
  return Number.isNaN(date.getTime()) ? null : date
}
