// Frames of WebSockets, whole and broken: what is read is the same for all splits, or an error of
// ours.
import assert from 'node:assert/strict'
import {
  FrameError,
  FrameReader,
  frameOf,
  OPCODE,
  applyMask,
  type FrameHead,
  type FrameSink,
} from '../../server/http1/websocket/frames.ts'
import type { Chance } from './chance.ts'
import { plain, sameForAllSplits } from './target.ts'

/** What a reader has told, in order; pieces of one payload are joined. */
function read(pieces: readonly Buffer[], isMasked: boolean): unknown[] {
  const told: unknown[] = []
  let frame: FrameHead | null = null
  let payload: Buffer[] = []
  const sink: FrameSink = {
    onFrame: (head, raw) => {
      frame = head
      payload = []
      told.push(`${head.opcode} ${head.isFinal} ${head.length} ${raw.toString('hex')}`)
    },
    onPayload: (raw, at) => {
      const part = Buffer.from(raw)
      if (frame?.mask != null) applyMask(part, frame.mask, at)
      payload.push(part)
    },
    onFrameEnd: () => void told.push(Buffer.concat(payload).toString('hex')),
    // Which frames are told so depends on the split; what they say does not.
    onWholeFrame: (head, raw, at) => {
      sink.onFrame(head, raw.subarray(0, at))
      sink.onPayload(raw.subarray(at), 0)
      sink.onFrameEnd()
    },
  }
  const reader = new FrameReader(sink, isMasked)
  try {
    for (const piece of pieces) for (let at = 0; at < piece.length;) at = reader.next(piece, at)
  } catch (error) {
    assert.ok(error instanceof FrameError, String(error))
    told.push(error.code)
  }
  return told
}

const OPCODES = [...Object.values(OPCODE), 3, 15]
const LENGTHS = [0, 1, 2, 125, 126, 127, 65_535, 65_536]

function anyFrame(chance: Chance, isMasked: boolean): Buffer {
  const payload = Buffer.alloc(chance.pick(LENGTHS), 'x')
  const frame = frameOf(chance.pick(OPCODES), payload, isMasked !== chance.happens(0.02))
  if (chance.happens(0.3)) frame[0]! &= 0x7f
  if (chance.happens(0.05)) frame[chance.below(Math.min(frame.length, 14))]! ^= 1 << chance.below(8)
  return frame
}

/** Of frames: the same however they are split; an error is one of ours. */
export const socketFrames = plain((chance) => {
  const isMasked = chance.happens(0.7)
  const frames = chance.list(8, () => anyFrame(chance, isMasked))
  sameForAllSplits(chance, Buffer.concat(frames), (pieces) => read(pieces, isMasked))
})
