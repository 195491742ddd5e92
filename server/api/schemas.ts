// Schemas shared by several resources: names and timestamps.
import { z } from '@hono/zod-openapi'
import { isoTime } from '../common/clock.ts'
import { fieldError, type FieldError } from '../common/errors.ts'
import { strictObject } from './request/strict.ts'

/** A display name: not blank, and without surrounding spaces. */
export const Name = z.string().trim().min(1).max(200)

/** The parameter that also removes a revoked record from every list. */
export const Purge = strictObject({
  purge: z.enum(['true', 'false']).default('false').openapi({
    description: '`true`: it is revoked and no longer in any list. Reports still name it.',
  }),
})

/** One or more of these words in one parameter, separated by commas. */
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
          message: `Must be one or more of ${words.join(', ')}, separated by commas.`,
        })
      return known
    })
}

const WRITTEN = {
  error: 'Must be a date such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z.',
}

/**
 * A timestamp with its zone, or a date, which means 00:00 UTC. The year has four digits in UTC,
 * too, as in every response.
 */
export const Moment = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], WRITTEN)
  .refine((moment) => /^\d/.test(isoTime(Date.parse(moment))), WRITTEN)

/** A timestamp in milliseconds since 1970; null means never. */
export function momentOf(moment: string | null): number | null {
  return moment === null ? null : Date.parse(moment)
}

/** The field error for an expiry in the past; null if it is in the future. */
export function expiryError(moment: string | null | undefined, now: number): FieldError | null {
  if (moment === null || moment === undefined || Date.parse(moment) > now) return null
  return fieldError(
    'expires_at',
    'This date is in the past. Choose a later one; to end a key or a token now, revoke it.',
  )
}
