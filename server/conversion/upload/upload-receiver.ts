// Uploads are received in a thread of their own. On the thread that answers requests, hashing and
// writing a large one would make all others wait; and so would collecting its memory: pieces that
// pass are counted against the heap, and made V8 mark it whole for every ten megabytes.
import type { IncomingMessage } from 'node:http'
import { Worker } from 'node:worker_threads'
import { Problem } from '../../common/errors.ts'
import { LEAST_RATE, watchPace } from '../../common/body-pace.ts'
import { rebuilt, type CarriedError } from '../serialized-error.ts'
import type { Turns } from './throttle.ts'
import type { Upload, UploadLimits } from './receive-upload.ts'

export interface Receiver extends AsyncDisposable {
  /**
   * Receives one upload into the new file `path`. What is left of the request where it fails stays
   * unread.
   *
   * @param dropped ends it; it then rejects with the signal's reason
   * @throws Problem as `receiveUpload` does, and `request_timeout` where the upload stands still or
   *   is too slow
   */
  receive(
    incoming: IncomingMessage,
    path: string,
    limits: ReceiverLimits,
    dropped: AbortSignal,
  ): Promise<Upload>
}

export interface ReceiverLimits extends UploadLimits {
  /** Milliseconds without a byte after which the upload is given up. */
  readonly transferIdle: number
  /**
   * Milliseconds of waiting for the caller after which the upload must have come at the least rate.
   */
  readonly uploadGrace: number
}

export interface Begin {
  /** The request's content type; `""` where it has none. */
  readonly type: string
  readonly path: string
  readonly limits: UploadLimits
}

/**
 * What is sent to the thread: an upload's beginning, a piece of it, its end, or why there is none.
 */
export type ToReceiver = { readonly id: number } & (
  | { readonly begin: Begin }
  | { readonly piece: Uint8Array }
  | { readonly end: true }
  | { readonly broken: string }
)

/** What the thread sends: that it can take another piece, or what has come of the upload. */
export type FromReceiver = { readonly id: number } & (
  | { readonly more: true }
  | { readonly upload: Upload }
  | { readonly problem: Pick<Problem, 'code' | 'detail' | 'errors'> }
  | { readonly failed: CarriedError }
)

interface Waiting {
  more(): void
  resolve(upload: Upload): void
  reject(error: Error): void
}

const LOST = 'The connection was closed before the upload was complete.'
const IDLE = 'The upload stopped in the middle. Send it again.'
const SLOW = `The upload comes too slowly: less than ${LEAST_RATE / 1024} KB a second. Send it over a faster connection.`

/**
 * The thread starts with the first upload. @param turns when the next piece of an upload may be
 * taken
 */
export function openReceiver(turns: Turns): Receiver {
  const waiting = new Map<number, Waiting>()
  let thread: Worker | null = null
  let last = 0

  const start = (): Worker => {
    const started = new Worker(new URL('upload-thread.ts', import.meta.url), { name: 'uploads' })
    let cause: unknown
    started.on('message', hear)
    started.on('error', (error) => (cause = error))
    // Only a bug ends it, or a machine without memory: the next upload starts another.
    started.on('exit', () => {
      thread = null
      for (const { reject } of waiting.values())
        reject(new Error('the thread that receives uploads has ended', { cause }))
      waiting.clear()
    })
    return started
  }

  const hear = (message: FromReceiver): void => {
    const caller = waiting.get(message.id)
    if ('more' in message) return caller?.more()
    waiting.delete(message.id)
    if ('upload' in message) caller?.resolve(message.upload)
    else if ('problem' in message)
      caller?.reject(
        new Problem(message.problem.code, message.problem.detail, {
          errors: message.problem.errors,
        }),
      )
    else caller?.reject(rebuilt('an upload could not be received', message.failed))
  }

  const receive: Receiver['receive'] = async (
    incoming,
    path,
    { maxHtml, maxZip, transferIdle, uploadGrace },
    dropped,
  ) => {
    dropped.throwIfAborted()
    if (incoming.destroyed) throw new Problem('invalid_file', LOST)
    const to = (thread ??= start())
    const id = ++last
    const { promise, resolve, reject } = Promise.withResolvers<Upload>()
    let over = false
    // Why we have ended the upload ourselves: the thread only hears that it is broken.
    let ended: unknown
    const end = (why: unknown): void => {
      ended ??= why
      send({ id, broken: LOST })
    }
    const pace = watchPace(uploadGrace, () => end(new Problem('request_timeout', SLOW)))
    const take = (): void => {
      if (over) return
      pace.asked()
      incoming.resume()
    }
    const more = (): void => turns(take)
    waiting.set(id, { more, resolve, reject })
    const send = (message: ToReceiver, transfer: ArrayBuffer[] = []): void =>
      to.postMessage(message, transfer)
    const onPiece = (bytes: Buffer): void => {
      incoming.pause()
      pace.came(bytes.length)
      const piece = owned(bytes)
      send({ id, piece }, [piece.buffer])
    }
    const onEnd = (): void => send({ id, end: true })
    const onIdle = (): void => end(new Problem('request_timeout', IDLE))
    const onDropped = (): void => end(dropped.reason)
    incoming.on('error', () => send({ id, broken: LOST }))
    incoming.pause().on('data', onPiece).once('end', onEnd)
    incoming.setTimeout(transferIdle, onIdle)
    dropped.addEventListener('abort', onDropped)
    send({
      id,
      begin: { type: incoming.headers['content-type'] ?? '', path, limits: { maxHtml, maxZip } },
    })
    try {
      return await promise
    } catch (error) {
      throw ended ?? error
    } finally {
      over = true
      pace.end()
      dropped.removeEventListener('abort', onDropped)
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

/** A piece that can be handed over without a copy: small ones share their memory with others. */
function owned(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength
    ? new Uint8Array(buffer)
    : new Uint8Array(bytes)
}
