// The engine as it is published: its Node-only entry runs on the oldest Node that it names, and its
// package says where its sources are.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { buildPackages, PUBLISHED } from '../../scripts/build-packages.ts'
import { archive } from '../support/archives/writer.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { ROOT } from './project.ts'

const run = promisify(execFile)
const NAME = '@tollmark/notion-markdown'
const packages = PUBLISHED.filter(({ name }) => name === NAME)
const folder = temporaryFolder({ after })

before(async () => {
  await buildPackages(join(folder, 'node_modules'), packages)
  for (const name of ['entities', 'github-slugger', 'yaml'])
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
})

/** What Node has had since 22 or 24, taken away: what is left is what Node 20 has. */
const AS_NODE_20 = `
for (const name of ['AsyncDisposableStack', 'DisposableStack', 'SuppressedError', 'Iterator'])
  delete globalThis[name]
for (const [owner, names] of [[Map, ['groupBy']], [Object, ['groupBy']], [Promise, ['withResolvers', 'try']], [Array, ['fromAsync']],
  [Set.prototype, ['union', 'intersection', 'difference', 'isSubsetOf', 'isSupersetOf', 'isDisjointFrom', 'symmetricDifference']],
  [RegExp, ['escape']], [Object.getPrototypeOf(Object.getPrototypeOf([].values())), ['map', 'filter', 'take', 'drop', 'flatMap', 'reduce', 'toArray', 'forEach', 'some', 'every', 'find']]])
  for (const name of names) delete owner[name]
`

const PROGRAM = `
import { convertFile, convertPages } from '${NAME}/archive'
let document = ''
const options = { path: 'export.zip', kind: 'zip', fileName: 'export.zip', format: 'markdown', includeMetadata: true, uploadedAt: new Date(0) }
await convertFile(options, (piece) => void (document += piece))
console.log(document)
await convertPages(options, process.argv[2])
console.log('pages')
`

test('whole archives are converted on Node 20', async () => {
  const page = (title: string) =>
    `<article class="page"><h1 class="page-title">${title}</h1></article>`
  const part = archive([
    { name: 'One.html', data: page('One') },
    { name: 'Two.html', data: page('Two') },
  ])
  // Parts of more than 8 MB are unpacked into the folder for temporary files.
  const filler = { name: 'filler.bin', data: Buffer.alloc(9 * 1024 * 1024, 'ab cd ef') }
  const large = archive([{ name: 'Three.html', data: page('Three') }, filler])
  writeFileSync(
    join(folder, 'export.zip'),
    archive([
      { name: 'Export-1-Part-1.zip', data: part },
      { name: 'Export-1-Part-2.zip', data: large },
    ]),
  )
  writeFileSync(join(folder, 'before.cjs'), AS_NODE_20)
  writeFileSync(join(folder, 'run.mjs'), PROGRAM)
  // The Node of the path is the developer's, perhaps 20 itself; the other is the project's.
  for (const [number, node] of ['node', process.execPath].entries()) {
    const { stdout } = await run(node, ['-r', './before.cjs', 'run.mjs', `${number}.zip`], {
      cwd: folder,
    })
    assert.deepEqual(stdout.match(/^# .*|^pages$/gm), ['# One', '# Three', '# Two', 'pages'], node)
  }
})

test('a package declares its Node version, repository and bug tracker', async (t) => {
  const manifest = (at: string): Record<string, unknown> =>
    JSON.parse(readFileSync(join(at, NAME, 'package.json'), 'utf8')) as Record<string, unknown>
  const built = manifest(join(folder, 'node_modules'))
  assert.deepEqual(built['engines'], { node: '>=20.15' })
  assert.equal(built['homepage'], `https://www.npmjs.com/package/${NAME}`)

  const before = process.env['GITHUB_REPOSITORY']
  t.after(() => {
    if (before === undefined) delete process.env['GITHUB_REPOSITORY']
    else process.env['GITHUB_REPOSITORY'] = before
  })
  process.env['GITHUB_REPOSITORY'] = 'owner/name'
  const released = join(folder, 'released')
  mkdirSync(released)
  await buildPackages(released, packages)
  const { homepage, bugs, repository } = manifest(released)
  assert.deepEqual(
    [homepage, bugs, repository],
    [
      'https://github.com/owner/name/tree/main/packages/notion-markdown#readme',
      'https://github.com/owner/name/issues',
      {
        type: 'git',
        url: 'git+https://github.com/owner/name.git',
        directory: 'packages/notion-markdown',
      },
    ],
  )
})
