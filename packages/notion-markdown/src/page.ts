// Reads one exported page: its title, icon, id, description and properties, and the tree of its
// contents.
import { BLOCKS } from './blocks.ts'
import { addTable } from './blocks/csv-table.ts'
import { readProperties, rowOf } from './blocks/table.ts'
import { Flow } from './flow.ts'
import {
  attribute,
  find,
  hasClass,
  iconText,
  takeUntil,
  textContent,
  type Element,
  type Node,
} from './html.ts'
import { Links, type Archive, type Asset, type Warning } from './links.ts'
import { documentDate } from './document-date.ts'
import type { Certainty } from './order.ts'
import { cleanText } from './clean-text.ts'
import { parseHtml } from './parse.ts'
import { addPositions, Positions } from './positions.ts'
import type { DatabaseTable } from './databases.ts'
import type { Property } from './property-values.ts'
import type { BlockIds } from './source-marks.ts'
import { plainText, type Block, type Inline, type Root } from './tree.ts'

/** The data of a page other than its text. */
export interface PageFacts {
  /** 32 hex digits; null if neither the page nor its file's name has them. */
  id: string | null
  title: string
  /** The emoji before the title. */
  icon: string | null
  properties: Record<string, string>
  /** The same as typed values, under the same names. */
  values: Record<string, Property>
  assets: Asset[]
  warnings: Warning[]
  /**
   * The pages of the same archive that it links to, by their keys, in the order of the first links.
   */
  links: string[]
  /**
   * Those that it shows as its sub-pages, in order, and how certain each is (order.ts).
   */
  subPages: [page: string, certainty: Certainty][]
  /** The ids of the databases that it shows from their CSV. */
  databases: string[]
}

/** The result of reading a page. */
export interface Page extends PageFacts {
  /** From its `<meta>` elements: pages of other programs have a date. */
  date: Date | null
  tree: Root
}

const ID_IN_NAME = /(?:^|[\s_-])([0-9a-f]{32})(?:\.html?)?$/i

/** What to collect while a page is read. */
export interface PageNotes {
  /** The ids of its blocks, by the nodes of its tree. */
  readonly ids?: BlockIds
  /** Its databases, in order. */
  readonly tables?: DatabaseTable[]
  /** Whether the nodes of its tree get positions. */
  readonly hasPositions?: boolean
}

/** How many levels down an element is looked for: a page with more wrappers is no export. */
const DEPTHS = { article: 8, header: 2, headerWithoutArticle: 6, heading: 6, title: 4, icon: 3 }

/**
 * Reads one page. Never throws because of the text: anything that is not a Notion page is read as
 * HTML.
 *
 * @param path the page's path in its archive, decoded; or its file's name; or empty
 */
export function readPage(
  html: string,
  path: string,
  archive?: Archive,
  { ids, tables, hasPositions }: PageNotes = {},
): Page {
  const parsed = cleanText(html)
  const positions = hasPositions ? new Positions(parsed.length) : null
  const document = parseHtml(parsed, positions)
  const date = documentDate(document)
  const article = find(document, DEPTHS.article, (element) => element.name === 'article')
  const fileName = fileNameOf(path)
  const links = new Links(path, archive)
  const flow = new Flow(BLOCKS, links, {
    depth: 1,
    lift: liftOf(html),
    isInline: false,
    database: idOf(article, fileName),
    title: '',
    ids: ids ?? null,
    tables: tables ?? null,
    positions,
  })

  // A page that has lost its article is recognised by the title in its header; other pages use
  // headers for other things.
  const header = find(
    article ?? document,
    article ? DEPTHS.header : DEPTHS.headerWithoutArticle,
    (element) =>
      element.name === 'header' &&
      (article !== undefined || find(element, DEPTHS.title, isTitle) !== undefined),
  )
  const heading = find(header ?? article ?? document, DEPTHS.heading, isTitle)
  const frame = header && find(header, DEPTHS.icon, isIconFrame)
  const icon = frame ? takeIcon(frame, heading) : null
  const inlineTitle = titleOf(heading, document, fileName, flow)
  addTitle(inlineTitle, { icon, frame, heading }, flow)

  flow.section.title = plainText(inlineTitle)
  const properties: Properties = { shown: new Map(), typed: new Map() }
  // The heading and the header are emptied, because the whole document is read below: there may be
  // words around the article.
  if (heading) heading.children = []
  if (header) readHeader(header, flow, properties)
  flow.read(document.children)
  if (html !== '' && !isNotion(html))
    links.warnings.push({
      code: 'not_notion',
      detail:
        'The page does not look like one that Notion exported. It was converted as ordinary HTML.',
    })

  const tree: Root = { type: 'root', children: flow.blocks }
  if (positions) addPositions(tree, positions, { source: html, parsed })
  return {
    id: idOf(article, fileName),
    title: plainText(inlineTitle),
    icon,
    date,
    properties: Object.fromEntries(properties.shown),
    values: Object.fromEntries(properties.typed),
    assets: links.assets,
    warnings: links.warnings,
    links: [...links.pages],
    subPages: [...links.subPages],
    databases: [...links.databases],
    tree,
  }
}

/**
 * Reads a database that the archive has only as CSV, as a separate page.
 *
 * @param path its path, `…/Title <id>.csv`
 */
export function readDatabasePage(
  path: string,
  id: string,
  archive: Archive,
  { tables }: PageNotes = {},
): Page {
  const links = new Links(path, archive)
  const title =
    fileNameOf(path)
      .replace(/(?:^|[\s_-])[0-9a-f]{32}(?:_all)?\.csv$/i, '')
      .trim() || 'Untitled'
  const flow = new Flow(BLOCKS, links, {
    depth: 1,
    lift: 0,
    isInline: false,
    database: id,
    title,
    ids: null,
    tables: tables ?? null,
    positions: null,
  })
  flow.add({ type: 'heading', depth: 1, id: null, children: [{ type: 'text', value: title }] })
  const database = links.database(id)
  if (database) addTable(database, flow)
  return {
    id,
    title,
    icon: null,
    date: null,
    properties: {},
    values: {},
    assets: links.assets,
    warnings: links.warnings,
    links: [],
    subPages: [...links.subPages],
    databases: [],
    tree: { type: 'root', children: flow.blocks },
  }
}

/** The last part of a path, without U+0000, which the engine uses as its own mark. */
function fileNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replaceAll('\0', '')
}

/**
 * Whether there is a sign that Notion wrote the page: its article, its classes, the ids of its
 * blocks.
 */
function isNotion(html: string): boolean {
  return /\b(?:page-title|page-body|page sans|page serif|page mono|link-to-page|to-do-list|bulleted-list|numbered-list|block-color-|highlight-|notion)|<[a-z0-9]+ (?:class="[^"<>]*" )?id="[0-9a-f]{8}-[0-9a-f]{4}-/i.test(
    html,
  )
}

/**
 * By how many levels the body's headings are too deep: some exporters since 2026 reserve `<h1>` for
 * the page's title and begin the body with `<h2>`. They are recognised by their markup and a body
 * without `<h1>`.
 */
function liftOf(html: string): 0 | 1 {
  if (!/\bdata-(?:emoji|notion-[a-z-]+)=|<aside [^<>]*\bcallout\b/.test(html)) return 0
  for (const [, attributes = ''] of html.matchAll(/<h1\b([^<>]*)/gi))
    if (!attributes.includes('page-title')) return 0
  return 1
}

/**
 * The page's heading; if it is empty, the document's title; if that is empty, too, the file's name
 * without its id.
 */
function titleOf(
  heading: Element | undefined,
  document: Element,
  fileName: string,
  flow: Flow,
): Inline[] {
  const shown = heading ? flow.inlineOf(heading) : []
  if (shown.length > 0) return shown
  const title = find(document, DEPTHS.title, (element) => element.name === 'title')
  const documentTitle = title ? textContent(title).replace(/\s+/g, ' ').trim() : ''
  const value =
    documentTitle ||
    fileName
      .replace(/\.html?$/i, '')
      .replace(ID_IN_NAME, '')
      .trim() ||
    'Untitled'
  return [{ type: 'text', value }]
}

/** Adds the page's heading, preceded by its icon. */
function addTitle(
  title: readonly Inline[],
  header: { icon: string | null; frame: Element | undefined; heading: Element | undefined },
  flow: Flow,
): void {
  const { positions } = flow.section
  const { icon, frame, heading } = header
  const children = [...title]
  if (icon !== null) {
    const text: Inline = { type: 'text', value: `${icon} ` }
    if (frame) positions?.place(text, positions.ofElement(frame))
    children.unshift(text)
  }
  const block: Block = { type: 'heading', depth: 1, id: null, children }
  if (heading) positions?.place(block, positions.ofElement(heading))
  flow.add(block)
}

/**
 * The icon, without its frame; a picture has no place in text. A frame without an end tag contains
 * the heading and everything after it.
 */
function takeIcon(frame: Element, heading: Element | undefined): string | null {
  const icon = takeUntil(frame, (child) => child === heading)
    .map(iconText)
    .join('')
    .trim()
  return icon === '' ? null : icon
}

function isTitle(element: Element): boolean {
  return element.name === 'h1' && hasClass(element, 'page-title')
}

function isIconFrame(node: Node): node is Element {
  return typeof node !== 'string' && /(?:^|\s)page-header-icon/.test(attribute(node, 'class') ?? '')
}

/** The properties of a page by name: as shown, and as typed values. */
interface Properties {
  shown: Map<string, string>
  typed: Map<string, Property>
}

/** Reads the description and the properties, in order, and empties the header. */
function readHeader(header: Element, flow: Flow, properties: Properties): void {
  let shown: Node[] = []
  for (const child of header.children.flatMap((node) =>
    isIconFrame(node) ? node.children : [node],
  )) {
    if (typeof child === 'string' || child.name !== 'table' || !hasClass(child, 'properties')) {
      shown.push(child)
      continue
    }
    flow.read(shown)
    shown = []
    const rows = readProperties(child, flow)
    const counts = new Map<string, number>()
    for (const { name, value, typed } of rows) {
      const free = freeName(plainText(name), properties.shown, counts)
      properties.shown.set(free, plainText(value.map(withoutPicture)))
      properties.typed.set(free, typed)
    }
    if (rows.length === 0) continue
    flow.add({
      type: 'table',
      children: [rowOf([], 2), ...rows.map(({ name, value }) => rowOf([name, value], 2))],
    })
  }
  flow.read(shown)
  header.children = []
}

/** A property with a name that is already taken gets a number: `Tags (2)`. */
function freeName(
  name: string,
  taken: ReadonlyMap<string, string>,
  counts: Map<string, number>,
): string {
  if (!taken.has(name)) return name
  let n = counts.get(name) ?? 2
  while (taken.has(`${name} (${n})`)) n++
  counts.set(name, n + 1)
  return `${name} (${n})`
}

/** A picture without a description becomes its address. */
function withoutPicture(node: Inline): Inline {
  return node.type === 'image' && node.alt === '' ? { type: 'text', value: node.url } : node
}

function idOf(article: Element | undefined, fileName: string): string | null {
  const id = article ? (attribute(article, 'id') ?? '').replaceAll('-', '').toLowerCase() : ''
  if (/^[0-9a-f]{32}$/.test(id)) return id
  return ID_IN_NAME.exec(fileName)?.[1]?.toLowerCase() ?? null
}
