// A reporter for `node --test`: lists the slowest tests.
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

const MAX_SHOWN = 10

/** Gives its lines at the end of the run. */
export default async function* slowest(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const tests: { place: string; name: string; seconds: number }[] = []
  for await (const { type, data } of events) {
    if (type !== 'test:complete' || data.nesting !== 0 || data.file === undefined) continue
    // Skip the tests that stand for a process and for loading its files.
    if (data.file.endsWith('.mjs')) continue
    const place = `${relative(process.cwd(), data.file)}:${data.line}`
    tests.push({ place, name: data.name, seconds: data.details.duration_ms / 1000 })
  }
  const sum = tests.reduce((all, { seconds }) => all + seconds, 0)
  tests.sort((a, b) => b.seconds - a.seconds)
  yield `\nslowest of ${tests.length} tests (${sum.toFixed(0)} s one after another):\n`
  for (const { place, name, seconds } of tests.slice(0, MAX_SHOWN))
    yield `${seconds.toFixed(1).padStart(7)} s  ${place}  ${name}\n`
}
