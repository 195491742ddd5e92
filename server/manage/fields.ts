// What people and programs write into several forms: names, and moments.
import { z } from '@hono/zod-openapi'
import { isoTime } from '../clock.ts'
import { invalidField } from '../errors.ts'

/** A name that can be seen: no blank one, and none that differs from another only by spaces around it. */
export const Name = z.string().trim().min(1).max(200)

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
  if (at <= now) throw invalidField('expires_at', '"expires_at" lies in the past.')
  return at
}
