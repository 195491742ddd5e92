// Receives uploads in a worker thread. On the main thread, hashing and writing a large upload would
// delay every request, and so would garbage collection: chunks count against the heap, and V8
// marked all of it for every 10 MB.
import type { IncomingMessage } from 'node:http'
import { Worker } from 'node:worker_threads'
import { Problem } from '../../common/errors.ts'
import { MIN_RATE, startRateMonitor } from '../../common/body-rate.ts'
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

/** A message to the thread: the start of an upload, a chunk, its end, or why it broke off. */
export type ThreadRequest = { readonly id: number } & (
  | { readonly begin: UploadStart }
  | { readonly piece: Uint8Array }
  | { readonly end: true }
  | { readonly broken: string }
)

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
const UPLOAD_STALLED = 'The upload stopped in the middle. Send it again.'
const UPLOAD_TOO_SLOW = `The upload comes too slowly: less than ${MIN_RATE / 1024} KB a second. Send it over a faster connection.`

/**
 * The thread starts with the first upload.
 *
 * @param throttle schedules the next chunk of an upload
 */
export function openUploadReceiver(throttle: Throttle): UploadReceiver {
  const pending = new Map<number, PendingUpload>()
  let thread: Worker | null = null
  let lastId = 0

  const start = (): Worker => {
    const started = new Worker(new URL('upload-thread.ts', import.meta.url), { name: 'uploads' })
    let cause: unknown
    started.on('message', onMessage)
    started.on('error', (error) => (cause = error))
    // Only a bug ends it, or a machine without memory: the next upload starts another.
    started.on('exit', () => {
      thread = null
      for (const { reject } of pending.values())
        reject(new Error('the thread that receives uploads has ended', { cause }))
      pending.clear()
    })
    return started
  }

  const onMessage = (message: ThreadMessage): void => {
    const upload = pending.get(message.id)
    if ('more' in message) return upload?.more()
    pending.delete(message.id)
    if ('upload' in message) upload?.resolve(message.upload)
    else if ('problem' in message)
      upload?.reject(
        new Problem(message.problem.code, message.problem.detail, {
          errors: message.problem.errors,
        }),
      )
    else upload?.reject(deserializeError('an upload could not be received', message.failed))
  }

  const receive: UploadReceiver['receive'] = async (
    incoming,
    path,
    { maxHtml, maxZip, transferIdle, uploadGrace },
    signal,
  ) => {
    signal.throwIfAborted()
    if (incoming.destroyed) throw new Problem('invalid_file', CONNECTION_LOST)
    const worker = (thread ??= start())
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<Upload>()
    let isOver = false
    // Why we have ended the upload ourselves: the thread only hears that it is broken.
    let ended: unknown
    const end = (reason: unknown): void => {
      ended ??= reason
      send({ id, broken: CONNECTION_LOST })
    }
    const rateMonitor = startRateMonitor(uploadGrace, () =>
      end(new Problem('request_timeout', UPLOAD_TOO_SLOW)),
    )
    const readMore = (): void => {
      if (isOver) return
      rateMonitor.waiting()
      incoming.resume()
    }
    const more = (): void => throttle(readMore)
    pending.set(id, { more, resolve, reject })
    const send = (message: ThreadRequest, transfer: ArrayBuffer[] = []): void =>
      worker.postMessage(message, transfer)
    const onPiece = (bytes: Buffer): void => {
      incoming.pause()
      rateMonitor.received(bytes.length)
      const piece = transferable(bytes)
      send({ id, piece }, [piece.buffer])
    }
    const onEnd = (): void => send({ id, end: true })
    const onIdle = (): void => end(new Problem('request_timeout', UPLOAD_STALLED))
    const onAbort = (): void => end(signal.reason)
    incoming.on('error', () => send({ id, broken: CONNECTION_LOST }))
    incoming.pause().on('data', onPiece).once('end', onEnd)
    incoming.setTimeout(transferIdle, onIdle)
    signal.addEventListener('abort', onAbort)
    send({
      id,
      begin: { type: incoming.headers['content-type'] ?? '', path, limits: { maxHtml, maxZip } },
    })
    try {
      return await promise
    } catch (error) {
      throw ended ?? error
    } finally {
      isOver = true
      rateMonitor.stop()
      signal.removeEventListener('abort', onAbort)
      incoming.setTimeout(0).off('timeout', onIdle).off('data', onPiece).off('end', onEnd).pause()
    }
  }

  return {
    receive,
    [Symbol.asyncDispose]: async () => {
      await thread?.terminate()
    },
  }
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
