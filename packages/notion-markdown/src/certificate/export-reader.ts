// Reads the visible contents of an exported page, block by block, in the form of Notion's
// exporters.
import { decodeHTML } from 'entities'
import {
  NOWHERE,
  classesOf,
  escapeless,
  isHidden,
  isSafe,
  labelOf,
  texIn,
  withoutComment,
} from './exported-markup.ts'
import { INLINE, LINES, OpenElements, VOID } from './open-elements.ts'
import { Reading, type PageReading } from './reading.ts'
import { TableReader } from './table-reader.ts'
import { readTags, valueOf, type Tag, type TagHandler } from './tags.ts'

/** Values of a cell that are adjacent without a separator. */
const VALUE = /\b(?:selected-value|status-value|user|margin-right)\b/

/** The result of `#start` if it has opened the element itself. */
const HIDDEN = Symbol('hidden')

/**
 * Reads one page.
 *
 * @param fileName the name of its file, used if it has no title
 * @param trace receives its words
 * @param moved the new paths of files, for a folder of pages
 */
export function readExportedPage(
  source: string,
  fileName: string,
  trace: string[] | null = null,
  moved: MovedFiles | null = null,
): PageReading {
  // HTML parsers ignore it (HTML standard, unexpected-null-character).
  const html = source.includes('\0') ? source.replaceAll('\0', '') : source
  const hasTitle =
    html.includes('<h1 class="page-title"') || /<h1\s[^>]*class="[^"]*page-title/.test(html)
  const head = /<title[^>]*>([^<]*)</.exec(html)?.[1] ?? ''
  const named = fileName
    .replace(/\.html?$/i, '')
    .replace(/(?:^|[\s_-])[0-9a-f]{32}$/i, '')
    .trim()
  const fallback = decodeHTML(head).trim() || named || 'Untitled'
  const reader = new ExportReader(hasTitle, fallback, trace, moved)
  readTags(html, reader)
  return reader.finish()
}

/** Files that get other paths and names. */
export interface MovedFiles {
  /** The substitute for an image that is missing from the export; null if it is not missing. */
  missingName(url: string): string | null
}

/** A bookmark, whose parts are written in another order than shown. */
interface Bookmark {
  title: string
  description: string
  href: string
  /** The text outside them. */
  rest: string
}

class ExportReader implements TagHandler {
  readonly #reading: Reading
  readonly #title: string
  readonly #moved: MovedFiles | null
  readonly #open = new OpenElements((name) => {
    if (LINES.has(name)) this.#reading.gap()
  })
  /** The depth in elements that are not shown, and the target for their TeX. */
  #hidden = 0
  #tex: string[] | null = null
  #inTex = false
  /** The depth in block equations, in links, in bold text. */
  #display = 0
  #links = 0
  #bold = 0
  #code: string[] | null = null
  #table: TableReader | null = null
  #bookmark: Bookmark | null = null
  #part: keyof Bookmark = 'rest'
  /** Images in a toggle's summary, which move below it. */
  #summary: string[] | null = null
  readonly #lists: ('bulleted' | 'numbered' | 'to-do' | 'sitemap' | null)[] = []
  /** Whether a to-do has begun whose check box has not been read yet. */
  #isUnboxed = false
  #linkShown = false
  #linkUrl = ''
  /** Number of texts and equations that have shown something. */
  #shown = 0
  /** Whether a link has shown anything besides an icon. */
  #hasWords = false
  #icons = 0
  #inRowTitle = false
  /** Whether the last tag ended an element in a cell that may be one of several values. */
  #endedValue = false

  constructor(
    hasTitle: boolean,
    fallback: string,
    trace: string[] | null,
    moved: MovedFiles | null,
  ) {
    this.#reading = new Reading(trace, moved === null)
    this.#moved = moved
    this.#title = fallback
    this.#reading.block('headings')
    if (!hasTitle) this.#reading.text(fallback)
    this.#reading.gap()
  }

  finish(): PageReading {
    this.#open.endAll()
    return this.#reading.finish()
  }

  text(source: string): void {
    const text = source.includes('&') ? decodeHTML(source) : source
    if (this.#inTex) this.#tex?.push(text)
    if (this.#hidden > 0) return
    if (this.#code) {
      // The line end right after the tag is not part of the text (HTML standard).
      const isFirst = this.#code.length === 0 && text.startsWith('\n')
      return void this.#code.push(isFirst ? text.slice(1) : text)
    }
    if (this.#bookmark) return void (this.#bookmark[this.#part] += text)
    const isBlank = text.trim() === ''
    this.#endedValue = false
    if (this.#isUnboxed && !isBlank) this.#box(false)
    if (!isBlank && this.#bold === 0) this.#table?.plain()
    if (!isBlank) this.#linkShown = true
    if (!isBlank) this.#shown++
    if (!isBlank && this.#icons === 0) this.#hasWords = true
    this.#reading.text(this.#links > 0 ? labelOf(text) : text)
  }

  tex(source: string): void {
    if (this.#hidden === 0) this.#equation(decodeHTML(source))
  }

  tag({ name, isEnd, attributes }: Tag): void {
    if (isEnd) {
      this.#open.end(name)
      this.#endedValue = this.#table?.inCell === true && (name === 'a' || name === 'span')
      return
    }
    if (LINES.has(name)) this.#reading.gap()
    const isVoid = VOID.has(name)
    if (this.#hidden > 0) {
      if (!isVoid) this.#open.push(name, name === 'annotation' ? this.#startTex() : undefined)
      return
    }
    if (this.#code?.length === 0) this.#code.push('')
    const wasValue = this.#endedValue
    this.#endedValue = false
    if (wasValue && (name === 'a' || VALUE.test(attributes))) this.#reading.gap()
    if (attributes === '') {
      const end = this.#start(name, '', '')
      if (!isVoid && end !== HIDDEN) this.#open.push(name, end)
      return
    }
    const tex = attributes.includes('data-notion-') ? texIn(attributes) : undefined
    if (tex !== undefined) {
      const isBlock = attributes.includes('data-notion-equation') && !INLINE.has(name)
      this.#display += isBlock ? 1 : 0
      this.#equation(tex)
      this.#display -= isBlock ? 1 : 0
      if (!isVoid) this.#hide(name)
    } else if (isHidden(attributes)) {
      if (!isVoid) this.#hide(name)
    } else {
      const end = this.#start(name, attributes, classesOf(attributes))
      if (!isVoid && end !== HIDDEN) this.#open.push(name, end)
    }
  }

  #hide(name: string): void {
    this.#hidden++
    this.#open.push(name, () => void this.#hidden--)
  }

  /** Shows only an element's annotation, as an equation. */
  #hideButTex(name: string): typeof HIDDEN {
    this.#hidden++
    this.#tex = null
    this.#open.push(name, () => {
      this.#hidden--
      this.#inTex = false
      const tex = this.#tex?.join('') ?? ''
      this.#tex = null
      this.#equation(tex)
    })
    return HIDDEN
  }

  #startTex(): () => void {
    this.#tex = []
    this.#inTex = true
    return () => void (this.#inTex = false)
  }

  #equation(tex: string): void {
    if (tex.trim() === '') return
    if (this.#isUnboxed) this.#box(false)
    if (this.#bold === 0) this.#table?.plain()
    this.#linkShown = true
    this.#shown++
    const isBlock = this.#display > 0 && !this.#inLine
    if (isBlock) this.#reading.block('equations')
    // On one line, a comment would extend over the text after it.
    this.#reading.equation(
      isBlock || !tex.includes('\n') ? tex : tex.replace(/\\[^]|%[^\n]*\n/g, withoutComment),
    )
  }

  /** Whether blocks do not count here: in a cell, in a summary. */
  get #inLine(): boolean {
    return this.#table?.inCell === true || this.#summary !== null
  }

  /** Starts an element. @returns the function that ends it */
  #start(
    name: string,
    attributes: string,
    classes: string,
  ): (() => void) | typeof HIDDEN | undefined {
    const has = (word: string): boolean => classes !== '' && classes.includes(` ${word} `)
    switch (name) {
      case 'br':
        this.#code?.push('\n')
        return undefined
      case 'img':
        this.#image(attributes, has)
        return undefined
      case 'hr':
        if (!this.#inLine) this.#reading.block('dividers')
        return undefined
      case 'a':
        return has('bookmark') ? this.#startBookmark(attributes) : this.#startLink(attributes, has)
      case 'b':
      case 'strong':
        this.#bold++
        return () => void this.#bold--
      case 'h1':
      case 'h2':
      case 'h3':
      case 'h4':
      case 'h5':
      case 'h6':
        return has('page-title') ? this.#startTitle() : this.#maybe('headings')
      case 'blockquote':
        return this.#maybe('quotes')
      case 'aside':
      case 'figure':
        if (has('callout')) return this.#maybe('quotes')
        if (!has('equation')) return undefined
        this.#display++
        return () => void this.#display--
      case 'pre':
        return this.#startCode()
      case 'input':
      case 'div':
      case 'span':
        if (classes === '' && name !== 'input' && !this.#bookmark) return undefined
        return this.#startBox(name, attributes, has)
      case 'math':
        return this.#hideButTex(name)
      case 'source':
        if (this.#open.count('video') === 0 && this.#open.count('audio') === 0) return undefined
        return this.#medium(decodeHTML(valueOf(attributes, 'src') ?? ''))
      case 'iframe':
      case 'video':
      case 'audio':
      case 'embed':
      case 'object':
        return this.#medium(
          decodeHTML(valueOf(attributes, name === 'object' ? 'data' : 'src') ?? ''),
        )
      default:
        return this.#startList(name, attributes, classes) ?? this.#startTable(name, attributes, has)
    }
  }

  #maybe(kind: 'headings' | 'quotes' | 'bulleted'): (() => void) | undefined {
    if (this.#inLine) return undefined
    const place = this.#reading.maybe(kind)
    return () => this.#reading.endMaybe(place)
  }

  #startTitle(): () => void {
    const before = this.#shown
    return () => {
      if (this.#shown === before) this.#reading.text(this.#title)
    }
  }

  #startCode(): (() => void) | undefined {
    if (this.#inLine || this.#code) return undefined
    this.#code = []
    return () => {
      const text = this.#code?.join('') ?? ''
      this.#code = null
      this.#reading.code(text)
    }
  }

  #startLink(attributes: string, has: (word: string) => boolean): () => void {
    const url = decodeHTML(valueOf(attributes, 'href') ?? '').trim()
    // An entry of a sitemap is a list of its own, with its link before its items.
    const isEntry = this.#lists.at(-1) === 'sitemap' && this.#open.innermost === 'ul'
    const endEntry = isEntry || has('table_of_contents-link') ? this.#maybe('bulleted') : undefined
    this.#links++
    this.#linkShown = false
    this.#linkUrl = url
    this.#hasWords = false
    return () => {
      // Notion shows a row without a title like this, and exports it empty.
      if (this.#inRowTitle && !this.#hasWords && url !== '') this.text('Untitled')
      this.#links--
      if (this.#linkShown && url !== '' && url !== NOWHERE && isSafe(url)) this.#reading.link(url)
      endEntry?.()
    }
  }

  #startBookmark(attributes: string): () => void {
    const url = decodeHTML(valueOf(attributes, 'href') ?? '').trim()
    const bookmark = (this.#bookmark = { title: '', description: '', href: '', rest: '' })
    this.#part = 'rest'
    return () => {
      this.#bookmark = null
      const { title, description, href, rest } = bookmark
      const name = [title, rest, href, url].find((text) => text.trim() !== '') ?? ''
      this.text(escapeless(name))
      this.#reading.gap()
      this.text(escapeless(description))
      if (url !== '' && isSafe(url)) this.#reading.link(url)
    }
  }

  #image(attributes: string, has: (word: string) => boolean): void {
    const url = decodeHTML(valueOf(attributes, 'src') ?? '').trim()
    if (has('icon') || has('notion-static-icon') || has('page-cover-image')) return
    if (this.#bookmark || url === '' || !isSafe(url, true)) return
    const missing = this.#moved?.missingName(url) ?? null
    if (missing !== null) {
      const shown = decodeHTML(valueOf(attributes, 'alt') ?? '').trim() || missing
      return this.text(escapeless(shown))
    }
    if (this.#isUnboxed) this.#box(false)
    this.#table?.plain()
    this.#linkShown ||= this.#linkUrl !== url
    if (this.#summary) this.#summary.push(url)
    else this.#reading.image(url)
  }

  #medium(url: string): undefined {
    if (url === '' || !isSafe(url)) return
    this.#reading.text(url)
    this.#reading.gap()
    this.#reading.link(url)
  }

  /** A check box, or a container that is special for its class. */
  #startBox(
    name: string,
    attributes: string,
    has: (word: string) => boolean,
  ): (() => void) | typeof HIDDEN | undefined {
    const isInput = name === 'input' && /type=["']?checkbox/i.test(attributes)
    if (has('checkbox') || isInput) {
      const isDone =
        has('checkbox-on') || (name === 'input' && /\schecked(?=[\s=/]|$)/.test(attributes))
      if (this.#isUnboxed) this.#box(isDone)
      else this.text(isDone ? '☑' : '☐')
      return undefined
    }
    if (has('user-icon') || has('property-icon')) {
      this.#hide(name)
      return HIDDEN
    }
    if (has('katex')) return this.#hideButTex(name)
    if (has('katex-error')) {
      this.#hideButTex(name)
      this.#tex = []
      this.#inTex = true
      return HIDDEN
    }
    if (this.#bookmark) {
      const outer = this.#part
      const part = /\bbookmark-(title|description|href)\b/.exec(attributes)?.[1]
      if (part === 'title' || part === 'description' || part === 'href') this.#part = part
      return () => void (this.#part = outer)
    }
    const emoji = has('icon') ? valueOf(attributes, 'data-emoji') : undefined
    if (!has('icon')) return undefined
    const before = this.#reading.position
    this.#icons++
    return () => {
      if (emoji !== undefined && this.#reading.position === before) this.text(emoji)
      this.#icons--
      this.#reading.gap()
    }
  }

  #box(isDone: boolean): void {
    this.#isUnboxed = false
    this.#reading.block(isDone ? 'to_dos_done' : 'to_dos')
  }

  #startList(name: string, attributes: string, classes: string): (() => void) | undefined {
    if (name === 'ul' && valueOf(attributes, 'id')?.startsWith('id::') === true) {
      this.#lists.push('sitemap')
      return () => void this.#lists.pop()
    }
    if (name === 'ul' || name === 'ol') {
      const bulleted = classes.includes(' to-do-list ') ? 'to-do' : 'bulleted'
      const kind = name === 'ol' ? 'numbered' : classes.includes(' toggle ') ? null : bulleted
      this.#lists.push(kind)
      return () => void this.#lists.pop()
    }
    if (name === 'details' && !this.#inLine) this.#reading.block('toggles')
    if (name === 'summary' && !this.#inLine) {
      const images: string[] = (this.#summary = [])
      return () => {
        this.#summary = null
        for (const url of images) this.#reading.image(url)
      }
    }
    if (name !== 'li' || this.#inLine) return undefined
    const kind = this.#lists.at(-1)
    if (kind === 'bulleted' || kind === 'numbered') this.#reading.block(kind)
    if (kind !== 'to-do') return undefined
    this.#isUnboxed = true
    return () => {
      if (this.#isUnboxed) this.#box(false)
    }
  }

  #startTable(
    name: string,
    attributes: string,
    has: (word: string) => boolean,
  ): (() => void) | undefined {
    const table = this.#table
    if (name === 'table' && !table && !this.#inLine) {
      const kind = has('properties')
        ? 'properties'
        : has('collection-content')
          ? 'database'
          : 'simple'
      if (kind === 'database') this.#reading.databases++
      const opened = (this.#table = new TableReader(this.#reading, kind))
      return () => {
        this.#table = null
        opened.end()
      }
    }
    // A table inside a cell is the cell's text.
    if (!table || this.#open.count('table') !== 1) return undefined
    if (name === 'thead') {
      table.inHead = true
      return () => void (table.inHead = false)
    }
    if (name === 'tr') table.row(/\sid=/.test(attributes))
    if (name !== 'td' && name !== 'th') return undefined
    const span = (of: string): number =>
      Math.max(1, Number.parseInt(valueOf(attributes, of) ?? '', 10) || 1)
    table.cell(name === 'th', span('colspan'), span('rowspan'))
    this.#inRowTitle = has('cell-title')
    return () => {
      this.#inRowTitle = false
      table.endCell()
    }
  }
}
