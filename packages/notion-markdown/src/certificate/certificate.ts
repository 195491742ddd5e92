// The certificate of a conversion: the contents of its pages, of the document, and their
// differences.
import { DOCUMENT, type Dialect } from './dialect.ts'
import { readMarkdownPage } from './markdown-reader.ts'
import { BLOCK_KINDS, STEP_WORDS, noCounts, type Counts, type PageReading } from './reading.ts'

/** The counts of a whole export. */
export interface Totals extends Counts {
  pages: number
}

/** Something that a page shows differently from the export. */
export interface Difference {
  /** The page's path in the archive. */
  page: string
  /** `words` (including their order), or the count that differs. */
  kind: string
  in: number
  out: number
  /** A sentence with the location. */
  detail: string
}

/** Something that is missing from the export itself. */
export interface NotInExport {
  what: 'comments' | 'views' | 'hidden_rows' | 'pages' | 'files'
  /** Their actual or possible number; null if unknown. */
  count: number | null
  detail: string
}

/** The certificate of a conversion. */
export interface Certificate {
  in: Totals
  out: Totals
  /** At most 100; then the last one says how many more there are. */
  differences: Difference[]
  /** Hexadecimal; null if it is unknown. */
  input_sha256: string | null
  /** Hash of the document; for JSON, of its `markdown` in UTF-8. */
  output_sha256: string
  not_in_export: NotInExport[]
}

const MAX_DIFFERENCES = 100

/** A page's reading by the export reader; `null` if it could not be read. */
export interface CertifiedPage {
  path: string
  reading: PageReading | null
  /** Whether rows of databases come from CSV, which the page itself does not have. */
  hasMore: boolean
  /** Databases that were read from CSV. */
  databases: number
  /** Files that it shows or links to, but that are not in the archive. */
  missingFiles: number
}

/** Number of words that identify a position. */
const SHOWN_WORDS = 8

/** Compares the pages of a document, one after another, with those of the export. */
export class Certifier {
  readonly #in: Totals = { pages: 0, ...noCounts() }
  readonly #out: Totals = { pages: 0, ...noCounts() }
  readonly #differences: Difference[] = []
  #found = 0
  #databases = 0
  #unlisted = 0
  #missingFiles = 0
  readonly #dialect: Dialect

  /** @param dialect the dialect of the Markdown */
  constructor(dialect: Dialect = DOCUMENT) {
    this.#dialect = dialect
  }

  /** Compares a page of the document. @param shown the result of `readMarkdownPage` */
  page(
    page: CertifiedPage,
    markdown: string,
    shown = readMarkdownPage(markdown, null, this.#dialect),
  ): void {
    this.#in.pages++
    this.#out.pages++
    this.#missingFiles += page.missingFiles
    add(this.#out, shown.counts)
    if (page.reading === null)
      return this.#differ(page.path, 'pages', 1, 0, 'The page could not be converted.')
    const { reading } = page
    add(this.#in, reading.counts)
    this.#databases += reading.databases
    this.#unlisted += Math.max(0, reading.databases - page.databases)
    this.#compare(page, reading, shown, markdown)
  }

  /** @param hashes those of the file and the document, hexadecimal */
  finish(hashes: { input: string | null; output: string }): Certificate {
    const more = this.#found - this.#differences.length
    if (more > 0) {
      this.#differences.pop()
      const detail = `There are ${more + 1} more differences.`
      this.#differences.push({ page: '', kind: 'more', in: more + 1, out: 0, detail })
    }
    return {
      in: this.#in,
      out: this.#out,
      differences: this.#differences,
      input_sha256: hashes.input,
      output_sha256: hashes.output,
      not_in_export: this.#notInExport(),
    }
  }

  /** The number of differences so far. */
  get found(): number {
    return this.#found
  }

  #compare(page: CertifiedPage, before: PageReading, after: PageReading, markdown: string): void {
    if (page.hasMore) {
      if (after.counts.words < before.counts.words)
        this.#differ(
          page.path,
          'words',
          before.counts.words,
          after.counts.words,
          'The document has fewer words than the page.',
        )
      return
    }
    const [words, lost] = [before.counts.words, after.counts.words]
    const isSame = before.digest === after.digest
    if (!isSame)
      this.#differ(page.path, 'words', words, lost, this.#placeOf(before, after, markdown))
    for (const [kind, expected, actual] of countsOf(before.counts, after.counts))
      if (expected !== actual)
        this.#differ(
          page.path,
          kind,
          expected,
          actual,
          `The page has ${expected}, the document ${actual}.`,
        )
    const [links, kept] = [before.counts.links.web, after.counts.links.web]
    if (kept < links)
      this.#differ(page.path, 'links', links, kept, 'Links to web sites are missing.')
  }

  #differ(page: string, kind: string, before: number, after: number, detail: string): void {
    this.#found++
    if (this.#differences.length < MAX_DIFFERENCES)
      this.#differences.push({ page, kind, in: before, out: after, detail })
  }

  /** The position where two readings of a page diverge, in words of the document. */
  #placeOf(before: PageReading, after: PageReading, markdown: string): string {
    const step = after.steps.findIndex((digest, i) => digest !== before.steps[i])
    const last = step < 0 ? after.steps.length : step
    const words: string[] = []
    readMarkdownPage(markdown, words, this.#dialect)
    // The words up to the previous step are equal; the difference is before this one.
    const from = Math.max(0, last - 1) * STEP_WORDS
    const shown = words.slice(from, from + SHOWN_WORDS).join(' ')
    return `What follows "${shown}" differs from the page, or is in another order.`
  }

  #notInExport(): NotInExport[] {
    const { notion } = this.#out.links
    const list: NotInExport[] = [
      { what: 'comments', count: null, detail: 'Notion exports no comments.' },
    ]
    if (this.#databases > 0) {
      const detail =
        'Notion exports each view of a database as a plain table, without its filter, order and layout.'
      list.push({ what: 'views', count: this.#databases, detail })
    }
    if (this.#unlisted > 0) {
      const detail =
        'Rows hidden by a view of these databases are missing, because the export has no CSV of them.'
      list.push({ what: 'hidden_rows', count: this.#unlisted, detail })
    }
    if (notion > 0)
      list.push({
        what: 'pages',
        count: notion,
        detail: 'Links lead to pages on Notion that were not exported.',
      })
    if (this.#missingFiles > 0) {
      const detail = 'Pages show or link to files that the archive does not have.'
      list.push({ what: 'files', count: this.#missingFiles, detail })
    }
    return list
  }
}

/** TABLE of counts that must be equal besides the digest. */
export function* countsOf(
  before: Counts,
  after: Counts,
): Generator<[kind: string, before: number, after: number]> {
  for (const kind of BLOCK_KINDS) yield [kind, before.blocks[kind], after.blocks[kind]]
  yield ['rows', before.rows, after.rows]
  yield ['cells', before.cells, after.cells]
  yield ['inline equations', before.equations, after.equations]
  yield ['bytes of code', before.code_bytes, after.code_bytes]
}

function add(totals: Totals, counts: Counts): void {
  totals.words += counts.words
  totals.rows += counts.rows
  totals.cells += counts.cells
  totals.equations += counts.equations
  totals.code_bytes += counts.code_bytes
  for (const kind of BLOCK_KINDS) totals.blocks[kind] += counts.blocks[kind]
  for (const fate of ['web', 'notion', 'pages', 'files'] as const)
    totals.links[fate] += counts.links[fate]
  for (const fate of ['local', 'web'] as const) totals.assets[fate] += counts.assets[fate]
}
