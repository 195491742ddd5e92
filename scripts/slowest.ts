// A reporter for `node --test`: the files that took longest, so that whoever adds to one of them
// sees it.
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

const MAX_SHOWN = 10

/** Gives its lines at the end of the run. */
export default async function* slowest(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: { file: string; seconds: number }[] = []
  for await (const { type, data } of events) {
    // There is one of each file, and one without a file of the whole run.
    if (type === 'test:summary' && data.file !== undefined)
      files.push({ file: relative(process.cwd(), data.file), seconds: data.duration_ms / 1000 })
  }
  const sum = files.reduce((all, { seconds }) => all + seconds, 0)
  files.sort((a, b) => b.seconds - a.seconds)
  yield `\nslowest of ${files.length} files (${sum.toFixed(0)} s one after another):\n`
  for (const { file, seconds } of files.slice(0, MAX_SHOWN))
    yield `${seconds.toFixed(1).padStart(7)} s  ${file}\n`
}
