// A browser's view of HTML: parse5's tree, and the reading of inline content from it.
import { parse, parseFragment, type DefaultTreeAdapterTypes } from 'parse5'
import {
  ELEMENT_BREAK,
  LINE_EDGE,
  TYPED_BREAK,
  IMAGE,
  LOOSE_BREAK,
  isOwnAddress,
  plainAddress,
  plainTex,
  type Run,
} from './outline.ts'

export type Node = DefaultTreeAdapterTypes.ChildNode
export type Element = DefaultTreeAdapterTypes.Element

/** A carriage return, which only a reference can name, ends a line like any other. */
const CARRIAGE_RETURN = /&#(?:13|x0*d);(?:&#(?:10|x0*a);|\n)?/gi

/** What exporters since 2026 write before the name of a file. */
const ATTACHMENT = />attachment:[\w-]{36}:/g

export const parseDocument = (html: string): Node[] =>
  parse(html.replace(CARRIAGE_RETURN, '\n').replace(ATTACHMENT, '>')).childNodes
export const parsePart = (html: string): Node[] => parseFragment(html).childNodes

export const isElement = (node: Node): node is Element => 'tagName' in node
export const isText = (node: Node): node is DefaultTreeAdapterTypes.TextNode =>
  node.nodeName === '#text'
export const attribute = (element: Element, name: string): string =>
  element.attrs.find((attr) => attr.name === name)?.value ?? ''
export const hasClass = (element: Element, name: string): boolean =>
  attribute(element, 'class').split(/\s+/).includes(name)
export const elements = (nodes: readonly Node[]): Element[] => nodes.filter(isElement)

/** The elements that satisfy `test`, in order, not looking inside those found. */
export function find(nodes: readonly Node[], test: (element: Element) => boolean): Element[] {
  return elements(nodes).flatMap((element) =>
    test(element) ? [element] : find(element.childNodes, test),
  )
}

/** The nodes outside of the elements that satisfy `test`. */
export function outside(nodes: readonly Node[], test: (element: Element) => boolean): Node[] {
  return nodes.flatMap((node): Node[] => {
    if (!isElement(node)) return [node]
    const copy: Element = { ...node, childNodes: outside(node.childNodes, test) }
    return test(node) ? [] : [copy]
  })
}

/** All text inside, whether visible or not; `<br>` is a newline. */
export function rawText(nodes: readonly Node[]): string {
  return nodes
    .map((node) =>
      isText(node)
        ? node.value
        : !isElement(node)
          ? ''
          : node.tagName === 'br'
            ? '\n'
            : rawText(node.childNodes),
    )
    .join('')
}

/** Elements of which nothing is ever seen. */
const INVISIBLE = new Set([
  'style',
  'script',
  'link',
  'meta',
  'head',
  'title',
  'svg',
  'template',
  'noscript',
  'base',
])

export const isInvisible = (element: Element): boolean =>
  INVISIBLE.has(element.tagName) ||
  element.attrs.some(
    ({ name, value }) =>
      name === 'hidden' || (name === 'style' && /(?:^|;)\s*display:\s*none/.test(value)),
  )

/** A check box as the exporter draws it, or (since 2026) a form's. */
export const isBox = (element: Element): boolean =>
  hasClass(element, 'checkbox') ||
  (element.tagName === 'input' && attribute(element, 'type') === 'checkbox')

export const isChecked = (box: Element): boolean =>
  hasClass(box, 'checkbox-on') ||
  box.attrs.some(({ name }) => box.tagName === 'input' && name === 'checked')

/**
 * A picture that stands for a person, a property or a page, drawn even where it is made of letters.
 */
export const isPictogram = (element: Element): boolean =>
  hasClass(element, 'notion-static-icon') ||
  hasClass(element, 'property-icon') ||
  hasClass(element, 'user-icon') ||
  hasClass(element, 'text-icon')

/** A part of a bookmark besides its title, which may also stand in no part at all. */
export const isBesideTitle = (element: Element): boolean =>
  ['bookmark-description', 'bookmark-href', 'bookmark-image'].some((name) =>
    hasClass(element, name),
  )

export const isEquation = (element: Element): boolean =>
  ownTex(element) !== undefined ||
  hasClass(element, 'notion-text-equation-token') ||
  hasClass(element, 'katex')

/** The TeX that an equation's own attribute says, since 2026. */
export const ownTex = (element: Element) =>
  element.attrs.find(
    ({ name }) => name === 'data-notion-equation' || name === 'data-notion-inline-equation',
  )?.value

/** The TeX of an equation: its own attribute's, or KaTeX's annotation's. */
export function texOf(element: Element): string {
  const [inner = element] = find(element.childNodes, (one) => ownTex(one) !== undefined)
  const marked = ownTex(element) === undefined ? inner : element
  const own = ownTex(marked)
  if (own !== undefined) return own
  const [annotation] = find([element], (inner) => inner.tagName === 'annotation')
  return annotation ? rawText(annotation.childNodes) : rawText(element.childNodes)
}

/** TABLE: element → mark. */
const MARKS: Record<string, string> = {
  strong: 'strong',
  b: 'strong',
  em: 'em',
  i: 'em',
  del: 'del',
  s: 'del',
  strike: 'del',
  code: 'code',
  u: 'u',
}

/**
 * Whether a link to there would be an attack; such a link keeps its text only. A browser ignores
 * control characters and spaces in a scheme.
 */
export function isUnsafe(address: string): boolean {
  const bare = [...address]
    .filter((unit) => unit > ' ')
    .join('')
    .toLowerCase()
  return ['javascript:', 'vbscript:', 'data:text/html', 'data:image/svg+xml', 'data:text/xml'].some(
    (scheme) => bare.startsWith(scheme),
  )
}

/** TABLE: element that shows something from elsewhere → the attribute with its address. */
const MEDIA: Record<string, string> = {
  audio: 'src',
  embed: 'src',
  iframe: 'src',
  object: 'data',
  video: 'src',
}

/**
 * The address of what an element shows, its own or its first source's; empty where it shows nothing
 * from elsewhere, or may not.
 */
export function addressOfMedium(element: Element): string {
  const name = MEDIA[element.tagName]
  if (name === undefined) return ''
  const [source] = find(element.childNodes, (inner) => inner.tagName === 'source')
  const address = attribute(element, name) || (source ? attribute(source, 'src') : '')
  return isUnsafe(address) ? '' : address
}

/** Blocks that stand on lines of their own also where only inline content can be. */
const LINES = new Set(['p', 'li', 'td', 'th', 'article', 'aside', 'center', 'legend', 'option'])

/** Reads inline content. Blocks among it are read as if they were inline. */
export function readRuns(nodes: readonly Node[], marks: readonly string[] = []): Run[] {
  return nodes.flatMap((node, at) => {
    if (isElement(node) && node.tagName === 'br' && isTyped(nodes, at))
      return [{ text: TYPED_BREAK, marks }]
    if (isText(node)) return [{ text: looseBreaks(node.value), marks }]
    return isElement(node) ? readElement(node, marks) : []
  })
}

/**
 * Whether the breaks around this one stand between two texts of the same parent: the exporter
 * doubles breaks only where the formatting changes.
 */
function isTyped(nodes: readonly Node[], at: number): boolean {
  const isWord = (node: Node) =>
    isText(node) ? node.value.trim() !== '' : isElement(node) && node.tagName !== 'br'
  const before = nodes.slice(0, at).findLast(isWord)
  const after = nodes.slice(at).find(isWord)
  return before !== undefined && after !== undefined && isText(before) && isText(after)
}

function readElement(element: Element, marks: readonly string[]): Run[] {
  const { tagName, childNodes } = element
  if (isInvisible(element) || isPictogram(element)) return []
  if (isEquation(element))
    return plainTex(texOf(element)) === '' ? [] : [{ text: texOf(element), marks, math: true }]
  if (tagName === 'br') return [{ text: ELEMENT_BREAK, marks }]
  if (tagName === 'img') {
    if (hasClass(element, 'icon')) return []
    return [
      {
        text: IMAGE + attribute(element, 'alt'),
        marks: [...marks, `image ${plainAddress(attribute(element, 'src'))}`],
      },
    ]
  }
  if (hasClass(element, 'icon')) {
    const emoji = attribute(element, 'data-emoji')
    const icon = emoji === '' ? readRuns(childNodes, marks) : [{ text: emoji, marks }]
    return icon.length > 0 ? [...icon, { text: ' ', marks }] : []
  }
  const shown = addressOfMedium(element)
  if (shown !== '')
    return [
      { text: LINE_EDGE, marks },
      ...linkRuns([{ text: shown, marks: [] }], shown, marks),
      { text: LINE_EDGE, marks },
      ...readRuns(childNodes, marks),
      { text: LINE_EDGE, marks },
    ]
  const mark =
    MARKS[tagName] ??
    (/border-bottom:\s*0?\.05em solid/.test(attribute(element, 'style')) ? 'u' : undefined)
  if (mark) return readRuns(childNodes, marks.includes(mark) ? marks : [...marks, mark])
  if (LINES.has(tagName))
    return [{ text: LINE_EDGE, marks }, ...readRuns(childNodes, marks), { text: LINE_EDGE, marks }]
  const address = tagName === 'a' ? attribute(element, 'href') : ''
  // Neither an address that the exporter failed to write nor the export itself is a place.
  if (
    address === 'https://app.notion.comundefined' ||
    /^\.{0,2}\/?$/.test(address) ||
    isUnsafe(address) ||
    isFrame(element)
  )
    return readRuns(childNodes, marks)
  const shownRuns = readRuns(nameOfStored(childNodes), [])
  if (isUntitled(element)) shownRuns.push({ text: UNTITLED, marks: [] })
  return linkRuns(shownRuns, personal(element, address), marks)
}

/** What Notion shows as the title of a row that has none. */
export const UNTITLED = 'Untitled'

/** Whether a link is the title of a database's row, and has no words. */
export function isUntitled(link: Element): boolean {
  const cell = link.parentNode
  if (link.tagName !== 'a' || !cell || !('tagName' in cell) || !hasClass(cell, 'cell-title'))
    return false
  const beside = link.childNodes.filter((node) => !isElement(node) || !hasClass(node, 'icon'))
  return rawText(beside).trim() === ''
}

/** The value of an e-mail or phone property leads to a person. */
function personal(link: Element, address: string): string {
  const isValue = hasClass(link, 'url-value')
  if (isValue && !/^[a-z][a-z\d+.-]*:/i.test(address)) {
    const mails = address.split(/[,;] */)
    if (mails.every((mail) => MAIL.test(mail))) return `mailto:${mails.join(',')}`
    const [number = '', extension] = address
      .normalize('NFKC')
      .replaceAll(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
      .split(/ ?ext\.? ?/)
    if (/^\+?[\d(][\d ().\-/]+$/.test(number))
      return `tel:${number.replace(/[ /]/g, '')}${extension ? `;ext=${extension}` : ''}`
  }
  return rawText(link.childNodes).trim() === address.trim() && MAIL.test(address)
    ? `mailto:${address}`
    : address
}

const MAIL = /^[^\s@:/,;]+@[^\s@:/,;]+\.\w{2,}$/

/**
 * Files of until 2023 are labelled with an address of Notion's storage, which ends in their name.
 */
export function nameOfStored(nodes: readonly Node[]): readonly Node[] {
  return nodes.map((node) => {
    if (
      !isText(node) ||
      !/^https:\/\/[^/]*amazonaws\.com\/secure\.notion-static\.com\/\S+$/.test(node.value)
    )
      return node
    return { ...node, value: decodeURIComponent(node.value.slice(node.value.lastIndexOf('/') + 1)) }
  })
}

/** Whether a link is only the frame of an image, which leads to the image itself. */
function isFrame(link: Element): boolean {
  const [image, ...more] = link.childNodes
  return (
    more.length === 0 &&
    image !== undefined &&
    isElement(image) &&
    image.tagName === 'img' &&
    attribute(image, 'src') === attribute(link, 'href')
  )
}

/** Marks runs as a link, unless they spell its own address. */
export function linkRuns(runs: Run[], address: string, marks: readonly string[]): Run[] {
  const own = isOwnAddress(runs.map((run) => run.text).join(''), address)
  return runs.map((run) => ({
    ...run,
    marks: [
      ...marks,
      ...run.marks.filter((mark) => !marks.includes(mark)),
      ...(own ? [] : [`link ${plainAddress(address)}`]),
    ],
  }))
}

/**
 * A newline followed by an indent was put there by an editor and not by the exporter; it may render
 * either way.
 */
function looseBreaks(text: string): string {
  return text.replace(/[ \t]*\r?\n(?:[ \t]{2,}|\t)/g, LOOSE_BREAK)
}
