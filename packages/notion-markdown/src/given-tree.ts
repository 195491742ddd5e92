// Checks trees that a caller made or changed: fields that mdast leaves out are added, and unknown
// nodes are refused, because leaving them out would lose text.
import type { Root } from './tree.ts'

/** Where a node is. */
type Place = 'block' | 'item' | 'row' | 'cell' | 'inline'

/** The content of a kind of node. */
interface NodeKind {
  readonly children?: Place
  /** Fields that must be strings. */
  readonly strings?: readonly string[]
  /** Values of fields that are missing or null. */
  readonly defaults?: Readonly<Record<string, unknown>>
}

const MARK: NodeKind = { children: 'inline' }
const TEXT: NodeKind = { strings: ['value'] }

/** TABLE of the nodes that can be at each place. */
const NODES: Readonly<Record<Place, Readonly<Record<string, NodeKind>>>> = {
  block: {
    heading: { children: 'inline', defaults: { id: null } },
    paragraph: { children: 'inline' },
    list: { children: 'item', defaults: { ordered: false, start: null } },
    blockquote: { children: 'block' },
    code: { strings: ['value'], defaults: { lang: null } },
    math: TEXT,
    table: { children: 'row' },
    thematicBreak: {},
    details: { children: 'block', defaults: { depth: null, id: null } },
  },
  item: { listItem: { children: 'block', defaults: { checked: null } } },
  row: { tableRow: { children: 'cell' } },
  cell: { tableCell: { children: 'inline' } },
  inline: {
    text: TEXT,
    break: {},
    inlineCode: TEXT,
    inlineMath: TEXT,
    strong: MARK,
    emphasis: MARK,
    delete: MARK,
    underline: MARK,
    link: { children: 'inline', strings: ['url'] },
    image: { strings: ['url'], defaults: { alt: '' } },
  },
}

/**
 * A copy of a tree with all fields.
 *
 * @throws TypeError if a node is not one of `parsePage`'s in its place
 */
export function completeTree(root: Root): Root {
  return { ...root, children: nodesOf(root.children, 'block') as Root['children'] }
}

function nodesOf(nodes: unknown, place: Place): unknown[] {
  if (!Array.isArray(nodes)) throw new TypeError(`toMarkdown needs a list of nodes (${place}).`)
  return nodes.map((node: unknown) => complete(node, place))
}

function complete(given: unknown, place: Place): object {
  const node: Record<string, unknown> = typeof given === 'object' && given ? { ...given } : {}
  const type = String(node['type'])
  const kind = Object.hasOwn(NODES[place], type) ? NODES[place][type] : undefined
  if (!kind) throw new TypeError(`toMarkdown does not know the node ${type} (${place}).`)
  for (const field of kind.strings ?? [])
    if (typeof node[field] !== 'string')
      throw new TypeError(`toMarkdown needs a string as ${field} of the node ${type}.`)
  for (const [field, value] of Object.entries(kind.defaults ?? {})) node[field] ??= value
  if (kind.children) node['children'] = nodesOf(node['children'], kind.children)
  if (type === 'details') node['summary'] = nodesOf(node['summary'], 'inline')
  return node
}
