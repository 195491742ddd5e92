// Reads Amazon's binary event stream (application/vnd.amazon.eventstream):
// total length, headers' length, checksum, headers, payload, checksum.
// https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream
import { parseJson } from '../json/paths.ts'
import { Candidates, findMarker } from './event-stream.ts'
import type { CreatedIds } from './created-ids.ts'
import { LARGEST_EVENT, type Reader } from './reader.ts'
import type { Finding } from './usage.ts'

const PRELUDE = 12
const CHECKSUM = 4
const METRICS = Buffer.from('"amazon-bedrock-invocationMetrics"')
const WRAPPED = Buffer.from('"bytes"')

/** Reads usage from AWS' event streams. */
export class AwsReader implements Reader {
  readonly #candidates: Candidates
  #frame: Buffer = Buffer.alloc(1024)
  #length = 0
  /** Remaining bytes of a frame that is too long to be kept. */
  #skip = 0
  #broken = false

  constructor(created: CreatedIds) {
    this.#candidates = new Candidates(created)
  }

  write(chunk: Buffer): void {
    let i = 0
    while (i < chunk.length && !this.#broken) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - i)
        this.#skip -= skipped
        i += skipped
        continue
      }
      const wanted = this.#length < PRELUDE ? PRELUDE : this.#frame.readUInt32BE(0)
      const taken = Math.min(wanted - this.#length, chunk.length - i)
      this.#append(chunk.subarray(i, i + taken))
      i += taken
      if (this.#length < wanted) return
      const total = this.#frame.readUInt32BE(0)
      if (wanted === PRELUDE && this.#length === PRELUDE) {
        if (total < PRELUDE + CHECKSUM || this.#frame.readUInt32BE(4) > total - PRELUDE - CHECKSUM)
          this.#broken = true
        else if (total > LARGEST_EVENT) {
          this.#skip = total - PRELUDE
          this.#length = 0
        }
        continue
      }
      this.#payload(this.#frame.subarray(PRELUDE + this.#frame.readUInt32BE(4), total - CHECKSUM))
      this.#length = 0
    }
  }

  end(): void {}

  findings(): readonly Finding[] {
    return this.#candidates.findings()
  }

  #append(bytes: Buffer): void {
    if (this.#length + bytes.length > this.#frame.length) {
      const grown = Buffer.allocUnsafe((this.#length + bytes.length) * 2)
      this.#frame.copy(grown, 0, 0, this.#length)
      this.#frame = grown
    }
    bytes.copy(this.#frame, this.#length)
    this.#length += bytes.length
  }

  #payload(payload: Buffer): void {
    if (findMarker(payload, 0, payload.length) >= 0 || payload.includes(METRICS)) {
      const event = payload.toString('utf8')
      this.#candidates.keep(() => this.#candidates.read(event))
      return
    }
    // InvokeModelWithResponseStream wraps the model's own events in base64.
    if (!payload.includes(WRAPPED)) return
    const event = parseJson(payload.toString('latin1'))
    const bytes =
      typeof event === 'object' &&
      event !== null &&
      'bytes' in event &&
      typeof event.bytes === 'string'
        ? Buffer.from(event.bytes, 'base64')
        : null
    if (bytes && (findMarker(bytes, 0, bytes.length) >= 0 || bytes.includes(METRICS)))
      this.#payload(bytes)
  }
}
