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

/** The YAML front matter of a document: what `main` says of the whole, and each page where there is more than one. */
export function frontMatter(main: PageMetadata, pages: readonly PageMetadata[]): string {
  const document = fieldsOf(main)
  const value = pages.length > 1 ? { ...document, pages: pages.map((page) => ({ ...fieldsOf(page), anchor: page.anchor })) } : document
  return `---\n${stringify(value, { lineWidth: 0 })}---\n\n`
}

function fieldsOf(page: PageMetadata) {
  return { title: page.title, exported_at: page.exportedAt, source_url: page.sourceUrl }
}
