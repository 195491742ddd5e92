// Writes of one turn of the event loop go out in one burst. A write that wakes a sleeping reader costs the system about twice what it costs
// while the reader is awake: answers that leave one by one wake whoever reads them one by one, answers that leave together wake it once.

/** Who has something to write. Whoever joins twice is asked twice. */
export interface Writer {
  writeNow(): void
}

/** Milliseconds of a burst, after which the rest waits for the next turn of the event loop, and writers between two looks at the clock. */
const BURST_MS = 0.5
const WRITERS = 8

let burst: Writer[] = []

/** Lets a writer write when this turn of the event loop is over, right after the others. */
export function joinBurst(writer: Writer): void {
  if (burst.push(writer) === 1) setImmediate(writeAll)
}

function writeAll(): void {
  const writers = burst
  burst = []
  const end = writers.length > WRITERS ? performance.now() + BURST_MS : Infinity
  for (let i = 0; i < writers.length; i++) {
    if (i > 0 && i % WRITERS === 0 && performance.now() >= end) return writeLater(writers.slice(i))
    writers[i]!.writeNow()
  }
}

/** Before those who have joined meanwhile. */
function writeLater(writers: Writer[]): void {
  if (burst.length === 0) setImmediate(writeAll)
  burst = writers.concat(burst)
}
