import { attribute, hasClass, type Element, type Node } from '../html.ts'
import type { Flow } from '../flow.ts'
import { blockTarget } from '../links.ts'
import { plainText, type List, type ListItem } from '../tree.ts'

/** The maximum depth of headings: deeper entries become siblings of the entry before. */
const MAX_INDENT = 5

/**
 * `<nav class="table_of_contents">`: a nested list of links to the page's headings. Other content
 * of a `<nav>` is read normally.
 */
export function readNavigation(element: Element, flow: Flow): void {
  const isContents = hasClass(element, 'table_of_contents')
  const root = emptyList()
  const rest: Node[] = []
  // The entries above the next one, each below the one before it.
  const above: { item: ListItem; indent: number }[] = []
  for (const child of element.children) {
    const link = isContents ? linkOf(child) : undefined
    const text = link ? flow.inlineOf(link) : []
    if (typeof child === 'string' || !link || text.length === 0) {
      rest.push(child)
      continue
    }
    // Toggle headings have no id, so the entry also names its heading's text.
    const url = blockTarget((attribute(link, 'href') ?? '').replace(/^#/, ''), plainText(text))
    const indent = Math.min(
      Number(/indent-(\d+)/.exec(attribute(child, 'class') ?? '')?.[1] ?? 0),
      MAX_INDENT,
    )
    while ((above.at(-1)?.indent ?? -1) >= indent) above.pop()
    const parent = above[above.length - 1]?.item
    const item: ListItem = {
      type: 'listItem',
      checked: null,
      children: [{ type: 'paragraph', children: [{ type: 'link', url, children: text }] }],
    }
    flow.section.positions?.place(item, flow.section.positions.ofElement(child))
    const list = parent ? listBelow(parent) : root
    list.children.push(item)
    above.push({ item, indent })
  }
  if (root.children.length > 0) {
    flow.part()
    flow.add(root)
    flow.part()
  }
  flow.read(rest)
}

/** The link of an entry of a table of contents, if the entry is only that. */
function linkOf(entry: Node): Element | undefined {
  if (typeof entry === 'string') return undefined
  if (entry.name === 'a') return entry
  const inner = entry.children.filter((node) => typeof node !== 'string' || node.trim() !== '')
  const [only] = inner
  return entry.name === 'div' && only !== undefined && inner.length === 1 ? linkOf(only) : undefined
}

/** The list of the entries below one. */
function listBelow(item: ListItem): List {
  const [, below] = item.children
  if (below?.type === 'list') return below
  const list = emptyList()
  item.children.push(list)
  return list
}

function emptyList(): List {
  return { type: 'list', ordered: false, start: null, children: [] }
}
