// Finds ids in the provider's full spelling outside a body: in a query, a header or a trailer,
// plain or in JSON strings.
import { headSlot, type QuickCheck } from '../json/tables.ts'
import { parseJson } from '../json/paths.ts'
import { decodedFully, type ObjectRef } from './object-ref.ts'
import type { IdForms } from './id-spelling.ts'

const MARK = 1
const ONLY_BEFORE = 2
const IN_NONE = 3
const [SLASH, PERCENT] = [0x2f, 0x25]
/** First bytes of JSON that contains strings. */
const IS_JSON = /^\s*[[{"]/
const JSON_STRING = /"(?:[^"\\]|\\.)*"/g

/** Whether a text can be an id, or JSON with one, by its length and first bytes. */
export function mayBeId(text: string, { firsts, shortest, longest, quick }: IdForms): boolean {
  if (text.length < shortest) return false
  const first = text.charCodeAt(0)
  if (first === 0x5b || first === 0x7b || first === 0x22) return true
  return (
    text.length <= longest &&
    firsts[first] === 1 &&
    (quick === undefined || beginsLikeOne(text, quick))
  )
}

function beginsLikeOne(text: string, { marks, headBytes, slots, uuids }: QuickCheck): boolean {
  const end = Math.min(text.length, headBytes)
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at)
    const mark = marks[code] ?? IN_NONE
    if (mark === ONLY_BEFORE || mark === IN_NONE) return at === 0
    if (mark !== MARK) continue
    if (code === SLASH || code === PERCENT) return true
    return (
      slots[headSlot(text.charCodeAt(0), text.charCodeAt(1), at + 1)] === 1 ||
      (uuids !== null && text.length >= uuids.shortest)
    )
  }
  return uuids !== null && text.length >= uuids.shortest
}

/** Shortest id that is searched for in a text, and the longest such text. */
const SHORTEST_PIECE = 8
const LONGEST_WRAPPED = 2_048
const WRAPPING = /[^\w./:%-]/

/** A space that does not belong to a list: the text is prose, in which an id is only text. */
const PROSE = /[^,;\s]\s+[^,;\s]/

/** Whether a text may contain an id in a list or in brackets: `a,ID`, `('ID')`, `ID@v1`. */
export const mayWrapId = (text: string): boolean =>
  text.length > SHORTEST_PIECE &&
  text.length <= LONGEST_WRAPPED &&
  WRAPPING.test(text) &&
  !PROSE.test(text)

/** The parts of a text between commas, brackets and the like. */
export const piecesOf = (text: string): string[] =>
  mayWrapId(text) ? text.split(/[^\w./:-]+/).filter((piece) => piece.length >= SHORTEST_PIECE) : []

/** The object of a part of a longer text, where only ids known to be another key's count. */
function refWithin(piece: string, ids: IdForms): ObjectRef[] {
  const ref = mayBeId(piece, ids) ? ids.refOf(piece) : null
  return ref === null ? [] : [{ kind: ref.kind, id: ref.id, mayBeUnknown: true }]
}

/**
 * The objects that a whole text names, or its strings if it is JSON; a duplicate key counts twice.
 */
export function refsOf(text: string, ids: IdForms): ObjectRef[] {
  const plain = text.includes('%') ? decodedFully(text) : text
  // A UUID may be in braces.
  const strings = IS_JSON.test(plain)
    ? [text, ...(plain.match(JSON_STRING) ?? []).map(parseJson)]
    : [text]
  const whole = strings.flatMap((one) => (typeof one === 'string' ? (ids.refOf(one) ?? []) : []))
  return whole.length > 0 ? whole : piecesOf(plain).flatMap((one) => refWithin(one, ids))
}
