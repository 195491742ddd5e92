// What the proxy presents to providers; administrators only.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, send } from './http.ts'
import { Credential, listOf } from './shapes.ts'

const CREDENTIALS = ['credentials'] as const

export interface CredentialWishes {
  provider: string
  name: string
  secret: string
  values: Record<string, string>
  weight: number
}

export function useCredentials(enabled = true) {
  return useQuery({
    queryKey: CREDENTIALS,
    queryFn: ({ signal }) => call(listOf(Credential), '/api/v1/credentials', { signal }),
    select: ({ data }) => data,
    enabled,
    // Health changes by itself.
    refetchInterval: 10_000,
  })
}

function useChange<Input, Output>(mutationFn: (input: Input) => Promise<Output>) {
  const client = useQueryClient()
  return useMutation({
    mutationFn,
    onSuccess: () => Promise.all([client.invalidateQueries({ queryKey: CREDENTIALS }), client.invalidateQueries({ queryKey: ['providers'] })]),
  })
}

export const useCreateCredential = () => useChange((body: CredentialWishes) => call(Credential, '/api/v1/credentials', { method: 'POST', body }))

export const useChangeCredential = () =>
  useChange(({ id, ...body }: { id: string; name?: string; weight?: number; status?: 'active' | 'paused' }) =>
    call(Credential, `/api/v1/credentials/${encodeURIComponent(id)}`, { method: 'PATCH', body }),
  )

export const useDeleteCredential = () => useChange((id: string) => send(`/api/v1/credentials/${encodeURIComponent(id)}`, { method: 'DELETE' }))
