// Whether a document's tree equals the one its workspace was generated from: `npm run bench --
// tree`. --count N  generated workspaces (default 10,000)      --from SEED  the first seed (default
// 1) Fails at the first difference.
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { treeOf } from '../test/engine/tree.ts'
import { workspace } from '../test/engine/workspaces.ts'
import { seeded } from '../test/support/random.ts'

const { values } = parseArgs({
  options: { count: { type: 'string', default: '10000' }, from: { type: 'string', default: '1' } },
})
const [count, from] = [Number(values.count), Number(values.from)]
const folder = mkdtempSync(join(tmpdir(), 'tollmark-tree-'))
let pages = 0
let right = 0
try {
  for (let seed = from; seed < from + count; seed++) {
    const made = workspace(seeded(seed))
    pages += made.pages.length
    if (isDeepStrictEqual(await treeOf(made.archive, folder), made.pages)) right++
    else console.log(`seed ${seed} is wrong: ${JSON.stringify(made.shape)}`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${right} of ${count} workspaces, ${pages} pages`)
if (right < count) process.exitCode = 1
