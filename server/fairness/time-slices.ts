// Cuts long work into slices of time, so that the event loop runs in between.
import type { Owner } from './account-key-queue.ts'
import type { TurnBudget } from './turn-budget.ts'

/** Milliseconds of a slice. */
const SLICE_MS = 1
/** Steps between two looks at the clock. */
const STEPS_PER_CHECK = 16

/** The slices of one piece of work, whose steps take less than 50 µs each. */
export class TimeSlices {
  readonly #turns: TurnBudget
  readonly #owner: Owner
  #end = performance.now() + SLICE_MS
  #steps = 0

  /**
   * @param turns shared by all such work: what many pieces take in one turn of the event loop is
   *   what its budget allows, not a slice each
   * @param owner whose turns this piece takes
   */
  constructor(turns: TurnBudget, owner: Owner) {
    this.#turns = turns
    this.#owner = owner
  }

  /** Call it after each step. True: the slice is over, so wait for the next one. */
  isOver(): boolean {
    return ++this.#steps % STEPS_PER_CHECK === 0 && performance.now() >= this.#end
  }

  /** The next slice, in a later turn of the event loop. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => this.#turns.defer(this.#owner, resolve))
    this.#end = performance.now() + SLICE_MS
  }
}
