import { collectGarbage } from '../../../server/common/collect-garbage.ts'

/**
 * Bytes of buffers that are held, garbage aside. A collection frees buffers in the background; the
 * next one waits for that.
 */
export function heldBytes(): number {
  for (let round = 0; round < 3; round++) collectGarbage()
  return process.memoryUsage().arrayBuffers
}
