// What a Markdown document renders to: read with an independent CommonMark + GFM + math parser, and
// raw HTML with parse5.
import Slugger from 'github-slugger'
import type { Break, Link, Nodes, PhrasingContent, RootContent, Table } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { mathFromMarkdown } from 'mdast-util-math'
import { gfm } from 'micromark-extension-gfm'
import { math } from 'micromark-extension-math'
import { linkRuns, parsePart, readRuns, find } from './dom.ts'
import {
  IMAGE,
  cellTex,
  isBlank,
  plainAddress,
  plainText,
  wordsOfBlocks,
  type Block,
  type Outline,
  type Run,
} from './outline.ts'

/** Reads a Markdown document as its readers will see it. */
export function readMarkdown(markdown: string): Outline {
  const tree = fromMarkdown(markdown, {
    extensions: [gfm(), math()],
    mdastExtensions: [gfmFromMarkdown(), mathFromMarkdown()],
  })
  const reader = new Reader(markdown)
  reader.flow(tree.children, 0)
  const blocks = resolveAnchors(reader.blocks)
  return { blocks, words: wordsOfBlocks(blocks), faults: reader.faults }
}

/** TABLE: raw HTML that a document may hold among words → the mark that it stands for. */
const INLINE_HTML: Record<string, string> = {
  u: 'u',
  strong: 'strong',
  em: 'em',
  del: 'del',
  code: 'code',
}

/**
 * GFM takes the backslash from an escaped pipe of a cell before it looks for inline content; this
 * parser does so for code only.
 */
export const unescapePipes = (text: string): string =>
  text.replace(/\\([\\|])/g, (pair, unit: string) => (unit === '|' ? unit : pair))

class Reader {
  blocks: Block[] = []
  faults: string[] = []
  #source: string
  #inCell = false
  #inLink = false

  constructor(source: string) {
    this.#source = source
  }

  /** Reads sibling nodes. Raw `<details>` tags stand among them and nest what is between. */
  flow(nodes: readonly RootContent[], base: number): void {
    let depth = base
    let summary: Extract<Block, { kind: 'toggle' }> | undefined
    for (const node of nodes) {
      if (node.type === 'html') {
        // A raw block may hold several tags: <details>, <summary> with its text, </details>.
        for (const [, text = '', tag = ''] of node.value.matchAll(
          /((?:(?!<\/?(?:details|summary)\b)[\s\S])*)(<\/?(?:details|summary)\b[^>]*>|$)/gi,
        )) {
          if (text.trim() !== '') {
            if (summary) this.#summaryHtml(summary, text)
            else this.#fault('raw HTML', text)
          }
          const name = tag.replace(/[\s>].*$/s, '').toLowerCase()
          if (name === '<details') {
            this.blocks.push({ kind: 'toggle', depth, level: 0, runs: [] })
            depth++
          } else if (name === '</details') {
            depth--
            if (depth < base) {
              this.#fault('</details> without a beginning', tag)
              depth = base
            }
          } else if (name === '<summary') {
            const owner = this.blocks.at(-1)
            if (owner?.kind === 'toggle' && owner.depth === depth - 1) summary = owner
            else this.#fault('<summary> outside of <details>', tag)
          } else if (name === '</summary') summary = undefined
        }
      } else if (summary) {
        if (node.type === 'heading') summary.level = node.depth
        if (node.type === 'heading' || node.type === 'paragraph')
          summary.runs.push(...this.#phrasing(node.children, []))
        else this.#fault('a block in <summary>', node.type)
      } else this.#block(node, depth)
    }
    if (depth !== base) this.#fault('<details> without an end', nodes.at(0)?.type ?? '')
  }

  #fault(what: string, where: string): void {
    this.faults.push(`${what}: ${where.trim().slice(0, 120)}`)
  }

  #summaryHtml(toggle: Extract<Block, { kind: 'toggle' }>, html: string): void {
    const nodes = parsePart(html)
    const [heading] = find(nodes, (element) => /^h[1-6]$/.test(element.tagName))
    if (heading) toggle.level = Number(heading.tagName[1])
    const foreign = find(
      nodes,
      (element) => !/^(?:h[1-6]|strong|em|del|u|code|a|br)$/.test(element.tagName),
    )
    if (foreign.length > 0) this.#fault('raw HTML in <summary>', html)
    toggle.runs.push(...readRuns(nodes))
  }

  #block(node: RootContent, depth: number): void {
    switch (node.type) {
      case 'heading':
        return void this.blocks.push({
          kind: 'heading',
          depth,
          level: node.depth,
          runs: this.#phrasing(node.children, []),
        })
      case 'paragraph':
        return this.#paragraph(node.children, depth)
      case 'blockquote':
        this.blocks.push({ kind: 'quote', depth })
        return this.flow(node.children, depth + 1)
      case 'list':
        for (const [index, item] of node.children.entries()) {
          const todo = typeof item.checked === 'boolean'
          const at = this.blocks.length
          this.blocks.push({
            kind: 'item',
            depth,
            opens: index === 0,
            list: todo ? 'todo' : node.ordered ? 'number' : 'bullet',
            ...(todo ? { checked: item.checked === true } : {}),
            ...(node.ordered ? { number: (node.start ?? 1) + index } : {}),
          })
          this.flow(item.children, depth + 1)
          if (!todo && /^\[[ x]\]/.test(item.children[0] ? this.#slice(item.children[0]) : ''))
            this.#emptyTask(at)
        }
        return
      case 'code':
        return void this.blocks.push({
          kind: 'code',
          depth,
          lang: [node.lang, node.meta].filter((part) => part).join(' '),
          text: node.value,
        })
      case 'math':
        if (node.meta) this.#fault('words after $$', node.meta)
        return void this.blocks.push({ kind: 'math', depth, tex: node.value })
      case 'table':
        return void this.blocks.push({ kind: 'table', depth, header: true, rows: this.#rows(node) })
      case 'thematicBreak':
        if (this.#slice(node) !== '***') this.#fault('a divider that is not ***', this.#slice(node))
        return void this.blocks.push({ kind: 'divider', depth })
      default:
        return this.#fault('a block that no export holds', node.type)
    }
  }

  /** GFM knows no empty task: its brackets stay text. */
  #emptyTask(at: number): void {
    const [item, text, ...more] = this.blocks.slice(at)
    if (
      item?.kind !== 'item' ||
      text?.kind !== 'paragraph' ||
      more.some((block) => block.depth === text.depth && block.kind === 'paragraph')
    )
      return
    const box = /^\[([ x])\]$/.exec(plainText(text.runs))
    if (!box) return
    this.blocks[at] = { ...item, list: 'todo', checked: box[1] === 'x' }
    this.blocks.splice(at + 1, 1)
  }

  #rows(table: Table): Run[][][] {
    this.#inCell = true
    const rows = table.children.map((row) => row.children.map((cell) => this.#cell(cell.children)))
    this.#inCell = false
    return rows
  }

  #cell(nodes: readonly PhrasingContent[]): Run[] {
    return this.#phrasing(nodes, []).map((run) =>
      run.math ? { ...run, text: cellTex(unescapePipes(run.text)) } : run,
    )
  }

  /** A paragraph; one that holds nothing but images is so many images. */
  #paragraph(nodes: readonly PhrasingContent[], depth: number): void {
    const runs = this.#phrasing(nodes, [])
    const pictures = runs.filter((run) => run.text.startsWith(IMAGE))
    if (pictures.length === 0 || !isBlank(runs.filter((run) => !run.text.startsWith(IMAGE))))
      return void this.blocks.push({ kind: 'paragraph', depth, runs })
    for (const picture of pictures) {
      const src =
        picture.marks.find((mark) => mark.startsWith('image '))?.slice('image '.length) ?? ''
      this.blocks.push({
        kind: 'image',
        depth,
        src,
        runs: [{ text: picture.text.slice(IMAGE.length), marks: [] }],
      })
    }
  }

  #phrasing(nodes: readonly PhrasingContent[], outer: readonly string[]): Run[] {
    const runs: Run[] = []
    let marks = [...outer]
    for (const node of nodes) {
      if (node.type === 'html') {
        const [, end, name = ''] = /^<(\/?)([a-z][a-z0-9]*)\s*\/?>$/.exec(node.value) ?? []
        const mark = INLINE_HTML[name]
        if (name === 'br') {
          if (!this.#inCell) this.#fault('<br> outside of a table', this.#slice(node))
          runs.push({ text: '\n', marks })
        } else if (!mark) this.#fault('raw HTML', node.value)
        else if (!end) marks = [...marks, mark]
        else if (marks.includes(mark) && !outer.includes(mark))
          marks = marks.filter((inner) => inner !== mark)
        else this.#fault('an end tag without a beginning', node.value)
      } else runs.push(...this.#inline(node, marks))
    }
    if (marks.length > outer.length)
      this.#fault('a tag without an end', marks.slice(outer.length).join(' '))
    return runs
  }

  #inline(node: Exclude<PhrasingContent, { type: 'html' }>, marks: readonly string[]): Run[] {
    const within = (mark: string) => (marks.includes(mark) ? marks : [...marks, mark])
    switch (node.type) {
      case 'text':
        return [{ text: node.value.replaceAll('\n', ' '), marks }]
      case 'break':
        this.#checkBreak(node)
        return [{ text: '\n', marks }]
      case 'emphasis':
        return this.#phrasing(node.children, within('em'))
      case 'strong':
        return this.#phrasing(node.children, within('strong'))
      case 'delete':
        return this.#phrasing(node.children, within('del'))
      case 'inlineCode':
        return [{ text: node.value, marks: within('code') }]
      case 'inlineMath':
        return [{ text: node.value, marks, math: true }]
      case 'link':
        return this.#link(node, marks)
      case 'image':
        return [
          { text: IMAGE + (node.alt ?? ''), marks: [...marks, `image ${plainAddress(node.url)}`] },
        ]
      default:
        this.#fault('inline content that no export holds', node.type)
        return 'children' in node ? this.#phrasing(node.children, marks) : []
    }
  }

  #link(node: Link, marks: readonly string[]): Run[] {
    this.#inLink = true
    const runs = this.#phrasing(node.children, [])
    this.#inLink = false
    return linkRuns(runs, node.url, marks)
  }

  /**
   * A line ends in a backslash. In a link's text, where some readers take that for the link's end,
   * it ends in spaces, unless it is empty.
   */
  #checkBreak(node: Break): void {
    const hasSpaces = this.#slice(node)[0] !== '\\'
    const isEmpty = this.#source[(node.position?.start.offset ?? 0) - 1] === '\n'
    if (hasSpaces && !this.#inLink) this.#fault('a line break of spaces', this.#slice(node))
    if (!hasSpaces && this.#inLink && !isEmpty)
      this.#fault('a backslash that ends a line of a link', this.#slice(node))
  }

  #slice(node: Nodes): string {
    return this.#source.slice(node.position?.start.offset ?? 0, node.position?.end.offset ?? 0)
  }
}

/** Turns `#slug` into `#N`, the number of the heading that GitHub gives this slug. */
function resolveAnchors(blocks: Block[]): Block[] {
  const slugger = new Slugger()
  const numbers = new Map<string, number>()
  for (const block of blocks) {
    if (block.kind !== 'heading' && !(block.kind === 'toggle' && block.level > 0)) continue
    numbers.set(
      slugger.slug(plainText(block.runs.map((run) => ({ text: run.text, marks: [] })))),
      numbers.size,
    )
  }
  const resolve = (runs: Run[]): Run[] =>
    runs.map((run) => ({
      ...run,
      marks: run.marks.map((mark) =>
        mark.startsWith('link #')
          ? `link #${numbers.get(mark.slice(6)) ?? `dead ${mark.slice(6)}`}`
          : mark,
      ),
    }))
  return blocks.map((block) => {
    if (block.kind === 'table') return { ...block, rows: block.rows.map((row) => row.map(resolve)) }
    return 'runs' in block ? { ...block, runs: resolve(block.runs) } : block
  })
}
