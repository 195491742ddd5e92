// Whose records a request is about: the caller's own account's, unless an administrator names
// another.
import { z } from '@hono/zod-openapi'
import { getAccount } from '../accounts/accounts.ts'
import type { Caller } from '../accounts/tokens.ts'
import { Problem } from '../common/errors.ts'
import { strictObject } from './request/strict.ts'
import type { Store } from '../store/open.ts'
import type { AccountRow } from '../store/schema.ts'

/** The parameter that names another account than the caller's. */
export const AccountScopeParams = strictObject({
  account: z.string().min(1).max(100).optional().openapi({
    description: 'Another account, or `all`; administrators only. Defaults to your own.',
  }),
})

/**
 * The account whose records are meant; null is all.
 *
 * @throws Problem `insufficient_scope` where that is not for this caller
 */
export function resolveAccountScope({ account }: Caller, named: string | undefined): string | null {
  if (named === undefined || named === account.id) return account.id
  if (account.role !== 'admin')
    throw new Problem(
      'insufficient_scope',
      'Only an administrator may name another account. Leave "account" out to use your own.',
    )
  return named === 'all' ? null : named
}

/**
 * The account that something is made for: the caller's own, unless an administrator names another.
 *
 * @param what is made, for the sentence that refuses it
 * @throws Problem `insufficient_scope`, `account_not_found`
 */
export async function findOwner(
  store: Store,
  { account }: Caller,
  named: string | undefined,
  what: 'keys' | 'tokens',
): Promise<AccountRow> {
  if (named === undefined || named === account.id) return account
  if (account.role !== 'admin')
    throw new Problem(
      'insufficient_scope',
      `Only an administrator may create ${what} for other accounts.`,
    )
  return getAccount(store, named)
}
