// Processes that start together on one folder build the dashboard once.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { doOnce } from '../../dashboard/build-lock.ts'
import { temporaryFolder } from '../support/temporary.ts'

test('of four that start together one builds, and the others wait for it', async (t) => {
  const path = join(temporaryFolder(t), 'building')
  let [built, isDone] = [0, false]
  const finished = Promise.withResolvers<void>()
  const build = async (): Promise<void> => {
    built++
    await finished.promise
    isDone = true
  }
  const all = Array.from({ length: 4 }, () => doOnce(path, () => isDone, build))
  assert.ok(existsSync(path))
  finished.resolve()
  await Promise.all(all)
  assert.deepEqual([built, existsSync(path)], [1, false])
})

test('the next one builds if the first one fails or is killed', async (t) => {
  const path = join(temporaryFolder(t), 'building')
  const never = () => false
  await assert.rejects(
    doOnce(path, never, async () => {
      throw new Error('a full disk')
    }),
    /a full disk/,
  )
  const { pid } = spawnSync(process.execPath, ['--version'])
  writeFileSync(path, String(pid))
  let built = 0
  await doOnce(
    path,
    () => built > 0,
    async () => void built++,
  )
  assert.deepEqual([built, existsSync(path)], [1, false])
})
