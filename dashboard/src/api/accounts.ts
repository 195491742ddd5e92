// Accounts, plans and invitations; administrators only.
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, send } from './http.ts'
import { Account, Invitation, NewInvitation, Plan, listOf } from './shapes.ts'

const ACCOUNTS = ['accounts'] as const
const INVITATIONS = ['invitations'] as const

export function useAccounts() {
  return useInfiniteQuery({
    queryKey: ACCOUNTS,
    queryFn: ({ pageParam, signal }) => call(listOf(Account), '/api/v1/accounts', { query: { limit: 25, cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
  })
}

export function useInvitations() {
  return useInfiniteQuery({
    queryKey: INVITATIONS,
    queryFn: ({ pageParam, signal }) => call(listOf(Invitation), '/api/v1/invitations', { query: { limit: 25, cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
  })
}

export function usePlans() {
  return useQuery({ queryKey: ['plans'], queryFn: ({ signal }) => call(listOf(Plan), '/api/v1/plans', { signal }), select: ({ data }) => data, staleTime: Infinity })
}

export function useChangeAccount() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...body }: { id: string; plan?: string; disabled?: boolean }) => call(Account, `/api/v1/accounts/${encodeURIComponent(id)}`, { method: 'PATCH', body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ACCOUNTS }),
  })
}

export function useInvite() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: { email: string | null; plan: string }) => call(NewInvitation, '/api/v1/invitations', { method: 'POST', body }),
    onSuccess: () => client.invalidateQueries({ queryKey: INVITATIONS }),
  })
}

export function useDeleteInvitation() {
  const client = useQueryClient()
  return useMutation({ mutationFn: (id: string) => send(`/api/v1/invitations/${encodeURIComponent(id)}`, { method: 'DELETE' }), onSuccess: () => client.invalidateQueries({ queryKey: INVITATIONS }) })
}
