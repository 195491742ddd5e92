// A progress bar on a terminal, and silence elsewhere.
import type { WriteStream } from 'node:tty'
import type { ConversionProgress } from '../../conversion/pool/conversion-step.ts'

const WIDTH = 30
/** Milliseconds between two redraws. */
const REDRAW_MS = 80

/** A bar drawn on `stream` if that is a terminal. `clear` erases it. */
export function progressBar(
  stream: WriteStream,
  name: string,
): { show: (progress: ConversionProgress) => void; clear: () => void } {
  if (!stream.isTTY) return { show: () => {}, clear: () => {} }
  let lastDrawn = 0
  return {
    show: ({ pagesDone, pagesTotal }) => {
      const now = performance.now()
      if (now - lastDrawn < REDRAW_MS) return
      lastDrawn = now
      const part = pagesTotal ? pagesDone / pagesTotal : 0
      const bar = '█'.repeat(Math.round(part * WIDTH)).padEnd(WIDTH, '░')
      const line = `${bar} ${pagesDone}${pagesTotal ? `/${pagesTotal}` : ''} pages  ${name}`
      stream.write(`\r\u001B[K${line.slice(0, (stream.columns || 80) - 1)}`)
    },
    clear: () => {
      if (lastDrawn > 0) stream.write('\r\u001B[K')
      lastDrawn = 0
    },
  }
}
