// Schedules inspection. Bodies are inspected on the main thread, so a long one is cut into slices.
// The event loop runs between two slices. Accounts take turns, and so do the keys of each account,
// so that a body delays others by at most one slice.
import { unboundedQueue, type Owner } from '../../common/fairness/account-key-queue.ts'

/** Work that is done in steps. */
export interface SlicedTask {
  /**
   * Handles at most `bytes` of input. `waiting`: there is no input at the moment; `resume` is
   * called when there is more.
   * @throws any error, which fails the whole task
   */
  step(resume: () => void, bytes: number): 'more' | 'waiting' | 'done'
}

/** One task in the queue. */
export interface Ticket {
  /** Resolves to true when it is complete, false if it was cancelled. Rejects if a step throws. */
  readonly done: Promise<boolean>
  /** Cancels it: no further step runs. */
  cancel(): void
}

/** Bytes of the first step of a slice; each further one has twice as many, up to MAX_STEP_BYTES. */
export const STEP_BYTES = 4 * 1024
/**
 * Few enough that the slowest input, a list of strings that could all be ids, takes less than half
 * a millisecond; so many, because a step costs 0.8 µs besides its bytes. Once input has been slow,
 * the clock ends the slice before its steps become long.
 */
export const MAX_STEP_BYTES = 16 * 1024
/** Maximum bytes of a slice. */
export const SLICE_BYTES = 1024 * 1024
/**
 * A slice ends with the step in which this time has passed. `npm run bench -- inspect` prints the
 * longest slices.
 */
export const SLICE_MS = 0.4

/** The bytes of the step after one of `bytes`. */
export const nextStepBytes = (bytes: number): number => Math.min(2 * bytes, MAX_STEP_BYTES)

interface Entry {
  readonly owner: Owner
  /** Null once it has ended, so that its input is not kept until its turn. */
  task: SlicedTask | null
  readonly settle: (done: boolean) => void
  readonly fail: (error: unknown) => void
  state: 'queued' | 'waiting' | 'over'
}

/** Inspects bodies in slices, taking turns by account and key. One per process. */
export class InspectionQueue {
  readonly #now: () => number
  readonly #defer: (turn: () => void) => void
  /** Entries that wait for a turn; some may have been cancelled since. */
  #queued = unboundedQueue<Entry>()
  #scheduled = false

  /**
   * @param now monotonic milliseconds
   * @param defer runs a callback in the next turn of the event loop
   */
  constructor(now: () => number, defer: (turn: () => void) => void = setImmediate) {
    this.#now = now
    this.#defer = defer
  }

  /** Does small work synchronously. @returns whether it is complete; if not, `run` continues it */
  runNow(task: SlicedTask): boolean {
    return this.#slice(task, () => {}) === 'done'
  }

  /** @param owner the owner in whose turns the task runs */
  run({ account_id, key_id }: Owner, task: SlicedTask): Ticket {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    const entry: Entry = {
      owner: { account_id, key_id },
      task,
      settle: resolve,
      fail: reject,
      state: 'waiting',
    }
    this.#queue(entry)
    return { done: promise, cancel: () => this.#end(entry, false) }
  }

  #queue(entry: Entry): void {
    entry.state = 'queued'
    this.#queued.push(entry)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled || this.#queued.size === 0) return
    this.#scheduled = true
    this.#defer(() => this.#turn())
  }

  /** One slice of the next task of the next key of the next account. */
  #turn(): void {
    this.#scheduled = false
    let [entry] = this.#queued.take(1)
    while (entry?.state === 'over') [entry] = this.#queued.take(1)
    if (entry !== undefined) this.#serve(entry)
    // Owners with nothing waiting are forgotten.
    if (this.#queued.size === 0) this.#queued = unboundedQueue()
    this.#schedule()
  }

  #serve(entry: Entry): void {
    const { task } = entry
    if (task === null) return
    entry.state = 'waiting'
    const resume = (): void => {
      if (entry.state === 'waiting') this.#queue(entry)
    }
    try {
      const state = this.#slice(task, resume)
      if (state === 'done') this.#end(entry, true)
      else if (state === 'more') resume()
    } catch (error) {
      entry.state = 'over'
      entry.task = null
      entry.fail(error)
    }
  }

  #slice(task: SlicedTask, resume: () => void): 'more' | 'waiting' | 'done' {
    let bytes = STEP_BYTES
    let state = task.step(resume, bytes)
    if (state !== 'more') return state
    const end = this.#now() + SLICE_MS
    for (
      let left = SLICE_BYTES - bytes;
      state === 'more' && left > 0 && this.#now() < end;
      left -= bytes
    ) {
      bytes = nextStepBytes(bytes)
      state = task.step(resume, Math.min(bytes, left))
    }
    return state
  }

  #end(entry: Entry, done: boolean): void {
    if (entry.state === 'over') return
    entry.state = 'over'
    entry.task = null
    entry.settle(done)
  }
}
