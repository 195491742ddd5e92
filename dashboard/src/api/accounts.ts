// Accounts, plans and invitations; administrators only.
import { useQuery } from '@tanstack/react-query'
import { call, send } from './http.ts'
import { useChange, useOnce, usePages } from './queries.ts'
import { Account, Invitation, NewInvitation, PasswordReset, Plan, listOf } from './shapes.ts'

const ACCOUNTS = ['accounts'] as const
const INVITATIONS = ['invitations'] as const

/** Lists the accounts that match a search, page by page. */
export const useAccounts = (search: string) =>
  usePages({
    key: [...ACCOUNTS, search],
    item: Account,
    path: '/api/v1/accounts',
    query: { limit: 25, search },
  })

/** One account by its id. */
export function useAccountOf(id: string, enabled: boolean) {
  return useQuery({
    queryKey: [...ACCOUNTS, 'one', id],
    queryFn: ({ signal }) =>
      call(Account, `/api/v1/accounts/${encodeURIComponent(id)}`, { signal }),
    enabled,
  })
}

/** Lists invitations, page by page. */
export const useInvitations = () =>
  usePages({
    key: INVITATIONS,
    item: Invitation,
    path: '/api/v1/invitations',
    query: { limit: 25 },
  })

/** The plans that an account can have. */
export function usePlans() {
  return useQuery({
    queryKey: ['plans'],
    queryFn: ({ signal }) => call(listOf(Plan), '/api/v1/plans', { signal }),
    select: ({ data }) => data,
    staleTime: Infinity,
  })
}

/** Changes an account's name, role or plan, or disables it. */
export const useChangeAccount = () =>
  useChange(
    ACCOUNTS,
    ({
      id,
      ...body
    }: {
      id: string
      name?: string
      role?: Account['role']
      plan?: string
      disabled?: boolean
    }) => call(Account, `/api/v1/accounts/${encodeURIComponent(id)}`, { method: 'PATCH', body }),
  )

/** Deletes an account and everything it owns. */
export const useDeleteAccount = () =>
  useChange(ACCOUNTS, (id: string) =>
    send(`/api/v1/accounts/${encodeURIComponent(id)}`, { method: 'DELETE' }),
  )

/** Creates a link that sets a new password. */
export const useResetPassword = (then: (link: PasswordReset) => void) =>
  useOnce(
    useChange(
      ACCOUNTS,
      (id: string) =>
        call(PasswordReset, `/api/v1/accounts/${encodeURIComponent(id)}/reset-password`, {
          method: 'POST',
          body: {},
        }),
      then,
    ),
  )

/** Creates an invitation link. */
export const useInvite = (then: (link: NewInvitation) => void) =>
  useOnce(
    useChange(
      INVITATIONS,
      (body: { email: string | null; plan: string }) =>
        call(NewInvitation, '/api/v1/invitations', { method: 'POST', body }),
      then,
    ),
  )

/** Deletes an invitation; its link stops working. */
export const useDeleteInvitation = () =>
  useChange(INVITATIONS, (id: string) =>
    send(`/api/v1/invitations/${encodeURIComponent(id)}`, { method: 'DELETE' }),
  )
