// Writes inline nodes as HTML, for a toggle's `<summary>`: CommonMark reads Markdown inside it only
// between blank lines.
import type { Depth, Inline } from './tree.ts'

const TAG = { strong: 'strong', emphasis: 'em', delete: 'del', underline: 'u' } as const
const ENTITY: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/**
 * The content of a `<summary>`, on one line: a blank line would end the HTML. `depth` makes it a
 * heading, `anchor` is its id.
 */
export function writeSummary(
  nodes: readonly Inline[],
  depth: Depth | null,
  anchor: string | null,
): string {
  const html = nodes.map(writeNode).join('')
  const id = anchor === null ? '' : ` id="${anchor}"`
  return depth === null ? html : `<h${depth}${id}>${html}</h${depth}>`
}

/** Whether a summary contains what HTML cannot express: an equation would show as its source. */
export function needsMarkdown(nodes: readonly Inline[]): boolean {
  return nodes.some(
    (node) => node.type === 'inlineMath' || ('children' in node && needsMarkdown(node.children)),
  )
}

function writeNode(node: Inline): string {
  switch (node.type) {
    case 'text':
      return escape(node.value)
    case 'break':
      return '<br>'
    case 'inlineCode':
      return `<code>${escape(node.value)}</code>`
    case 'inlineMath':
      return escape(`$${node.value}$`)
    case 'image':
      return escape(node.alt)
    case 'link':
      return `<a href="${escape(node.url)}">${node.children.map(writeNode).join('')}</a>`
    default:
      return `<${TAG[node.type]}>${node.children.map(writeNode).join('')}</${TAG[node.type]}>`
  }
}

function escape(text: string): string {
  return text.replace(/[&<>"\n]/g, (char) => ENTITY[char] ?? ' ')
}
