// Names that people give to what they make.
import { z } from '@hono/zod-openapi'

/** A name that can be seen: no blank one, and none that differs from another only by spaces around it. */
export const Name = z.string().trim().min(1).max(200)
