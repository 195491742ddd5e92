// The parts of a large export are inflated once for all converters, and its pages are divided among
// them.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkConversion, runConversion } from '../../server/conversion/run-conversion.ts'
import {
  openConverterPool,
  type ConverterPool,
} from '../../server/conversion/pool/converter-pool.ts'
import type { ConversionStep } from '../../server/conversion/pool/conversion-step.ts'
import { noise } from '../support/archives/bombs.ts'
import { pageHtml } from '../support/archives/pages.ts'
import { archive, type EntrySpec } from '../support/archives/writer.ts'
import { temporaryFolder } from '../support/temporary.ts'

const PARTS = 3
const pages = [1, 2, 3, 4, 5, 6]

/** A part with two pages, and a picture that makes it too large for memory. */
function part(number: number): EntrySpec {
  const own = pages.slice((number - 1) * 2, number * 2).map((n): EntrySpec => ({
    name: `Page ${n}.html`,
    data: pageHtml(`Page ${n}`),
    descriptor: 'signed',
  }))
  return {
    name: `ExportBlock-0123-Part-${number}.zip`,
    data: archive([
      { name: `${number}.png`, data: noise(9_000_000), stored: true, descriptor: 'signed' },
      ...own,
    ]),
  }
}

test('an export in large deflated parts is converted by all converters together', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'Export.zip')
  writeFileSync(path, archive(Array.from({ length: PARTS }, (_, index) => part(index + 1))))
  await using converterPool = openConverterPool({
    atOnce: 2,
    deadline: 60_000,
    heap: 256 * 1_048_576,
  })
  const steps: string[] = []
  const watched: Pick<ConverterPool, 'size' | 'run'> = {
    size: converterPool.size,
    run: (...args: Parameters<typeof converterPool.run>) => {
      steps.push(nameOf(args[1]))
      return converterPool.run(...args)
    },
  }
  const scratch = join(folder, 'scratch')
  const task = {
    path,
    kind: 'zip',
    fileName: 'Export.zip',
    uploadedAt: 0,
    format: 'markdown',
    includeMetadata: false,
    scratch,
    output: join(folder, 'document'),
  } as const
  await checkConversion(task, watched, 'acc_1', AbortSignal.timeout(60_000))
  assert.deepEqual(steps.splice(0), ['unpack', 'unpack', 'check'])
  const converted = await runConversion(task, watched, { wasChecked: true })
  assert.deepEqual(steps.splice(0), ['share', 'share', 'join'])
  const document = readFileSync(task.output)
  rmSync(scratch, { recursive: true })
  rmSync(task.output)
  await runConversion(task, watched)
  assert.deepEqual(readFileSync(task.output), document)
  assert.deepEqual(converted, { pages: 6, failed: 0, warnings: 0, notices: [] })
  assert.deepEqual(steps, ['unpack', 'unpack', 'share', 'share', 'join'])
  assert.deepEqual(
    readFileSync(task.output, 'utf8').match(/^# .*/gm),
    pages.map((n) => `# Page ${n}`),
  )
  assert.deepEqual(
    readdirSync(scratch)
      .filter((name) => name.startsWith('part-'))
      .sort(),
    ['part-0', 'part-1', 'part-2'],
  )
})

function nameOf(step: ConversionStep): string {
  return Object.keys(step)[0] ?? ''
}
