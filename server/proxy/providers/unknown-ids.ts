// Recognizes ids whose form no row declares: at unknown endpoints, and in fields such as `file_id`.
import { CLOUD_RESOURCE } from './cloud-resources.ts'
import {
  ALPHANUMERIC,
  ANY_KIND,
  ANYWHERE,
  firstBytes,
  NUMBERED,
  OFTEN_UNKNOWN,
  perhaps,
} from './ids.ts'
import { decodedFully, type ObjectRef } from './object-ref.ts'
import type { IdForms } from './id-spelling.ts'
import { uuidOf } from './uuids.ts'

/** The kind of objects created at an endpoint without a row. */
export const OF_UNKNOWN_KIND = 'object'

/** An id of an unknown kind: `collection_…`, `21m00Tcm4TlvDq8ikWAM`. */
const OF_ANY_KIND =
  /^(?:[A-Za-z]+[-_:])*(?:(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/
const MANY_DIGITS = 3

/** The ids of an unknown endpoint: its objects are known by their id alone, in any form. */
export function withUnknownForms(forms: IdForms): IdForms {
  const { firsts, shortest, longest, models, listed } = forms
  return {
    ...(models === undefined ? {} : { models }),
    ...(listed === undefined ? {} : { listed, prose: true }),
    firsts: firstBytes([...ALPHANUMERIC, ...ANYWHERE]).map((is, byte) => is | (firsts[byte] ?? 0)),
    shortest,
    longest,
    refOf: (text) => {
      const ref = forms.refOf(text)
      if (ref !== null) return ref
      const segments = segmentsOf(text)
      const id =
        segments.findLast((segment) => OF_ANY_KIND.test(segment)) ??
        segments.findLast((segment) => NUMBERED.test(segment))
      return id === undefined ? null : perhaps({ kind: ANY_KIND, id })
    },
  }
}

/** A text without surrounding spaces, or its segments if it is a path or address. */
function segmentsOf(text: string): readonly string[] {
  const plain = (text.includes('%') ? decodedFully(text) : text).trim()
  return !plain.includes('/') || /\s/.test(plain) ? [plain] : plain.split(/[/?#]/)
}

/**
 * The object that a text in an id field of such an endpoint's request names: an id as providers
 * generate them, in any form; null for a name.
 *
 * @param isPublic whether any key may name it
 */
export function givenId(
  text: string,
  forms: IdForms | undefined,
  isPublic: RegExp | undefined,
): ObjectRef | null {
  if (forms === undefined || isPublic?.test(text) === true) return null
  const ref = forms.refOf(text)
  const isGenerated =
    ref !== null &&
    !OFTEN_UNKNOWN.has(ref.kind) &&
    (ref.mayBeUnknown !== true || uuidOf(ref.id) !== null || OF_ANY_KIND.test(ref.id))
  return isGenerated ? { kind: ref.kind, id: ref.id } : null
}

/**
 * The object that such an endpoint's response names as created; null if it is a name, or not
 * stored.
 */
export function madeSomewhere(id: string, unknownForms: IdForms): ObjectRef | null {
  const ref = /^\d+$/.test(id) ? { kind: ANY_KIND, id } : unknownForms.refOf(id)
  if (ref === null || OFTEN_UNKNOWN.has(ref.kind) || ref.kind === CLOUD_RESOURCE) return null
  return { kind: ref.kind === ANY_KIND ? OF_UNKNOWN_KIND : ref.kind, id: ref.id }
}

/**
 * Whether a segment of such an endpoint's path names an object, because it can hardly be anything
 * else.
 */
export function namesObject(segment: string, forms: IdForms): boolean {
  const ref = forms.refOf(segment)
  // Names of models are long, too, but have few digits.
  return ref === null
    ? /[-_:]/.test(segment) &&
        OF_ANY_KIND.test(segment) &&
        (segment.match(/\d/g)?.length ?? 0) >= MANY_DIGITS
    : ref.mayBeUnknown !== true ||
        (ref.kind === ANY_KIND && (segment.includes('-') || forms.bare?.test(segment) === true))
}
