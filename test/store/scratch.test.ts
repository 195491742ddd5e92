import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { openScratch } from '../../server/store/scratch.ts'
import { temporaryFolder } from '../temporary.ts'

/** Goes on making files for a moment, or until its folder is gone. */
const WRITER = `
  const { writeFileSync } = require('node:fs')
  const { parentPort, workerData } = require('node:worker_threads')
  const end = performance.now() + 300
  for (let i = 0; performance.now() < end; i++) {
    try {
      writeFileSync(workerData + '/' + i, '')
    } catch {
      break
    }
    if (i === 0) parentPort.postMessage('writing')
  }`

test('what a killed server left is cleared away also while one of its converters still writes', async (t) => {
  for (let round = 0; round < 5; round++) {
    const folder = temporaryFolder(t)
    const left = join(folder, 'ins_killed')
    mkdirSync(left)
    const writer = new Worker(WRITER, { eval: true, workerData: left })
    t.after(() => writer.terminate())
    await new Promise((resolve) => writer.once('message', resolve))
    using scratch = await openScratch(folder, 'ins_own', async () => ['ins_own'])
    assert.equal(existsSync(left), false)
    assert.ok(scratch.place().path.startsWith(join(folder, 'ins_own')))
  }
})
