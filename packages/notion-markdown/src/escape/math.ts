// Characters beside an equation that keep readers from seeing it: most take no `$` before a digit
// for the end of one, so that `$5 or 6$7` stays text, and GitHub no `$` beside a letter.
import type { Draft } from '../line-draft.ts'

/** What is written in place of a character: a reference to it. */
export interface Reference {
  at: number
  text: string
}

const DIGIT = /^\d/
/** Not letters of other scripts: text without spaces would be unreadable. */
const WORD = /^[a-z\d]/i

/** The typed characters beside equations that are written as references. */
export function mathNeighbours({ text, spans, texts, syntax }: Draft): Reference[] {
  const found: Reference[] = []
  let next = 0
  for (const { from, to } of spans) {
    if (text[from] !== '$') continue
    while ((texts[next]?.to ?? Infinity) < from) next++
    const [before, after] =
      texts[next]?.to === from ? [texts[next], texts[next + 1]] : [undefined, texts[next]]
    const { lonelyMath } = syntax
    // A character between two equations is found twice.
    if (lonelyMath && before && found.at(-1)?.at !== from - 1 && WORD.test(text.charAt(from - 1)))
      found.push(referenceAt(text, from - 1))
    if (after?.from === to && (lonelyMath ? WORD : DIGIT).test(text.charAt(to)))
      found.push(referenceAt(text, to))
  }
  return found
}

const referenceAt = (text: string, at: number): Reference => ({
  at,
  text: `&#${text.charCodeAt(at)};`,
})
