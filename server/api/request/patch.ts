// The body of a PATCH: the fields that can change, and the read-only ones with their current
// values. So a client can read a record, change one field, and send it all back.
import { isDeepStrictEqual } from 'node:util'
import { z } from '@hono/zod-openapi'
import { invalidFields, type FieldError } from '../../common/errors.ts'
import { strictObject } from './strict.ts'

/** The PATCH body of one kind of record. */
export interface Patch<C extends z.ZodRawShape> {
  readonly body: z.ZodObject<{ [K in keyof C]: z.ZodOptional<C[K]> }>
  /**
   * The changes: writable fields whose value differs from `current`.
   *
   * @param check finds other errors of the changes
   * @throws Problem `invalid_field` for every read-only field with another value, and every error
   *   of `check`
   */
  changes(
    body: z.output<Patch<C>['body']>,
    current: object,
    check?: (change: z.output<Patch<C>['body']>) => readonly (FieldError | null)[],
  ): z.output<Patch<C>['body']>
}

const READ_ONLY = {
  readOnly: true,
  description: 'Read-only: must be omitted or equal to its current value.',
}

/**
 * @param record the record as it is read
 * @param change the fields that can change
 * @param moving read-only fields that change over time (last use, totals, health): any value is
 *   accepted, because the client's may be stale
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
    // The type has only the writable fields: `changes` drops the rest.
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
    detail: 'This field is read-only. Leave it out, or send its current value.',
  }
}
