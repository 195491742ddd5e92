// The heaps of threads. Flags that size the heap hold for the whole process, but each thread reads
// them when it starts.
import { setFlagsFromString } from 'node:v8'

/**
 * Has the threads that start from now on keep small heaps. What the launcher sets is for the thread
 * that serves requests: with its room for young objects, and none of its old ones collected before
 * there are 128 MB, each thread of the store would grow by 30 to 50 MB under load (`bench -- proxy
 * --only memory`).
 */
export function limitThreadHeaps(): void {
  setFlagsFromString('--max-semi-space-size=2')
  setFlagsFromString('--initial-old-space-size=0')
}
