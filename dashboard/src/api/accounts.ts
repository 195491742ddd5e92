// Accounts, plans and invitations; administrators only.
import { useQuery } from '@tanstack/react-query'
import { call, send } from './http.ts'
import { useChange, useOnce, usePages } from './queries.ts'
import { Account, Invitation, NewInvitation, Plan, listOf } from './shapes.ts'

const ACCOUNTS = ['accounts'] as const
const INVITATIONS = ['invitations'] as const

export const useAccounts = () => usePages({ key: ACCOUNTS, item: Account, path: '/api/v1/accounts', query: { limit: 25 } })

export const useInvitations = () => usePages({ key: INVITATIONS, item: Invitation, path: '/api/v1/invitations', query: { limit: 25 } })

export function usePlans() {
  return useQuery({ queryKey: ['plans'], queryFn: ({ signal }) => call(listOf(Plan), '/api/v1/plans', { signal }), select: ({ data }) => data, staleTime: Infinity })
}

export const useChangeAccount = () =>
  useChange(ACCOUNTS, ({ id, ...body }: { id: string; plan?: string; disabled?: boolean }) => call(Account, `/api/v1/accounts/${encodeURIComponent(id)}`, { method: 'PATCH', body }))

export const useInvite = (then: (made: NewInvitation) => void) =>
  useOnce(useChange(INVITATIONS, (body: { email: string | null; plan: string }) => call(NewInvitation, '/api/v1/invitations', { method: 'POST', body }), then))

export const useDeleteInvitation = () => useChange(INVITATIONS, (id: string) => send(`/api/v1/invitations/${encodeURIComponent(id)}`, { method: 'DELETE' }))
