// Lists what needs a person's attention: keys that expire soon or often reach their limit, and
// credentials and providers that fail.
import { z } from '@hono/zod-openapi'
import { DAY, isoTime } from '../common/clock.ts'
import { expiringKeys, keyNames } from '../keys/key-list.ts'
import { readRefusals } from '../ledger/refusals/limit-counts.ts'
import { readUsage } from '../ledger/reports/usage.ts'
import type { Proxy } from '../proxy/index.ts'
import type { Store } from '../store/store.ts'
import { allCredentials } from './credentials.ts'

const EXPIRES_SOON_MS = 7 * DAY
/**
 * A key often reaches its limit if within a day at least this many of its requests, and at least
 * this share of them, were refused.
 */
const FREQUENT_LIMIT = { refused: 20, share: 0.05 }
/** Statuses by which a provider refuses a credential. */
const CREDENTIAL_REFUSED: ReadonlySet<number> = new Set([401, 403])
/** An item that needs attention, as the API shows it. */
export const AttentionSchema = z
  .object({
    kind: z.enum(['key_expires', 'key_at_limit', 'credential_failing', 'provider_unreachable']),
    detail: z.string().openapi({ description: 'A sentence that says what to do.' }),
    key_id: z.string().nullable(),
    credential_id: z.string().nullable(),
    provider: z
      .string()
      .nullable()
      .openapi({ description: 'The id of the provider that cannot be reached.' }),
    name: z.string().nullable().openapi({ description: 'Name of the key or the credential.' }),
    at: z.iso
      .datetime()
      .nullable()
      .openapi({ description: 'When the key expires; when the call last failed.' }),
  })
  .openapi('Attention')

/** The proxy's state of credentials and providers. */
export type Health = Pick<Proxy, 'credentials' | 'unreadable' | 'table'>
type Attention = z.infer<typeof AttentionSchema>
const nothing = { name: null, key_id: null, credential_id: null, provider: null, at: null }

/**
 * Everything that needs attention, for the overview.
 *
 * @param isAdmin whether to include credentials and providers
 */
export async function readAttention(
  store: Store,
  reading: Store,
  proxied: Health,
  { account, isAdmin }: { account: string | null; isAdmin: boolean },
  now: number,
): Promise<Attention[]> {
  return [
    ...(await expiring(reading, account, now)),
    ...(await atLimit(store, reading, account, now)),
    ...(isAdmin ? await failing(store, proxied, now) : []),
  ]
}

/** Keys that expire soon. */
async function expiring(reading: Store, account: string | null, now: number): Promise<Attention[]> {
  const keys = await expiringKeys(reading, account, now, now + EXPIRES_SOON_MS)
  return keys.map(({ id, name, expires_at }) => ({
    ...nothing,
    kind: 'key_expires' as const,
    key_id: id,
    name,
    at: isoTime(expires_at),
    detail: `The key "${name}" expires at ${isoTime(expires_at).slice(0, 16).replace('T', ' ')} UTC. Set another date, or replace it.`,
  }))
}

/** Keys that often reach their limit. Reads the usage only of keys that had a request refused. */
async function atLimit(
  store: Store,
  reading: Store,
  account: string | null,
  now: number,
): Promise<Attention[]> {
  const from = now - DAY
  const frequent = await readRefusals(reading, { account, from }, FREQUENT_LIMIT.refused)
  if (frequent.size === 0) return []
  const lines = await readUsage(reading, {
    account,
    by: ['key'],
    keys: [...frequent.keys()],
    from,
    to: now + 1,
  })
  const passed = new Map(lines.map((line) => [line.key_id, line.requests]))
  const found = [...frequent].filter(
    ([key, refused]) => refused >= FREQUENT_LIMIT.share * (refused + (passed.get(key) ?? 0)),
  )
  const names = await keyNames(
    store,
    found.map(([key]) => key),
  )
  return found.flatMap(([key, refused]) => {
    const name = names.get(key)
    if (name === undefined) return []
    return [
      {
        ...nothing,
        kind: 'key_at_limit' as const,
        key_id: key,
        name,
        detail: `The limit of the key "${name}" refused ${refused} requests in the last 24 hours. Raise it, or slow its callers down.`,
      },
    ]
  })
}

/** Credentials that are refused or unreadable, and providers that cannot be reached. */
async function failing(store: Store, proxied: Health, now: number): Promise<Attention[]> {
  const credentials = await allCredentials(store, proxied, now)
  return [
    ...unreachable(proxied, credentials),
    ...credentials.flatMap(({ id, name, source, provider, status, readable, last_error }) => {
      // A provider's limits and failures are temporary, and another credential would not help.
      if (status === 'paused' || (readable && !CREDENTIAL_REFUSED.has(last_error?.status ?? 0)))
        return []
      const service = proxied.table().byId(provider)?.name ?? provider
      const detail =
        last_error === null
          ? `The credential "${name}" of ${service} cannot be decrypted with this server's master key. Replace it.`
          : `${service} rejected the credential ${source === 'stored' ? `"${name}"` : 'from the settings'} (${last_error.status}). Test it, or replace it.`
      return [
        {
          ...nothing,
          kind: 'credential_failing' as const,
          credential_id: id,
          name,
          at: last_error?.at ?? null,
          detail,
        },
      ]
    }),
  ]
}

/** One item per provider, however many of its credentials failed. */
function unreachable(
  proxied: Health,
  credentials: Awaited<ReturnType<typeof allCredentials>>,
): Attention[] {
  const errors = new Map<string, { code: string; at: string }>()
  for (const { provider, status, last_error: error } of credentials)
    if (status === 'active' && error !== null && error.code !== null && !errors.has(provider))
      errors.set(provider, { code: error.code, at: error.at })
  return [...errors].map(([provider, { code, at }]) => {
    const name = proxied.table().byId(provider)?.name ?? provider
    const what =
      code === 'upstream_timeout'
        ? 'did not respond to the last call in time'
        : 'could not be reached at the last call, or dropped the connection'
    return {
      ...nothing,
      kind: 'provider_unreachable' as const,
      provider,
      at,
      detail: `${name} ${what}. Check its status, and the network of this server.`,
    }
  })
}
