// Typed text to which only Obsidian gives a meaning, besides its links: comments, which it hides,
// tags, highlights, names of blocks, and callouts with a title
// (https://help.obsidian.md/obsidian-flavored-markdown).
import type { Draft } from '../line-draft.ts'

/** Finds text that may need a backslash. */
export const OBSIDIAN_SYNTAX = /%%|==|#\S|\^[\w-]|\[!/

/** Each match begins with the characters that get a backslash. */
const COMMENT = /%{2,}/g
const HIGHLIGHT = /={2,}/g
/** A tag has more than digits. */
const TAG = /(?<![^\s])#(?=\d*[\p{L}\p{M}\p{So}_/-])/gu
const BLOCK_NAME = /(?<![^\s])\^(?=[\w-]+[ \t]*$)/gm
const CALLOUT = /^\[(?=![^\]\n]+\])/gm

/** Marks in `escapes` the characters that need a backslash for Obsidian. */
export function escapeObsidian({ text: line, texts, position }: Draft, escapes: Uint8Array): void {
  if (!OBSIDIAN_SYNTAX.test(line)) return
  for (const { from, to } of texts) {
    const text = line.slice(from, to)
    for (const pattern of [COMMENT, TAG]) escapeMatches(pattern, text, from, escapes)
    // One alone, or between spaces, highlights nothing.
    if ([...text.matchAll(HIGHLIGHT)].length > 1) escapeMatches(HIGHLIGHT, text, from, escapes)
    if (isLineEnd(line, to)) escapeMatches(BLOCK_NAME, text, from, escapes)
    if (from === 0 && position === 'paragraph') escapeMatches(CALLOUT, text, from, escapes)
  }
}

const isLineEnd = (line: string, at: number): boolean =>
  at === line.length || line.startsWith('\\\n', at)

function escapeMatches(pattern: RegExp, text: string, from: number, escapes: Uint8Array): void {
  for (const { 0: found, index } of text.matchAll(pattern))
    escapes.fill(1, from + index, from + index + found.length)
}
