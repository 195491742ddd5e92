import { Scalar, stringify } from 'yaml'

/** The front matter of one page. */
export interface PageMetadata {
  title: string
  /** ISO 8601, seconds, UTC. */
  exportedAt: string
  sourceUrl: string | null
  /** The slug of the page's heading. */
  anchor: string
}

/**
 * The YAML front matter of a document: `main` for the whole, and each page if there are several.
 */
export function frontMatter(main: PageMetadata, pages: readonly PageMetadata[]): string {
  const document = fieldsOf(main)
  const value =
    pages.length > 1
      ? {
          ...document,
          pages: pages.map((page) => ({ ...fieldsOf(page), anchor: yamlText(page.anchor) })),
        }
      : document
  return writeFrontMatter(value)
}

/** YAML between two lines of three hyphens, followed by a blank line. */
export function writeFrontMatter(value: unknown): string {
  const yaml = stringify(value, { lineWidth: 0 }).replace(
    UNREADABLE,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `---\n${yaml}---\n\n`
}

function fieldsOf(page: PageMetadata) {
  return { title: yamlText(page.title), exported_at: page.exportedAt, source_url: page.sourceUrl }
}

/** Characters that YAML 1.1 readers treat as line ends, or reject even in quotes. */
const UNREADABLE = /[\x7f-\x9f\u2028\u2029\ufffe\uffff]/g

/**
 * Values that YAML 1.1 readers do not read as text (numbers, dates and times, booleans, `=`, `<<`),
 * or reject without quotes.
 */
const AMBIGUOUS = new RegExp(
  `^[-+.\\d][-+.,:_\\d a-fxTZ]*$|^(?:y|yes|n|no|on|off|=|<<)$|\t|${UNREADABLE.source}`,
  'i',
)

/**
 * A scalar that every reader reads as text. The library itself quotes what only YAML 1.2 readers
 * would read otherwise.
 */
export function yamlText(value: string): Scalar<string> {
  const scalar = new Scalar(value.toWellFormed())
  if (AMBIGUOUS.test(value)) scalar.type = Scalar.QUOTE_DOUBLE
  return scalar
}
