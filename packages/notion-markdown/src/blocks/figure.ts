import {
  BLOCK_EQUATION,
  INLINE,
  attribute,
  find,
  hasClass,
  textContent,
  type Element,
  type Node,
} from '../html.ts'
import type { Flow } from '../flow.ts'
import { isWrapper } from '../inline.ts'
import { plainText, type Inline } from '../tree.ts'
import { readCallout } from './callout.ts'

/**
 * `<figure>`: everything that Notion shows in a frame. Since 2026, any element with
 * `data-notion-equation` is an equation, too.
 */
export function readFigure(element: Element, flow: Flow): void {
  if (hasClass(element, 'callout')) return readCallout(element, flow)
  if (hasClass(element, 'link-to-page'))
    flow.links.addSubPage(
      attribute(find(element, 2, ({ name }) => name === 'a') ?? element, 'href'),
      3,
    )
  const inner = element.children.filter((node) => !isCaption(node))
  const first = inner.find((node): node is Element => typeof node !== 'string')
  const captions = [...(first?.children ?? []), ...element.children].filter(isCaption)
  const { positions } = flow.section
  const caption = captions.flatMap((node) =>
    flow.paragraphs(node.children, positions?.contentOf(node)),
  )
  if (first) first.children = first.children.filter((node) => !isCaption(node))
  const shown = { ...element, children: first ? [first] : [] }
  const bookmark = find(shown, 1, (child) => child.name === 'a' && hasClass(child, 'bookmark'))
  // A figure without an end tag contains what follows it, as its first element contains the
  // caption.
  let rest = inner.filter((node) => node !== first)
  if (hasTex(element)) {
    readEquation(shown, flow)
    // All inline content belongs to the drawing.
    rest = rest.filter((node) => typeof node !== 'string' && !INLINE.has(node.name))
  } else if (hasClass(element, 'equation')) readEquation(shown, flow)
  else if (!(hasClass(element, 'image') && readImage(shown, caption, flow))) {
    if (bookmark) readBookmark(bookmark, flow)
    else {
      flow.read(inner)
      rest = []
    }
  }
  for (const children of caption) flow.add({ type: 'paragraph', children })
  flow.read(rest)
}

function isCaption(node: Element | string): node is Element {
  return typeof node !== 'string' && node.name === 'figcaption'
}

const hasTex = (element: Element): boolean => attribute(element, BLOCK_EQUATION) !== undefined

function readEquation(element: Element, flow: Flow): void {
  // The parser reads only KaTeX markup with the exporter's own quotes. Any other still has the TeX
  // as an annotation, or as MathML.
  const source =
    find(element, 8, (below) => below.name === 'annotation') ??
    find(element, 8, (below) => below.name === 'math')
  // Exporters of 2026 only draw it, and put the text in an attribute.
  const marked = hasTex(element) ? element : find(element, 8, hasTex)
  const tex = ((marked && attribute(marked, BLOCK_EQUATION)) ?? textContent(source ?? element))
    .split('\n')
    .filter((line) => line.trim() !== '')
    .join('\n')
  if (tex !== '') flow.add({ type: 'math', value: tex })
}

/** Adds the image, with its caption as description; returns whether there was one. */
function readImage(element: Element, caption: readonly Inline[][], flow: Flow): boolean {
  const img = find(element, 3, (below) => below.name === 'img')
  const url = img ? flow.links.resolve(attribute(img, 'src'), 'image') : null
  if (!img || url === null) return false
  const alt =
    caption.length > 0 ? caption.map(plainText).join(' ') : (attribute(img, 'alt') ?? '').trim()
  const image: Inline = { type: 'image', url, alt }
  // The exporter's link leads to the image itself; any other link was added by a person.
  const link = find(element, 2, (below) => below.name === 'a')
  const target =
    link && !isWrapper(link) ? flow.links.resolve(attribute(link, 'href'), 'file') : null
  flow.add({
    type: 'paragraph',
    children: [
      target !== null && target !== url ? { type: 'link', url: target, children: [image] } : image,
    ],
  })
  return true
}

/** The parts of a bookmark other than its title. */
const ASIDE = ['bookmark-description', 'bookmark-href', 'bookmark-image']

/**
 * `[Title](url): description`. If no title is marked, the words outside all parts are the title; a
 * bookmark without any shows its address.
 */
function readBookmark(element: Element, flow: Flow): void {
  const part = (name: string): Inline[] => {
    const found = find(element, 4, (below) => hasClass(below, name))
    return found ? flow.inlineOf(found) : []
  }
  const target = flow.links.resolve(attribute(element, 'href'), 'file')
  let title = part('bookmark-title')
  if (title.length === 0) title = flow.inline(unwrap(element, ASIDE))
  if (title.length === 0) title = part('bookmark-href')
  if (title.length === 0 && target !== null) title = [{ type: 'text', value: target }]
  const description = part('bookmark-description')
  const children: Inline[] =
    target !== null && title.length > 0
      ? [{ type: 'link', url: target, children: withoutLinks(title) }]
      : title
  if (description.length > 0) children.push({ type: 'text', value: ': ' }, ...description)
  if (children.length > 0) flow.add({ type: 'paragraph', children })
}

/** The children of an element without elements of these classes. */
function unwrap(element: Element, classes: readonly string[]): Node[] {
  return element.children.flatMap((child): Node[] => {
    if (typeof child === 'string') return [child]
    return classes.some((name) => hasClass(child, name))
      ? []
      : [{ ...child, children: unwrap(child, classes) }]
  })
}

/** A link's text cannot contain links. */
function withoutLinks(nodes: readonly Inline[]): Inline[] {
  return nodes.flatMap((node) => (node.type === 'link' ? withoutLinks(node.children) : [node]))
}
