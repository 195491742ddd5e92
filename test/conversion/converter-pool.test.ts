import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import type { ConversionTask } from '../../server/conversion/pool/conversion-step.ts'
import { openConverterPool } from '../../server/conversion/pool/converter-pool.ts'
import type { ConverterLimits, ConverterPool } from '../../server/conversion/pool/converter-pool.ts'
import { Problem } from '../../server/common/errors.ts'
import { temporaryFolder } from '../support/temporary.ts'

function open(t: TestContext, limits: Partial<ConverterLimits> = {}): ConverterPool {
  const all = { atOnce: 2, deadline: 30_000, heap: 64 * 1_048_576, ...limits }
  const converterPool = openConverterPool(all, new URL('program.ts', import.meta.url))
  t.after(() => converterPool[Symbol.asyncDispose]())
  return converterPool
}

const task = (fileName: string): ConversionTask => ({
  path: '',
  kind: 'html',
  fileName,
  uploadedAt: 0,
  format: 'markdown',
  includeMetadata: false,
  scratch: '',
  output: '',
})

/** The step of every conversion here: its program looks at the file's name only. */
const whole = { whole: true } as const

const isProblem = (code: string, detail: RegExp) => (error: unknown) =>
  error instanceof Problem && error.code === code && detail.test(error.detail)

test('a conversion completes and reports its progress', async (t) => {
  const converterPool = open(t)
  const seen: unknown[] = []
  await converterPool.run(task('progress'), whole, {
    onProgress: (progress) => seen.push(progress),
  })
  assert.deepEqual(seen, [{ pagesDone: 1, pagesTotal: 2 }])
})

test('an error in the file is explained; an error of ours keeps its code', async (t) => {
  const converterPool = open(t)
  await assert.rejects(
    converterPool.run(task('refuse'), whole),
    isProblem('invalid_file', /^The archive is broken\.$/),
  )
  await assert.rejects(converterPool.run(task('fail'), whole), {
    stack: /on purpose/,
    code: 'ENOSPC',
  })
  await converterPool.run(task('convert'), whole)
})

test("a converter does not inherit the server's environment", async (t) => {
  await assert.rejects(
    open(t).run(task('environment'), whole),
    isProblem('invalid_file', /^(?!.*PATH|.*HOME)/),
  )
})

/** TABLE of conversions that end with their process: what it does, and what its caller is told. */
const FATAL: [deed: string, told: (error: unknown) => boolean][] = [
  ['run for ever', isProblem('invalid_file', /takes longer than \d+ seconds/)],
  ['eat memory in small objects', isProblem('invalid_file', /more memory/)],
  ['eat memory in one array', isProblem('invalid_file', /more memory/)],
  ['eat memory in strings', isProblem('invalid_file', /more memory/)],
  ['throw', (error) => error instanceof Error && /nobody waits/.test(error.message)],
  ['exit', (error) => error instanceof Error && /the converter ended with 3/.test(error.message)],
]

test('a text that is longer than V8 allows is a lack of memory, too', async (t) => {
  const limits = { atOnce: 1, deadline: 120_000, heap: 64 * 1_048_576 }
  const converterPool = openConverterPool(limits)
  t.after(() => converterPool[Symbol.asyncDispose]())
  const folder = temporaryFolder(t)
  const path = join(folder, 'page.html')
  const id = '0123456789abcdef0123456789abcdef'
  const links = `<p><a href="#${id}">x</a></p>`.repeat(600)
  writeFileSync(path, `<h1 id="${id}">${'long '.repeat(200_000)}</h1>${links}`)
  const long = { ...task('page.html'), path, scratch: folder, output: join(folder, 'output') }
  await assert.rejects(converterPool.run(long, whole), isProblem('invalid_file', /more memory/))
})

/**
 * A deadline that conversions meet on this machine, as busy as it is: ten times what four take with
 * the start of their converters.
 */
async function deadlineHere(t: TestContext): Promise<number> {
  const converterPool = open(t, { deadline: 240_000 })
  const started = performance.now()
  await Promise.all(Array.from({ length: 4 }, () => converterPool.run(task('convert'), whole)))
  return Math.max(4_000, Math.ceil((performance.now() - started) / 100) * 1_000)
}

for (const [deed, told] of FATAL) {
  test(`a conversion that tries to ${deed} affects no other`, async (t) => {
    const deadline = deed === 'run for ever' ? await deadlineHere(t) : 240_000
    const converterPool = open(t, { deadline })
    const others = Array.from({ length: 4 }, () => converterPool.run(task('convert'), whole))
    await assert.rejects(converterPool.run(task(deed), whole), told)
    assert.equal((await Promise.all(others)).length, 4)
    const after = await Promise.all(
      Array.from({ length: 4 }, () => converterPool.run(task('convert'), whole)),
    )
    assert.equal(after.length, 4)
  })
}

test('a caller that disconnects ends its conversion, waiting or running', async (t) => {
  const converterPool = open(t, { atOnce: 1 })
  const [running, waiting] = [new AbortController(), new AbortController()]
  const first = converterPool.run(task('run for ever'), whole, { signal: running.signal })
  const second = converterPool.run(task('run for ever'), whole, { signal: waiting.signal })
  const third = converterPool.run(task('convert'), whole)
  waiting.abort(new Error('left while waiting'))
  await assert.rejects(second, /left while waiting/)
  running.abort(new Error('left while running'))
  await assert.rejects(first, /left while running/)
  await third
  await assert.rejects(
    async () => converterPool.run(task('convert'), whole, { signal: running.signal }),
    /left while running/,
  )
})

test('an account without a running step gets an additional converter', async (t) => {
  const converterPool = open(t, { atOnce: 1, beyond: 1 })
  const gone = new AbortController()
  const held = ['run for ever', 'convert'].map((deed) =>
    converterPool.run(task(deed), whole, { account: 'a', signal: gone.signal }),
  )
  const steps = ['convert', 'convert'].map((deed) =>
    converterPool.run(task(deed), whole, { account: 'b' }),
  )
  await Promise.all(steps)
  assert.deepEqual(converterPool.load(), { running: 1, waiting: 1 })
  gone.abort(new Error('left'))
  for (const { status } of await Promise.allSettled(held)) assert.equal(status, 'rejected')
})

test('closing ends running and waiting conversions', async () => {
  const converterPool = openConverterPool(
    { atOnce: 1, deadline: 30_000, heap: 64 * 1_048_576 },
    new URL('program.ts', import.meta.url),
  )
  const outcomes = Promise.allSettled([
    converterPool.run(task('run for ever'), whole),
    converterPool.run(task('convert'), whole),
  ])
  await converterPool[Symbol.asyncDispose]()
  assert.deepEqual(
    (await outcomes).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
})

/** TABLE of reasons why no process can be started: Node tells of one later, of another at once. */
const NO_PROCESS: [why: string, program: string, told: RegExp][] = [
  ['it fails', '/nowhere', /ENOENT/],
  ['it cannot even be tried', '/no\0where', /null bytes/],
]

for (const [why, program, told] of NO_PROCESS) {
  test(`when no process can be started (${why}), conversions fail at once and work again when one can`, async (t) => {
    const converterPool = open(t)
    const node = process.execPath
    t.after(() => (process.execPath = node))
    const running = converterPool.run(task('exit'), whole)
    process.execPath = program
    const outcomes = await Promise.allSettled([
      running,
      ...Array.from({ length: 3 }, () => converterPool.run(task('convert'), whole)),
    ])
    const reasons = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? String(outcome.reason) : '',
    )
    assert.match(reasons[0]!, /ended with 3/)
    for (const reason of reasons.slice(1)) assert.match(reason, told)
    assert.deepEqual(converterPool.load(), { running: 0, waiting: 0 })
    process.execPath = node
    await Promise.all(Array.from({ length: 4 }, () => converterPool.run(task('convert'), whole)))
  })
}

test('a converter with a large step gets no other step', async (t) => {
  const converterPool = open(t, { atOnce: 1 })
  const tellProcess = (): Promise<string> =>
    converterPool.run(task('tell its process'), whole).then(
      () => '',
      (error: Problem) => error.detail,
    )
  const first = await tellProcess()
  assert.equal(await tellProcess(), first)
  await converterPool.run(task('convert'), whole, { isLarge: true })
  assert.deepEqual(converterPool.load(), { running: 0, waiting: 0 })
  assert.notEqual(await tellProcess(), first)
})

test('a retired converter gets no further conversion, and not all are retired at once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const converterPool = open(t)
  const processes = () =>
    Promise.all(
      [1, 2].map(() =>
        converterPool.run(task('tell its process'), whole).then(
          () => '',
          (error: Problem) => error.detail,
        ),
      ),
    )
  const before = await processes()
  t.mock.timers.tick(60_000)
  const after = await processes()
  assert.match([...before, ...after].join(), /^\d+,\d+,\d+,\d+$/)
  assert.equal(new Set(after).size, 2)
  assert.equal(after.filter((one) => before.includes(one)).length, 1)
})
