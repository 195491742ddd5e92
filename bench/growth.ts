// Whether conversion is linear: every hostile shape at n and 4n characters, `npm run bench --
// growth [NAME …]`. Each shape runs in a process of its own with a deadline, so that a hang or a
// crash is a row of the table and no more. --size N      the larger size in characters (default
// 10,000,000)      --deadline S  seconds a shape may take (default 60) Fails when time at 4n is
// more than 5 times time at n, when a word is lost, or when a process dies.
import { parseArgs } from 'node:util'
import { convertHtml } from '../packages/notion-markdown/src/index.ts'
import { NEEDLE, shapes, type Shape } from './parts/shapes.ts'
import { runChild } from './parts/child.ts'

/**
 * A child's measurements: CPU milliseconds of the converting thread, which other load does not
 * change; MB.
 */
interface Measure {
  small: number
  large: number
  output: number
  memory: number
  kept: boolean
}

/** Largest ratio of the time at 4n to that at n that counts as linear. */
const MOST = 5

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string', default: '10000000' },
    deadline: { type: 'string', default: '60' },
    child: { type: 'string' },
  },
})
const size = Number(values.size)

if (values.child !== undefined) {
  const shape = shapes.find(({ name }) => name === values.child)
  if (!shape) throw new Error(`no shape is named ${values.child}`)
  console.log(JSON.stringify(measure(shape)))
} else process.exitCode = await compareAll()

/** The best of several conversions at each size, after a warm-up; fewer if one takes long. */
function measure(shape: Shape): Measure {
  const small = shape.make(size / 4)
  const large = shape.make(size)
  convertHtml(shape.make(size / 40))
  let output = ''
  const best = (html: string) => {
    let least = Infinity
    let spent = 0
    for (let run = 0; run < 5 && spent < 2000; run++) {
      globalThis.gc?.() // Collect, so that one run's garbage does not slow the next.
      const begun = process.threadCpuUsage()
      output = convertHtml(html)
      const { user, system } = process.threadCpuUsage(begun)
      least = Math.min(least, (user + system) / 1000)
      spent += (user + system) / 1000
    }
    return least
  }
  const result = { small: best(small), large: best(large) }
  return {
    ...result,
    output: output.length,
    memory: Math.round(process.resourceUsage().maxRSS / 1024),
    kept: output.includes(NEEDLE),
  }
}

async function compareAll(): Promise<number> {
  const chosen = shapes.filter(
    ({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
  )
  console.log(
    `${'shape'.padEnd(44)}${'n ms'.padStart(9)}${'4n ms'.padStart(9)}${'ratio'.padStart(7)}${'MB/s'.padStart(8)}${'out MB'.padStart(8)}${'RSS MB'.padStart(8)}`,
  )
  let bad = 0
  for (const { name } of chosen) {
    const result = await runChild<Measure>(
      [import.meta.filename, '--child', name, '--size', String(size)],
      values.deadline,
    )
    if (typeof result === 'string') {
      bad++
      console.log(`${name.padEnd(44)}  ${result}`)
      continue
    }
    const ratio = result.large / result.small
    // At 10 ms per megabyte, memory speed is the limit, and larger inputs no longer fit into the
    // caches.
    const slow = ratio > MOST && result.large > size / 1e5
    const verdict = [slow ? 'NOT LINEAR' : '', result.kept ? '' : 'TEXT LOST']
      .filter((word) => word)
      .join(', ')
    if (verdict) bad++
    const columns = [
      result.small.toFixed(1).padStart(9),
      result.large.toFixed(1).padStart(9),
      ratio.toFixed(1).padStart(7),
      (size / 1e3 / result.large).toFixed(1).padStart(8),
      (result.output / 1e6).toFixed(1).padStart(8),
      String(result.memory).padStart(8),
    ]
    console.log(`${name.padEnd(44)}${columns.join('')}  ${verdict}`)
  }
  console.log(`\n${chosen.length - bad} of ${chosen.length} shapes are linear and keep their text`)
  return bad > 0 ? 1 : 0
}
