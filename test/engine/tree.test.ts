// The tree of a document is the one that its workspace was made from, however it was exported.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeded } from '../support/random.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { orderPages } from '../../packages/notion-markdown/src/order.ts'
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

test('pages below thousands of folders take no more than their paths', () => {
  const at = (page: number, folder: string) => ({
    path: `${folder}${'d/'.repeat(8_000)}Page ${page}.html`,
    links: [],
    subPages: [],
  })
  const owner = { path: 'Owner.html', links: [], subPages: [] }
  const pages = [owner, ...Array.from({ length: 80 }, (_, page) => at(page, 'Owner/'))]
  const before = process.cpuUsage()
  const placed = orderPages(pages, -1)
  const { user, system } = process.cpuUsage(before)
  assert.ok(placed.every(({ page, parent }) => parent === (page === 0 ? -1 : 0)))
  // Looking each folder up took 7 s.
  assert.ok(user + system < 2_000_000, `${(user + system) / 1000} ms`)
})
