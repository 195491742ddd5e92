// The shortest edit between two sequences (Myers 1986, greedy), as hunks.

/** A stretch where the sequences differ: `a[from, to)` became `b[from, to)`. */
export interface Hunk {
  a: [number, number]
  b: [number, number]
}

/**
 * Beyond this many edits the rest counts as one hunk: nobody reads more differences of one page.
 */
const MOST_EDITS = 400

/** Compares by `same`. O((n + m) · edits) time. */
export function diff<T>(a: readonly T[], b: readonly T[], same: (x: T, y: T) => boolean): Hunk[] {
  let start = 0
  while (start < a.length && start < b.length && same(a[start]!, b[start]!)) start++
  let endA = a.length
  let endB = b.length
  while (endA > start && endB > start && same(a[endA - 1]!, b[endB - 1]!)) {
    endA--
    endB--
  }
  if (start === endA && start === endB) return []
  const pairs = align(a.slice(start, endA), b.slice(start, endB), same)
  const hunks: Hunk[] = []
  let atA = start
  let atB = start
  for (const [x, y] of [
    ...pairs.map(([x, y]) => [x + start, y + start] as const),
    [endA, endB] as const,
  ]) {
    if (x > atA || y > atB) hunks.push({ a: [atA, x], b: [atB, y] })
    atA = x + 1
    atB = y + 1
  }
  return hunks
}

/** The pairs of indices that stay. */
function align<T>(
  a: readonly T[],
  b: readonly T[],
  same: (x: T, y: T) => boolean,
): [number, number][] {
  const trace: Map<number, number>[] = []
  let reach = new Map<number, number>([[1, 0]])
  for (let edits = 0; edits <= Math.min(a.length + b.length, MOST_EDITS); edits++) {
    trace.push(new Map(reach))
    const next = new Map(reach)
    for (let k = -edits; k <= edits; k += 2) {
      const down =
        k === -edits || (k !== edits && (next.get(k - 1) ?? -1) < (next.get(k + 1) ?? -1))
      let x = down ? (next.get(k + 1) ?? 0) : (next.get(k - 1) ?? 0) + 1
      while (x < a.length && x - k < b.length && x - k >= 0 && same(a[x]!, b[x - k]!)) x++
      next.set(k, x)
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a.length, b.length)
    }
    reach = next
  }
  return []
}

function walkBack(
  trace: Map<number, number>[],
  lengthA: number,
  lengthB: number,
): [number, number][] {
  const pairs: [number, number][] = []
  let x = lengthA
  let y = lengthB
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const reach = trace[edits]!
    const k = x - y
    const down =
      k === -edits || (k !== edits && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1))
    const previousK = down ? k + 1 : k - 1
    const previousX = edits === 0 ? 0 : (reach.get(previousK) ?? 0)
    const previousY = edits === 0 ? 0 : previousX - previousK
    const stepX = edits === 0 ? 0 : down ? previousX : previousX + 1
    const stepY = edits === 0 ? 0 : stepX - k
    while (x > stepX && y > stepY) {
      x--
      y--
      pairs.push([x, y])
    }
    x = previousX
    y = previousY
  }
  return pairs.reverse()
}
