// Units of this process that want the same lock wait for each other here: only one of them at a
// time waits on a connection, and all others of the process find theirs.
import { StoreError } from '../store-error.ts'

/** How long a unit waits for its turn (milliseconds). */
const LONGEST = 5_000

export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs `work` when everything before it under this name has ended. @throws StoreError `busy` */
  async take<R>(name: string, work: () => Promise<R>): Promise<R> {
    const before = this.#last.get(name)
    const { promise: mine, resolve: end } = Promise.withResolvers<void>()
    this.#last.set(name, mine)
    void mine.then(() => this.#last.get(name) === mine && this.#last.delete(name))
    if (before && !(await inTime(before))) {
      void before.then(end)
      throw new StoreError('busy', `too many units wait for the lock "${name}"`)
    }
    try {
      return await work()
    } finally {
      end()
    }
  }
}

/** Whether `before` resolves soon enough. */
async function inTime(before: Promise<void>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), LONGEST)
  try {
    return await Promise.race([before.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
