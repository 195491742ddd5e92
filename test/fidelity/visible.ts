// The words that a reader sees, straight from a tree of elements, with no notion of blocks or
// marks. It reads the exporter's HTML and, as a second opinion, the HTML that the Markdown renders
// to.
import {
  addressOfMedium,
  attribute,
  elements,
  find,
  hasClass,
  isBesideTitle,
  isBox,
  isChecked,
  isElement,
  isEquation,
  isInvisible,
  isPictogram,
  isText,
  isUntitled,
  nameOfStored,
  outside,
  parsePart,
  texOf,
  UNTITLED,
  type Element,
  type Node,
} from './dom.ts'
import { cellTex, plainTex, splitWords, trimPlain } from './outline.ts'

/** Elements that do not part words; every other does. */
export const INLINE = new Set([
  'a',
  'abbr',
  'b',
  'cite',
  'code',
  'del',
  'em',
  'font',
  'i',
  'ins',
  'kbd',
  'mark',
  's',
  'samp',
  'small',
  'span',
  'strike',
  'strong',
  'sub',
  'sup',
  'time',
  'u',
  'var',
  'wbr',
])

/** TABLE: what a cell of a database may hold several of, shown apart as pills, chips or lines. */
const VALUES: ((element: Element) => boolean)[] = [
  (element) => hasClass(element, 'selected-value'),
  (element) => hasClass(element, 'status-value'),
  (element) => hasClass(element, 'user'),
  (element) => /margin-right/.test(attribute(element, 'style')),
  isBox,
  (element) => element.tagName === 'time',
  (element) => element.tagName === 'a',
]

/**
 * Whether a cell holds several values of one kind, which are then listed with commas. People, links
 * and dates in a text are no such list.
 */
export function holdsValues(cell: Element): boolean {
  const inner = cell.childNodes.filter((node) => !isText(node) || node.value.trim() !== '')
  if (
    inner.length <= 1 ||
    !VALUES.some((isValue) => inner.every((node) => isElement(node) && isValue(node)))
  )
    return false
  const kind = kindOf(cell)
  if (kind !== 'unknown') return kind === 'list'
  // Only what the exporter wrote without anything between is a list for certain.
  return (
    !inner.every((node) => isElement(node) && (node.tagName === 'a' || node.tagName === 'time')) ||
    cell.childNodes
      .slice(cell.childNodes.indexOf(inner[0]!), cell.childNodes.indexOf(inner.at(-1)!))
      .every(isElement)
  )
}

const LISTS =
  /^(?:select|multi_?select|multipleselect|status|person|file|relation|checkbox|created_?by|last_?edited_?by)$/i

/** What the column of a cell, or its row, says that it holds. */
function kindOf(cell: Element): 'text' | 'list' | 'unknown' {
  const row = parent(cell)
  const type = /property-row-(\w+)/.exec(row ? attribute(row, 'class') : '')?.[1]
  if (type)
    return type === 'text' || type === 'url' ? 'text' : LISTS.test(type) ? 'list' : 'unknown'
  let table = row
  while (table && table.tagName !== 'table') table = parent(table)
  if (!row || !table || !hasClass(table, 'collection-content')) return 'text'
  const head = find(table.childNodes, (inner) => inner.tagName === 'th')[
    elements(row.childNodes).indexOf(cell)
  ]
  const isText = (inner: Element) =>
    /^types(?:Text|Title|Url)$/.test(attribute(inner, 'class')) ||
    /(?:font|description|link)_gray\.svg$/.test(attribute(inner, 'src'))
  if (head && find([head], isText).length > 0) return 'text'
  return head &&
    find([head], (inner) => LISTS.test(attribute(inner, 'class').replace(/^types/, ''))).length > 0
    ? 'list'
    : 'unknown'
}

function parent(element: Element): Element | undefined {
  const above = element.parentNode
  return above && 'tagName' in above ? above : undefined
}

/** The mark that stands for a check box in a cell, where a list item's box cannot be drawn. */
export const boxOf = (element: Element): string => (isChecked(element) ? '☑' : '☐')

type Place = 'cell' | ''

/**
 * Stands before and after an equation until all text is there: equations that touch are parted by a
 * space.
 */
const EDGE = '\u{E010}'
const PARTED = /\u{E010}[ \t\n]*\u{E010}/gu

/** A picture among the files of a cell has no words, and is one of them all the same. */
const showsSomething = (value: Element): boolean =>
  isBox(value) ||
  find([value], ({ tagName }) => tagName === 'img').length > 0 ||
  collect([value], 'cell').trim() !== ''

function collect(nodes: readonly Node[], place: Place): string {
  return nodes
    .map((node) => (isText(node) ? node.value : isElement(node) ? read(node, place) : ''))
    .join('')
}

const words = (text: string) =>
  splitWords(text.replaceAll('\u{FEFF}', '').replace(PARTED, ' ').replaceAll(EDGE, ''))

const equation = (tex: string, place: Place) => (place === 'cell' ? cellTex(tex) : plainTex(tex))

function read(element: Element, place: Place): string {
  const { tagName, childNodes } = element
  if (isInvisible(element) || isPictogram(element)) return ''
  if (isEquation(element)) {
    const tex = EDGE + equation(texOf(element), place) + EDGE
    return INLINE.has(tagName) ? tex : `\n${tex}\n`
  }
  if (isBox(element))
    return (place === 'cell' ? ` ${boxOf(element)} ` : '') + collect(childNodes, place)
  if (hasClass(element, 'icon'))
    return `${attribute(element, 'data-emoji') || collect(childNodes, place)} `
  if (hasClass(element, 'bookmark')) return `\n${bookmark(element)}\n`
  if (tagName === 'td' || tagName === 'th') {
    const parts = holdsValues(element)
      ? elements(childNodes)
          .filter(showsSomething)
          .map((value) => (isBox(value) ? boxOf(value) : collect([value], 'cell')))
      : [collect(childNodes, 'cell')]
    return `\n${parts.join(', ')}\n`
  }
  // What an image shows is no word; its caption is.
  if (tagName === 'img') return ''
  const shown = collect(tagName === 'a' ? nameOfStored(childNodes) : childNodes, place)
  const inner = isUntitled(element) ? `${shown}${UNTITLED}` : shown
  return INLINE.has(tagName) ? inner : `\n${addressOfMedium(element)}\n${inner}\n`
}

/**
 * A bookmark reads "title: description"; without a title its address stands in, which is otherwise
 * the link's target.
 */
function bookmark(element: Element): string {
  const part = (name: string) =>
    trimPlain(
      collect(
        find([element], (inner) => hasClass(inner, name)).flatMap((inner) => inner.childNodes),
        '',
      ),
    )
  const title =
    [
      part('bookmark-title'),
      trimPlain(collect(outside(element.childNodes, isBesideTitle), '')),
      part('bookmark-href'),
      attribute(element, 'href'),
    ].find((text) => text.trim() !== '') ?? ''
  const description = part('bookmark-description')
  return description.trim() !== '' ? `${title}: ${description}` : title
}

/** The visible words of an exported page. `title` stands in where the page shows none. */
export function wordsOfPage(nodes: readonly Node[], title: string): string[] {
  const shown = find(nodes, (element) => hasClass(element, 'page-title')).some(
    (heading) => collect(heading.childNodes, '').trim() !== '',
  )
  const text = collect(nodes, '')
  if (shown) return words(text)
  const icons = find(nodes, (element) => hasClass(element, 'page-header-icon'))
  const icon = collect(icons, '').trim()
  return words(`${icon} ${title} ${icon === '' ? text : text.replace(icon, '')}`)
}

/** The visible words of rendered Markdown. */
export function wordsOfRendered(html: string): string[] {
  return words(collect(parsePart(html), ''))
}
