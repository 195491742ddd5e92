const MB = 1024 * 1024

/**
 * TABLE of limits on an archive. Sizes are declared bytes after inflation; never more than the
 * declared size is inflated. `declared-sizes.ts` checks them before
 * anything is inflated.
 *
 * Ratios: a real export inflates 3 to 20 times, because every block carries a random id; deflate
 * can reach 1032. Content that could be uploaded uncompressed (a page of 10 MB, an archive of 50
 * MB) is never a bomb, however well it compresses.
 */
export const LIMITS = {
  /** Entries of the archive and its parts together. */
  entries: 50_000,
  /**
   * Bytes of one central directory: 50,000 entries with names of 600 bytes. The limit grows in
   * proportion if more entries are allowed.
   */
  directoryBytes: 32 * MB,
  /** Archives inside the archive that are opened (`…-Part-1.zip`). */
  parts: 100,
  /** All parts that have to be inflated, together. */
  partBytes: 256 * MB,
  /** One page. */
  pageBytes: 32 * MB,
  /** All pages together. */
  pagesBytes: 1024 * MB,
  /** Inflated : packed, for entries larger than the floor below. */
  ratio: 200,
  pageFloor: 10 * MB,
  pagesFloor: 50 * MB,
  partFloor: 50 * MB,
  /** A file that is not a page is never inflated here, but later unpacking must be safe, too. */
  fileFloor: 256 * MB,
}

/**
 * TABLE of the limits on your own archives, converted on your own machine: real workspaces measure
 * 1 to 12 GB.
 */
export const OWN_LIMITS: Partial<ArchiveLimits> = {
  entries: 2_000_000,
  partBytes: Number.MAX_SAFE_INTEGER,
  pagesBytes: Number.MAX_SAFE_INTEGER,
}

/** The limits; a caller may override any. */
export type ArchiveLimits = typeof LIMITS

/** All limits, with the given ones overridden. */
export function limitsOf(given: Partial<ArchiveLimits> = {}): ArchiveLimits {
  const limits = { ...LIMITS, ...given }
  if (given.directoryBytes !== undefined) return limits
  const perEntry = LIMITS.directoryBytes / LIMITS.entries
  return {
    ...limits,
    directoryBytes: Math.max(LIMITS.directoryBytes, Math.ceil(limits.entries * perEntry)),
  }
}
