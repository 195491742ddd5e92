// The frames of the socket bench: 20 ms of audio each, as in OpenAI's API, with the time it was
// sent.
import { frameOf, OPCODE } from '../../server/http1/websocket/frames.ts'

/** Bytes of a stamp: microseconds, in digits. */
export const STAMP_BYTES = 16
/** 20 ms of 24 kHz PCM in Base64. */
const AUDIO = 'A'.repeat(1_280)
const STAMP = '0'.repeat(STAMP_BYTES)
/** Length of the mask. It is zero, so masking changes nothing, but costs a proxy the same. */
const MASK_BYTES = 4

const sent = Buffer.from(`{"type":"input_audio_buffer.append","audio":"${STAMP}${AUDIO}"}`)
const plain = frameOf(OPCODE.text, sent, false)
const headBytes = plain.length - sent.length
const masked = Buffer.concat([plain.subarray(0, headBytes), Buffer.alloc(MASK_BYTES), sent])
masked[1]! |= 0x80

/** A client's frame, the position of its timestamp, and its length. */
export const FRAME = masked
export const STAMP_AT = masked.indexOf(STAMP)
export const FRAME_BYTES = masked.length

/** The provider's frame. */
export const RESPONSE = frameOf(
  OPCODE.text,
  Buffer.from(
    `{"type":"response.output_audio.delta","response_id":"resp_1","delta":"${STAMP}${AUDIO}"}`,
  ),
  false,
)
export const RESPONSE_STAMP_AT = RESPONSE.indexOf(STAMP)
