// The only place that escapes. It reads a whole line of Markdown (a paragraph, heading or cell)
// with the writer's marks in place, and adds only the backslashes without which typed characters
// would have a meaning. Rules: CommonMark 0.31 (https://spec.commonmark.org/0.31.2/), GFM
// (https://github.github.com/gfm/), `$` as in micromark's math.
import { escapeDirectives } from './escape/directives.ts'
import { escapeLiterals } from './escape/literals.ts'
import { mathNeighbours, type Reference } from './escape/math.ts'
import { tagBrokenMarks } from './escape/marks.ts'
import { breakAutolinks, escapeClosingSequence, escapeLineStarts } from './escape/line-starts.ts'
import { escapeObsidian } from './escape/obsidian.ts'
import type { Draft, Mark } from './line-draft.ts'
import { Pieces } from './pieces.ts'

const TAG = { strong: 'strong', emphasis: 'em', delete: 'del' } as const

/** The draft's text, escaped. */
export function escapeLine(written: Draft): string {
  const references = mathNeighbours(written)
  const draft = withPunctuation(written, references)
  const tagged = tagBrokenMarks(draft)
  // 1 before each character that gets a backslash.
  const escapes = new Uint8Array(draft.text.length + 1)
  const typed = escapeLiterals(draft, tagged, escapes)
  if (draft.syntax.obsidian) escapeObsidian(draft, escapes)
  if (draft.position === 'paragraph' || draft.position === 'item')
    escapeLineStarts(draft, typed, escapes)
  if (draft.position === 'heading') escapeClosingSequence(draft, escapes)
  if (draft.syntax.directives) escapeDirectives(draft, escapes)
  breakAutolinks(draft, escapes)
  return apply(written, tagged, escapes, references)
}

/** A reference is punctuation to a mark beside it, so a semicolon takes its place. */
function withPunctuation(draft: Draft, references: readonly Reference[]): Draft {
  if (references.length === 0) return draft
  const out = new Pieces()
  let done = 0
  for (const { at } of references) {
    out.add(draft.text.slice(done, at))
    out.add(';')
    done = at + 1
  }
  out.add(draft.text.slice(done))
  return { ...draft, text: out.toString() }
}

/**
 * Adds the backslashes, and writes marks as HTML tags where they would not be read as marks, and
 * characters as references.
 */
function apply(
  draft: Draft,
  tagged: ReadonlySet<Mark>,
  escapes: Uint8Array,
  references: readonly Reference[],
): string {
  const { text } = draft
  if (tagged.size === 0 && references.length === 0 && !escapes.includes(1)) return text
  const tags = [...tagged].flatMap((mark) => [
    { at: mark.open, length: mark.length, tag: `<${TAG[mark.type]}>` },
    { at: mark.close, length: mark.length, tag: `</${TAG[mark.type]}>` },
  ])
  for (const { at, text } of references) tags.push({ at, length: 1, tag: text })
  tags.sort((a, b) => a.at - b.at)
  tags.push({ at: text.length, length: 0, tag: '' })
  const out = new Pieces()
  let done = 0
  let escape = escapes.indexOf(1)
  for (const { at, length, tag } of tags) {
    for (; escape >= 0 && escape < at; escape = escapes.indexOf(1, escape + 1)) {
      out.add(text.slice(done, escape))
      out.add('\\')
      done = escape
    }
    out.add(text.slice(done, at))
    out.add(tag)
    done = at + length
  }
  return out.toString()
}
