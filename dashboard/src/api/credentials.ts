// Providers and their credentials.
import { useQuery } from '@tanstack/react-query'
import { call, send } from './http.ts'
import { useChange, useOnce } from './queries.ts'
import { Credential, CredentialTest, Provider, listOf } from './shapes.ts'

const PROVIDERS = ['providers'] as const

/** The fields of a new or changed credential. */
export interface CredentialInput {
  provider: string
  name: string
  secret: string
  values: Record<string, string>
  weight: number
}

/** Lists providers, for administrators with their credentials. */
export function useProviders() {
  return useQuery({
    queryKey: PROVIDERS,
    queryFn: ({ signal }) => call(listOf(Provider), '/api/v1/providers', { signal }),
    select: ({ data }) => data,
    // Health changes over time.
    refetchInterval: 10_000,
  })
}

/** The display name of a credential. Those from the settings have no name. */
export const nameOfCredential = ({ source, name }: Credential): string =>
  source === 'stored' ? name : 'From the settings'

/** Stores the credential and tests it; a failed test does not prevent storing. */
const tested = (body: CredentialInput) =>
  ({ method: 'POST', query: { test: 'true' }, body }) as const

/** Stores a credential. */
export const useCreateCredential = () =>
  useOnce(
    useChange(PROVIDERS, (body: CredentialInput) =>
      call(Credential, '/api/v1/credentials', tested(body)),
    ),
  )

/** Changes a stored credential. */
export const useChangeCredential = () =>
  useChange(
    PROVIDERS,
    ({
      id,
      ...body
    }: {
      id: string
      name?: string
      weight?: number
      status?: 'active' | 'paused'
    }) =>
      call(Credential, `/api/v1/credentials/${encodeURIComponent(id)}`, { method: 'PATCH', body }),
  )

/** Deletes a stored credential. */
export const useDeleteCredential = () =>
  useChange(PROVIDERS, (id: string) =>
    send(`/api/v1/credentials/${encodeURIComponent(id)}`, { method: 'DELETE' }),
  )

/** Tests a credential with one cheap call. */
export const useTestCredential = () =>
  useOnce(
    useChange(PROVIDERS, (id: string) =>
      call(CredentialTest, `/api/v1/credentials/${encodeURIComponent(id)}/test`, {
        method: 'POST',
        body: {},
      }),
    ),
  )

/** The fields of a provider that an administrator adds. */
export interface ProviderInput {
  id: string
  origin: string
  dial: string | null
  auth: { header: string; scheme: string | null } | null
  /** The built-in provider whose API it speaks. */
  speaks: string | null
}

/** A new provider, with its first credential if one is given. */
export interface NewProvider {
  provider: ProviderInput
  secret: string
  /** Whether an earlier attempt created it before its credential was refused. */
  made: boolean
  /** Called when the provider exists, before its credential does. */
  onMade: () => void
}

async function createProvider({
  provider,
  secret,
  made: created,
  onMade: onCreated,
}: NewProvider): Promise<void> {
  if (!created) await call(Provider, '/api/v1/providers', { method: 'POST', body: provider })
  onCreated()
  if (secret === '') return
  const body: CredentialInput = {
    provider: provider.id,
    name: 'default',
    secret,
    values: {},
    weight: 1,
  }
  await call(Credential, '/api/v1/credentials', tested(body))
}

/** Adds a provider, with its first credential if one is given. */
export const useCreateProvider = () => useOnce(useChange(PROVIDERS, createProvider))

/** Deletes an added provider and its credentials. */
export const useDeleteProvider = () =>
  useChange(PROVIDERS, (id: string) =>
    send(`/api/v1/providers/${encodeURIComponent(id)}`, { method: 'DELETE' }),
  )

/** Returns a provider's name by id; the id itself while names load or if the provider is gone. */
export function useProviderNames(): (id: string) => string {
  const providers = useProviders().data
  return (id) => providers?.find((provider) => provider.id === id)?.name ?? id
}
