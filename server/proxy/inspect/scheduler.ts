// Shares the time that inspection takes. Bodies are inspected on the thread that serves everybody, so a long one is cut into slices: between two
// of them the event loop runs, and keys take turns, so that one key's bodies never delay another's by more than a slice.

/** Work that is done in steps. */
export interface SlicedTask {
  /**
   * Handles at most STEP_BYTES of input. `waiting`: there is none for now; `resume` is called when there is more.
   * @throws whatever makes the whole task fail
   */
  step(resume: () => void): 'more' | 'waiting' | 'done'
}

/** One task in the queue. */
export interface Ticket {
  /** True once all of it is done, false where it was cancelled. Rejects where a step throws. */
  readonly done: Promise<boolean>
  /** Ends it at once: none of its steps runs any more. */
  cancel(): void
}

/**
 * Bytes of a step: few enough that the slowest input, a list of strings that could all be ids, takes less than half a millisecond, so that the
 * clock is looked at often enough. SLICE_BYTES at most are handled in one slice, whatever the clock says.
 */
export const STEP_BYTES = 4 * 1024
export const SLICE_BYTES = 1024 * 1024
/** A slice ends with the step in which this time is over. `npm run bench -- inspect` prints the longest ones. */
export const SLICE_MS = 0.5

interface Entry {
  readonly key: string
  readonly task: SlicedTask
  readonly settle: (done: boolean) => void
  readonly fail: (error: unknown) => void
  state: 'queued' | 'waiting' | 'over'
}

/** The tasks of one key that have a turn to come, in their order. */
interface Lane {
  readonly key: string
  readonly entries: Entry[]
}

export class InspectionQueue {
  readonly #now: () => number
  readonly #defer: (turn: () => void) => void
  readonly #lanes = new Map<string, Lane>()
  /** The lanes in the order of their turns. */
  readonly #ring: Lane[] = []
  #scheduled = false

  /**
   * @param now monotonic milliseconds
   * @param defer runs something when the event loop has been round once
   */
  constructor(now: () => number, defer: (turn: () => void) => void = setImmediate) {
    this.#now = now
    this.#defer = defer
  }

  /** Does small work at once. @returns whether all of it is done; where it is not, `run` goes on with it */
  runNow(task: SlicedTask): boolean {
    return this.#slice(task, () => {}) === 'done'
  }

  /** @param key whose turns the task takes */
  run(key: string, task: SlicedTask): Ticket {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    const entry: Entry = { key, task, settle: resolve, fail: reject, state: 'waiting' }
    this.#queue(entry)
    return { done: promise, cancel: () => this.#cancel(entry) }
  }

  #queue(entry: Entry): void {
    entry.state = 'queued'
    let lane = this.#lanes.get(entry.key)
    if (lane === undefined) {
      lane = { key: entry.key, entries: [] }
      this.#lanes.set(entry.key, lane)
      this.#ring.push(lane)
    }
    lane.entries.push(entry)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled || this.#ring.length === 0) return
    this.#scheduled = true
    this.#defer(() => this.#turn())
  }

  /** One slice of the next task of the next key. */
  #turn(): void {
    this.#scheduled = false
    const lane = this.#ring.shift()
    if (lane === undefined) return
    const entry = lane.entries.shift()
    if (entry !== undefined) this.#serve(entry)
    if (lane.entries.length > 0) this.#ring.push(lane)
    else this.#lanes.delete(lane.key)
    this.#schedule()
  }

  #serve(entry: Entry): void {
    entry.state = 'waiting'
    const resume = (): void => {
      if (entry.state === 'waiting') this.#queue(entry)
    }
    try {
      const state = this.#slice(entry.task, resume)
      if (state === 'done') this.#end(entry, true)
      else if (state === 'more') resume()
    } catch (error) {
      entry.state = 'over'
      entry.fail(error)
    }
  }

  #slice(task: SlicedTask, resume: () => void): 'more' | 'waiting' | 'done' {
    let state = task.step(resume)
    if (state !== 'more') return state
    const end = this.#now() + SLICE_MS
    for (let bytes = STEP_BYTES; state === 'more' && bytes < SLICE_BYTES && this.#now() < end; bytes += STEP_BYTES) state = task.step(resume)
    return state
  }

  #cancel(entry: Entry): void {
    if (entry.state === 'over') return
    const entries = this.#lanes.get(entry.key)?.entries ?? []
    const at = entries.indexOf(entry)
    if (at >= 0) entries.splice(at, 1)
    this.#end(entry, false)
  }

  #end(entry: Entry, done: boolean): void {
    entry.state = 'over'
    entry.settle(done)
  }
}
