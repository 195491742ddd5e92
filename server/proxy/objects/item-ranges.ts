// Tracks items of stored responses (messages, reasoning, calls) without a row for each. OpenAI
// gives the items of a response, and of those that continue it, ids that begin or end like the
// response's own: `resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b` and
// `msg_67ccd2bf17f0819081ff3bb2cf6508e60bb6a6b452d3795b`
// (platform.openai.com/docs/api-reference/responses). One row for that common part covers all.
import type { ObjectRef } from '../providers/object-ref.ts'

/** The kind of an item. A provider keeps it as long as its response. */
export const ITEM = 'item'
/** The kind of the part that ids of one conversation have in common. */
const RANGE = 'items'
/**
 * Hexadecimal digits that must be the same: 64 bits, which no two conversations share by chance.
 */
const COMMON = 16
/** An id with enough digits for a common part and its own part. */
const GENERATED = /^[a-z]+_([0-9a-f]{32,128})$/

const digitsOf = (id: string): string | undefined => GENERATED.exec(id)?.[1]
const beginning = (digits: string): ObjectRef => ({
  kind: RANGE,
  id: `${digits.slice(0, COMMON)}*`,
})
const end = (digits: string): ObjectRef => ({ kind: RANGE, id: `*${digits.slice(-COMMON)}` })

/** The range of an item, derived from its response; null if their ids have nothing in common. */
export function rangeOf({ kind, id }: ObjectRef, response: string | undefined): ObjectRef | null {
  const digits = kind === ITEM ? digitsOf(id) : undefined
  const of = response === undefined ? undefined : digitsOf(response)
  if (digits === undefined || of === undefined) return null
  const part = [end, beginning].find((one) => one(digits).id === one(of).id)
  return part === undefined ? null : part(digits)
}

/**
 * The names by which an object may be known, the most specific first: an item itself, or its range.
 */
export function spellingsOf(object: ObjectRef): readonly ObjectRef[] {
  const digits = object.kind === ITEM ? digitsOf(object.id) : undefined
  return digits === undefined ? [object] : [object, end(digits), beginning(digits)]
}
