// Requests are closed: a field that a route does not know is refused, never dropped. A misspelt
// limit must not become no limit.
import { z } from '@hono/zod-openapi'
import { nearestKeys } from './field-errors.ts'

/** An object of a request: it takes no other fields, and says which known one is nearest. */
export function strictObject<S extends z.ZodRawShape>(shape: S) {
  return z.strictObject(shape, { error: nearestKeys })
}

/**
 * Holds a request's schema to being closed in all its parts, when its route is declared.
 *
 * @throws Error where an object takes unknown fields: the route must say `strictObject`
 */
export function assertStrict(schema: unknown, where: string): void {
  if (!(schema instanceof z.ZodType)) return
  for (const part of partsOf(schema, where)) assertStrict(part, where)
}

function partsOf(schema: z.ZodType, where: string): unknown[] {
  if (schema instanceof z.ZodObject) {
    if (!(schema.def.catchall instanceof z.ZodNever))
      throw new Error(`${where} takes unknown fields: declare its objects with strictObject`)
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
