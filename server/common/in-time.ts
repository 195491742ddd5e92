// Waits for a result, but not for longer than some time.

/**
 * The result of work; undefined if it takes longer than `ms` milliseconds. The work goes on.
 * Rejects if the work does.
 */
export async function inTime<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, ms, undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
