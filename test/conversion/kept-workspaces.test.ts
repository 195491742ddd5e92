// What a check unpacked waits for its job, in bounded space and time.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { test } from 'node:test'
import { KeptWorkspaces } from '../../server/conversion/kept-workspaces.ts'
import { openScratch } from '../../server/store/scratch.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { until } from '../support/until.ts'

test('one workspace is kept at a time, for its own job', async (t) => {
  using scratch = await openScratch(temporaryFolder(t), 'ins', async () => ['ins'])
  const place = () => {
    const workspace = scratch.place()
    mkdirSync(workspace.path)
    return workspace
  }
  await using kept = new KeptWorkspaces()
  const [first, second] = [place(), place()]
  await kept.keep('job_1', first)
  assert.equal(kept.take('job_2'), undefined)
  await kept.keep('job_2', second)
  assert.equal(existsSync(first.path), false, 'the one before makes room')
  assert.equal(kept.take('job_1'), undefined)
  assert.equal(kept.take('job_2'), second)
  assert.equal(kept.take('job_2'), undefined)
  assert.ok(existsSync(second.path), 'whoever takes it removes it')

  const third = place()
  await kept.keep('job_3', third)
  await kept[Symbol.asyncDispose]()
  assert.equal(existsSync(third.path), false)

  await using impatient = new KeptWorkspaces(1)
  const fourth = place()
  await impatient.keep('job_4', fourth)
  await until(() => !existsSync(fourth.path))
  assert.equal(impatient.take('job_4'), undefined)
})
