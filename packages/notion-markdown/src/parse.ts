// Parses HTML into an element tree, for the dialect that Notion's exporter writes, and for any
// broken or hostile text. One pass, linear for every input, no recursion.
//
// It differs from a browser's parser where that helps: `<div class="indented">` stays inside its
// `<p>` (a browser closes the paragraph), wrappers that only exist for text direction leave no
// node, and invisible content (styles, scripts, SVG, the two drawings that KaTeX makes of each
// equation) is skipped.
import { decodeText } from './entities.ts'
import { INLINE, attribute, type Element } from './html.ts'
import type { Positions } from './positions.ts'

/**
 * Elements deeper than this become part of their parent's text, because the stack has no room for
 * more.
 */
const MAX_DEPTH = 1040

/**
 * TABLE of elements whose depth counts other than 1: reading and writing a list takes twice the
 * stack of other elements, including its items.
 */
const ELEMENT_DEPTH = new Map([
  ['ul', 2],
  ['ol', 2],
  ['li', 0],
])

/** How far an end tag or an implied end looks up through inline elements for its start tag. */
const MAX_LOOKUP = 64

const VOID = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
)

/** Elements whose content is invisible text, and their ends. */
const RAW_TEXT = new Map(
  'style script template noscript'
    .split(' ')
    .map((name) => [name, new RegExp(`</${name}[\\s/>]`, 'gi')]),
)
// A drawing without an end tag ends where the page continues, as in a browser; so does an equation.
const BLOCKS = 'div|p|h[1-6]|ul|ol|li|table|t[dhr]|figure|article|header|details|blockquote|pre'
RAW_TEXT.set('svg', new RegExp(`</svg[\\s/>]|(?=</?(?:span|${BLOCKS})[\\s/>])`, 'gi'))
const AFTER_EQUATION = new RegExp(`(?=</?(?:${BLOCKS})[\\s/>])`, 'gi')

/** The elements of tables. An end tag of any other element has no effect outside its cell. */
const TABLE = new Set('table thead tbody tfoot tr td th'.split(' '))

/**
 * TABLE: a start tag ends, first, an open element of one of these names (HTML standard, optional
 * tags).
 */
const IMPLIED_END = new Map<string, readonly string[]>([
  ['li', ['li']],
  ['p', ['p']],
  ['tr', ['td', 'th', 'tr']],
  ['td', ['td', 'th']],
  ['th', ['td', 'th']],
  ['dt', ['dt', 'dd']],
  ['dd', ['dt', 'dd']],
])

/** The style of a wrapper for text direction. Some editors add white space. */
const WRAPPER = /\bdisplay:\s*contents\b/

const TAG_NAME = /[a-zA-Z][^\s/>]*/y
const SLASH = 0x2f
const BANG = 0x21
const QUESTION = 0x3f

/**
 * Reads HTML into a tree whose root has the name `#document`.
 *
 * @param html text without anything that `cleanText` removes
 * @param positions receives the positions of elements
 */
export function parseHtml(html: string, positions: Positions | null = null): Element {
  const tree = new Tree(positions)
  // Bytes searched for equations without success; beyond the length of the text, equations are read
  // like any other element.
  let vain = 0
  // The start of the text before the next tag, and of the search for the next `<`: a `<` that
  // begins no tag is text.
  let from = 0
  let at = 0
  while (from < html.length) {
    const lt = html.indexOf('<', at)
    if (lt < 0) {
      tree.text(html.slice(from))
      break
    }
    const next = html.charCodeAt(lt + 1)
    TAG_NAME.lastIndex = lt + 1
    const match = TAG_NAME.exec(html)
    if (!match && next !== SLASH && next !== BANG && next !== QUESTION) {
      at = lt + 1
      continue
    }
    if (lt > from) tree.text(html.slice(from, lt))
    const end = match
      ? endOfTag(html, lt + 1 + match[0].length)
      : next === SLASH
        ? html.indexOf('>', lt)
        : endOfMarkup(html, lt)
    if (end < 0) break
    at = from = end + 1
    if (!match) {
      if (next === SLASH) tree.end(lower(html.slice(lt + 2, end).trim()), lt, from)
      continue
    }
    const name = lower(match[0])
    const attributes = html.slice(lt + 1 + match[0].length, end)
    const unseen = RAW_TEXT.get(name)
    if (unseen) {
      // The class of a drawing is kept: in a table's head, only it tells a property's type.
      if (name === 'svg') tree.leaf({ name, attributes, children: [] }, lt, from)
      if (!attributes.endsWith('/')) at = from = afterMatch(html, unseen, at)
      continue
    }
    if (name === 'span' && attributes === ' class="katex"' && vain <= html.length) {
      const balanced = endOfSpan(html, at)
      const after = balanced < 0 ? afterMatch(html, AFTER_EQUATION, at) : balanced
      if (balanced < 0) vain += html.length - at
      const tex = texOf(html.slice(at, after))
      if (tex !== undefined) {
        tree.leaf({ name: 'math', attributes: '', children: [tex] }, lt, after)
        at = from = after
        continue
      }
      vain += after - at
    }
    tree.start(name, attributes, lt, from)
    // The line end directly after `<pre>` is not part of it (HTML standard).
    if (name === 'pre' && html.startsWith('\n', at)) at = ++from
  }
  tree.finish(html.length)
  return tree.root
}

/** The tree being built: its open elements, and the place for the next child. */
class Tree {
  readonly #positions: Positions | null
  readonly root: Element = { name: '#document', attributes: '', children: [] }
  #target = this.root
  // Open elements: their names, and for each the node that gets its children (an ancestor's if it
  // has no node).
  readonly #names = ['#document']
  readonly #targets = [this.root]
  // For each name, its indexes in these lists.
  readonly #open = new Map<string, number[]>()
  // The depth, counting those with their own node.
  #depth = 0
  // Whether a flattened block has begun since the last text.
  #parted = false

  constructor(positions: Positions | null) {
    this.#positions = positions
  }

  /** Adds text, as one string with the text before it. */
  text(source: string): void {
    const { children } = this.#target
    const last = children.length - 1
    const before = children[last]
    const text = (this.#parted ? ' ' : '') + decodeText(source)
    this.#parted = false
    if (typeof before === 'string') children[last] = before + text
    else children.push(text)
  }

  /** An element without content: an equation, as `math` with its TeX, or a drawing. */
  leaf(element: Element, from: number, to: number): void {
    this.#positions?.open(element, from, to)
    this.#target.children.push(element)
  }

  /** @param from the start of the tag; @param to the start of its content */
  start(name: string, attributes: string, from: number, to: number): void {
    const implied = IMPLIED_END.get(name)
    if (implied) this.#endImplied(implied, from)
    const isVoid = VOID.has(name)
    let target = this.#target
    if (this.#depth >= MAX_DEPTH) {
      // Flattened: the words stay, separated by a space where a block began.
      if (!INLINE.has(name)) this.#parted = true
    } else if (name === 'div' && WRAPPER.test(attributes)) {
      // Transparent: exporters since late 2025 wrap every block in one for its text direction.
    } else {
      const element: Element = { name, attributes, children: [] }
      if (!isHidden(element)) target.children.push(element)
      target = element
      this.#positions?.open(element, from, to)
    }
    if (isVoid) return
    if (target !== this.#target) this.#depth += ELEMENT_DEPTH.get(name) ?? 1
    this.#target = target
    const places = this.#open.get(name)
    if (places) places.push(this.#names.length)
    else this.#open.set(name, [this.#names.length])
    this.#names.push(name)
    this.#targets.push(target)
  }

  /** @param from the start of the tag; @param to its end */
  end(name: string, from: number, to: number): void {
    const start = this.#lastOpen(name)
    if (start < 0) return
    if (INLINE.has(name)) {
      if (this.#names.length - start > MAX_LOOKUP) return
      for (let i = start + 1; i < this.#names.length; i++)
        if (!INLINE.has(this.#names[i] ?? '')) return
    } else if (!TABLE.has(name) && start < Math.max(this.#lastOpen('td'), this.#lastOpen('th')))
      return
    this.#closeTo(start, from, to)
  }

  /** Ends all elements with the text. */
  finish(end: number): void {
    if (this.#positions) this.#closeTo(1, end, end)
  }

  /** The index of the last open element with this name, −1 if there is none. */
  #lastOpen(name: string): number {
    return this.#open.get(name)?.at(-1) ?? -1
  }

  /**
   * Ends the outermost of `ends` with only inline elements, paragraphs and other `ends` between it
   * and here.
   */
  #endImplied(ends: readonly string[], at: number): void {
    if (!ends.some((name) => this.#lastOpen(name) >= 0)) return
    let last = this.#names.length
    for (let i = last - 1, reach = 0; i > 0 && reach < MAX_LOOKUP; i--, reach++) {
      const name = this.#names[i] ?? ''
      if (ends.includes(name)) last = i
      else if (!INLINE.has(name) && name !== 'p') break
    }
    this.#closeTo(last, at, at)
  }

  /** Ends open elements until `count` are left; the last of them with an end tag `from … to`. */
  #closeTo(count: number, from: number, to: number): void {
    while (this.#names.length > count) {
      const name = this.#names.pop()
      if (name === undefined) return
      const target = this.#targets.pop()
      if (target !== this.#targets[this.#targets.length - 1]) {
        this.#depth -= ELEMENT_DEPTH.get(name) ?? 1
        if (target) this.#positions?.close(target, from, this.#names.length === count ? to : from)
      }
      this.#open.get(name)?.pop()
    }
    this.#target = this.#targets[this.#targets.length - 1] ?? this.root
  }
}

/** Whether an element declares that it is not shown. */
function isHidden(element: Element): boolean {
  if (element.attributes.includes('hidden') && attribute(element, 'hidden') !== undefined)
    return true
  return (
    element.attributes.includes('none') &&
    /(?:^|;)\s*display\s*:\s*none\b/i.test(attribute(element, 'style') ?? '')
  )
}

/** Converts to lower case, without the call if it is not needed: exporters write lower case. */
function lower(name: string): string {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i)
    if (code < 0x61 || code > 0x7a) return name.toLowerCase()
  }
  return name
}

/** The index of the `>` that ends a start tag, quoted values skipped; −1 if there is none. */
function endOfTag(html: string, from: number): number {
  let afterEquals = false
  for (let i = from; i < html.length; i++) {
    const code = html.charCodeAt(i)
    if (code === 0x3e /* > */) return i
    if (code === 0x3d /* = */) afterEquals = true
    else if (afterEquals && (code === 0x22 || code === 0x27)) {
      i = html.indexOf(code === 0x22 ? '"' : "'", i + 1)
      if (i < 0) return -1
      afterEquals = false
    } else if (code > 0x20) afterEquals = false
  }
  return -1
}

/**
 * The index of the `>` that ends a comment, doctype or processing instruction that begins at `lt`;
 * −1 if there is none.
 */
function endOfMarkup(html: string, lt: number): number {
  if (!html.startsWith('<!--', lt)) return html.indexOf('>', lt)
  COMMENT_END.lastIndex = lt + 2
  let end = COMMENT_END.exec(html)
  while (end?.[0] === '--!>' && end.index < lt + 4) end = COMMENT_END.exec(html)
  return end === null ? -1 : COMMENT_END.lastIndex - 1
}

/**
 * The end of a comment. `<!-->` and `<!--->` are complete comments, `<!--!>` begins one (HTML
 * standard, comment start state and comment end bang state).
 */
const COMMENT_END = /--!?>/g

/**
 * The index after the end tag that `pattern` matches, or before its lookahead; the end of the text
 * if the element is never closed.
 */
function afterMatch(html: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from
  const match = pattern.exec(html)
  if (!match) return html.length
  if (match[0] === '') return match.index
  const gt = html.indexOf('>', match.index)
  return gt < 0 ? html.length : gt + 1
}

/**
 * The index after the `</span>` that balances a `<span …>` whose content begins at `from`; −1 if
 * there is none.
 */
function endOfSpan(html: string, from: number): number {
  let depth = 1
  let at = html.indexOf('span', from)
  while (at >= 0) {
    const before = html.charCodeAt(at - 1)
    if (before === 0x3c /* < */) depth++
    else if (before === 0x2f /* / */ && html.charCodeAt(at - 2) === 0x3c && --depth === 0) {
      const gt = html.indexOf('>', at)
      return gt < 0 ? html.length : gt + 1
    }
    at = html.indexOf('span', at + 4)
  }
  return -1
}

const ANNOTATION = '<annotation encoding="application/x-tex">'

/** The TeX of an equation's KaTeX markup; undefined if it has none. */
function texOf(katex: string): string | undefined {
  const start = katex.indexOf(ANNOTATION)
  if (start < 0) return undefined
  const end = katex.indexOf('</annotation>', start)
  const tex = katex.slice(start + ANNOTATION.length, end)
  // A comment is no TeX; like any other markup, it is read by the parser.
  return end < 0 || /<[!?]/.test(tex) ? undefined : decodeText(tex)
}
