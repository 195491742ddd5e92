// HTML text → element tree, for the one dialect of HTML that matters here: what Notion's exporter writes, and whatever
// broken or hostile text arrives in its place. One pass, linear for every input, no recursion.
//
// It differs from a browser's parser where that serves the reader: `<div class="indented">` stays inside its `<p>`
// (a browser closes the paragraph), wrappers that only exist for text direction leave no node, and what nobody sees
// (styles, scripts, SVG, the two drawings that KaTeX makes of each equation) is skipped without being read.
import { decodeText } from './entities.ts'

/** An element: its name, its attributes as they stand in the source, its children in order. */
export interface Element {
  name: string
  /** The source between the name and the `>`. Read it with `attribute`. */
  attributes: string
  children: Node[]
}

/** An element, or text with its character references decoded. */
export type Node = Element | string

/** Elements deeper than this become part of the text of the one that holds them. */
const MAX_DEPTH = 1600

/** How far an end tag or an implied end looks up through inline elements for its start tag. */
const MAX_REACH = 64

const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))

/** Elements whose content is text that nobody sees. */
const UNSEEN = new Map('style script svg template noscript'.split(' ').map((name) => [name, new RegExp(`</${name}[\\s/>]`, 'gi')]))

const INLINE = new Set('a abbr b big cite code del em font i ins kbd label mark math q s samp small span strike strong sub sup time tt u var'.split(' '))

/** TABLE: a start tag ends, first, an open element of one of these names (HTML standard, optional tags). */
const IMPLIED_END = new Map<string, readonly string[]>([
  ['li', ['li']],
  ['p', ['p']],
  ['tr', ['td', 'th', 'tr']],
  ['td', ['td', 'th']],
  ['th', ['td', 'th']],
  ['dt', ['dt', 'dd']],
  ['dd', ['dt', 'dd']],
])

const TAG_NAME = /[a-zA-Z][^\s/>]*/y

/** Reads HTML into a tree whose root has the name `#document`. */
export function parseHtml(source: string): Element {
  const html = clean(source)
  const root: Element = { name: '#document', attributes: '', children: [] }
  // Open elements: names, and the node that takes their children (an ancestor's where the element leaves no node).
  const names: string[] = ['#document']
  const targets: Element[] = [root]
  const open = new Map<string, number>()
  let target = root
  // Bytes looked at for equations in vain: past one whole text of them, equations are read like any other element.
  let vain = 0
  let at = 0

  const text = (from: number, to: number) => {
    if (to > from) target.children.push(decodeText(html.slice(from, to)))
  }
  const pop = () => {
    const name = names.pop()!
    targets.pop()
    open.set(name, open.get(name)! - 1)
    target = targets[targets.length - 1]!
  }
  /** Ends the nearest of `ends` if only inline elements stand between it and here. */
  const endImplied = (ends: readonly string[]) => {
    if (!ends.some((name) => open.get(name))) return
    let last = names.length
    for (let i = last - 1, reach = 0; i > 0 && reach < MAX_REACH; i--, reach++) {
      if (ends.includes(names[i]!)) last = i
      else if (!INLINE.has(names[i]!)) break
    }
    while (names.length > last) pop()
  }
  const endTag = (name: string) => {
    if (names[names.length - 1] === name) return pop()
    if (!open.get(name)) return
    let i = names.length - 1
    if (INLINE.has(name)) {
      for (let reach = 0; names[i] !== name; i--, reach++) if (reach > MAX_REACH || !INLINE.has(names[i]!)) return
    } else while (names[i] !== name) i--
    while (names.length > i) pop()
  }

  while (at < html.length) {
    const lt = html.indexOf('<', at)
    if (lt < 0) {
      text(at, html.length)
      break
    }
    text(at, lt)
    const next = html.charCodeAt(lt + 1)
    if (next === 0x2f /* / */) {
      const gt = html.indexOf('>', lt + 2)
      if (gt < 0) break
      endTag(html.slice(lt + 2, gt).trim().toLowerCase())
      at = gt + 1
      continue
    }
    if (next === 0x21 /* ! */ || next === 0x3f /* ? */) {
      at = endOfMarkup(html, lt)
      continue
    }
    TAG_NAME.lastIndex = lt + 1
    const match = TAG_NAME.exec(html)
    if (!match) {
      target.children.push('<')
      at = lt + 1
      continue
    }
    const name = lower(match[0])
    const nameEnd = lt + 1 + match[0].length
    const gt = endOfTag(html, nameEnd)
    if (gt < 0) break
    const attributes = html.slice(nameEnd, gt)
    at = gt + 1
    const unseen = UNSEEN.get(name)
    if (unseen) {
      if (html.charCodeAt(gt - 1) !== 0x2f) at = afterMatch(html, unseen, at)
      continue
    }
    if (name === 'span' && attributes === ' class="katex"' && vain <= html.length) {
      const end = endOfSpan(html, at)
      const tex = texOf(html.slice(at, end))
      if (tex !== undefined) {
        target.children.push({ name: 'math', attributes: '', children: [tex] })
        at = end
        continue
      }
      vain += end - at
    }
    const implied = IMPLIED_END.get(name)
    if (implied) endImplied(implied)
    const isVoid = VOID.has(name)
    if (names.length > MAX_DEPTH) {
      // Flattened: the words stay, parted by a space where a block began.
      if (!INLINE.has(name)) target.children.push(' ')
    } else if (name === 'div' && attributes.startsWith(' style="display:contents"')) {
      // Transparent: exporters since late 2025 wrap every block like this for its text direction.
    } else {
      const element: Element = { name, attributes, children: [] }
      target.children.push(element)
      if (!isVoid) target = element
    }
    if (isVoid) continue
    names.push(name)
    targets.push(target)
    open.set(name, (open.get(name) ?? 0) + 1)
  }
  return root
}

/** The value of an attribute, its character references decoded; undefined where the element has none of that name. */
export function attribute(element: Element, name: string): string | undefined {
  const source = element.attributes
  if (!source.includes(name)) return undefined
  const pattern = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g
  for (let match = pattern.exec(source); match; match = pattern.exec(source)) {
    if (match[1]!.toLowerCase() === name) return decodeText(match[2] ?? match[3] ?? match[4] ?? '', 'attribute')
  }
  return undefined
}

/** Whether the element's class list holds `name`. */
export function hasClass(element: Element, name: string): boolean {
  if (!element.attributes.includes(name)) return false
  const value = attribute(element, 'class')
  return value !== undefined && (value === name || value.split(/\s+/).includes(name))
}

/** The text of a node and all below it, in order. */
export function textContent(node: Node): string {
  if (typeof node === 'string') return node
  let text = ''
  for (const child of node.children) text += textContent(child)
  return text
}

/**
 * The first element below `root`, in document order and at most `depth` levels down, for which `test` holds. The bound
 * keeps a search from reading the same elements again for each level of a hostile nest.
 */
export function find(root: Element, depth: number, test: (element: Element) => boolean): Element | undefined {
  for (const child of root.children) {
    if (typeof child === 'string') continue
    if (test(child)) return child
    const below = depth > 1 ? find(child, depth - 1, test) : undefined
    if (below) return below
  }
  return undefined
}

/** Line ends as `\n`; no U+0000 (which the converter uses as a mark of its own). */
function clean(source: string): string {
  let html = source.charCodeAt(0) === 0xfeff ? source.slice(1) : source
  if (html.includes('\r')) html = html.replace(/\r\n?/g, '\n')
  if (html.includes('\0')) html = html.replaceAll('\0', '')
  return html
}

/** Lower case, without the call where there is nothing to do: exporters write lower case. */
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

/** The index after a comment, doctype or processing instruction that begins at `lt`. */
function endOfMarkup(html: string, lt: number): number {
  const comment = html.startsWith('<!--', lt)
  const closing = comment ? '-->' : '>'
  // `<!-->` and `<!--->` are whole comments (HTML standard, comment start state).
  const end = html.indexOf(closing, comment ? lt + 2 : lt + 1)
  return end < 0 ? html.length : end + closing.length
}

/** The index after the end tag that `pattern` finds; the end of the text if the element is never closed. */
function afterMatch(html: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from
  const match = pattern.exec(html)
  if (!match) return html.length
  const gt = html.indexOf('>', match.index)
  return gt < 0 ? html.length : gt + 1
}

/** The index after the `</span>` that balances a `<span …>` whose content begins at `from`; the end of the text if there is none. */
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
  return html.length
}

const ANNOTATION = '<annotation encoding="application/x-tex">'

/** The TeX of an equation's KaTeX markup; undefined if it carries none. */
function texOf(katex: string): string | undefined {
  const start = katex.indexOf(ANNOTATION)
  if (start < 0) return undefined
  const end = katex.indexOf('</annotation>', start)
  return end < 0 ? undefined : decodeText(katex.slice(start + ANNOTATION.length, end))
}
