// Turns the few HTML tags in our Markdown into nodes. There is no HTML parser: unknown tags stay
// text.
import type { Nodes, Parents, PhrasingContent, Root, RootContent } from 'mdast'

/** TABLE of inline tags with content. */
const INLINE = new Set(['strong', 'em', 'del', 'u', 'code', 'a', 'h2', 'h3', 'h4', 'h5', 'h6'])
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
}

/** A node that becomes this element. react-markdown reads `hName` and sanitizes every `href`. */
function element(
  name: string,
  children: Nodes[],
  properties: Record<string, string> = {},
): RootContent {
  return {
    type: 'emphasis',
    data: { hName: name, hProperties: properties },
    children: children as PhrasingContent[],
  }
}

const DETAILS = /^<details>\n<summary>(.*)<\/summary>$/

/** A remark plugin: replaces the tags of toggles, underlines and line breaks with nodes. */
export function knownHtml() {
  return (tree: Root): void => fold(tree)
}

function fold(parent: Parents): void {
  for (const child of parent.children) if ('children' in child) fold(child)
  if (!parent.children.some(({ type }) => type === 'html')) return
  const top: Frame = { tag: '', children: [] }
  const open: Frame[] = [top]
  const last = (): Frame => open.at(-1) ?? top
  for (const child of parent.children) {
    const value = child.type === 'html' ? child.value : ''
    const summary = DETAILS.exec(value)?.[1]
    const [, closing, tag = ''] = /^<(\/?)([a-z]\w*)>$/.exec(value) ?? []
    if (summary !== undefined)
      open.push({
        tag: 'details',
        source: child,
        children: [element('summary', readInline(summary))],
      })
    else if (/^<br ?\/?>$/.test(value)) last().children.push({ type: 'break' })
    else if (closing === '/' && tag === last().tag) {
      const { children } = open.pop() ?? top
      last().children.push(element(tag, children))
    } else if (closing === '' && INLINE.has(tag)) open.push({ tag, source: child, children: [] })
    else last().children.push(child.type === 'html' ? { type: 'text', value } : child)
  }
  // An unclosed tag was meant as text.
  while (open.length > 1) {
    const { source, children } = open.pop() ?? top
    last().children.push(
      ...(source?.type === 'html' ? [{ type: 'text' as const, value: source.value }] : []),
      ...children,
    )
  }
  parent.children = top.children as typeof parent.children
}

interface Frame {
  tag: string
  source?: Nodes
  children: Nodes[]
}

/**
 * Parses the content of a `<summary>`, where Markdown is not parsed: the same tags, links, and four
 * entities.
 */
function readInline(html: string): Nodes[] {
  const top: { tag: string; href?: string; children: Nodes[] } = { tag: '', children: [] }
  const open = [top]
  const last = () => open.at(-1) ?? top
  for (const [token] of html.matchAll(/<\/?[a-z]\w*(?: [^<>]*)?>|[^<]+|</g)) {
    const [, closing, tag = '', href] = /^<(\/?)([a-z]\w*)(?: href="([^"]*)")?>$/.exec(token) ?? []
    if (token === '<br>') last().children.push({ type: 'break' })
    else if (closing === '/' && open.length > 1 && tag === last().tag) {
      const { href, children } = open.pop() ?? top
      last().children.push(element(tag, children, href === undefined ? {} : { href }))
    } else if (closing === '' && INLINE.has(tag))
      open.push({ tag, ...(href === undefined ? {} : { href: decode(href) }), children: [] })
    else last().children.push(text(token))
  }
  while (open.length > 1) {
    const { children } = open.pop() ?? top
    last().children.push(...children)
  }
  return top.children
}

const decode = (html: string): string =>
  html.replaceAll(/&(?:amp|lt|gt|quot);/g, (entity) => ENTITIES[entity] ?? entity)
const text = (html: string): Nodes => ({ type: 'text', value: decode(html) })
