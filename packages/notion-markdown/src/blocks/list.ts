import { attribute, hasClass, isCheckbox, isChecked, type Element, type Node } from '../html.ts'
import type { Flow } from '../flow.ts'
import type { ListItem } from '../tree.ts'
import { readDetails } from './toggle.ts'

/** `<ul>`: bulleted items, to-dos, toggles, and the lists of a sitemap. */
export function readBulleted(element: Element, flow: Flow): void {
  if (hasClass(element, 'toggle')) return readToggle(element, flow)
  if (attribute(element, 'id')?.startsWith('id::')) return readSitemap(element, flow)
  const todo = hasClass(element, 'to-do-list')
  addItems(element, flow, null, (item) => (todo ? isDone(item) : null))
}

/** `<ol>`: numbered items, one per element; `start` is the actual number. */
export function readNumbered(element: Element, flow: Flow): void {
  const start = attribute(element, 'start')
  const number = start === undefined ? NaN : Number.parseInt(start, 10)
  // CommonMark numbers have at most nine digits and no sign.
  addItems(element, flow, number >= 0 && number <= 999_999_999 ? number : NaN, () => null)
}

/** A toggle's `<li>` contains its `<details>`, which is a block of its own. */
function readToggle(element: Element, flow: Flow): void {
  for (const child of element.children) {
    if (typeof child !== 'string' && child.name === 'li') flow.read(child.children)
    else if (typeof child !== 'string' && child.name === 'details') readDetails(child, flow)
    else flow.read([child])
  }
}

/**
 * Adds one list with an item for each `<li>`. Content between two belongs to the first; content
 * before all of them is a separate item.
 */
function addItems(
  element: Element,
  flow: Flow,
  start: number | null,
  checked: (item: Element) => boolean | null,
): void {
  const { positions } = flow.section
  const items: ListItem[] = []
  for (const { item, nodes } of partsOf(element)) {
    const done = item && checked(item)
    const shown = done === null ? nodes : withoutBox(nodes)
    const around = item ? positions?.enter(item) : undefined
    const children = flow.inside(shown)
    if (around) positions?.leave(around)
    const last = items[items.length - 1]
    if (item || (!last && children.length > 0)) {
      const node: ListItem = { type: 'listItem', checked: done, children }
      if (item) positions?.place(node, positions.ofElement(item))
      items.push(node)
    } else for (const child of children) last?.children.push(child)
  }
  if (items.length === 0) return
  const ordered = start !== null
  flow.add({
    type: 'list',
    ordered,
    start: ordered ? numberFor(start, flow) : null,
    children: items,
  })
}

/** A list's children, split into its items and the content between them. */
function partsOf(list: Element): { item: Element | null; nodes: Node[] }[] {
  const parts: { item: Element | null; nodes: Node[] }[] = []
  for (const child of list.children) {
    const last = parts[parts.length - 1]
    if (typeof child !== 'string' && child.name === 'li')
      parts.push({ item: child, nodes: child.children })
    else if (last?.item === null) last.nodes.push(child)
    else parts.push({ item: null, nodes: [child] })
  }
  return parts
}

/** The number of a list's first item: its own, else the next after the list before it, else 1. */
function numberFor(start: number, flow: Flow): number {
  if (!Number.isNaN(start)) return start
  const last = flow.blocks[flow.blocks.length - 1]
  return last?.type === 'list' && last.ordered ? (last.start ?? 0) + last.children.length : 1
}

function isDone(item: Element): boolean {
  return item.children.flatMap(labelled).some((node) => isBox(node) && isChecked(node))
}

/** A to-do's content without its check box, which is empty unless its end tag is missing. */
function withoutBox(nodes: readonly Node[]): Node[] {
  return nodes.flatMap(labelled).flatMap((node) => (isBox(node) ? node.children : [node]))
}

/** The content of a label around a check box; any other node unchanged. */
function labelled(node: Node): Node[] {
  return typeof node !== 'string' && node.name === 'label' && node.children.some(isBox)
    ? node.children
    : [node]
}

function isBox(node: Node): node is Element {
  return typeof node !== 'string' && isCheckbox(node)
}

/**
 * The sitemap (index.html of a workspace export): `<ul id="id::…">` is one entry, its link first,
 * its sub-pages in `<li>`. The outermost has no link, but the workspace's details, which are above
 * the list.
 */
function readSitemap(element: Element, flow: Flow): void {
  const label = element.children.filter((node) => typeof node === 'string' || node.name !== 'li')
  const below = element.children.flatMap((node) =>
    typeof node !== 'string' && node.name === 'li' ? node.children : [],
  )
  const text = flow.inline(label)
  if (text.length === 0) {
    flow.read(below)
    return
  }
  const children = [{ type: 'paragraph' as const, children: text }, ...flow.inside(below)]
  flow.add({
    type: 'list',
    ordered: false,
    start: null,
    children: [{ type: 'listItem', checked: null, children }],
  })
}
