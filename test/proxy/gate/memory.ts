import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: unknown = runInNewContext('gc')

/** Bytes of buffers that are held, garbage aside. */
export function heldBytes(): number {
  if (typeof collect === 'function') collect()
  return process.memoryUsage().arrayBuffers
}
