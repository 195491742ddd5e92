// Reads a line of Markdown: links, images, code, equations and escapes. Marks need not be read,
// because they are punctuation.
import { decodeHTML } from 'entities'
import type { Reading } from './reading.ts'

const SPECIAL = /[\\`$![\]<&]/g
const TAG = /<(\/?)(u|br|strong|em|del|code|a|h[1-6])(?: [^<>]*)?>/y
const WIKI_LINK = /\[\[([^[\]|\n]*)\|([^[\]|\n]*)\]\]/y
const REFERENCE = /&(?:[a-zA-Z][a-zA-Z0-9]*|#\d+|#[xX][0-9a-fA-F]+);/y
const ESCAPE_OR_REFERENCE = /\\[!-/:-@[-`{-~]|&#?\w+;/g

/**
 * Reads text into a reading.
 *
 * @param language `html` in a toggle's summary; `wiki` is Markdown with links such as
 *   `[[place|text]]`
 */
export function readInlines(
  text: string,
  reading: Reading,
  language: 'markdown' | 'wiki' | 'html' = 'markdown',
): void {
  let from = 0
  /** Brackets that may turn out to begin a link. */
  let brackets = 0
  const isMarkdown = language !== 'html'
  const runs = new Runs(text)
  // Characters searched without success; beyond eight times the text, brackets are text.
  const vain = { left: 8 * text.length }
  SPECIAL.lastIndex = 0
  for (let match = SPECIAL.exec(text); match; match = SPECIAL.exec(text)) {
    const at = match.index
    const sign = match[0]
    let end = at + 1
    if (sign === '<' || sign === '&') {
      const pattern = sign === '<' ? TAG : REFERENCE
      pattern.lastIndex = at
      const found = pattern.exec(text)
      if (found) {
        reading.text(text.slice(from, at))
        end = at + found[0].length
        if (sign === '&') reading.text(decodeHTML(found[0]))
        else if (found[2] === 'br') reading.gap()
        else if (found[2] === 'a' && found[1] === '')
          reading.link(decodeHTML(/href="([^"]*)"/.exec(found[0])?.[1] ?? ''))
        from = end
      }
    } else if (isMarkdown && sign === '\\') end = at + 2
    else if (isMarkdown && (sign === '`' || sign === '$')) {
      const run = runLength(text, at, sign)
      const close = runs.closing(at + run, sign, run)
      end = close < 0 ? at + run : close + run
      if (close >= 0) {
        reading.text(text.slice(from, at))
        const inside = text.slice(at + run, close)
        if (sign === '`') reading.text(inside)
        else reading.equation(inside)
        from = end
      }
    } else if (isMarkdown && sign === '!' && text.charCodeAt(at + 1) === 0x5b) {
      const image = imageAt(text, at + 1, vain)
      if (image) {
        reading.text(text.slice(from, at))
        reading.image(image.url)
        from = end = image.end
      }
    } else if (language === 'wiki' && sign === '[' && text.charCodeAt(at + 1) === 0x5b) {
      const length = wikiLink(text, from, at, reading)
      if (length === 0) brackets++
      else from = end = at + length
    } else if (isMarkdown && sign === '[') brackets++
    else if (isMarkdown && sign === ']' && brackets > 0) {
      brackets--
      const target = targetAt(text, at + 1, vain)
      if (target) {
        reading.text(text.slice(from, at))
        reading.link(target.url)
        from = end = target.end
      }
    }
    SPECIAL.lastIndex = end
  }
  reading.text(from === 0 ? text : text.slice(from))
}

/** Reads a link that begins at `at`, and the text before it. @returns its length; 0 for no link */
function wikiLink(text: string, from: number, at: number, reading: Reading): number {
  WIKI_LINK.lastIndex = at
  const [whole = '', place = '', label = ''] = WIKI_LINK.exec(text) ?? []
  if (whole === '') return 0
  reading.text(text.slice(from, at))
  reading.link(`#${place}`)
  reading.text(label)
  return whole.length
}

function runLength(text: string, at: number, sign: string): number {
  let end = at
  while (text.charAt(end) === sign) end++
  return end - at
}

/** The runs of backticks and dollars in a text. */
class Runs {
  readonly #text: string
  /** For each sign and length, the start of the last run. */
  readonly #last = new Map<string, Map<number, number>>()

  constructor(text: string) {
    this.#text = text
  }

  /** The start of the run of exactly `length` characters that ends a span; −1 if there is none. */
  closing(from: number, sign: string, length: number): number {
    if ((this.#lastRuns(sign).get(length) ?? -1) < from) return -1
    for (let at = this.#text.indexOf(sign, from); at >= 0;) {
      const run = runLength(this.#text, at, sign)
      if (run === length) return at
      at = this.#text.indexOf(sign, at + run)
    }
    return -1
  }

  #lastRuns(sign: string): Map<number, number> {
    const known = this.#last.get(sign)
    if (known) return known
    const last = new Map<number, number>()
    for (let at = this.#text.indexOf(sign); at >= 0;) {
      const run = runLength(this.#text, at, sign)
      last.set(run, at)
      at = this.#text.indexOf(sign, at + run)
    }
    this.#last.set(sign, last)
    return last
  }
}

interface Budget {
  left: number
}

/** A link's target `(…)` (CommonMark 6.3, without titles and pointed brackets). */
function targetAt(text: string, at: number, vain: Budget): { url: string; end: number } | null {
  if (text.charCodeAt(at) !== 0x28) return null
  let depth = 0
  for (let i = at; i < text.length && vain.left > 0; i++, vain.left--) {
    const code = text.charCodeAt(i)
    if (code <= 0x20) return null
    if (code === 0x5c) i++
    else if (code === 0x28) depth++
    else if (code === 0x29 && --depth === 0)
      return { url: unescaped(text.slice(at + 1, i)), end: i + 1 }
  }
  return null
}

function unescaped(url: string): string {
  return url.replace(ESCAPE_OR_REFERENCE, (found) =>
    found.startsWith('&') ? decodeHTML(found) : found.slice(1),
  )
}

/** An image whose description begins with the bracket at `at`. */
function imageAt(text: string, at: number, vain: Budget): { url: string; end: number } | null {
  let depth = 0
  for (let i = at; i < text.length && vain.left > 0; i++, vain.left--) {
    const code = text.charCodeAt(i)
    if (code === 0x5c) i++
    else if (code === 0x5b) depth++
    else if (code === 0x5d && --depth === 0) return targetAt(text, i + 1, vain)
  }
  return null
}
