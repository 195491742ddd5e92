/**
 * Resources to close with an archive, in reverse order: the needed part of `AsyncDisposableStack`,
 * which Node has since version 24.
 */
export class CleanupStack implements AsyncDisposable {
  #closers: (() => Promise<void>)[] = []

  /** Calls `close` at the end. */
  defer(close: () => Promise<void>): void {
    this.#closers.push(close)
  }

  /** Disposes of `resource` at the end, and returns it. */
  use<T extends AsyncDisposable>(resource: T): T {
    this.defer(async () => resource[Symbol.asyncDispose]())
    return resource
  }

  /** Moves everything to a new stack, which leaves this one empty. */
  move(): CleanupStack {
    const moved = new CleanupStack()
    moved.#closers = this.#closers
    this.#closers = []
    return moved
  }

  /** Closes everything. @throws the first error, after all have been closed */
  async [Symbol.asyncDispose](): Promise<void> {
    const closers = this.#closers.toReversed()
    this.#closers = []
    const errors: unknown[] = []
    for (const close of closers) await close().catch((error: unknown) => errors.push(error))
    if (errors.length > 0) throw errors[0]
  }
}
