// Writes log lines to a file descriptor. Writers never block or fail: while the descriptor accepts
// nothing (disk full, reader slow or gone), lines are buffered up to a limit and dropped beyond it.
import { write, writeSync } from 'node:fs'
import { codeOf } from './errors.ts'

/** Writes lines to one file descriptor without blocking; lives as long as the process. */
export interface LogSink {
  write(line: string): void
  /** Writes the remaining lines before the process exits; blocks for at most a second. */
  flush(): void
}

/** Maximum number of buffered characters. */
const MAX_BUFFERED_CHARS = 16 * 2 ** 20
/** Delay before a failed write is retried (milliseconds). */
const RETRY_MS = 100
/** Retries of the final flush, and the delay before each. */
const MAX_FLUSH_RETRIES = 50
const FLUSH_RETRY_MS = 20

const EMPTY = Buffer.alloc(0)

/** Opens a sink. Writes are sequential, so lines never interleave. */
export function openLogSink(fd: number): LogSink {
  let buffered = ''
  let chunk: Buffer = EMPTY
  let state: 'idle' | 'writing' | 'pausing' = 'idle'

  const writeNext = (): void => {
    if (chunk.length === 0) {
      chunk = Buffer.from(buffered)
      buffered = ''
    }
    state = chunk.length > 0 ? 'writing' : 'idle'
    if (state === 'writing') write(fd, chunk, onWritten)
  }
  const onWritten = (error: Error | null, written: number): void => {
    if (error === null) {
      chunk = chunk.subarray(written)
      return writeNext()
    }
    state = 'pausing'
    setTimeout(writeNext, RETRY_MS).unref()
  }

  return {
    write: (line) => {
      if (buffered.length + line.length > MAX_BUFFERED_CHARS) return
      buffered += line
      if (state === 'idle') writeNext()
    },
    flush: () => {
      // A piece that is being written already belongs to the system.
      let rest = Buffer.concat([state === 'writing' ? EMPTY : chunk, Buffer.from(buffered)])
      buffered = ''
      for (let pauses = 0; rest.length > 0 && pauses < MAX_FLUSH_RETRIES;) {
        try {
          rest = rest.subarray(writeSync(fd, rest))
        } catch (error) {
          if (codeOf(error) !== 'EAGAIN') return
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FLUSH_RETRY_MS)
          pauses++
        }
      }
    },
  }
}
