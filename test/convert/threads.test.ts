import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import type { Task } from '../../server/convert/run.ts'
import { openThreads } from '../../server/convert/threads.ts'
import type { ThreadLimits, Threads } from '../../server/convert/threads.ts'
import { Problem } from '../../server/errors.ts'

function open(t: TestContext, limits: Partial<ThreadLimits> = {}): Threads {
  const all = { threads: 2, queue: 100, deadline: 30_000, heap: 64 * 1_048_576, ...limits }
  const threads = openThreads(all, new URL('program.ts', import.meta.url))
  t.after(() => threads[Symbol.asyncDispose]())
  return threads
}

const task = (fileName: string): Task => ({
  path: '',
  kind: 'html',
  fileName,
  uploadedAt: 0,
  format: 'markdown',
  includeMetadata: false,
  scratch: '',
  output: '',
})

/** How a test runs what the program knows under a name. */
const whole = { whole: true } as const

const isProblem = (code: string, detail: RegExp) => (error: unknown) => error instanceof Problem && error.code === code && detail.test(error.detail)

test('a conversion is done, and tells its progress on the way', async (t) => {
  const threads = open(t)
  const seen: unknown[] = []
  await threads.run(task('progress'), whole, { onProgress: (progress) => seen.push(progress) })
  assert.deepEqual(seen, [{ pagesDone: 1, pagesTotal: 2 }])
})

test('what is wrong with the file is told in its own words; what is wrong with us keeps its code', async (t) => {
  const threads = open(t)
  await assert.rejects(threads.run(task('refuse'), whole), isProblem('invalid_file', /^The archive is broken\.$/))
  await assert.rejects(threads.run(task('fail'), whole), { message: 'on purpose', code: 'ENOSPC' })
  await threads.run(task('convert'), whole)
})

/** TABLE of conversions that end with their thread: what it does, and what its caller is told. */
const FATAL: [deed: string, told: (error: unknown) => boolean][] = [
  ['run for ever', isProblem('invalid_file', /takes longer than 0\.5 seconds/)],
  ['eat memory', isProblem('invalid_file', /more memory/)],
  ['throw', (error) => error instanceof Error && /nobody waits/.test(error.message)],
  ['exit', (error) => error instanceof Error && /thread has ended/.test(error.message)],
]

for (const [deed, told] of FATAL) {
  test(`a conversion that wants to ${deed} takes nobody with it`, async (t) => {
    const threads = open(t, deed === 'run for ever' ? { deadline: 500 } : {})
    const others = Array.from({ length: 4 }, () => threads.run(task('convert'), whole))
    await assert.rejects(threads.run(task(deed), whole), told)
    assert.equal((await Promise.all(others)).length, 4)
    const after = await Promise.all(Array.from({ length: 4 }, () => threads.run(task('convert'), whole)))
    assert.equal(after.length, 4)
  })
}

test('no more conversions run and wait than the limits say', async (t) => {
  const threads = open(t, { threads: 1, queue: 3 })
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, async () => threads.run(task('wait a little'), whole)))
  assert.deepEqual(outcomes.map(({ status }) => status), [...Array(4).fill('fulfilled'), ...Array(6).fill('rejected')])
  for (const outcome of outcomes) if (outcome.status === 'rejected') assert.ok(isProblem('too_many_uploads', /Try again/)(outcome.reason))
  await threads.run(task('convert'), whole)
})

test('a caller that leaves ends its conversion, waiting or running', async (t) => {
  const threads = open(t, { threads: 1 })
  const [running, waiting] = [new AbortController(), new AbortController()]
  const first = threads.run(task('run for ever'), whole, { signal: running.signal })
  const second = threads.run(task('run for ever'), whole, { signal: waiting.signal })
  const third = threads.run(task('convert'), whole)
  waiting.abort(new Error('left while waiting'))
  await assert.rejects(second, /left while waiting/)
  running.abort(new Error('left while running'))
  await assert.rejects(first, /left while running/)
  await third
  await assert.rejects(async () => threads.run(task('convert'), whole, { signal: running.signal }), /left while running/)
})

test('closing ends what runs and what waits', async () => {
  const threads = openThreads({ threads: 1, queue: 9, deadline: 30_000, heap: 64 * 1_048_576 }, new URL('program.ts', import.meta.url))
  const outcomes = Promise.allSettled([threads.run(task('run for ever'), whole), threads.run(task('convert'), whole)])
  await threads[Symbol.asyncDispose]()
  assert.deepEqual((await outcomes).map(({ status }) => status), ['rejected', 'rejected'])
})
