// Writes inline nodes as one string of Markdown. It is first written with all marks, and records
// where the writer's own characters have a meaning (marks, spans) and where typed ones must not
// (literals); escape.ts then sees the whole line and decides what to escape.
import { escapeLine } from './escape.ts'
import { endsInAutolink } from './escape/line-starts.ts'
import { OBSIDIAN_SYNTAX } from './escape/obsidian.ts'
import { MARKER } from './links.ts'
import type { Inline } from './tree.ts'
import { NO_EXTRA_SYNTAX } from './extra-syntax.ts'
import type { LinePosition, Mark, Draft } from './line-draft.ts'

const HAS_SPECIAL = /[\\`*_[\]<&~$|!]/
/** First characters that can begin a block other than a paragraph. */
const BLOCK_START = /^[#>+\-=:\d]/

/** TABLE of the marks for which CommonMark and GFM have characters. */
const MARKS = {
  strong: { char: '*', length: 2 },
  emphasis: { char: '*', length: 1 },
  delete: { char: '~', length: 2 },
} as const

/** Writes inline nodes for the context `position`; lines are separated by `\n`. */
export function writeInline(
  nodes: readonly Inline[],
  position: LinePosition,
  syntax = NO_EXTRA_SYNTAX,
): string {
  const [only] = nodes
  if (nodes.length === 1 && only?.type === 'text') {
    const { value } = only
    if (
      !HAS_SPECIAL.test(value) &&
      !(syntax.obsidian && OBSIDIAN_SYNTAX.test(value)) &&
      !(syntax.directives && value.includes(':')) &&
      !value.includes('\n') &&
      position !== 'heading' &&
      (position === 'cell' || !BLOCK_START.test(value))
    )
      return value
  }
  const draft: Draft = {
    text: '',
    position,
    syntax,
    texts: [],
    marks: [],
    spans: [],
    links: [],
    lineStart: 0,
    endsInAutolink: false,
  }
  write(nodes, draft, false)
  return escapeLine(draft)
}

function write(nodes: readonly Inline[], draft: Draft, linked: boolean): void {
  for (const node of nodes) {
    switch (node.type) {
      case 'text':
        writeText(node.value, draft, linked)
        break
      case 'break':
        writeBreak(draft, linked)
        break
      case 'inlineCode':
        if (isMisread(node.value, draft.position, linked)) {
          draft.text += '<code>'
          writeText(node.value, draft, linked)
          draft.text += '</code>'
        } else writeSpan(fenced(node.value, '`'), draft)
        break
      case 'inlineMath':
        writeSpan(
          fenced(draft.position === 'cell' ? withoutEscapedPipes(node.value) : node.value, '$'),
          draft,
        )
        break
      case 'underline':
        draft.text += '<u>'
        write(node.children, draft, linked)
        draft.text += '</u>'
        break
      case 'link': {
        const from = draft.text.length
        draft.text += '['
        write(node.children, draft, true)
        writeSpan(`](${destination(node.url)})`, draft)
        draft.links.push({ from, to: draft.text.length })
        break
      }
      case 'image': {
        const from = draft.text.length
        draft.text += '!['
        writeText(node.alt, draft, true)
        writeSpan(`](${destination(node.url)})`, draft)
        draft.links.push({ from, to: draft.text.length })
        break
      }
      default:
        writeMark(node.children, node.type, draft, linked)
    }
  }
}

function writeBreak(draft: Draft, linked: boolean): void {
  // Cells and headings are one line of Markdown each; a heading cannot have a break at all.
  if (draft.position === 'cell') writeSpan('<br>', draft)
  else if (draft.position === 'heading') draft.text += draft.text.endsWith(' ') ? '' : ' '
  // A backslash alone on a line would be all that it shows.
  else if (draft.text.length === draft.lineStart && draft.text !== '') return
  else {
    // Some readers see no link where a backslash ends a line of its text. Spaces on a line of their
    // own would end the block.
    if (linked && draft.text.length > draft.lineStart) draft.text += '  \n'
    // GFM would read the backslash as part of an address before it.
    else draft.text += draft.endsInAutolink ? ' \\\n' : '\\\n'
    draft.lineStart = draft.text.length
  }
}

function writeMark(
  children: readonly Inline[],
  type: Mark['type'],
  draft: Draft,
  linked: boolean,
): void {
  const { char, length } = MARKS[type]
  const mark: Mark = { type, char, length, open: draft.text.length, close: 0 }
  draft.marks.push(mark)
  draft.text += char.repeat(length)
  write(children, draft, linked)
  mark.close = draft.text.length
  draft.text += char.repeat(length)
}

function writeText(source: string, draft: Draft, linked: boolean): void {
  const from = draft.text.length
  draft.text += source.includes('\n') ? source.replaceAll('\n', ' ') : source
  const last = draft.texts[draft.texts.length - 1]
  // Adjacent texts are joined, because the end of the first could have a meaning with the beginning
  // of the second.
  if (last?.to === from && last.linked === linked) last.to = draft.text.length
  else draft.texts.push({ from, to: draft.text.length, linked })
  draft.endsInAutolink = !linked && endsInAutolink(source)
}

function writeSpan(text: string, draft: Draft): void {
  const from = draft.text.length
  // A cell ends at any pipe; GFM removes the backslash before it reads the cell (GFM 4.10).
  draft.text += draft.position === 'cell' && text.includes('|') ? text.replaceAll('|', '\\|') : text
  draft.spans.push({ from, to: draft.text.length })
  draft.endsInAutolink = false
}

/**
 * Whether code would not survive between backticks: a cell loses the backslash before a pipe (GFM
 * 4.10), and a block that begins with `[…]:` is a definition, whatever the brackets belong to
 * (CommonMark 4.7).
 */
function isMisread(code: string, position: LinePosition, linked: boolean): boolean {
  return (
    (position === 'cell' && /(?<!\\)(?:\\\\)*\\\|/.test(code)) || (linked && code.includes(']:'))
  )
}

/** Code or TeX between runs of `char` that are longer than any inside (CommonMark 6.1). */
function fenced(value: string, char: '`' | '$'): string {
  if (!value.includes(char) && !(value.startsWith(' ') && value.endsWith(' ')))
    return `${char}${value}${char}`
  const fence = char.repeat(longestRun(value, char) + 1)
  const edge =
    value.startsWith(char) || value.endsWith(char) || (value.startsWith(' ') && value.endsWith(' '))
  const pad = edge ? ' ' : ''
  return `${fence}${pad}${value}${pad}${fence}`
}

/**
 * TeX for a cell, which would lose the backslash of `\|`: its synonym, separated from a following
 * letter.
 */
function withoutEscapedPipes(tex: string): string {
  if (!tex.includes('\\|')) return tex
  return tex.replace(/\\(.)(?=(.?))/gs, (pair, char: string, next: string) =>
    char !== '|' ? pair : /[a-z]/i.test(next) ? '\\Vert ' : '\\Vert',
  )
}

/** The length of the longest run of `char` in `value`. */
export function longestRun(value: string, char: string): number {
  let longest = 0
  let run = 0
  for (const c of value) {
    run = c === char ? run + 1 : 0
    if (run > longest) longest = run
  }
  return longest
}

/**
 * A link's destination (CommonMark 6.3): unchanged, except for characters that would end it or be
 * read as escapes.
 */
function destination(url: string): string {
  if (url.startsWith(MARKER)) return url
  let out = url
  // oxlint-disable-next-line no-control-regex -- what a destination cannot hold
  const unsafe = /[\u0000-\u0020\u007f<>]/g
  if (out.search(unsafe) >= 0) out = out.replace(unsafe, (c) => encodeURIComponent(c))
  if (out.includes('\\')) out = out.replace(/\\(?=[!-/:-@[-`{-~]|$)/g, '\\\\')
  // Not a backslash: cmark, GitHub's parser, decodes entities before it looks for those.
  if (out.includes('&')) out = out.replace(/&(?=#?\w+;)/g, '&amp;')
  if (/[()]/.test(out) && !isBalanced(out)) out = out.replace(/[()]/g, '\\$&')
  return out
}

/** Whether parentheses pair up, at most 32 levels deep, which every CommonMark reader supports. */
function isBalanced(url: string): boolean {
  let depth = 0
  for (const c of url) {
    if (c === '(' && ++depth > 32) return false
    if (c === ')' && --depth < 0) return false
  }
  return depth === 0
}
