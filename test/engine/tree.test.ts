// The tree of a document is the one that its workspace was made from, however it was exported.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeded } from '../support/random.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { treeOf } from './tree.ts'
import { workspace } from './workspaces.ts'

const COUNT = 100

test(`order and parents match ${COUNT} generated workspaces`, async (t) => {
  const folder = temporaryFolder(t)
  for (let seed = 1; seed <= COUNT; seed++) {
    const { archive, pages, shape } = workspace(seeded(seed))
    assert.deepEqual(await treeOf(archive, folder), pages, `seed ${seed}: ${JSON.stringify(shape)}`)
  }
})
