// Describes responses and lists in /openapi.json, and builds the lists that handlers return.
import { z } from '@hono/zod-openapi'
import { ERRORS, FIELD_ERRORS, type ErrorCode } from '../../common/errors.ts'
import { strictObject } from './strict.ts'

const ProblemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string().openapi({ description: 'A sentence that says what to do.' }),
    code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
    request_id: z.string(),
    errors: z
      .array(
        z.object({
          param: z.string().openapi({
            description:
              'Path of the field or parameter, such as `auth.header` or `models.0`; empty for the whole body.',
          }),
          code: z.enum(FIELD_ERRORS),
          detail: z.string().openapi({
            description: 'A sentence to show beside the field; it does not repeat the name.',
          }),
        }),
      )
      .optional()
      .openapi({ description: 'With `invalid_field`: every field that is at fault.' }),
  })
  .openapi('Problem', { description: 'A problem (RFC 9457).' })

interface ProblemResponse {
  description: string
  content: { 'application/problem+json': { schema: typeof ProblemSchema } }
}

/** A title after another one: in lower case, unless it begins with an abbreviation. */
const withinSentence = (title: string): string =>
  title.replace(/^[A-Z](?=[a-z ])/, (first) => first.toLowerCase())

/** A route's responses for these codes. */
export function problems<C extends ErrorCode>(
  ...codes: C[]
): { [K in C as (typeof ERRORS)[K]['status']]: ProblemResponse } {
  const responses: Record<number, ProblemResponse> = {}
  for (const code of codes) {
    const { status, title } = ERRORS[code]
    const described = responses[status]?.description
    responses[status] = {
      description: described ? `${described}; ${withinSentence(title)}` : title,
      content: { 'application/problem+json': { schema: ProblemSchema } },
    }
  }
  return responses
}

/** Codes that any authenticated route may respond with. */
export const COMMON_PROBLEMS = [
  'too_many_requests',
  'invalid_token',
  'insufficient_scope',
  'cross_site_request',
  'internal_error',
  'store_unavailable',
] as const

/** A JSON response. */
export function json<S extends z.ZodType>(description: string, schema: S) {
  return { description, content: { 'application/json': { schema } } }
}

/** A JSON request body. */
export function jsonContent<S extends z.ZodType>(schema: S) {
  return { required: true, content: { 'application/json': { schema } } }
}

/** A page of a list. */
export function listOf<S extends z.ZodType>(item: S) {
  return z.object({
    object: z.literal('list'),
    data: z.array(item),
    next_cursor: z.string().nullable(),
  })
}

/** A page of a list with the total. */
export function countedListOf<S extends z.ZodType>(item: S) {
  return listOf(item).extend({
    total: z.number().int().openapi({ description: 'Number of matches on all pages.' }),
  })
}

/** The pagination parameters of a list. */
export const PageQuery = strictObject({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(20)
    .openapi({ description: 'Largest number of items.' }),
  cursor: z
    .string()
    .regex(
      /^[a-z]{1,20}_[0-9A-Za-z]{1,100}(?::\d{1,20})?$/,
      'This is not a cursor. Send the `next_cursor` of the page before.',
    )
    .optional()
    .openapi({ description: 'The `next_cursor` of the page before.' }),
})

/**
 * Makes a page from rows that were queried with `limit + 1`: the extra row shows that there is a
 * next page.
 */
export function page<T extends { id: string }>(
  rows: T[],
  limit: number,
): { object: 'list'; data: T[]; next_cursor: string | null } {
  const data = rows.slice(0, limit)
  return {
    object: 'list',
    data,
    next_cursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null,
  }
}

/** A list that is always short, as one page. */
export function whole<T>(data: T[]): {
  object: 'list'
  data: T[]
  next_cursor: null
  total: number
} {
  return { object: 'list', data, next_cursor: null, total: data.length }
}

/** The parameter of a path that ends in an id. */
export const IdParams = z.object({ id: z.string() })
