// Writes of one turn of the event loop go out in one burst. A write that wakes a sleeping reader costs the system about twice what it costs
// while the reader is awake: answers that leave one by one wake whoever reads them one by one, answers that leave together wake it once.

/** Who has something to write. Whoever joins twice is asked twice. */
export interface Writer {
  writeNow(): void
}

let burst: Writer[] = []

/** Lets a writer write when this turn of the event loop is over, right after the others. */
export function joinBurst(writer: Writer): void {
  if (burst.push(writer) === 1) setImmediate(writeAll)
}

function writeAll(): void {
  const writers = burst
  burst = []
  for (const writer of writers) writer.writeNow()
}
