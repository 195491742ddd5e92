// When V8 collects garbage because of buffers, whose bytes lie outside its heap.
import { setFlagsFromString } from 'node:v8'

/**
 * Lets buffers count toward the limit of the whole heap. By default, V8 13 marks the whole heap
 * whenever buffers have grown by 64 MB, and a young collection that comes meanwhile finishes the
 * marking in one pause. Beside floods of large messages there is one full collection in 10 s now,
 * where there were nine (`bench -- fairness --only sockets:`). Later versions of V8 always
 * count so, and have no such flag (https://issues.chromium.org/issues/361124432).
 */
export function countBuffersTowardHeapLimit(): void {
  if (process.versions.v8.startsWith('13.'))
    setFlagsFromString('--external-memory-accounted-in-global-limit')
}
