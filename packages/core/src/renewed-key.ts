/** A key that ends, as `POST /api/v1/keys/{id}/children` of the proxy gives it. */
export interface ExpiringKey {
  /** The key, `tmk_…`. */
  secret: string
  /** When it ends, as a date in ISO 8601; null for never. */
  expires_at: string | null
}

/** Most of a key's life that may be left when the next one is asked for (milliseconds). */
const MAX_MARGIN_MS = 60_000
/** No key is replaced sooner, whatever the clock of this device says (milliseconds). */
const MIN_USE_MS = 5_000

/**
 * A function for `apiKey` that asks for a key when one is needed, and for the next one shortly before
 * it ends: when a tenth of its life is left, or a minute. All calls share the key, and the asking. A
 * key that the proxy has refused is replaced at once. Where asking fails, the key is used for as long
 * as it has left; without one the call rejects as `get` does.
 *
 * @param get asks your own server, which makes a child key for the person who is signed in
 */
export function createRenewedKey(
  get: () => Promise<ExpiringKey>,
): (refused?: string) => Promise<string> {
  let current: { key: string; renewAt: number; endsAt: number } | undefined
  let asking: Promise<string> | undefined
  const ask = async (): Promise<string> => {
    const { secret, expires_at } = await get()
    const now = Date.now()
    const endsAt = expires_at === null ? Infinity : Date.parse(expires_at)
    const margin = Math.min((endsAt - now) / 10, MAX_MARGIN_MS)
    current = { key: secret, renewAt: Math.max(endsAt - margin, now + MIN_USE_MS), endsAt }
    return secret
  }
  return async (refused) => {
    const known = current
    if (known !== undefined && known.key !== refused && Date.now() < known.renewAt) return known.key
    asking ??= ask().finally(() => (asking = undefined))
    try {
      return await asking
    } catch (error) {
      if (known !== undefined && known.key !== refused && Date.now() < known.endsAt)
        return known.key
      throw error
    }
  }
}
