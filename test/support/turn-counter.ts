// Counts what happens in each turn of the event loop.
import type { TestContext } from 'node:test'

/** Counts by turns of the event loop, until the test ends. */
export interface TurnCounter {
  count(): void
  all(): number
  /** The most in one turn. */
  most(): number
}

/** Opens a counter. */
export function openCounter(t: TestContext): TurnCounter {
  let [turn, isOver] = [0, false]
  const next = (): void => void (turn++, isOver || setImmediate(next))
  next()
  t.after(() => (isOver = true))
  const turns: number[] = []
  return {
    count: () => void (turns[turn] = (turns[turn] ?? 0) + 1),
    all: () => turns.reduce((all, one) => all + one, 0),
    most: () => Math.max(0, ...turns.filter(Boolean)),
  }
}
