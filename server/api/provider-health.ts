// Derives a provider's health from that of its credentials.

/** Health states of a provider. */
export const HEALTH = ['healthy', 'degraded', 'failing', 'no_credential'] as const

/** A usable credential with its last failed call. */
interface Seen<E extends { status: number | null; at: string }> {
  readonly resting_ms: number
  readonly last_error: E | null
}

/**
 * Sums up the usable credentials. A 403 may concern only one caller's model, so it counts as a
 * failure and not as a refusal.
 */
export function healthOf<E extends { status: number | null; at: string }>(
  usable: readonly Seen<E>[],
): { health: (typeof HEALTH)[number]; last_error: E | null } {
  const failed = usable.filter(({ last_error }) => last_error !== null)
  const lost = failed.filter(
    ({ last_error }) => last_error?.status === null || last_error?.status === 401,
  )
  const [last_error = null] = failed
    .flatMap(({ last_error }) => last_error ?? [])
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))
  const health =
    usable.length === 0
      ? 'no_credential'
      : lost.length === usable.length
        ? 'failing'
        : failed.length > 0
          ? 'degraded'
          : 'healthy'
  return { health, last_error }
}
