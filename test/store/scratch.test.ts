import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { openScratch } from '../../server/store/scratch.ts'
import { transientProblem } from '../../server/store/transient-errors.ts'
import { temporaryFolder } from '../support/temporary.ts'

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

test("a killed server's scratch files are deleted even while its converter still writes", async (t) => {
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

/**
 * TABLE of what the system says where a file cannot grow or be written any more, and of what it
 * says otherwise; and whether a caller is told to come again.
 */
const SAID: [code: string, passes: boolean][] = [
  ['ENOSPC', true],
  ['EDQUOT', true],
  ['EFBIG', true],
  ['EROFS', true],
  ['EIO', true],
  ['EACCES', false],
]

for (const [code, passes] of SAID) {
  test(`${code} is ${passes ? 'a temporary failure of the disk' : 'a server error'}`, () => {
    assert.equal(
      transientProblem(Object.assign(new Error('write'), { code }))?.code,
      passes ? 'store_unavailable' : undefined,
    )
  })
}
