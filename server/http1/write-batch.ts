// Batches all writes of one turn of the event loop. A write that wakes a sleeping reader costs the
// system about twice as much as a write to one that is awake. Sent one by one, each response wakes
// its reader; sent together, they wake it once.

/** A writer with something to write. Flushed once per registration. */
export interface BatchWriter {
  writeNow(): void
}

/**
 * Writers flushed per callback. A thousand streams with an event at the same time take more than 10
 * ms, so other callbacks run between the groups.
 */
const MAX_BATCH = 16

let batch: BatchWriter[] = []

/**
 * Registers a writer to write at the end of this turn of the event loop, together with the others.
 */
export function scheduleFlush(writer: BatchWriter): void {
  if (batch.length === MAX_BATCH) batch = []
  if (batch.push(writer) === 1) setImmediate(flushBatch, batch)
}

function flushBatch(writers: readonly BatchWriter[]): void {
  // Writers that join from here on write in the next turn.
  batch = []
  for (const writer of writers) writer.writeNow()
}
