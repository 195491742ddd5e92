// Whose records a request is about: the caller's own account's, unless an administrator names another.
import { z } from '@hono/zod-openapi'
import type { Caller } from '../accounts/tokens.ts'
import { Problem } from '../errors.ts'

/** The parameter that names another account than the caller's. */
export const Whose = z.object({
  account: z.string().min(1).max(100).optional().openapi({ description: 'Another account, or `all`; administrators only. Your own where it is missing.' }),
})

/**
 * The account whose records are meant; null is all.
 *
 * @throws Problem `insufficient_scope` where that is not for this caller
 */
export function whose({ account }: Caller, named: string | undefined): string | null {
  if (named === undefined || named === account.id) return account.id
  if (account.role !== 'admin') throw new Problem('insufficient_scope', 'Only an administrator may name another account.')
  return named === 'all' ? null : named
}
