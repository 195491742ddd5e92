// Lines on a file descriptor, for whoever collects them. Whoever writes never waits and never
// fails: while nothing can be written (the disk is full, the reader stands still or is gone) lines
// are kept as far as there is room, and lost beyond it.
import { write, writeSync } from 'node:fs'
import { codeOf } from './errors.ts'

export interface Lines {
  write(line: string): void
  /** Writes what is left before the process ends, which waits a second for it at most. */
  flush(): void
}

/** Characters that may wait. */
const MOST_WAITING = 16 * 2 ** 20
/** What could not be written is tried again after so long (milliseconds). */
const PAUSE = 100
/** Pauses of a process that ends, and how long each is (milliseconds). */
const LAST_PAUSES = 50
const LAST_PAUSE = 20

const NONE = Buffer.alloc(0)

/**
 * Opens what writes to a file descriptor, one piece after the other, and so no line into another.
 */
export function openLines(fd: number): Lines {
  let waiting = ''
  let piece: Buffer = NONE
  let state: 'idle' | 'writing' | 'pausing' = 'idle'

  const next = (): void => {
    if (piece.length === 0) {
      piece = Buffer.from(waiting)
      waiting = ''
    }
    state = piece.length > 0 ? 'writing' : 'idle'
    if (state === 'writing') write(fd, piece, done)
  }
  const done = (error: Error | null, written: number): void => {
    if (error === null) {
      piece = piece.subarray(written)
      return next()
    }
    state = 'pausing'
    setTimeout(next, PAUSE).unref()
  }

  return {
    write: (line) => {
      if (waiting.length + line.length > MOST_WAITING) return
      waiting += line
      if (state === 'idle') next()
    },
    flush: () => {
      // A piece that is being written is the system's already.
      let rest = Buffer.concat([state === 'writing' ? NONE : piece, Buffer.from(waiting)])
      waiting = ''
      for (let pauses = 0; rest.length > 0 && pauses < LAST_PAUSES;) {
        try {
          rest = rest.subarray(writeSync(fd, rest))
        } catch (error) {
          if (codeOf(error) !== 'EAGAIN') return
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_PAUSE)
          pauses++
        }
      }
    },
  }
}
