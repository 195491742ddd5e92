// The tags of an HTML text, one after another.

/** A tag; `attributes` as in the source. */
export interface Tag {
  name: string
  isEnd: boolean
  attributes: string
}

/** Elements whose content is invisible text. */
const UNSEEN = new Set(['style', 'script', 'template', 'noscript', 'svg', 'title'])

/** Interned names, which make comparisons and lookups fast. */
const NAMES = new Map<string, string>()
/** Maximum number of interned names; only hostile texts have more. */
const MAX_NAMES = 500

/** The end of the name that begins at `from`; `from` if there is none. */
function endOfName(html: string, from: number): number {
  const first = html.charCodeAt(from) | 0x20
  if (!(first >= 0x61 && first <= 0x7a)) return from
  let end = from + 1
  for (let code = html.charCodeAt(end); code > 0x20; code = html.charCodeAt(++end))
    if (code === 0x2f || code === 0x3e || (code >= 0x80 && code !== 0xfeff && isSpace(code))) break
  return end
}

const isSpace = (code: number): boolean => /\s/.test(String.fromCharCode(code))

function nameOf(html: string, from: number, end: number): string {
  const written = html.slice(from, end)
  const known = NAMES.get(written)
  if (known !== undefined) return known
  const name = written.toLowerCase()
  if (NAMES.size < MAX_NAMES) NAMES.set(written, name)
  return name
}

const BLOCKS = 'div|p|h[1-6]|ul|ol|li|table|t[dhr]|figure|article|header|details|blockquote|pre'
const BLOCK = new RegExp(`</?(?:${BLOCKS})[\\s/>]`, 'gi')

/** Receives the tags and texts of an HTML text. */
export interface TagHandler {
  text(source: string): void
  tag(tag: Tag): void
  /** An equation's TeX, without decoding its references. */
  tex(source: string): void
}

const ANNOTATION = 'application/x-tex">'

/** Reads an HTML text. KaTeX's markup is read only for its TeX. */
export function readTags(html: string, handler: TagHandler): void {
  let from = 0
  let at = 0
  // Bytes searched for equations without success; beyond the length of the text, the search stops.
  let vain = 0
  while (from < html.length) {
    const open = html.indexOf('<', at)
    if (open < 0) break
    const isEnd = html.charCodeAt(open + 1) === 0x2f
    const nameFrom = isEnd ? open + 2 : open + 1
    const nameEnd = endOfName(html, nameFrom)
    if (nameEnd === nameFrom) {
      const isMarkup = /[!?/]/.test(html.charAt(open + 1))
      if (isMarkup && open > from) handler.text(html.slice(from, open))
      at = isMarkup ? afterMarkup(html, open) : open + 1
      if (isMarkup) from = at
      continue
    }
    if (open > from) handler.text(html.slice(from, open))
    const name = nameOf(html, nameFrom, nameEnd)
    const end = endOfTag(html, nameEnd)
    const attributes = nameEnd === end ? '' : html.slice(nameEnd, end)
    from = at = end + 1
    if (!isEnd && UNSEEN.has(name) && !attributes.endsWith('/')) {
      from = at = afterElement(html, name, end + 1)
    } else if (
      !isEnd &&
      name === 'span' &&
      attributes === ' class="katex"' &&
      vain <= html.length
    ) {
      const balanced = endOfKatex(html, end + 1)
      if (balanced < 0) vain += html.length - end
      const close = balanced < 0 ? nextBlock(html, end + 1) : balanced
      const katex = html.slice(end + 1, close)
      const tex = annotationIn(katex)
      if (tex === undefined) {
        vain += katex.length
        handler.tag({ name, isEnd, attributes })
        continue
      }
      handler.tex(tex)
      from = at = close
    } else handler.tag({ name, isEnd, attributes })
  }
  if (from < html.length) handler.text(html.slice(from))
}

/** The TeX in KaTeX's markup; undefined if there is none, or if it is more than text. */
function annotationIn(katex: string): string | undefined {
  const begin = katex.indexOf(ANNOTATION)
  if (begin < 0) return undefined
  const stop = katex.indexOf('</annotation', begin)
  const tex = katex.slice(begin + ANNOTATION.length, stop < 0 ? undefined : stop)
  return /<[!?]/.test(tex) ? undefined : tex
}

function afterMarkup(html: string, open: number): number {
  if (!html.startsWith('<!--', open)) return html.indexOf('>', open) + 1 || html.length
  if (html.startsWith('>', open + 4)) return open + 5
  if (html.startsWith('->', open + 4)) return open + 6
  // Tries each `>`: the text before it decides whether it ends the comment.
  for (let end = html.indexOf('>', open + 4); end >= 0; end = html.indexOf('>', end + 1))
    if (html.startsWith('--', end - 2) && end - 2 >= open + 4) return end + 1
    else if (html.startsWith('--!', end - 3) && end - 3 >= open + 4) return end + 1
  return html.length
}

/** The `>` that ends a tag, quoted values skipped; the end of the text if there is none. */
function endOfTag(html: string, from: number): number {
  const simple = html.indexOf('>', from)
  if (simple < 0) return html.length
  if (simple === from || isWhole(html.slice(from, simple))) return simple
  let quoted = ''
  for (let i = from; i < html.length; i++) {
    const char = html.charAt(i)
    if (quoted !== '') quoted = char === quoted ? '' : quoted
    else if (char === '>') return i
    else if ((char === '"' || char === "'") && html.charAt(i - 1) === '=') quoted = char
  }
  return html.length
}

/** Whether no quoted value is open at the end of attributes. Single quotes are not considered. */
function isWhole(attributes: string): boolean {
  if (attributes.includes("'")) return false
  for (let quote = attributes.indexOf('"'); quote >= 0;) {
    if (attributes.charCodeAt(quote - 1) === 0x3d) quote = attributes.indexOf('"', quote + 1)
    if (quote < 0) return false
    quote = attributes.indexOf('"', quote + 1)
  }
  return true
}

/** A drawing without an end tag ends where the page continues. */
const AFTER_DRAWING = new RegExp(`</svg[\\s>]|(?=</?(?:span|${BLOCKS})[\\s/>])`, 'gi')

function afterElement(html: string, name: string, from: number): number {
  if (name === 'svg') {
    AFTER_DRAWING.lastIndex = from
    const found = AFTER_DRAWING.exec(html)
    return found ? found.index + found[0].length : html.length
  }
  const end = html.indexOf(`</${name}`, from)
  if (end < 0) return html.length
  const close = html.indexOf('>', end)
  return close < 0 ? html.length : close + 1
}

/** The index after the `</span>` that ends KaTeX's element; −1 if there is none. */
function endOfKatex(html: string, from: number): number {
  let depth = 1
  for (let at = html.indexOf('span', from); at >= 0; at = html.indexOf('span', at + 4)) {
    if (html.charCodeAt(at - 1) === 0x3c) depth++
    else if (html.charCodeAt(at - 1) === 0x2f && --depth === 0) return html.indexOf('>', at) + 1
  }
  return -1
}

/** The place where the page continues after an element without an end. */
function nextBlock(html: string, from: number): number {
  BLOCK.lastIndex = from
  return BLOCK.exec(html)?.index ?? html.length
}

/** An attribute's value as in the source; undefined if there is none. */
export function valueOf(attributes: string, name: string): string | undefined {
  const at = attributes.indexOf(`${name}=`)
  if (at < 0 || (at > 0 && attributes.charCodeAt(at - 1) > 0x20)) {
    if (!/[A-Z]/.test(attributes)) return undefined
    // Matches names in capitals, as older tools write them.
    const found = new RegExp(`(?:^|\\s)${name}=(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, 'i').exec(
      attributes,
    )
    return found?.[1] ?? found?.[2] ?? found?.[3]
  }
  const from = at + name.length + 1
  const quote = attributes.charAt(from)
  if (quote !== '"' && quote !== "'") return /^[^\s>]*/.exec(attributes.slice(from))?.[0]
  const end = attributes.indexOf(quote, from + 1)
  return attributes.slice(from + 1, end < 0 ? undefined : end)
}
