// Schedules concurrent tasks on one thread by the time that each has used, so that a short task is
// not delayed by every long statement of the others.

/** One running task. */
export interface Runner {
  /** The time it has used, counted from the others' level when it joined (milliseconds). */
  taken: number
  /** When its current turn began. */
  since: number | null
}

/**
 * The runner with the least time is next. A new one starts at the level where the last turn began,
 * or where a runner ended, if that is later, so rejoining repeatedly gains nothing (start-time fair
 * queuing: Goyal, Vin and Cheng, 1996).
 */
export class TimedTurns {
  readonly #most: number
  #waiting: { runner: Runner; start: () => void }[] = []
  #present = 0
  /** Runners that currently have a turn. */
  #running = 0
  #due = false

  /** @param most maximum number of concurrent turns */
  constructor(most: number) {
    this.#most = most
  }

  enter(): Runner {
    return { taken: this.#present, since: null }
  }

  /** Ends a runner's turn, and resolves when its next turn begins. */
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

  /** One turn in each turn of the event loop, so that new arrivals can be chosen. */
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
