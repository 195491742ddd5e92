// What a person should look at: gathered from the keys and credentials.
import { useQuery } from '@tanstack/react-query'
import { useProviders } from './api/credentials.ts'
import { call } from './api/http.ts'
import { Key, listOf } from './api/shapes.ts'
import { ago } from './format.ts'

export interface AttentionItem {
  text: string
  href: string
  action: string
}

const SOON = 7 * 86_400_000
const MOST = 5

export function useAttention(): AttentionItem[] {
  const keys = useQuery({ queryKey: ['keys', 'active'], queryFn: ({ signal }) => call(listOf(Key), '/api/v1/keys', { query: { status: 'active', limit: 100 }, signal }) })
  const providers = useProviders()
  const ending = (keys.data?.data ?? [])
    .filter(({ expires_at }) => expires_at !== null && Date.parse(expires_at) - Date.now() < SOON)
    .slice(0, MOST)
    .map(({ id, name, expires_at }) => ({ text: `The key “${name}” expires ${ago(expires_at)}.`, href: `/keys/${id}`, action: 'Open key' }))
  const resting = (providers.data ?? [])
    .flatMap(({ name: provider, credentials }) => (credentials ?? []).map((credential) => ({ ...credential, provider })))
    .filter(({ resting_ms, status }) => resting_ms > 0 && status === 'active')
    .map(({ provider, name }) => ({ text: `The credential “${name}” of ${provider} was refused and rests.`, href: '/providers', action: 'Providers' }))
  return [...resting, ...ending]
}
