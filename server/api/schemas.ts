// What people and programs write into several forms: names, and moments.
import { z } from '@hono/zod-openapi'
import { isoTime } from '../common/clock.ts'
import { fieldError, type FieldError } from '../common/errors.ts'
import { strictObject } from './request/strict.ts'

/**
 * A name that can be seen: no blank one, and none that differs from another only by spaces around
 * it.
 */
export const Name = z.string().trim().min(1).max(200)

/** The parameter that takes what is revoked out of every list, too. */
export const Purge = strictObject({
  purge: z.enum(['true', 'false']).default('false').openapi({
    description: '`true`: it is revoked, and in no list any more. Reports go on naming it.',
  }),
})

/** Several words of a list in one parameter, with commas between them. */
export function oneOrMore<W extends string>(words: readonly W[]) {
  return z
    .string()
    .max(200)
    .transform((text, issues): W[] => {
      const named = [...new Set(text.split(',').map((word) => word.trim()))]
      const known = words.filter((word) => named.includes(word))
      if (known.length < named.length)
        issues.addIssue({
          code: 'custom',
          message: `Must be one or more of ${words.join(', ')}, with commas between them.`,
        })
      return known
    })
}

const WRITTEN = { error: 'Write a date as 2027-01-31, or a moment as 2027-01-31T12:00:00Z.' }

/**
 * A moment with its zone, or a day (UTC), which is its beginning. Its year has four digits in UTC
 * too, as in every answer.
 */
export const Moment = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], WRITTEN)
  .refine((moment) => /^\d/.test(isoTime(Date.parse(moment))), WRITTEN)

/** A moment in milliseconds since 1970; null is never. */
export function momentOf(moment: string | null): number | null {
  return moment === null ? null : Date.parse(moment)
}

/** What is wrong with the moment at which something expires: it has passed. */
export function expiryError(moment: string | null | undefined, now: number): FieldError | null {
  if (moment === null || moment === undefined || Date.parse(moment) > now) return null
  return fieldError(
    'expires_at',
    'This date is in the past. Choose a later one; to end a key or a token now, revoke it.',
  )
}
