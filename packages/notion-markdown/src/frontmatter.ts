import { stringify } from 'yaml'

/** What the front matter says of one page. */
export interface PageMetadata {
  title: string
  /** ISO 8601, seconds, UTC. */
  exportedAt: string
  sourceUrl: string | null
  /** The slug of the page's heading. */
  anchor: string
}

/** The YAML front matter of a document: of its first page, and of each where there is more than one. */
export function frontMatter(pages: readonly PageMetadata[]): string {
  const [first] = pages
  const document = { title: first?.title ?? null, exported_at: first?.exportedAt ?? null, source_url: first?.sourceUrl ?? null }
  const list = pages.map((page) => ({ title: page.title, exported_at: page.exportedAt, source_url: page.sourceUrl, anchor: page.anchor }))
  const value = pages.length > 1 ? { ...document, pages: list } : document
  return `---\n${stringify(value, { lineWidth: 0 })}---\n\n`
}
