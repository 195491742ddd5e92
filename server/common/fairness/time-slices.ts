// Divides long work into slices, so that the event loop can run between them.
import type { Owner } from './account-key-queue.ts'
import type { TurnBudget } from './turn-budget.ts'

/** Length of a slice (milliseconds). */
const SLICE_MS = 1
/** Number of steps between two reads of the clock. */
const STEPS_PER_CHECK = 16

/** The slices of one piece of work, whose steps take less than 50 µs each. */
export class TimeSlices {
  readonly #turns: TurnBudget
  readonly #owner: Owner
  #end = performance.now() + SLICE_MS
  #steps = 0

  /**
   * @param turns shared by all such work: together, all pieces take what the budget allows in one
   *   turn of the event loop, not a slice each
   * @param owner the owner in whose turns this piece runs
   */
  constructor(turns: TurnBudget, owner: Owner) {
    this.#turns = turns
    this.#owner = owner
  }

  /** Call it after each step. If it returns true, the slice is over: await `next`. */
  isOver(): boolean {
    return ++this.#steps % STEPS_PER_CHECK === 0 && performance.now() >= this.#end
  }

  /** Waits for one turn of the event loop, then begins the next slice. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => this.#turns.defer(this.#owner, resolve))
    this.#end = performance.now() + SLICE_MS
  }
}
