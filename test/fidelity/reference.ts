// A plain and slow printer of an outline, by the unified project's own serialiser. It knows nothing of HTML and is no part
// of the product: it shows that the judge accepts a right document, so that its complaints mean something.
import Slugger from 'github-slugger'
import type { BlockContent, Heading, List, ListItem, PhrasingContent, RootContent } from 'mdast'
import { gfmToMarkdown } from 'mdast-util-gfm'
import { mathToMarkdown } from 'mdast-util-math'
import { toMarkdown } from 'mdast-util-to-markdown'
import { IMAGE, atoms, isBlank, plainText, summaryRuns, type Block, type Outline, type Run } from './outline.ts'

/** Prints an outline. Faithful wherever the serialiser is; spaces and breaks are what both sides agree on. */
export function printOutline(outline: Outline): string {
  const slugger = new Slugger()
  const slugs = outline.blocks
    .filter((block) => block.kind === 'heading' || (block.kind === 'toggle' && block.level > 0))
    .map((block) => slugger.slug(plainText('runs' in block ? block.runs.map((run) => ({ text: run.text, marks: [] })) : [])))
  const [nodes] = read(outline.blocks, 0, 0, slugs)
  return toMarkdown({ type: 'root', children: nodes }, {
    extensions: [gfmToMarkdown({ tablePipeAlign: false }), mathToMarkdown()],
    bullet: '-', rule: '*', emphasis: '*', fences: true, listItemIndent: 'one', resourceLink: false,
  })
}

/** Reads the blocks of one depth, from `at`; says where it stopped. */
function read(blocks: readonly Block[], at: number, depth: number, slugs: readonly string[]): [RootContent[], number] {
  const out: RootContent[] = []
  while (at < blocks.length && blocks[at]!.depth >= depth) {
    const block = blocks[at]!
    const [inner, next] = read(blocks, at + 1, depth + 1, slugs)
    at = next
    out.push(...print(block, inner as BlockContent[], out.at(-1), slugs))
  }
  return [out, at]
}

function print(block: Block, inner: BlockContent[], last: RootContent | undefined, slugs: readonly string[]): RootContent[] {
  switch (block.kind) {
    case 'heading':
      return [{ type: 'heading', depth: (block.level || 2) as Heading['depth'], children: phrasing(block.runs, slugs, true) }]
    case 'paragraph':
      return isBlank(block.runs) ? [] : [{ type: 'paragraph', children: phrasing(block.runs, slugs) }]
    case 'quote':
      return [{ type: 'blockquote', children: inner }]
    case 'divider':
      return [{ type: 'thematicBreak' }]
    case 'math':
      return [{ type: 'math', value: block.tex.split('\n').filter((line) => line.trim() !== '').join('\n') }]
    case 'code':
      return [{ type: 'code', lang: block.lang === 'Plain Text' ? null : block.lang.split(' ')[0] || null, value: block.text }]
    case 'image':
      return [{ type: 'paragraph', children: [{ type: 'image', url: encodeURI(block.src), alt: plainText(block.runs, true) }] }, ...(block.runs.some((run) => run.marks.length > 0 || run.math) ? [{ type: 'paragraph' as const, children: phrasing(block.runs, slugs) }] : [])]
    case 'table': {
      const rows = block.header ? block.rows : [[], ...block.rows]
      const width = Math.max(...rows.map((row) => row.length))
      const pad = (row: Run[][]) => [...row, ...Array.from({ length: width - row.length }, () => [])]
      return [{ type: 'table', children: rows.map((row) => ({ type: 'tableRow', children: pad(row).map((cell) => ({ type: 'tableCell', children: phrasing(cell, slugs).map((node) => (node.type === 'break' ? { type: 'html', value: '<br>' } : node)) })) })) }]
    }
    case 'toggle': {
      const text = html(block.runs)
      const summary = block.level > 0 ? `<h${block.level}>${text}</h${block.level}>` : text
      return [{ type: 'html', value: `<details>\n<summary>${summary}</summary>` }, ...inner, { type: 'html', value: '</details>' }]
    }
    case 'item': {
      const item: ListItem = { type: 'listItem', spread: false, checked: block.checked ?? null, children: inner }
      if (block.list === 'todo' && inner[0]?.type !== 'paragraph') {
        item.checked = null
        item.children = [{ type: 'paragraph', children: [{ type: 'html', value: `[${block.checked ? 'x' : ' '}]` }] }, ...inner]
      }
      if (last?.type === 'list' && !block.opens) {
        last.children.push(item)
        return []
      }
      const list: List = { type: 'list', ordered: block.list === 'number', start: block.number ?? null, spread: false, children: [item] }
      return [list]
    }
  }
}

/** Phrasing content of runs: text cut wherever the marks change, each mark innermost to outermost in one fixed order. */
function phrasing(runs: readonly Run[], slugs: readonly string[], flat = false): PhrasingContent[] {
  return build(pieces(runs, flat), 0, slugs)
}

interface Piece { text: string; marks: string[] }

const ORDER = ['link', 'del', 'strong', 'em', 'u', 'code']

function pieces(runs: readonly Run[], flat: boolean): Piece[] {
  const out: Piece[] = []
  const list = atoms(runs, flat)
  for (const [index, atom] of list.entries()) {
    const isSpace = /^[ \n\u{E001}\u{E003}]$/u.test(atom.text)
    const next = list[index + 1]
    const marks = isSpace ? (out.at(-1)?.marks ?? []).filter((mark) => next?.marks.includes(mark)) : atom.marks
    const isCode = marks.includes('code')
    const last = out.at(-1)
    const text = isSpace && atom.text !== ' ' ? '\n' : atom.text
    const whole = text === '\n' || text.length > 2 || text === IMAGE
    if (last && last.marks.join() === marks.join() && !whole && last.text !== '\n' && !/^\$[\s\S]+\$$/.test(last.text)) last.text += text
    else out.push({ text, marks: text === '\n' && isCode ? marks.filter((mark) => mark !== 'code') : marks })
  }
  return out
}

function build(list: readonly Piece[], rank: number, slugs: readonly string[]): PhrasingContent[] {
  const out: PhrasingContent[] = []
  const name = ORDER[rank]
  const markOf = (piece: Piece) => piece.marks.find((mark) => mark.split(' ')[0] === name)
  for (let at = 0; at < list.length;) {
    const mark = name && markOf(list[at]!)
    let end = name ? at + 1 : list.length
    while (end < list.length && markOf(list[end]!) === mark) end++
    const group = list.slice(at, end)
    at = end
    if (!name) out.push(...group.map(leaf))
    else if (!mark) out.push(...build(group, rank + 1, slugs))
    else if (name === 'code') out.push(...group.map((piece): PhrasingContent => ({ type: 'inlineCode', value: piece.text })))
    else {
      const children = build(group, rank + 1, slugs)
      if (name === 'link') out.push({ type: 'link', url: address(mark.slice(5), slugs), children: children as never })
      else if (name === 'u') out.push({ type: 'html', value: '<u>' }, ...children, { type: 'html', value: '</u>' })
      else out.push({ type: name === 'del' ? 'delete' : name === 'em' ? 'emphasis' : 'strong', children })
    }
  }
  return out
}

const address = (mark: string, slugs: readonly string[]) => (mark.startsWith('#') ? `#${slugs[Number(mark.slice(1))] ?? ''}` : encodeURI(mark))

function leaf(piece: Piece): PhrasingContent {
  if (piece.text === '\n') return { type: 'break' }
  if (piece.text === IMAGE) return { type: 'image', url: encodeURI(piece.marks.find((mark) => mark.startsWith('image '))?.slice(6) ?? ''), alt: '' }
  const tex = /^\$([\s\S]+)\$$/.exec(piece.text)?.[1]
  return tex !== undefined && piece.text.length > 2 ? { type: 'inlineMath', value: tex } : { type: 'text', value: piece.text }
}

const escapeHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** A summary's text as raw HTML. */
function html(runs: readonly Run[]): string {
  return pieces(summaryRuns(runs), true)
    .map(({ text, marks }) =>
      marks.reduce((inner, mark) => (mark.startsWith('link ') ? `<a href="${escapeHtml(mark.slice(5)).replaceAll('"', '&quot;')}">${inner}</a>` : `<${mark}>${inner}</${mark}>`), escapeHtml(text)),
    )
    .join('')
}
