// The worker thread that receives uploads: parses forms, writes and hashes files. Every upload ends
// with one result or one error.
import { Readable } from 'node:stream'
import { parentPort } from 'node:worker_threads'
import { collectGarbage } from '../../common/collect-garbage.ts'
import { Problem } from '../../common/errors.ts'
import { serializeError } from '../serialized-error.ts'
import type { UploadStart, ThreadMessage, ThreadRequest } from './upload-receiver.ts'
import { receiveUpload } from './receive-upload.ts'

// oxlint-disable-next-line typescript/no-non-null-assertion -- this file runs as a thread
const port = parentPort!
const send = (message: ThreadMessage): void => port.postMessage(message)
const bodies = new Map<number, Readable>()

/** Bytes buffered here, so that one chunk can arrive while another is written. */
const READ_AHEAD_BYTES = 512 * 1024

async function receive(id: number, { type, path, limits }: UploadStart): Promise<void> {
  // Asks for more whenever there is room, so that a slow disk slows the caller down.
  const body = new Readable({
    highWaterMark: READ_AHEAD_BYTES,
    read: () => send({ id, more: true }),
  })
  bodies.set(id, body)
  try {
    send({ id, upload: await receiveUpload(body, type, path, limits) })
  } catch (error) {
    send({
      id,
      ...(error instanceof Problem
        ? { problem: { code: error.code, detail: error.detail, errors: error.errors } }
        : { failed: serializeError(error) }),
    })
  } finally {
    bodies.delete(id)
    body.destroy()
  }
}

/** Bytes received between two collections. */
const COLLECT_EVERY_BYTES = 8 * 1024 * 1024

let uncollected = 0

/** Frees pieces that were written: V8 lets 20 MB of them gather. */
function collectPieces(bytes: number): void {
  uncollected += bytes
  if (uncollected < COLLECT_EVERY_BYTES) return
  uncollected = 0
  collectGarbage({ type: 'minor', execution: 'sync' })
}

port.on('message', (message: ThreadRequest) => {
  if ('begin' in message) return void receive(message.id, message.begin)
  // A refused upload gets no more requests for chunks, but one in flight may still arrive.
  const body = bodies.get(message.id)
  if ('piece' in message) {
    body?.push(message.piece)
    collectPieces(message.piece.length)
  } else if ('end' in message) body?.push(null)
  else body?.destroy(new Problem('invalid_file', message.broken))
})
