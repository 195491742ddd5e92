// Runs one transaction per lock name at a time in this process: the others wait here, so that they
// do not occupy connections of the pool.
import { inTime } from '../../common/in-time.ts'
import { StoreError } from '../store-error.ts'

/** How long a transaction waits for the mutex (milliseconds). */
const MAX_WAIT_MS = 5_000

/** A mutex for each name; lives as long as the store. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs `work` when all earlier work with this name has ended. @throws StoreError `busy` */
  async run<R>(name: string, work: () => Promise<R>): Promise<R> {
    const before = this.#last.get(name)
    const { promise: mine, resolve: end } = Promise.withResolvers<void>()
    this.#last.set(name, mine)
    void mine.then(() => this.#last.get(name) === mine && this.#last.delete(name))
    if (
      before &&
      !(await inTime(
        before.then(() => true),
        MAX_WAIT_MS,
      ))
    ) {
      void before.then(end)
      throw new StoreError('busy', `too many transactions wait for the lock "${name}"`)
    }
    try {
      return await work()
    } finally {
      end()
    }
  }
}
