// Writes the sockets of this process to the table that all processes read, and ends those that an
// operator has asked another process to end. Sockets are written in batches, so that opening one
// does not wait for a write.
import type { Store } from '../../store/store.ts'
import type { OpenSocket, OpenSockets } from './open-sockets.ts'
import {
  countWritten,
  deleteAll,
  deleteSockets,
  endingSockets,
  progressOf,
  writeSockets,
} from './socket-table.ts'

/** How often new and ended sockets are written (milliseconds). */
const PUBLISH_MS = 500
/** The progress of each socket is written once per this many of these intervals. */
const PROGRESS_EVERY = 20
/** Maximum number of rows of one statement: building it takes a third of a millisecond. */
const AT_ONCE = 50

/** The close reason when an operator ends a socket. */
const ENDED = 'The socket was ended by the operator of the proxy.'

/** Publishes the sockets of this process for other processes. Dispose of it at shutdown. */
export class SocketPublisher implements Disposable {
  readonly #store: Store
  readonly #instance: string
  readonly #sockets: OpenSockets
  readonly #onError: (error: unknown) => void
  readonly #timer: NodeJS.Timeout
  readonly #unsubscribe: () => void
  /** The written state: ids, and the bytes transferred by then. */
  readonly #written = new Map<string, number>()
  #publishing: Promise<void> | null = null
  #turn = 0
  /** The written count of `OpenSockets.changes`. */
  #publishedChanges = 0
  #hasFailed = false

  /**
   * @param instance id of this process among the instances of the store
   * @param onError called when the first of several attempts fails
   */
  constructor(
    store: Store,
    instance: string,
    sockets: OpenSockets,
    onError: (error: unknown) => void,
  ) {
    this.#store = store
    this.#instance = instance
    this.#sockets = sockets
    this.#onError = onError
    this.#timer = setInterval(() => void this.publish(), PUBLISH_MS).unref()
    this.#unsubscribe = store.onChange(() => void this.publish())
  }

  /** Ends a socket of this process. @returns false if it has no such socket */
  end(id: string): boolean {
    const socket = this.#sockets.get(id)
    socket?.session.stop(ENDED)
    return socket !== undefined
  }

  /** Resolves when the open sockets are written, or could not be. */
  async publish(): Promise<void> {
    // A write in progress may lack sockets that were opened since.
    await this.#publishing
    await (this.#publishing ??= this.#tryToPublish().finally(() => (this.#publishing = null)))
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#unsubscribe()
  }

  async #tryToPublish(): Promise<void> {
    try {
      if (this.#sockets.size > 0 || this.#written.size > 0) await this.#publish()
      this.#hasFailed = false
    } catch (error) {
      if (!this.#hasFailed) this.#onError(error)
      this.#hasFailed = true
    }
  }

  async #publish(): Promise<void> {
    const withProgress = this.#turn++ % PROGRESS_EVERY === 0
    // A process that expired this one has deleted its rows.
    if (withProgress && (await countWritten(this.#store, this.#instance)) !== this.#written.size) {
      await deleteAll(this.#store, this.#instance)
      this.#written.clear()
    }
    const { changes } = this.#sockets
    if (withProgress || changes !== this.#publishedChanges) await this.#writeChanges(withProgress)
    this.#publishedChanges = changes
    for (const id of await endingSockets(this.#store, this.#instance)) this.end(id)
  }

  async #writeChanges(withProgress: boolean): Promise<void> {
    const gone = [...this.#written.keys()].filter((id) => this.#sockets.get(id) === undefined)
    for (const some of bunchesOf(gone)) {
      await deleteSockets(this.#store, some)
      for (const id of some) this.#written.delete(id)
    }
    const news: OpenSocket[] = []
    for (const socket of this.#sockets) if (this.#isNews(socket, withProgress)) news.push(socket)
    for (const some of bunchesOf(news)) {
      const sizes = some.map(sizeOf)
      await writeSockets(this.#store, this.#instance, some)
      // oxlint-disable-next-line typescript/no-non-null-assertion -- sizes are those of some, in its order
      some.forEach(({ id }, i) => this.#written.set(id, sizes[i]!))
    }
  }

  #isNews(socket: OpenSocket, withProgress: boolean): boolean {
    const written = this.#written.get(socket.id)
    return written === undefined || (withProgress && written !== sizeOf(socket))
  }
}

/** The values that change with the traffic. */
function sizeOf(socket: OpenSocket): number {
  const { bytes_in, bytes_out } = progressOf(socket)
  return bytes_in + bytes_out
}

function bunchesOf<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / AT_ONCE) }, (_, i) =>
    all.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
  )
}
