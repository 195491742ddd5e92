// Ids in prose. By the rule of providers/ids.ts, a message that is only an id names an object. In
// places of prose, it is text, which the provider passes to a model without a lookup. So unowned
// ids are allowed there; another key's are not allowed anywhere.
import { isUtf8 } from 'node:buffer'
import { parseJson, valuesAt } from '../json/paths.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { IdForms } from '../providers/id-spelling.ts'
import { mayBeId } from '../providers/spelled.ts'

/**
 * Longest body that is checked for prose, in one step: 0.1 ms for a chat, 0.8 ms if it has only
 * short strings.
 */
const LONGEST_BYTES = 48 * 1024
/** Matches every string of a JSON text: keys and values. */
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"/gs

/**
 * The ids that a body mentions; those only in places of prose may be unowned. Strings are counted
 * in the text itself, so a value that a parser drops (of a duplicate key) does not count as prose.
 *
 * @param pieces the whole body, not encoded
 * @param places paths of prose, each once
 */
export function withProse(
  pieces: readonly Buffer[],
  places: readonly string[],
  ids: readonly ObjectRef[],
  forms: IdForms,
): readonly ObjectRef[] {
  if (
    places.length === 0 ||
    pieces.reduce((length, piece) => length + piece.length, 0) > LONGEST_BYTES
  )
    return ids
  const bytes = Buffer.concat(pieces)
  const text = bytes.toString('utf8')
  const body = isUtf8(bytes) ? parseJson(text) : undefined
  if (body === undefined) return ids
  const inProse = countById(
    places.flatMap((place) => valuesAt(body, place)),
    forms,
  )
  const all = countById((text.match(STRINGS) ?? []).map(decoded), forms, true)
  return ids.map((ref) =>
    // An id found by its key need not be a whole string.
    all.has(nameOf(ref)) && inProse.get(nameOf(ref)) === all.get(nameOf(ref))
      ? { kind: ref.kind, id: ref.id, mayBeUnknown: true }
      : ref,
  )
}

/** Decodes a JSON string; few have an escape. */
const decoded = (string: string): unknown =>
  string.includes('\\') ? parseJson(string) : string.slice(1, -1)

/**
 * How many of these texts name each object. @param lists whether to count lists of addresses, which
 * are never prose
 */
function countById(
  texts: readonly unknown[],
  forms: IdForms,
  lists = false,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) {
    if (typeof text !== 'string' || !mayBeId(text, forms)) continue
    const listed = forms.listed?.(text) ?? null
    for (const ref of listed === null ? [forms.refOf(text)] : lists ? listed : [])
      if (ref !== null) counts.set(nameOf(ref), (counts.get(nameOf(ref)) ?? 0) + 1)
  }
  return counts
}

const nameOf = ({ kind, id }: ObjectRef): string => `${kind} ${id}`
