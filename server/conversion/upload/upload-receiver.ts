// Receives uploads in a worker thread. On the main thread, hashing and writing a large upload would
// delay every request, and so would garbage collection: chunks count against the heap, and V8
// marked all of it for every 10 MB.
import type { IncomingMessage } from 'node:http'
import { Worker } from 'node:worker_threads'
import { Problem } from '../../common/errors.ts'
import { MIN_RATE, startRateMonitor, type RateMonitor } from '../../common/body-rate.ts'
import { deserializeError, type SerializedError } from '../serialized-error.ts'
import type { Throttle } from './throttle.ts'
import type { Upload, UploadLimits } from './receive-upload.ts'

/** Receives uploads in a worker thread. One per process; dispose it at shutdown. */
export interface UploadReceiver extends AsyncDisposable {
  /**
   * Receives one upload into the new file `path`. On failure the rest of the request stays unread.
   *
   * @param signal cancels it; the promise then rejects with the signal's reason
   * @throws Problem as `receiveUpload`, and `request_timeout` if the upload stalls or is too slow
   */
  receive(
    incoming: IncomingMessage,
    path: string,
    limits: ReceiverLimits,
    signal: AbortSignal,
  ): Promise<Upload>
}

/** Limits of one upload. */
export interface ReceiverLimits extends UploadLimits {
  /** Milliseconds without a byte after which the upload fails. */
  readonly transferIdle: number
  /** Milliseconds of waiting for the caller after which the minimum rate applies. */
  readonly uploadGrace: number
}

/** The first message of an upload to the thread. */
export interface UploadStart {
  /** The request's Content-Type; `""` if none. */
  readonly type: string
  readonly path: string
  readonly limits: UploadLimits
}

/** The start of an upload, a chunk, its end, or the error that cut it off. */
type UploadStep =
  | { readonly begin: UploadStart }
  | { readonly piece: Uint8Array }
  | { readonly end: true }
  | { readonly broken: string }

/** A message to the thread. */
export type ThreadRequest = { readonly id: number } & UploadStep

/** Posts a step of one upload; `transfer`: buffers that are handed over without a copy. */
type SendToThread = (step: UploadStep, transfer?: ArrayBuffer[]) => void

/** A message from the thread: ready for another chunk, or the result. */
export type ThreadMessage = { readonly id: number } & (
  | { readonly more: true }
  | { readonly upload: Upload }
  | { readonly problem: Pick<Problem, 'code' | 'detail' | 'errors'> }
  | { readonly failed: SerializedError }
)

interface PendingUpload {
  more(): void
  resolve(upload: Upload): void
  reject(error: Error): void
}

const CONNECTION_LOST = 'The connection was closed before the upload was complete.'
const UPLOAD_STALLED = 'The upload stopped arriving. Send it again.'
const UPLOAD_TOO_SLOW = `The upload is too slow: less than ${MIN_RATE / 1024} KB a second. Send it over a faster connection.`

/**
 * Opens a receiver. Its thread starts with the first upload.
 *
 * @param throttle schedules the next chunk of an upload
 */
export function openUploadReceiver(throttle: Throttle): UploadReceiver {
  return new ThreadReceiver(throttle)
}

class ThreadReceiver implements UploadReceiver {
  readonly #throttle: Throttle
  readonly #pending = new Map<number, PendingUpload>()
  #thread: Worker | null = null
  #lastId = 0

  constructor(throttle: Throttle) {
    this.#throttle = throttle
  }

  async receive(
    incoming: IncomingMessage,
    path: string,
    { maxHtml, maxZip, transferIdle, uploadGrace }: ReceiverLimits,
    signal: AbortSignal,
  ): Promise<Upload> {
    signal.throwIfAborted()
    if (incoming.destroyed) throw new Problem('invalid_file', CONNECTION_LOST)
    const worker = (this.#thread ??= this.#start())
    const id = ++this.#lastId
    const { promise, resolve, reject } = Promise.withResolvers<Upload>()
    const send: SendToThread = (message, transfer = []) =>
      worker.postMessage({ id, ...message }, transfer)
    const transfer = new Transfer(incoming, send, uploadGrace)
    const readMore = (): void => transfer.readMore()
    this.#pending.set(id, { more: () => this.#throttle(readMore), resolve, reject })
    const onAbort = (): void => transfer.end(signal.reason)
    signal.addEventListener('abort', onAbort)
    transfer.start(transferIdle)
    send({
      begin: { type: incoming.headers['content-type'] ?? '', path, limits: { maxHtml, maxZip } },
    })
    try {
      return await promise
    } catch (error) {
      throw transfer.ended ?? error
    } finally {
      signal.removeEventListener('abort', onAbort)
      transfer.stop()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.terminate()
  }

  #start(): Worker {
    const started = new Worker(new URL('upload-thread.ts', import.meta.url), { name: 'uploads' })
    let cause: unknown
    started.on('message', (message: ThreadMessage) => this.#onMessage(message))
    started.on('error', (error) => (cause = error))
    // Only a bug or a lack of memory ends it. The next upload starts another.
    started.on('exit', () => {
      this.#thread = null
      for (const { reject } of this.#pending.values())
        reject(new Error('the upload thread has ended', { cause }))
      this.#pending.clear()
    })
    return started
  }

  #onMessage(message: ThreadMessage): void {
    const upload = this.#pending.get(message.id)
    if ('more' in message) return upload?.more()
    this.#pending.delete(message.id)
    if ('upload' in message) upload?.resolve(message.upload)
    else if ('problem' in message)
      upload?.reject(
        new Problem(message.problem.code, message.problem.detail, {
          errors: message.problem.errors,
        }),
      )
    else upload?.reject(deserializeError('an upload could not be received', message.failed))
  }
}

/** Sends the chunks of one request to the thread, one each time that it asks for more. */
class Transfer {
  readonly #incoming: IncomingMessage
  readonly #send: SendToThread
  readonly #rateMonitor: RateMonitor
  #isOver = false
  #ended: unknown

  constructor(incoming: IncomingMessage, send: SendToThread, uploadGrace: number) {
    this.#incoming = incoming
    this.#send = send
    this.#rateMonitor = startRateMonitor(uploadGrace, () =>
      this.end(new Problem('request_timeout', UPLOAD_TOO_SLOW)),
    )
  }

  /** Why we ended the upload; the thread only knows that it was cut off. */
  get ended(): unknown {
    return this.#ended
  }

  start(transferIdle: number): void {
    this.#incoming.on('error', () => this.#send({ broken: CONNECTION_LOST }))
    this.#incoming.pause().on('data', this.#onPiece).once('end', this.#onEnd)
    this.#incoming.setTimeout(transferIdle, this.#onIdle)
  }

  readMore(): void {
    if (this.#isOver) return
    this.#rateMonitor.waiting()
    this.#incoming.resume()
  }

  end(reason: unknown): void {
    this.#ended ??= reason
    this.#send({ broken: CONNECTION_LOST })
  }

  /** Leaves the rest of the request unread. */
  stop(): void {
    this.#isOver = true
    this.#rateMonitor.stop()
    this.#incoming
      .setTimeout(0)
      .off('timeout', this.#onIdle)
      .off('data', this.#onPiece)
      .off('end', this.#onEnd)
      .pause()
  }

  readonly #onPiece = (bytes: Buffer): void => {
    this.#incoming.pause()
    this.#rateMonitor.received(bytes.length)
    const piece = transferable(bytes)
    this.#send({ piece }, [piece.buffer])
  }

  readonly #onEnd = (): void => this.#send({ end: true })

  readonly #onIdle = (): void => this.end(new Problem('request_timeout', UPLOAD_STALLED))
}

/**
 * A chunk that can be transferred without a copy; small buffers share their memory and are copied.
 */
function transferable(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength
    ? new Uint8Array(buffer)
    : new Uint8Array(bytes)
}
