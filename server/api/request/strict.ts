// Unknown fields are refused, never dropped: a misspelt limit must not become no limit.
import { z } from '@hono/zod-openapi'
import { nearestKeys } from './field-errors.ts'

/** An object of a request. It refuses unknown fields and suggests the nearest known one. */
export function strictObject<S extends z.ZodRawShape>(shape: S) {
  return z.strictObject(shape, { error: nearestKeys })
}

/**
 * Checks, when a route is declared, that no part of its request schema accepts unknown fields.
 *
 * @throws Error if an object accepts unknown fields: the route must use `strictObject`
 */
export function assertStrict(schema: unknown, where: string): void {
  if (!(schema instanceof z.ZodType)) return
  for (const part of partsOf(schema, where)) assertStrict(part, where)
}

function partsOf(schema: z.ZodType, where: string): unknown[] {
  if (schema instanceof z.ZodObject) {
    if (!(schema.def.catchall instanceof z.ZodNever))
      throw new Error(`${where} accepts unknown fields: declare its objects with strictObject`)
    return Object.values(schema.shape)
  }
  if (schema instanceof z.ZodArray) return [schema.element]
  if (schema instanceof z.ZodRecord) return [schema.valueType]
  if (schema instanceof z.ZodUnion) return [...schema.options]
  if (schema instanceof z.ZodPipe) return [schema.in]
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  )
    return [schema.unwrap()]
  return []
}
