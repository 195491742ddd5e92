// Writes of one turn of the event loop go out in one burst. A write that wakes a sleeping reader
// costs the system about twice what it costs while the reader is awake: answers that leave one by
// one wake whoever reads them one by one, answers that leave together wake it once.

/** Who has something to write. Whoever joins twice is asked twice. */
export interface BatchWriter {
  writeNow(): void
}

/**
 * Writers of one callback. A thousand streams with an event at the same time take more than 10 ms:
 * other callbacks run between the groups.
 */
const MAX_BATCH = 16

let batch: BatchWriter[] = []

/** Lets a writer write when this turn of the event loop is over, right after the others. */
export function scheduleFlush(writer: BatchWriter): void {
  if (batch.length === MAX_BATCH) batch = []
  if (batch.push(writer) === 1) setImmediate(flushBatch, batch)
}

function flushBatch(writers: readonly BatchWriter[]): void {
  // Who joins from here on writes in the next turn.
  batch = []
  for (const writer of writers) writer.writeNow()
}
