// The tree of an HTML document, and queries on it.
import { decodeText } from './entities.ts'

/** An element: its name, its attributes as in the source, its children in order. */
export interface Element {
  name: string
  /** The source between the name and the `>`. Read it with `attribute`. */
  attributes: string
  children: Node[]
}

/** An element, or text with its character references decoded. */
export type Node = Element | string

/** Inline elements. */
export const INLINE = new Set(
  'a abbr b big cite code del em font i ins kbd label mark math q s samp small span strike strong sub sup time tt u var'.split(
    ' ',
  ),
)

/**
 * A name in capitals, as older tools write them, before its value. It is only tried where names
 * begin, so that matching is linear.
 */
const CAPITALS = /(?<![^\s"'<>/=])[A-Z][^\s"'<>/=]*\s*=/

/**
 * The value of an attribute, with character references decoded; undefined if the element does not
 * have it.
 */
export function attribute(element: Element, name: string): string | undefined {
  const source = element.attributes
  if (!source.includes(name) && !CAPITALS.test(source)) return undefined
  const pattern = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g
  for (let match = pattern.exec(source); match; match = pattern.exec(source)) {
    if (match[1]?.toLowerCase() === name)
      return decodeText(match[2] ?? match[3] ?? match[4] ?? '', 'attribute')
  }
  return undefined
}

/** Whether the element's class list contains `name`. */
export function hasClass(element: Element, name: string): boolean {
  if (!element.attributes.includes(name)) return false
  const value = attribute(element, 'class')
  return value !== undefined && (value === name || value.split(/\s+/).includes(name))
}

/**
 * TABLE of the attributes in which exporters since 2026 write an equation's TeX: block and inline.
 */
export const BLOCK_EQUATION = 'data-notion-equation'
export const INLINE_EQUATION = 'data-notion-inline-equation'

/** The TeX in an element's attribute; undefined if it is not such an equation. */
export function texInAttribute(element: Element): string | undefined {
  if (!element.attributes.includes('data-notion-')) return undefined
  return attribute(element, BLOCK_EQUATION) ?? attribute(element, INLINE_EQUATION)
}

/** Whether an element is a check box: a drawn one or, since 2026, a form's. */
export function isCheckbox(element: Element): boolean {
  if (hasClass(element, 'checkbox')) return ['div', 'span', 'input'].includes(element.name)
  return element.name === 'input' && attribute(element, 'type')?.toLowerCase() === 'checkbox'
}

/** Whether a check box is checked. */
export function isChecked(box: Element): boolean {
  return (
    hasClass(box, 'checkbox-on') ||
    (box.name === 'input' && /(?:^|[\s"'])checked(?=[\s=/]|$)/i.test(box.attributes))
  )
}

/** Whether an element is an icon: text or a picture. */
export function isIcon(element: Element): boolean {
  return hasClass(element, 'icon') || hasClass(element, 'notion-static-icon')
}

/** The text of a node and all below it, in order. */
export function textContent(node: Node): string {
  if (typeof node === 'string') return node
  let text = ''
  for (const child of node.children) text += textContent(child)
  return text
}

/**
 * The words of an icon. Exporters since 2026 write an emoji into an attribute, and leave its
 * element empty.
 */
export function iconText(node: Node): string {
  if (typeof node === 'string') return node
  return node.children.map(iconText).join('') || (attribute(node, 'data-emoji') ?? '')
}

/**
 * Removes and returns an element's children before the first one that matches `isEnd`; all if none
 * matches.
 */
export function takeUntil(element: Element, isEnd: (child: Element) => boolean): Node[] {
  const end = element.children.findIndex((child) => typeof child !== 'string' && isEnd(child))
  return element.children.splice(0, end < 0 ? element.children.length : end)
}

/**
 * The first element below `root`, in document order and at most `depth` levels down, that matches
 * `test`. The bound prevents reading the same elements again for each level of a hostile page.
 */
export function find(
  root: Element,
  depth: number,
  test: (element: Element) => boolean,
): Element | undefined {
  for (const child of root.children) {
    if (typeof child === 'string') continue
    if (test(child)) return child
    const below = depth > 1 ? find(child, depth - 1, test) : undefined
    if (below) return below
  }
  return undefined
}
