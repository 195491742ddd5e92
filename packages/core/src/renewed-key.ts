/** A key that expires, as returned by the proxy's `POST /api/v1/keys/{id}/children`. */
export interface ExpiringKey {
  /** The key, `tmk_…`. */
  secret: string
  /** When it expires, in ISO 8601; null for never. */
  expires_at: string | null
}

/** The next key is requested when at most this much of a key's life is left (milliseconds). */
const MAX_MARGIN_MS = 60_000
/**
 * Minimum time between two requests for a key, whatever this device's clock says (milliseconds).
 */
const MIN_USE_MS = 5_000

/**
 * A function for `apiKey` that requests a key when one is needed, and the next one shortly before
 * it expires: when a tenth of its life is left, or a minute. All calls share the key and the
 * request for it. A key that the proxy has rejected is replaced immediately. If the request fails,
 * the key is used until it expires; without a key, the call rejects with the error of `get`.
 *
 * @param get calls your own server, which creates a child key for the signed-in user
 */
export function createRenewedKey(
  get: () => Promise<ExpiringKey>,
): (refused?: string) => Promise<string> {
  let current: { key: string; renewAt: number; endsAt: number } | undefined
  let pending: Promise<string> | undefined
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
    pending ??= ask().finally(() => (pending = undefined))
    try {
      return await pending
    } catch (error) {
      if (known !== undefined && known.key !== refused && Date.now() < known.endsAt)
        return known.key
      throw error
    }
  }
}
