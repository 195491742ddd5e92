// The sitemap of a workspace's export (index.html): not a page of the workspace, but its table of
// contents.
import { attribute, find, textContent, type Element, type Node } from './html.ts'
import type { Links } from './links.ts'
import { cleanText } from './clean-text.ts'
import { parseHtml } from './parse.ts'
import type { Block, List, Root } from './tree.ts'

/** One line of a sitemap. */
export interface SitemapEntry {
  /** The page's key; null if the archive does not have it. */
  page: string | null
  /** The line's target if it is not such a page. */
  url: string | null
  /** Its text, without the id and extension of a file's name. */
  label: string
  below: SitemapEntry[]
}

/** The contents of a sitemap. */
export interface Sitemap {
  /** The workspace's id as 32 hex digits. */
  workspace: { id: string | null; name: string | null }
  entries: SitemapEntry[]
}

const FILE_NAME = /\s*(?:\b[0-9a-f]{32})?(?:\.html?)?$/i

const UUID = /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i

const readId = (text: string): string | null =>
  UUID.test(text) ? text.replaceAll('-', '').toLowerCase() : null

const isLink = (node: Node): node is Element => typeof node !== 'string' && node.name === 'a'

/** Reads a sitemap. */
export function readSitemap(html: string, links: Links): Sitemap {
  const document = parseHtml(cleanText(html))
  const workspace: Sitemap['workspace'] = { id: null, name: null }
  // Around the workspace's details, the outermost list has the workspace's id, and no link.
  const outermost = find(document, 8, isList)
  if (outermost && !outermost.children.some(isLink))
    workspace.id = readId((attribute(outermost, 'id') ?? '').slice('id::'.length))
  const entries: SitemapEntry[] = []
  readEntries(document.children, links, entries, (detail) => {
    // "Workspace name: N" beside "Workspace identifier: U", in the exporting user's language.
    const [, label = '', text = ''] = /^([^:：]*)[:：]\s*(.*)$/su.exec(detail) ?? []
    const value = text.trim()
    const id = readId(value)
    if (id !== null) workspace.id ??= id
    else if (value !== '' && !/identifier/i.test(label)) workspace.name ??= value
  })
  return { workspace, entries }
}

function isList(node: Element): boolean {
  return node.name === 'ul' && (attribute(node, 'id') ?? '').startsWith('id::')
}

/**
 * Adds the entries among nodes to `entries`, and passes the paragraphs beside them to `onDetail`.
 */
function readEntries(
  nodes: readonly Node[],
  links: Links,
  entries: SitemapEntry[],
  onDetail: (text: string) => void,
): void {
  for (const node of nodes) {
    if (typeof node === 'string') continue
    if (node.name === 'p') onDetail(textContent(node))
    const link = isList(node) ? node.children.find(isLink) : undefined
    if (!link) {
      readEntries(node.children, links, entries, onDetail)
      continue
    }
    const { page, url } = links.target(attribute(link, 'href'))
    const label = textContent(link).replace(/\s+/g, ' ').replace(FILE_NAME, '').trim() || 'Untitled'
    const entry: SitemapEntry = { page, url, label, below: [] }
    entries.push(entry)
    readEntries(node.children, links, entry.below, onDetail)
  }
}

/** The document's name for its first page. */
export function titleOfSitemap({ workspace }: Sitemap): string {
  return workspace.name ?? 'Contents'
}

/**
 * A sitemap as a page: the workspace's name over a nested list of links.
 *
 * @param nameOf the name of a page, preceded by its icon (or the line's text, if that already names
 *   it); undefined if there is no such page
 * @param place the address of a page within the document
 */
export function writeSitemap(
  sitemap: Sitemap,
  nameOf: (key: string, label: string) => string | undefined,
  place: (key: string) => string,
): Root {
  const listOf = (entries: readonly SitemapEntry[]): List => ({
    type: 'list',
    ordered: false,
    start: null,
    children: entries.map(({ page, url, label, below }) => {
      const name = page === null ? undefined : nameOf(page, label)
      const target = page !== null && name !== undefined ? place(page) : url
      const text = { type: 'text' as const, value: name ?? label }
      const children: Block[] = [
        {
          type: 'paragraph',
          children: [target === null ? text : { type: 'link', url: target, children: [text] }],
        },
      ]
      if (below.length > 0) children.push(listOf(below))
      return { type: 'listItem', checked: null, children }
    }),
  })
  const heading: Block = {
    type: 'heading',
    depth: 1,
    id: null,
    children: [{ type: 'text', value: titleOfSitemap(sitemap) }],
  }
  return {
    type: 'root',
    children: sitemap.entries.length > 0 ? [heading, listOf(sitemap.entries)] : [heading],
  }
}
