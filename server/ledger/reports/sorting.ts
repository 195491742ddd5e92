// Sorts the lines of a report piece by piece: sorting 50,000 of them takes 40 ms, during which all
// other reports would wait.
import { pause, type Steps } from '../../store/procedure.ts'

/** Lines sorted, and lines merged, in one turn: about 4 ms and 1 ms. */
const SORTED_AT_ONCE = 5_000
const MERGED_AT_ONCE = 10_000

/**
 * Sorts the items (stable, like `Array.prototype.sort`), with turns of other tasks in between if
 * there are many.
 */
export function* sorted<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  atOnce = SORTED_AT_ONCE,
  mergedAtOnce = MERGED_AT_ONCE,
): Steps<T[]> {
  let runs: T[][] = []
  for (let from = 0; from < items.length || from === 0; from += atOnce) {
    if (from > 0) yield* pause()
    runs.push(items.slice(from, from + atOnce).sort(compare))
  }
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let i = 0; i < runs.length; i += 2) {
      const [one = [], other] = runs.slice(i, i + 2)
      merged.push(other === undefined ? one : yield* merge(one, other, compare, mergedAtOnce))
    }
    runs = merged
  }
  return runs[0] ?? []
}

function* merge<T>(
  one: readonly T[],
  other: readonly T[],
  compare: (a: T, b: T) => number,
  atOnce: number,
): Steps<T[]> {
  const merged: T[] = []
  for (let i = 0, j = 0; i < one.length || j < other.length;) {
    if (merged.length % atOnce === 0) yield* pause()
    merged.push(
      // oxlint-disable-next-line typescript/no-non-null-assertion -- i and j are below the lengths
      j === other.length || (i < one.length && compare(one[i]!, other[j]!) <= 0)
        ? // oxlint-disable-next-line typescript/no-non-null-assertion -- i and j are below the lengths
          one[i++]!
        : // oxlint-disable-next-line typescript/no-non-null-assertion -- i and j are below the lengths
          other[j++]!,
    )
  }
  return merged
}
