// What a page of a Notion export must become: read from the exporter's HTML as a browser would see
// it, put in terms of Markdown.
import {
  addressOfMedium,
  attribute,
  elements,
  find,
  hasClass,
  isBox,
  isChecked,
  isBesideTitle,
  isElement,
  isInvisible,
  isText,
  isUnsafe,
  linkRuns,
  outside,
  ownTex,
  parseDocument,
  rawText,
  readRuns,
  texOf,
  type Element,
  type Node,
} from './dom.ts'
import {
  IMAGE,
  cellTex,
  isBlank,
  plainAddress,
  plainText,
  splitParagraphs,
  trimPlain,
  type Block,
  type ListKind,
  type Outline,
  type Run,
} from './outline.ts'
import { INLINE, boxOf, holdsValues, wordsOfPage } from './visible.ts'

/** Elements that are, or may hold, blocks. */
const BLOCKS = new Set([
  'address',
  'article',
  'aside',
  'blockquote',
  'body',
  'center',
  'details',
  'div',
  'dl',
  'figure',
  'figcaption',
  'footer',
  'form',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'header',
  'hr',
  'html',
  'li',
  'main',
  'nav',
  'ol',
  'p',
  'pre',
  'section',
  'summary',
  'table',
  'tbody',
  'td',
  'tr',
  'ul',
])

/** TABLE: the font size of a toggle heading → its level in the exporter. */
const TOGGLE_SIZES: [RegExp, number][] = [
  [/font-size:\s*1\.875em/, 1],
  [/font-size:\s*1\.5em/, 2],
  [/font-size:\s*1\.25em/, 3],
  [/font-size:\s*1\.125em/, 4],
]

/** Reads a page of the export. `fileName` names it where it has no title. */
export function readExport(html: string, fileName = ''): Outline {
  const document = parseDocument(html)
  const title = titleOf(document, fileName)
  const reader = new Reader()
  const isNewest =
    find(document, ({ attrs }) =>
      attrs.some(({ name }) => name === 'data-emoji' || name.startsWith('data-notion-')),
    ).length > 0 ||
    find(document, (element) => element.tagName === 'aside' && hasClass(element, 'callout'))
      .length > 0
  if (
    isNewest &&
    find(document, (element) => element.tagName === 'h1' && !hasClass(element, 'page-title'))
      .length === 0
  )
    reader.lift = 1
  const [article] = find(document, (element) => element.tagName === 'article')
  const [heading] = find(document, (element) => hasClass(element, 'page-title'))
  const [header] = find(
    article?.childNodes ?? document,
    (element) =>
      element.tagName === 'header' &&
      (article !== undefined || find(element.childNodes, (inner) => inner === heading).length > 0),
  )
  const [frame] = find(document, (element) => hasClass(element, 'page-header-icon'))
  // A frame that is never ended holds the heading, and what follows it.
  const icon =
    frame?.childNodes.slice(
      0,
      heading && frame.childNodes.includes(heading) ? frame.childNodes.indexOf(heading) : undefined,
    ) ?? []
  const own = heading ? readRuns(heading.childNodes) : []
  const runs = [...readRuns(icon), ...(isBlank(own) ? [{ text: title, marks: [] }] : own)]
  reader.blocks.push({ kind: 'heading', depth: 0, level: 1, runs })
  reader.shown = new Set([header, heading, ...icon])
  if (header)
    reader.flow(
      header.childNodes.filter((node) => !(isElement(node) && hasClass(node, 'page-cover-image'))),
      0,
    )
  reader.flow(document, 0)
  return { blocks: resolveAnchors(reader.blocks), words: wordsOfPage(document, title), faults: [] }
}

/**
 * Whether the page is the sitemap that a workspace export begins with, and no page of the export.
 */
export function isSitemap(html: string): boolean {
  return /<ul id="id::/.test(html) && !/<article/.test(html)
}

function titleOf(document: readonly Node[], fileName: string): string {
  const shown = find(document, (element) => hasClass(element, 'page-title'))
    .map((element) => plainText(readRuns(element.childNodes), true))
    .find((text) => text !== '')
  const meta = find(document, (element) => element.tagName === 'title').map((element) =>
    plainText([{ text: rawText(element.childNodes), marks: [] }], true),
  )
  const named = fileName
    .replace(/^.*\//, '')
    .replace(/\.html?$/i, '')
    .replace(/ ?\b[0-9a-f]{32}$/, '')
    .trim()
  return shown || meta[0] || named || 'Untitled'
}

/** Whether an element is a block: one by its name, or an unknown one with blocks in it. */
const isBlock = (element: Element) =>
  BLOCKS.has(element.tagName) ||
  (!INLINE.has(element.tagName) &&
    addressOfMedium(element) === '' &&
    find(element.childNodes, (inner) => BLOCKS.has(inner.tagName)).length > 0)

class Reader {
  blocks: Block[] = []
  /** Elements that stand above the body, wherever they are. */
  shown = new Set<Node | undefined>()
  /** How many levels too deep the body's headings stand. */
  lift = 0
  /** The level of the last heading that is no database's title. */
  #section = 1
  /** The list at each depth that the next item may continue. */
  #open = new Map<
    number,
    { list: ListKind; number: number; /** a block that shows nothing came after */ unsure?: true }
  >()

  /**
   * Reads a container's content: blocks as they come, stray inline content between them as
   * paragraphs.
   */
  flow(nodes: readonly Node[], depth: number): void {
    let inline: Node[] = []
    const flush = () => {
      this.#paragraph(readRuns(inline), depth)
      inline = []
    }
    for (const node of nodes) {
      if (this.shown.has(node) || (isElement(node) && isInvisible(node))) continue
      if (isElement(node) && isBlock(node)) {
        flush()
        this.#block(node, depth)
      } else if (isText(node) || isElement(node)) inline.push(node)
    }
    flush()
  }

  #push(block: Block): void {
    for (const at of this.#open.keys())
      if (at > block.depth || (at === block.depth && block.kind !== 'item')) this.#open.delete(at)
    this.blocks.push(block)
  }

  #paragraph(runs: Run[], depth: number): void {
    for (const paragraph of splitParagraphs(runs))
      if (!isBlank(paragraph)) this.#push({ kind: 'paragraph', depth, runs: paragraph })
  }

  #block(element: Element, depth: number): void {
    const { tagName, childNodes } = element
    // Everything inside belongs to the drawing.
    if (tagName !== 'figure' && ownTex(element) !== undefined)
      return this.#push({ kind: 'math', depth, tex: texOf(element) })
    const level = /^h([1-6])$/.exec(tagName)?.[1]
    if (level) return this.#heading(element, Number(level), depth)
    if (tagName === 'p') return this.#p(element, depth)
    if (tagName === 'ul' || tagName === 'ol') return this.#list(element, depth)
    if (tagName === 'details') return this.#toggle(element, depth)
    if (tagName === 'blockquote') return this.#quote(childNodes, depth, '')
    if (tagName === 'hr') return this.#push({ kind: 'divider', depth })
    if (tagName === 'pre') return this.#code(element, depth)
    if (tagName === 'table') return this.#table(element, depth)
    if (tagName === 'nav' && hasClass(element, 'table_of_contents'))
      return this.#contents(element, depth)
    if (tagName === 'figure' || hasClass(element, 'callout')) return this.#figure(element, depth)
    if (tagName === 'figcaption') return this.#paragraph(readRuns(childNodes), depth)
    // A column, a synced block or a paragraph's children: lists neither enter nor leave it. The
    // wrappers for text direction are nothing.
    if (tagName === 'div' && !/display:\s*contents/.test(attribute(element, 'style'))) {
      this.#end(depth)
      this.flow(childNodes, depth)
      return this.#end(depth)
    }
    return this.flow(childNodes, depth)
  }

  /** After a block that shows nothing, such as an empty heading, a list may go on or begin anew. */
  #unsure(depth: number): void {
    const open = this.#open.get(depth)
    if (open) open.unsure = true
  }

  #heading(element: Element, level: number, depth: number): void {
    const runs = readRuns(element.childNodes)
    const anyLevel = hasClass(element, 'collection-title')
    if (isBlank(runs)) return this.#unsure(depth)
    const shown = anyLevel
      ? Math.min(this.#section + 1, 6)
      : Math.max(2, Math.min(level + 1 - this.lift, 6))
    if (!anyLevel) this.#section = shown
    this.#push({ kind: 'heading', depth, level: shown, id: attribute(element, 'id'), runs })
  }

  /**
   * A paragraph's children stand beside it: a parser ends the `<p>` at their `<div>`, and Markdown
   * has no indented paragraph.
   */
  #p(element: Element, depth: number): void {
    const runs = readRuns(element.childNodes)
    if (!isBlank(runs)) this.#paragraph(runs, depth)
    // A blank line that somebody typed (a lone newline) parts two lists; the remains of a `<p>` cut
    // in two have no attributes.
    else if (element.attrs.length === 0 || hasClass(element, 'page-description')) return
    else if (element.childNodes.length === 0) this.#unsure(depth)
    else this.#end(depth)
  }

  /** Ends the lists that are open at a depth or below. */
  #end(depth: number): void {
    for (const at of this.#open.keys()) if (at >= depth) this.#open.delete(at)
  }

  #list(element: Element, depth: number): void {
    const list: ListKind = hasClass(element, 'to-do-list')
      ? 'todo'
      : element.tagName === 'ol'
        ? 'number'
        : 'bullet'
    let number = Number.parseInt(attribute(element, 'start'), 10)
    if (Number.isNaN(number)) number = 1
    for (const item of elements(element.childNodes)) {
      if (hasClass(element, 'toggle') || item.tagName !== 'li') {
        this.flow(item.tagName === 'li' ? item.childNodes : [item], depth)
        continue
      }
      const open = this.#open.get(depth)
      const goesOn = open?.list === list && (list !== 'number' || open.number + 1 === number)
      const opens = goesOn && open.unsure ? undefined : !goesOn
      const [box] = list === 'todo' ? find(item.childNodes, isBox) : []
      this.#push({
        kind: 'item',
        depth,
        list,
        opens,
        ...(list === 'number' ? { number } : {}),
        ...(list === 'todo' ? { checked: box !== undefined && isChecked(box) } : {}),
      })
      this.#open.set(depth, { list, number })
      this.flow(
        item.childNodes.flatMap((node) => (node === box ? box.childNodes : [node])),
        depth + 1,
      )
      number++
    }
  }

  #toggle(element: Element, depth: number): void {
    const summary = elements(element.childNodes).find((inner) => inner.tagName === 'summary')
    const style = summary ? attribute(summary, 'style') : ''
    const size = TOGGLE_SIZES.find(([pattern]) => pattern.test(style))
    const title = summary?.childNodes ?? []
    const [heading] = find(title, (inner) => /^h[1-6]$/.test(inner.tagName))
    const level = heading ? Number(heading.tagName[1]) : (size?.[1] ?? -1)
    const runs = readRuns(title).filter((run) => !run.text.startsWith(IMAGE))
    const shown = level < 0 ? 0 : Math.max(2, Math.min(level + 1 - (heading ? this.lift : 0), 6))
    if (shown > 0) this.#section = shown
    this.#push({ kind: 'toggle', depth, level: shown, id: attribute(element, 'id'), runs })
    // A summary is HTML, in which the document shows no pictures.
    for (const picture of find(
      title,
      (inner) => inner.tagName === 'img' && !hasClass(inner, 'icon'),
    )) {
      this.#push({
        kind: 'image',
        depth: depth + 1,
        src: plainAddress(attribute(picture, 'src')),
        runs: [{ text: attribute(picture, 'alt'), marks: [] }],
      })
    }
    this.flow(
      element.childNodes.filter((node) => node !== summary),
      depth + 1,
    )
  }

  /** A quotation; `icon` (a callout's) stands in front of its first paragraph. */
  #quote(nodes: readonly Node[], depth: number, icon: string): void {
    const at = this.blocks.length
    const open = this.#open.get(depth)
    this.#push({ kind: 'quote', depth })
    this.flow(nodes, depth + 1)
    const first = this.blocks[at + 1]
    if (icon === '') {
      if (first) return
      this.blocks.pop()
      if (open) this.#open.set(depth, { ...open, unsure: true })
    } else if (first?.kind === 'paragraph')
      first.runs = [{ text: `${icon} `, marks: [] }, ...withoutLeadingSpace(first.runs)]
    else
      this.blocks.splice(at + 1, 0, {
        kind: 'paragraph',
        depth: depth + 1,
        runs: [{ text: icon, marks: [] }],
      })
  }

  #code(element: Element, depth: number): void {
    const code = find(element.childNodes, (inner) => inner.tagName === 'code')[0] ?? element
    const lang = /(?:^|\s)language-(.*)$/s.exec(attribute(code, 'class'))?.[1] ?? ''
    this.#push({ kind: 'code', depth, lang, text: rawText(code.childNodes) })
  }

  #figure(element: Element, depth: number): void {
    const [caption] = find(elements(element.childNodes), (inner) => inner.tagName === 'figcaption')
    const captionRuns = caption ? readRuns(caption.childNodes) : []
    const rest = element.childNodes.filter((node) => node !== caption)
    if (hasClass(element, 'callout')) {
      const bodies = elements(element.childNodes)
      const frame = bodies.find(
        (body) => body === bodies[0] && !/width:\s*100%/.test(attribute(body, 'style')),
      )
      // A frame that is never ended holds the text.
      const held = elements(frame?.childNodes ?? []).filter((inner) => inner.tagName === 'div')
      const isIcon = (body: Element) => bodies.length + held.length > 1 && body === frame
      const icon = plainText(
        bodies
          .filter(isIcon)
          .flatMap((body) =>
            readRuns(
              hasClass(body, 'icon')
                ? [body]
                : body.childNodes.filter((node) => !isElement(node) || !held.includes(node)),
            ),
          ),
      )
      return this.#quote(
        element.childNodes.flatMap((node) => (!isElement(node) || !isIcon(node) ? [node] : held)),
        depth,
        icon,
      )
    }
    // What follows the first element belongs to the figure only because its end tag is missing.
    const first = elements(rest).find((inner) => inner.tagName !== 'style')
    const below = rest.filter((node) => node !== first)
    if (hasClass(element, 'equation') || ownTex(element) !== undefined) {
      this.#push({ kind: 'math', depth, tex: texOf(element) })
      this.#paragraph(captionRuns, depth)
      return this.flow(below, depth)
    }
    const [bookmark] = find(rest, (inner) => hasClass(inner, 'bookmark'))
    if (bookmark) {
      this.#paragraph(bookmarkRuns(bookmark), depth)
      this.#paragraph(captionRuns, depth)
      return this.flow(below, depth)
    }
    const shown =
      first && hasClass(element, 'image')
        ? [{ ...first, childNodes: first.childNodes.filter((node) => node !== caption) }]
        : rest
    const pictures = find(shown, (inner) => inner.tagName === 'img' && !hasClass(inner, 'icon'))
    if (
      pictures.length > 0 &&
      isBlank(readRuns(shown).filter((run) => !run.text.startsWith(IMAGE)))
    ) {
      for (const picture of pictures) {
        this.#push({
          kind: 'image',
          depth,
          src: plainAddress(attribute(picture, 'src')),
          runs: picture === pictures.at(-1) ? captionRuns : [],
        })
      }
      this.#paragraph(captionRuns, depth)
      if (shown !== rest) this.flow(below, depth)
      return
    }
    this.flow(rest, depth)
    this.#paragraph(captionRuns, depth)
  }

  /** A table of contents: its entries, nested as they are indented, each a link to its heading. */
  #contents(element: Element, depth: number): void {
    const parents: number[] = []
    this.#open.delete(depth)
    const isEntry = (inner: Element) => hasClass(inner, 'table_of_contents-item')
    for (const entry of find(element.childNodes, isEntry)) {
      const runs = readRuns(entry.childNodes)
      if (isBlank(runs)) continue
      const indent = Number(
        /table_of_contents-indent-(\d+)/.exec(attribute(entry, 'class'))?.[1] ?? 0,
      )
      while (parents.length > 0 && (parents.at(-1) ?? 0) >= indent) parents.pop()
      const at = depth + parents.length
      const open = this.#open.get(at)
      this.#push({ kind: 'item', depth: at, list: 'bullet', opens: open?.list !== 'bullet' })
      this.#open.set(at, { list: 'bullet', number: 1 })
      this.#push({ kind: 'paragraph', depth: at + 1, runs })
      parents.push(indent)
    }
    this.#open.delete(depth)
    this.flow(
      element.childNodes.filter((node) => find([node], isEntry).length === 0),
      depth,
    )
  }

  #table(element: Element, depth: number): void {
    for (const caption of elements(element.childNodes))
      if (caption.tagName === 'caption') this.flow(caption.childNodes, depth)
    const heads = elements(element.childNodes)
      .filter((inner) => inner.tagName === 'thead')
      .flatMap((head) => rowsOf(head.childNodes))
    const rows = gridOf(heads).concat(
      gridOf(rowsOf(element.childNodes).filter((row) => !heads.includes(row))),
    )
    const bold =
      heads.length === 0 &&
      !hasClass(element, 'collection-content') &&
      !hasClass(element, 'properties') &&
      isAllBold(rows[0] ?? [])
    if (bold)
      rows[0] = rows[0]!.map((cell) =>
        cell.map((run) => ({ ...run, marks: run.marks.filter((mark) => mark !== 'strong') })),
      )
    if (rows.some((row) => row.length > 0))
      this.#push({ kind: 'table', depth, header: bold || heads.length > 0, rows })
  }
}

/** A line break between a callout's icon and its first word has no place in Markdown. */
function withoutLeadingSpace(runs: readonly Run[]): Run[] {
  const stripped = runs.map((run) =>
    run.math ? run : { ...run, text: run.text.replace(/^[ \t\n\u{E001}\u{E002}\u{FEFF}]+/u, '') },
  )
  const first = stripped.findIndex((run) => run.text !== '')
  return [...stripped.slice(first, first + 1), ...runs.slice(first + 1)]
}

/** Whether a row's cells say something, all of it in bold: people make headers so. */
function isAllBold(row: Run[][]): boolean {
  const shown = row.filter((cell) => !isBlank(cell))
  return (
    shown.length > 0 &&
    shown.every((cell) => cell.every((run) => isBlank([run]) || run.marks.includes('strong')))
  )
}

const rowsOf = (nodes: readonly Node[]) => find(nodes, (inner) => inner.tagName === 'tr')

/** The cells of a group of rows; one that spans several places stands in the first of them. */
function gridOf(group: readonly Element[]): Run[][][] {
  const grid: Run[][][] = group.map(() => [])
  group.forEach((row, y) => {
    for (const cell of elements(row.childNodes).filter(
      ({ tagName }) => tagName === 'td' || tagName === 'th',
    )) {
      const [columns, rows] = ['colspan', 'rowspan'].map((name) =>
        Number(attribute(cell, name) || 1),
      ) as [number, number]
      const line = grid[y]!
      let x = 0
      while (line[x]) x++
      for (const below of grid.slice(y, y + rows))
        for (let i = x; i < x + columns; i++) below[i] = []
      line[x] = cellRuns(cell)
    }
  })
  return grid.map((line) => Array.from(line, (cell) => cell ?? []))
}

const readCell = (nodes: readonly Node[]) =>
  readRuns(nodes).map((run) => (run.math ? { ...run, text: cellTex(run.text) } : run))

/** A cell's content: several values are listed with commas, a check box is drawn. */
function cellRuns(cell: Element): Run[] {
  const boxes = find(cell.childNodes, isBox)
  if (boxes.length > 0) return [{ text: boxes.map(boxOf).join(', '), marks: [] }]
  const values = elements(cell.childNodes)
  if (!holdsValues(cell)) return readCell(cell.childNodes)
  const parts = values.map((value) => readCell([value])).filter((runs) => !isBlank(runs))
  return parts.flatMap((runs, index) => (index === 0 ? runs : [{ text: ', ', marks: [] }, ...runs]))
}

/** Unmarked text without the space around it. */
const withoutEdges = (runs: readonly Run[]): Run[] => [
  { text: trimPlain(runs.map((run) => run.text).join('')), marks: [] },
]

function bookmarkRuns(bookmark: Element): Run[] {
  const part = (name: string) =>
    find(bookmark.childNodes, (inner) => hasClass(inner, name)).flatMap((inner) =>
      readRuns(inner.childNodes),
    )
  const address = attribute(bookmark, 'href')
  const title = withoutEdges(
    [
      part('bookmark-title'),
      readRuns(outside(bookmark.childNodes, isBesideTitle)),
      part('bookmark-href'),
      [{ text: address, marks: [] }],
    ].find((runs) => !isBlank(runs)) ?? [],
  )
  const description = part('bookmark-description')
  const link = isUnsafe(address) ? title : linkRuns(title, address, [])
  return isBlank(description) ? link : [...link, { text: ': ', marks: [] }, ...description]
}

/**
 * Turns links to a heading's id into `#N`, the heading's number on the page; a link to anything
 * else may go anywhere.
 */
function resolveAnchors(blocks: Block[]): Block[] {
  const numbers = new Map<string, number>()
  let number = 0
  for (const block of blocks) {
    if (block.kind !== 'heading' && !(block.kind === 'toggle' && block.level > 0)) continue
    if (block.id) numbers.set(block.id, number)
    number++
  }
  const resolve = (runs: Run[]): Run[] =>
    runs.map((run) => ({
      ...run,
      marks: run.marks.map((mark) =>
        mark.startsWith('link #') ? `link #${numbers.get(mark.slice(6)) ?? '*'}` : mark,
      ),
    }))
  return blocks.map((block) => {
    if (block.kind === 'table') return { ...block, rows: block.rows.map((row) => row.map(resolve)) }
    return 'runs' in block ? { ...block, runs: resolve(block.runs) } : block
  })
}
