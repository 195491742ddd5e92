import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: unknown = runInNewContext('gc')

/**
 * Bytes of buffers that are held, garbage aside. A collection frees buffers in the background; the
 * next one waits for that.
 */
export function heldBytes(): number {
  if (typeof collect === 'function') for (let round = 0; round < 3; round++) collect()
  return process.memoryUsage().arrayBuffers
}
