// Decides which account's records a request reads: the caller's own, unless an administrator names
// another.
import { z } from '@hono/zod-openapi'
import { getAccount } from '../accounts/accounts.ts'
import type { Caller } from '../accounts/tokens.ts'
import { Problem } from '../common/errors.ts'
import { strictObject } from './request/strict.ts'
import type { Store } from '../store/store.ts'
import type { AccountRow } from '../store/schema.ts'

/** The query parameter that selects another account. */
export const AccountScopeParams = strictObject({
  account: z.string().min(1).max(100).optional().openapi({
    description: 'Another account, or `all`; administrators only. Defaults to your own.',
  }),
})

/**
 * The account whose records the request reads; null means all.
 *
 * @throws Problem `insufficient_scope` if the caller may not read them
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
 * The account to create something for: the caller's, unless an administrator names another.
 *
 * @param what what is created, for the error message
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
