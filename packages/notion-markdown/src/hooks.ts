// Hooks: a caller's changes to a tree before it is written: addresses, heading depths, whole
// blocks.
import { MARKER } from './links.ts'
import type { Block, Depth, Inline, ListItem, Root, TableCell, TableRow } from './tree.ts'

/** Changes to a page's tree. Each hook is called once per node of its kind, in page order. */
export interface Hooks {
  /**
   * The address of a link to the web, to mail or within Notion. Null removes the link from its
   * text. Not called for links to headings of the same page.
   *
   * @param url the address in the document
   */
  link?: (url: string) => string | null
  /**
   * The address of an image, or of a file of the export. Null replaces an image by its description,
   * and removes a link from its text.
   *
   * @param url the address in the document: relative to the archive's root and percent-encoded, or
   *   an image's address on the web
   */
  asset?: (url: string, kind: 'image' | 'file') => string | null
  /**
   * How many levels headings are lowered, including the page's title; the deepest is 6. Default: 0.
   */
  headingOffset?: number
  /**
   * The replacement of a block: itself, others, or null for none. Blocks inside a block come before
   * it.
   */
  block?: (block: Block) => Block | readonly Block[] | null
}

/** The tree with a caller's changes. The original is not modified. */
export function applyHooks(root: Root, hooks: Hooks): Root {
  const { link, asset, block, headingOffset = 0 } = hooks
  if (!Number.isInteger(headingOffset) || headingOffset < 0 || headingOffset > 5)
    throw new RangeError(`headingOffset is a whole number from 0 to 5; it was ${headingOffset}.`)
  if (!link && !asset && !block && headingOffset === 0) return root
  return { type: 'root', children: new Changes(hooks).blocks(root.children) }
}

/** An address of a file of the export: it has no scheme, and is not a fragment. */
const isFile = (url: string): boolean => !/^(?:[a-z][a-z0-9+.-]*:|\/\/|#)/i.test(url)

class Changes {
  readonly #hooks: Hooks
  readonly #offset: number

  constructor(hooks: Hooks) {
    this.#hooks = hooks
    this.#offset = hooks.headingOffset ?? 0
  }

  blocks(blocks: readonly Block[]): Block[] {
    return blocks.flatMap((block) => {
      const changed = this.#inside(block)
      const put = this.#hooks.block ? this.#hooks.block(changed) : changed
      return put === null ? [] : put
    })
  }

  #inside(block: Block): Block {
    switch (block.type) {
      case 'heading':
        return { ...block, depth: this.#depth(block.depth), children: this.#line(block.children) }
      case 'paragraph':
        return { ...block, children: this.#line(block.children) }
      case 'list':
        return { ...block, children: block.children.map((item) => this.#item(item)) }
      case 'blockquote':
        return { ...block, children: this.blocks(block.children) }
      case 'table':
        return { ...block, children: block.children.map((row) => this.#row(row)) }
      case 'details':
        return {
          ...block,
          depth: block.depth === null ? null : this.#depth(block.depth),
          summary: this.#line(block.summary),
          children: this.blocks(block.children),
        }
      default:
        return block
    }
  }

  #item(item: ListItem): ListItem {
    return { ...item, children: this.blocks(item.children) }
  }

  #row(row: TableRow): TableRow {
    const children = row.children.map((cell): TableCell => ({
      ...cell,
      children: this.#line(cell.children),
    }))
    return { ...row, children }
  }

  #depth(depth: Depth): Depth {
    return Math.min(6, depth + this.#offset) as Depth
  }

  #line(nodes: readonly Inline[]): Inline[] {
    return nodes.flatMap((node): Inline[] => {
      if (node.type === 'image') {
        const url = this.#ask(node.url, 'image')
        if (url !== null) return [{ ...node, url }]
        return node.alt === '' ? [] : [{ type: 'text', value: node.alt }]
      }
      if (node.type === 'link') {
        const [url, children] = [this.#ask(node.url, 'file'), this.#line(node.children)]
        return url === null ? children : [{ ...node, url, children }]
      }
      return 'children' in node ? [{ ...node, children: this.#line(node.children) }] : [node]
    })
  }

  #ask(url: string, kind: 'image' | 'file'): string | null {
    const { link, asset } = this.#hooks
    if (url.startsWith(MARKER)) return url
    if (kind === 'image' || isFile(url)) return asset ? asset(url, kind) : url
    return link && !url.startsWith('#') ? link(url) : url
  }
}
