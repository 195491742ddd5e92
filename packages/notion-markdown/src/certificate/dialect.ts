// The differences between the Markdown of one document and that of a folder of pages, for its
// readers.
import { EXPORTED_PAGE } from './reading.ts'

/** The dialect of the Markdown that a certificate is about. */
export interface Dialect {
  /** How callouts are written: as quotes; as `> [!note]`; or between `:::note` and `:::`. */
  readonly callouts: 'quote' | 'alert' | 'admonition'
  /** Whether links to pages are `[[place|text]]`. */
  readonly links: 'markdown' | 'wiki'
  /** Whether files keep their names: in a folder of pages, they get new ones by content. */
  readonly keepsNames: boolean
  /** Whether a heading that ends in `{#id}` has another one after it, which is its id. */
  readonly headingIds: boolean
  /** Matches the addresses of pages. */
  readonly page: RegExp
}

/** The dialect of one document. */
export const DOCUMENT: Dialect = {
  callouts: 'quote',
  links: 'markdown',
  keepsNames: true,
  headingIds: false,
  page: EXPORTED_PAGE,
}

/** A page of a folder of pages: not a file in its folder of files. */
export const MARKDOWN_PAGE = /^(?!(?:.*\/)?_?assets\/).*\.md(?:#|$)/
