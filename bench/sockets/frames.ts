// The frames that the bench of sockets sends: 20 ms of audio each, as OpenAI's clients send and get
// it, with the moment of its sending in it.
import { frameOf, OPCODE } from '../../server/http1/websocket/frames.ts'

/** Bytes of a stamp: microseconds, in digits. */
export const STAMP_BYTES = 16
/** 20 ms of 24 kHz PCM in Base64. */
const AUDIO = 'A'.repeat(1_280)
const STAMP = '0'.repeat(STAMP_BYTES)
/** Of a mask, which is zeros: masking changes nothing, and costs a proxy what any other does. */
const MASK_BYTES = 4

const sent = Buffer.from(`{"type":"input_audio_buffer.append","audio":"${STAMP}${AUDIO}"}`)
const plain = frameOf(OPCODE.text, sent, false)
const headBytes = plain.length - sent.length
const masked = Buffer.concat([plain.subarray(0, headBytes), Buffer.alloc(MASK_BYTES), sent])
masked[1]! |= 0x80

/** What a client sends, where its stamp stands in it, and how long it is. */
export const FRAME = masked
export const STAMP_AT = masked.indexOf(STAMP)
export const FRAME_BYTES = masked.length

/** What the provider sends. */
export const ANSWER = frameOf(
  OPCODE.text,
  Buffer.from(
    `{"type":"response.output_audio.delta","response_id":"resp_1","delta":"${STAMP}${AUDIO}"}`,
  ),
  false,
)
export const ANSWER_STAMP_AT = ANSWER.indexOf(STAMP)
