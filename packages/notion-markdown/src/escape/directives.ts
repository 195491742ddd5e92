// Typed text that only Docusaurus takes for a directive: `::before` alone on a line, of which it
// shows nothing, and `x:list[int]`, of which it shows `x` and `int`
// (https://github.com/micromark/micromark-extension-directive).
import type { Draft } from '../line-draft.ts'

const LETTERS = String.raw`[^\p{P}\p{S}\s]+`
const NAME = `${LETTERS}(?:[-_]+${LETTERS})*`
/** A line that is a directive, or the first line of one. */
const BLOCK = new RegExp(`^:::|^::${NAME}(?:[[{].*)?[ \\t]*$`, 'u')
const INLINE = new RegExp(`:${NAME}([[{])`, 'gu')

/** Whether a line begins a directive. */
export const beginsDirective = (line: string): boolean => BLOCK.test(line)

/**
 * Marks in `escapes` the colons that begin a directive within a line. The brackets, and a colon at
 * the line's start, have been decided before.
 */
export function escapeDirectives({ text, texts }: Draft, escapes: Uint8Array): void {
  const last = { '[': text.lastIndexOf(']'), '{': text.lastIndexOf('}') }
  let next = 0
  for (const { 0: found, 1: sign, index } of text.matchAll(INLINE)) {
    while ((texts[next]?.to ?? Infinity) <= index) next++
    if ((texts[next]?.from ?? Infinity) > index) continue
    const bracket = index + found.length - 1
    const isOpen = escapes[bracket] === 0 && last[sign as '[' | '{'] > bracket
    // A second colon begins none, unless the first is escaped.
    const isSecond = text[index - 1] === ':' && escapes[index - 1] === 0
    if (isOpen && !isSecond) escapes[index] = 1
  }
}
