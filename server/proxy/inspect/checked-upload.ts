// Forwards the rest of an upload whose beginning has been checked: files are streamed, and parts
// between and after them are forwarded once the key is known to be allowed to name their objects.
// The end of the body is never sent before that, so a refused upload is never complete.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BodySink, RequestBody } from '../../http1/exchange.ts'
import type { RawHeaders } from '../../http1/header-fields.ts'
import { GatewayError, serviceUnavailable } from '../gateway-error.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { RequestSlot } from '../admission/request-shares.ts'
import { discardBody } from './buffer-body.ts'
import type { UploadReader } from './upload-reader.ts'

/** Decides about an upload in transit. */
export interface UploadChecks {
  /** @throws GatewayError if the key may not name one of these */
  check(named: readonly ObjectRef[]): unknown
  /** Aborts the upload. */
  refuse(error: unknown): void
}

/** Maximum bytes of parts after a file that are held. */
const MAX_HELD_BYTES = 1024 * 1024

/**
 * An upload in transit to the upstream; its end waits until all objects that it names are checked.
 */
export class CheckedUpload implements RequestBody, BodySink {
  readonly #body: RequestBody
  readonly #reader: UploadReader
  readonly #slot: RequestSlot
  /** Set before the first read. */
  checks: UploadChecks | null = null
  #sink: BodySink | null = null
  #held: Buffer[] = []
  #heldBytes = 0
  /** Whether everything held has been read. */
  #mayPass = false
  #trailers: RawHeaders | null = null
  /** Counts pieces: those that arrive during a decision have to be checked again. */
  #version = 0
  #isDeciding = false
  #isPaused = false

  constructor(body: RequestBody, reader: UploadReader, slot: RequestSlot) {
    this.#body = body
    this.#reader = reader
    this.#slot = slot
  }

  get length(): number | null {
    return this.#body.length
  }

  read(sink: BodySink | null): void {
    this.#sink = sink
    if (sink === null) {
      this.#letGo()
      this.#body.read(null)
    } else this.#body.read(this)
  }

  pause(): void {
    this.#isPaused = true
    this.#body.pause()
  }

  resume(): void {
    this.#isPaused = false
    if (!this.#isDeciding) this.#body.resume()
  }

  onData(piece: Buffer): void {
    if (this.#sink === null) return
    this.#version++
    this.#mayPass = this.#reader.write(piece)
    this.#held.push(piece)
    this.#heldBytes += piece.length
    if (this.#mayPass || this.#reader.problem !== null) return this.#decide()
    if (this.#heldBytes > MAX_HELD_BYTES)
      return this.#refuse(
        new GatewayError(
          'body_too_large',
          `The parts after a file must be read, and are larger than ${MAX_HELD_BYTES} bytes.`,
        ),
      )
    if (!this.#slot.holdBytes(piece.length)) return this.#refuse(serviceUnavailable(BUFFERS_FULL))
    this.#slot.allowEviction(() => this.#refuse(serviceUnavailable(BUFFERS_FULL)))
  }

  onEnd(trailers: RawHeaders): void {
    if (this.#sink === null) return
    this.#version++
    this.#trailers = trailers
    if (!this.#reader.end()) {
      // A file that is incomplete names nothing, and all of it has been sent.
      if (this.#held.length === 0) return this.#release()
      return this.#refuse(ambiguous('The multipart body has no closing boundary.'))
    }
    this.#mayPass = true
    this.#decide()
  }

  onAborted(): void {
    this.#letGo()
    this.#sink?.onAborted()
  }

  /** Sends the held bytes as soon as allowed: immediately, if they name nothing new. */
  #decide(): void {
    if (this.#isDeciding) return
    const { problem } = this.#reader
    if (problem !== null) return this.#refuse(ambiguous(problem))
    if (this.#reader.settle()) {
      const named = this.#reader.takeNews()
      if (named.length === 0) return this.#release()
      void this.#lookUp(named)
    } else void this.#lookUp(null)
  }

  /** @param named null if more work is needed to know */
  async #lookUp(named: readonly ObjectRef[] | null): Promise<void> {
    const version = this.#version
    this.#isDeciding = true
    this.#body.pause()
    try {
      if (named === null) while (!this.#reader.settle()) await nextTurn()
      const { problem } = this.#reader
      if (problem !== null) throw ambiguous(problem)
      // oxlint-disable-next-line typescript/no-non-null-assertion -- set before the first byte
      await this.checks!.check(named ?? this.#reader.takeNews())
    } catch (error) {
      return this.#refuse(error)
    }
    this.#isDeciding = false
    // The caller may have left, or the upstream may have responded.
    if (this.#sink === null) return
    if (version === this.#version) this.#release()
    else if (this.#mayPass) this.#decide()
    if (!this.#isPaused && !this.#isDeciding) this.#body.resume()
  }

  #release(): void {
    const passing = this.#held
    this.#letGo()
    for (const piece of passing) this.#sink?.onData(piece)
    if (this.#trailers !== null) this.#sink?.onEnd(this.#trailers)
  }

  #refuse(error: unknown): void {
    if (this.#sink === null) return
    this.#sink = null
    this.#letGo()
    discardBody(this.#body)
    // oxlint-disable-next-line typescript/no-non-null-assertion -- set before the first byte
    this.checks!.refuse(error)
  }

  #letGo(): void {
    this.#held = []
    this.#heldBytes = 0
    this.#slot.forbidEviction()
    this.#slot.releaseBytes()
  }
}

/** The message if there is no room left for buffered bodies. */
export const BUFFERS_FULL = 'The proxy holds too many large requests at the moment.'

/** The refusal of a body whose named objects are unclear. @param why a sentence */
export const ambiguous = (why: string): GatewayError =>
  new GatewayError('ambiguous_body', `${why} It is not known which stored objects it names.`)
