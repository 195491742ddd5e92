import { attribute, find, type Element } from '../html.ts'
import type { Flow } from '../flow.ts'
import { placeOfBlock } from '../links.ts'
import { plainText, type List } from '../tree.ts'

/** `<nav class="table_of_contents">`: a nested list of links to the page's headings. */
export function readTableOfContents(element: Element, flow: Flow): void {
  const root: List = { type: 'list', ordered: false, start: null, children: [] }
  // The open lists, each with the indentation of its items.
  const lists: { list: List; indent: number }[] = [{ list: root, indent: -1 }]
  for (const child of element.children) {
    if (typeof child === 'string') continue
    const link = find(child, 2, (below) => below.name === 'a') ?? (child.name === 'a' ? child : undefined)
    const text = link ? flow.inline(link.children) : []
    if (!link || text.length === 0) continue
    // Toggle headings carry no id, so the entry names its heading's text as well.
    const url = placeOfBlock((attribute(link, 'href') ?? '').replace(/^#/, ''), plainText(text))
    const indent = Number(/indent-(\d+)/.exec(attribute(child, 'class') ?? '')?.[1] ?? 0)
    while (lists.length > 1 && lists[lists.length - 1]!.indent > indent) lists.pop()
    let open = lists[lists.length - 1]!
    if (open.indent < indent && lists.length > 1) {
      const list: List = { type: 'list', ordered: false, start: null, children: [] }
      open.list.children[open.list.children.length - 1]!.children.push(list)
      open = { list, indent }
      lists.push(open)
    } else if (lists.length === 1) {
      open = { list: root, indent }
      lists.push(open)
    }
    open.list.children.push({ type: 'listItem', checked: null, children: [{ type: 'paragraph', children: [{ type: 'link', url, children: text }] }] })
  }
  if (root.children.length === 0) return
  flow.part()
  flow.add(root)
  flow.part()
}
