// What people and programs write into several forms: names, and moments.
import { z } from '@hono/zod-openapi'
import { isoTime } from '../clock.ts'
import { invalidField } from '../errors.ts'
import { strictObject } from '../request/strict.ts'

/** A name that can be seen: no blank one, and none that differs from another only by spaces around it. */
export const Name = z.string().trim().min(1).max(200)

/** The parameter that takes what is revoked out of every list, too. */
export const Purge = strictObject({
  purge: z.enum(['true', 'false']).default('false').openapi({ description: '`true`: it is revoked, and in no list any more. Reports go on naming it.' }),
})

/** Several words of a list in one parameter, with commas between them. */
export function oneOrMore<W extends string>(words: readonly W[]) {
  return z.string().max(200).transform((text, issues): W[] => {
    const named = [...new Set(text.split(',').map((word) => word.trim()))]
    const known = words.filter((word) => named.includes(word))
    if (known.length < named.length) issues.addIssue({ code: 'custom', message: `it names one or more of ${words.join(', ')}` })
    return known
  })
}

const WRITTEN = { error: 'a moment is written as 2027-01-31 or 2027-01-31T12:00:00Z' }

/** A moment with its zone, or a day (UTC), which is its beginning. Its year has four digits in UTC too, as in every answer. */
export const Moment = z.union([z.iso.datetime({ offset: true }), z.iso.date()], WRITTEN).refine((moment) => /^\d/.test(isoTime(Date.parse(moment))), WRITTEN)

/**
 * When something expires, in milliseconds since 1970; null is never.
 *
 * @throws Problem `invalid_field` where that has passed
 */
export function expiryOf(moment: string | null, now: number): number | null {
  if (moment === null) return null
  const at = Date.parse(moment)
  if (at <= now) throw invalidField('expires_at', '"expires_at" lies in the past. Choose a later moment; to end a key or a token now, revoke it.')
  return at
}
