// Reads elements as runs: the meaning of each inline element of an export.
import {
  attribute,
  find,
  hasClass,
  iconText,
  isCheckbox,
  isChecked,
  isIcon,
  texInAttribute,
  textContent,
  type Element,
  type Node,
} from './html.ts'
import { decodeOnce, type Links } from './links.ts'
import type { Positions, Range } from './positions.ts'
import { MARK, plainRun, type Run } from './runs.ts'
import { texLine } from './tex-line.ts'

/** The marks that an element gives its text. */
interface Style {
  marks: number
  link: string | null
  /** Whether it is in a link, which may have no target. */
  isLabel: boolean
  /** The positions of elements, and the content of the one being read; null if not requested. */
  source: Source | null
}

interface Source {
  positions: Positions
  /** Undefined for the element around the positions. */
  within: Range | undefined
}

/** TABLE: element → the mark that it gives its text. */
const MARK_OF = new Map<string, number>([
  ['strong', MARK.strong],
  ['b', MARK.strong],
  ['em', MARK.emphasis],
  ['i', MARK.emphasis],
  ['del', MARK.delete],
  ['s', MARK.delete],
  ['strike', MARK.delete],
  ['u', MARK.underline],
  ['ins', MARK.underline],
  ['code', MARK.code],
  ['kbd', MARK.code],
  ['samp', MARK.code],
])

/** Elements that break the line in a place that allows only text. */
const LINES = new Set(
  (
    'p div li ul ol menu h1 h2 h3 h4 h5 h6 hgroup blockquote pre tr td th table caption figure figcaption details summary dl dd dt option optgroup ' +
    'address article aside center dialog fieldset footer form header legend main nav section'
  ).split(' '),
)

/**
 * TABLE: element that embeds something → the attribute with its address. The exporter writes links
 * instead, but people who edit its pages may not.
 */
export const MEDIA = new Map([
  ['audio', 'src'],
  ['embed', 'src'],
  ['iframe', 'src'],
  ['object', 'data'],
  ['video', 'src'],
])

/**
 * Notion's file storage: exporters until 2023 label a file with its address there, whose last part
 * is its name.
 */
const STORED =
  /^https?:\/\/(?:s3[.-]us-west-2\.amazonaws\.com\/secure\.notion-static\.com|prod-files-secure\.s3\.us-west-2\.amazonaws\.com|file\.notion\.so)\/(?:[^\s?#]*\/)?([^\s/?#]+)(?:[?#]\S*)?$/

/** The prefix that exporters since 2026 write before an attached file's name. */
const ATTACHMENT = /^attachment:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:/

/**
 * Reads inline content into runs.
 *
 * @param positions for the runs' positions
 * @param within the element around the nodes; default: the element around the positions
 */
export function readInline(
  nodes: readonly Node[],
  links: Links,
  positions?: Positions | null,
  within?: Range,
): Run[] {
  const runs: Run[] = []
  const source = positions ? { positions, within } : null
  readNodes(nodes, { marks: 0, link: null, isLabel: false, source }, links, runs)
  return runs
}

function read(node: Node, style: Style, links: Links, runs: Run[]): void {
  if (typeof node === 'string') {
    // The exporter puts a U+FEFF after each inline equation; people do not type it.
    const text = node.includes('\ufeff') ? node.replaceAll('\ufeff', '') : node
    const value = style.isLabel ? labelOf(text) : text
    if (value !== '') runs.push({ kind: 'text', value, marks: style.marks, link: style.link })
    return
  }
  const tex = texInAttribute(node)
  if (tex !== undefined) {
    const isBlock = LINES.has(node.name)
    if (isBlock) part(style, runs)
    equation(tex, style, runs)
    if (isBlock) part(style, runs)
    return
  }
  const mark = MARK_OF.get(node.name)
  if (mark !== undefined) return readAll(node, { ...style, marks: style.marks | mark }, links, runs)
  switch (node.name) {
    case 'math':
      return equation(textContent(node), style, runs)
    case 'a':
      if (isWrapper(node)) return readAll(node, style, links, runs)
      return readAll(
        node,
        { ...style, link: style.link ?? targetOf(node, links), isLabel: true },
        links,
        runs,
      )
    case 'img':
      return image(node, style, links, runs)
    case 'span':
      return span(node, style, links, runs)
    case 'div':
    case 'input':
      if (!isCheckbox(node)) break
      return checkbox(node, runs)
  }
  const isMedium = MEDIA.has(node.name)
  if (!isMedium && (!LINES.has(node.name) || node.children.length === 0))
    return readAll(node, style, links, runs)
  part(style, runs)
  if (isMedium) medium(node, style, links, runs)
  readAll(node, style, links, runs)
  part(style, runs)
}

/** The text of a link; if it is a file's address in Notion's storage, the file's own name. */
function labelOf(text: string): string {
  const stored = STORED.exec(text.trim())?.[1]
  return stored === undefined ? text.replace(ATTACHMENT, '') : decodeOnce(stored)
}

/** The kind of a link's target. */
function targetOf(link: Element, links: Links): string | null {
  const href = attribute(link, 'href')
  if (href !== undefined && hasClass(link, 'url-value')) return links.value(href)
  const mail =
    href !== undefined && textContent(link).trim() === href.trim() ? links.mail(href) : undefined
  return mail ?? links.resolve(href, 'file')
}

/** Ends a line that has begun. */
function part(style: Style, runs: Run[]): void {
  const last = runs[runs.length - 1]
  if (last && last.kind !== 'break')
    runs.push({ kind: 'break', value: '', marks: style.marks, link: style.link })
}

/** A link to a medium, named by its address, on its own line, followed by its fallback content. */
function medium(element: Element, style: Style, links: Links, runs: Run[]): void {
  const source = find(element, 1, (child) => child.name === 'source')
  const address =
    attribute(element, MEDIA.get(element.name) ?? '') ?? (source && attribute(source, 'src'))
  const url = links.resolve(address, 'file')
  if (!address || (url === null && links.missing(address) === null)) return
  runs.push({ kind: 'text', value: address.trim(), marks: style.marks, link: style.link ?? url })
  part(style, runs)
}

function readAll(element: Element, style: Style, links: Links, runs: Run[]): void {
  const { source } = style
  if (!source) return readNodes(element.children, style, links, runs)
  const { positions } = source
  const inner = { positions, within: positions.contentOf(element) }
  readNodes(element.children, { ...style, source: inner }, links, runs)
}

const ofSiblings = (
  { positions, within }: Source,
  nodes: readonly Node[],
  from: number,
  to: number,
): Range => positions.ofSiblings(nodes, from, to, within)

/**
 * Gives the runs from `first` on a position if they have none yet; those in the middle have one.
 */
function placeRuns(runs: readonly Run[], first: number, range: Range): void {
  for (let i = first; i < runs.length; i++) {
    const run = runs[i]
    if (!run || run.at) break
    run.at = range
  }
  for (let i = runs.length - 1; i >= first; i--) {
    const run = runs[i]
    if (!run || run.at) break
    run.at = range
  }
}

/** Reads siblings; consecutive `<br>`s together, because the text on both sides counts. */
function readNodes(nodes: readonly Node[], style: Style, links: Links, runs: Run[]): void {
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]
    if (node === undefined) break
    const first = runs.length
    if (typeof node === 'string' || node.name !== 'br') {
      read(node, style, links, runs)
      if (style.source) placeRuns(runs, first, ofSiblings(style.source, nodes, i, i + 1))
      continue
    }
    let end = i + 1
    while (isBreakOrBlank(nodes[end])) end++
    const value = isText(nodes[i - 1]) && isText(nodes[end]) ? 'typed' : 'br'
    for (const one of nodes.slice(i, end)) {
      if (typeof one === 'string') read(one, style, links, runs)
      else runs.push({ kind: 'break', value, marks: style.marks, link: style.link })
    }
    if (style.source) placeRuns(runs, first, ofSiblings(style.source, nodes, i, end))
    i = end - 1
  }
}

const isBreakOrBlank = (node: Node | undefined): boolean =>
  typeof node === 'string' ? node.trim() === '' : node?.name === 'br'

/** Whether a neighbour of breaks is text: between two texts, the format does not change. */
const isText = (node: Node | undefined): boolean => typeof node === 'string' && node.trim() !== ''

function span(element: Element, style: Style, links: Links, runs: Run[]): void {
  if (element.attributes === '') return readAll(element, style, links, runs)
  if (isCheckbox(element)) return checkbox(element, runs)
  // The picture beside a person's name, or their initial instead.
  if (hasClass(element, 'user-icon')) return
  if (hasClass(element, 'icon')) {
    const icon = iconText(element)
    if (icon !== '')
      runs.push({ kind: 'text', value: `${icon} `, marks: style.marks, link: style.link })
    return
  }
  if (hasClass(element, 'katex-error')) return equation(textContent(element), style, runs)
  if (hasClass(element, 'katex')) {
    const annotation = find(element, 4, (below) => below.name === 'annotation')
    if (annotation) return equation(textContent(annotation), style, runs)
  }
  const underlined = element.attributes.includes('border-bottom')
  readAll(
    element,
    underlined ? { ...style, marks: style.marks | MARK.underline } : style,
    links,
    runs,
  )
}

function checkbox(element: Element, runs: Run[]): void {
  runs.push(plainRun(isChecked(element) ? '☑' : '☐'))
}

function equation(source: string, style: Style, runs: Run[]): void {
  const tex = texLine(source)
  if (tex !== '') runs.push({ kind: 'math', value: tex, marks: style.marks, link: style.link })
}

/** Whether a link contains only the image to which it leads. */
export function isWrapper(link: Element): boolean {
  const [image] = link.children
  return (
    link.children.length === 1 &&
    typeof image === 'object' &&
    image.name === 'img' &&
    attribute(image, 'src') === attribute(link, 'href')
  )
}

function image(element: Element, style: Style, links: Links, runs: Run[]): void {
  if (isIcon(element) || hasClass(element, 'page-cover-image')) return
  const source = attribute(element, 'src')
  const url = links.resolve(source, 'image')
  const alt = (attribute(element, 'alt') ?? '').trim()
  if (url !== null)
    return void runs.push({ kind: 'image', value: url, alt, marks: style.marks, link: style.link })
  const name = links.missing(source)
  if (name !== null)
    runs.push({ kind: 'text', value: alt || name, marks: style.marks, link: style.link })
}
