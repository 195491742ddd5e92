// "Did you mean …?": the known name that is closest to a misspelt one.

/** Longer names are not compared: no known name is this long. */
const MAX_LENGTH = 40

/** The known name closest to `name`, or null if none is close. Ignores case, `-` and `_`. */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > MAX_LENGTH) return null
  const wanted = plain(name)
  let best: { name: string; distance: number } | null = null
  for (const candidate of known) {
    const distance = editDistance(wanted, plain(candidate))
    if (distance > Math.max(1, Math.floor(wanted.length / 3))) continue
    if (best === null || distance < best.distance) best = { name: candidate, distance }
  }
  return best?.name ?? null
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '')
}

/** The edit distance between two words, with swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          substituted,
          isSwap ? (before[j - 2] ?? 0) + 1 : Infinity,
        ),
      )
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
