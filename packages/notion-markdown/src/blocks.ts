// TABLE of Notion's blocks: element → reader. Elements without a row are inline.
import { readCallout } from './blocks/callout.ts'
import { readCode } from './blocks/code.ts'
import { readLinkedDatabase } from './blocks/csv-table.ts'
import { readFigure } from './blocks/figure.ts'
import { readBulleted, readNumbered } from './blocks/list.ts'
import { readTable } from './blocks/table.ts'
import { readNavigation } from './blocks/toc.ts'
import { depthOf, readDetails } from './blocks/toggle.ts'
import type { BlockReader, BlockTable, Flow } from './flow.ts'
import { BLOCK_EQUATION, attribute, find, hasClass, textContent, type Element } from './html.ts'
import type { Depth } from './tree.ts'

/** Columns, synced blocks, indented children, unknown containers: their children, in order. */
const readChildren: BlockReader = (element, flow) => void flow.read(element.children)

/**
 * A paragraph, followed by children that Notion indents below it. A paragraph without words shows
 * nothing, but separates lists.
 */
const readParagraph: BlockReader = (element, flow) => {
  const hasWords = element.children.some((node) =>
    typeof node === 'string' ? node.trim() !== '' : !BLOCKS.has(node.name),
  )
  if (!hasWords) flow.part()
  if (!flow.read(element.children)) flow.part()
}

/** A heading. A database's title has no level: it is one below the previous heading. */
function readHeading(element: Element, flow: Flow): void {
  const children = flow.inline(element.children)
  if (children.length === 0) return flow.part()
  const { section } = flow
  const isDatabase = hasClass(element, 'collection-title')
  const depth = isDatabase ? (Math.min(6, section.depth + 1) as Depth) : depthOf(element, section)
  if (!isDatabase) section.depth = depth
  flow.add({ type: 'heading', depth, id: attribute(element, 'id') ?? null, children })
}

function readQuote(element: Element, flow: Flow): void {
  const children = flow.inside(element.children)
  if (children.length > 0) flow.add({ type: 'blockquote', children })
}

/**
 * A check box outside a to-do is a character; any other `<div>` is its children, whose lists end
 * with it (columns, synced blocks, indented children).
 */
function readDiv(element: Element, flow: Flow): void {
  if (hasClass(element, 'checkbox'))
    return flow.add({ type: 'paragraph', children: flow.inline([element]) })
  flow.part()
  if (hasClass(element, 'collection-content')) readDatabase(element, flow)
  else readChildren(element, flow)
  flow.part()
}

/** A database inside a page. */
function readDatabase(element: Element, flow: Flow): void {
  const { section } = flow
  const { isInline, database, title } = section
  section.isInline = true
  if (section.tables) section.title = titleOf(element)
  section.database = attribute(element, 'id')?.replaceAll('-', '').toLowerCase() ?? null
  if (!readLinkedDatabase(element, flow)) readChildren(element, flow)
  section.isInline = isInline
  section.database = database
  section.title = title
}

/** The title above a database. */
function titleOf(element: Element): string {
  const title = find(element, 2, (below) => hasClass(below, 'collection-title'))
  return title ? textContent(title).replace(/\s+/g, ' ').trim() : ''
}

/** TABLE of Notion's blocks by element name, and the function that reads each. */
export const BLOCKS: BlockTable = new Map<string, BlockReader>([
  [BLOCK_EQUATION, readFigure],
  ['p', readParagraph],
  ['h1', readHeading],
  ['h2', readHeading],
  ['h3', readHeading],
  ['h4', readHeading],
  ['h5', readHeading],
  ['h6', readHeading],
  ['ul', readBulleted],
  ['ol', readNumbered],
  ['details', readDetails],
  ['blockquote', readQuote],
  ['pre', readCode],
  ['figure', readFigure],
  [
    'aside',
    (element, flow) => (hasClass(element, 'callout') ? readCallout : readChildren)(element, flow),
  ],
  ['table', readTable],
  ['nav', readNavigation],
  ['hr', (_, flow) => flow.add({ type: 'thematicBreak' })],
  ['div', readDiv],
  // It becomes the page's heading.
  ['title', () => {}],
  ...[
    'html',
    'head',
    'body',
    'article',
    'header',
    'footer',
    'main',
    'section',
    'li',
    'dl',
    'dt',
    'dd',
    'figcaption',
    'summary',
    'form',
    'fieldset',
    'center',
    'address',
    'caption',
    'tbody',
    'thead',
    'tr',
    'td',
    'th',
  ].map((name) => [name, readChildren] as const),
])
