// How a provider does, from how the credentials do that requests go out with.

/** What can be said of a provider. */
export const HEALTH = ['healthy', 'degraded', 'failing', 'no_credential'] as const

/** A credential that can be used, with the last call that failed. */
interface Seen<E extends { status: number | null; at: string }> {
  readonly resting_ms: number
  readonly last_error: E | null
}

/**
 * Sums up the credentials that can be used. A 403 alone may be about one caller's model, and so
 * counts as trouble only.
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
