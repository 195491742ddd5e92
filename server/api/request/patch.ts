// The body of a PATCH: the fields that can change, and the record's others, which must be what they
// are. So a client can read a record, change one field, and send it all back.
import { isDeepStrictEqual } from 'node:util'
import { z } from '@hono/zod-openapi'
import { invalidFields, type FieldError } from '../../common/errors.ts'
import { strictObject } from './strict.ts'

/** What the routes of one record take in PATCH. */
export interface Patch<C extends z.ZodRawShape> {
  readonly body: z.ZodObject<{ [K in keyof C]: z.ZodOptional<C[K]> }>
  /**
   * The fields that are to change: those that can, and are sent with another value than `current`
   * has.
   *
   * @param check what else is wrong with these, where something is
   * @throws Problem `invalid_field` for every read-only field with another value, and every fault
   *   of `check`
   */
  changes(
    body: z.output<Patch<C>['body']>,
    current: object,
    check?: (change: z.output<Patch<C>['body']>) => readonly (FieldError | null)[],
  ): z.output<Patch<C>['body']>
}

const READ_ONLY = { readOnly: true, description: 'Read-only: accepted with the value that it has.' }

/**
 * @param record the record as it is read
 * @param change the fields that can change
 * @param moving read-only fields that change by themselves (times of use, totals, health): what a
 *   client read a moment ago is accepted
 */
export function patchOf<R extends z.ZodRawShape, C extends z.ZodRawShape>(
  record: z.ZodObject<R>,
  change: C,
  moving: readonly (keyof R & string)[],
): Patch<C> {
  const fixed = Object.keys(record.shape).filter((name) => !Object.hasOwn(change, name))
  const others = Object.fromEntries(
    fixed.map((name) => [name, z.unknown().optional().openapi(READ_ONLY)]),
  )
  const accepts = (name: string, value: unknown, current: unknown): boolean => {
    if (isDeepStrictEqual(value, current)) return true
    const shape: unknown = record.shape[name]
    return moving.includes(name) && shape instanceof z.ZodType && shape.safeParse(value).success
  }
  return {
    // Handlers see only what can change: `changes` leaves the rest out.
    body: strictObject({
      ...z.object(change).partial().shape,
      ...others,
    }) as unknown as Patch<C>['body'],
    changes: (body, current, check) => {
      const now: unknown = JSON.parse(JSON.stringify(current))
      const known = new Map(Object.entries(now ?? {}))
      const sent = Object.entries(body)
      const kept = sent
        .filter(([name, value]) => fixed.includes(name) && !accepts(name, value, known.get(name)))
        .map(([name]) => readOnly(name))
      const wanted = sent.filter(
        ([name, value]) =>
          !fixed.includes(name) &&
          value !== undefined &&
          !isDeepStrictEqual(value, known.get(name)),
      )
      const change = Object.fromEntries(wanted) as z.output<Patch<C>['body']>
      const errors = [...kept, ...(check?.(change) ?? []).filter((error) => error !== null)]
      if (errors.length > 0) throw invalidFields(errors)
      return change
    },
  }
}

function readOnly(name: string): FieldError {
  return {
    param: name,
    code: 'read_only',
    detail: 'This field is read-only. Leave it out, or send it with the value that it has.',
  }
}
