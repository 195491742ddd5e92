// Turns of tasks that run side by side on one thread, by the time that each has taken: who comes
// with little to do is not held up by each long statement of the others.

/** One task among those that run. */
export interface Runner {
  /** What it has taken, on top of where the others were when it came (milliseconds). */
  taken: number
  /** When its present turn began. */
  since: number | null
}

/**
 * The runner that has taken least is next. A new one begins where the last turn began, or where a
 * runner ended, if that is further on: so nobody gains by coming again and again (start-time fair
 * queuing: Goyal, Vin and Cheng, 1996).
 */
export class TimedTurns {
  readonly #most: number
  #waiting: { runner: Runner; start: () => void }[] = []
  #present = 0
  /** Runners that have a turn. */
  #running = 0
  #due = false

  /** @param most runners that have a turn at once */
  constructor(most: number) {
    this.#most = most
  }

  enter(): Runner {
    return { taken: this.#present, since: null }
  }

  /** Ends the turn that a runner has, and resolves when its next one comes. */
  turn(runner: Runner): Promise<void> {
    this.#end(runner)
    return new Promise((resolve) => {
      this.#waiting.push({ runner, start: resolve })
      this.#plan()
    })
  }

  leave(runner: Runner): void {
    this.#end(runner)
    this.#present = Math.max(this.#present, runner.taken)
  }

  #end(runner: Runner): void {
    if (runner.since === null) return
    runner.taken += performance.now() - runner.since
    runner.since = null
    this.#running--
    this.#plan()
  }

  /**
   * One turn in each turn of the event loop: what has come meanwhile is among those that are chosen
   * from.
   */
  #plan(): void {
    if (this.#due || this.#waiting.length === 0 || this.#running >= this.#most) return
    this.#due = true
    setImmediate(() => {
      this.#due = false
      this.#next()
      this.#plan()
    })
  }

  #next(): void {
    const [first, ...others] = this.#waiting
    if (first === undefined) return
    const next = others.reduce(
      (least, one) => (one.runner.taken < least.runner.taken ? one : least),
      first,
    )
    this.#waiting = this.#waiting.filter((one) => one !== next)
    this.#present = Math.max(this.#present, next.runner.taken)
    next.runner.since = performance.now()
    this.#running++
    next.start()
  }
}
