// Cuts long work into slices of time, so that the event loop runs in between.

/** Milliseconds of a slice. */
const SLICE_MS = 1
/** Steps between two looks at the clock. */
const STEPS = 16

/** The slices of one piece of work, whose steps take less than 50 µs each. */
export class TimeSlices {
  #end = performance.now() + SLICE_MS
  #steps = 0

  /** Call it behind each step. True: the slice is over, so wait for the next one. */
  isOver(): boolean {
    return ++this.#steps % STEPS === 0 && performance.now() >= this.#end
  }

  /** The next slice, once the event loop has been round. */
  async next(): Promise<void> {
    await new Promise(setImmediate)
    this.#end = performance.now() + SLICE_MS
  }
}
