// Everything that can be converted besides a file: pipes, folders, the parts of an export, several
// exports; and what is left of it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { AlreadyReported } from '../../server/cli/failure.ts'
import { runCommand } from '../../server/cli/run.ts'
import { startServer } from '../support/harness.ts'
import { MAIN, NODE_FLAGS } from '../support/node.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { zip } from '../support/zip.ts'

const page = (title: string, body = '<p>text</p>'): string =>
  `<html><body><article class="page sans"><header><h1 class="page-title">${title}</h1></header><div class="page-body">${body}</div></article></body></html>`

/** A folder, and one for temporary files that must be empty at the end. */
function folders(t: TestContext): { cwd: string; temporary: string } {
  const cwd = temporaryFolder(t)
  const temporary = join(cwd, 'tmp')
  mkdirSync(temporary)
  return { cwd, temporary }
}

/** Runs a shell's command line with `tollmark` in it. */
async function shell(
  line: string,
  { cwd, temporary }: ReturnType<typeof folders>,
): Promise<{ code: number | null; out: string; err: string }> {
  const command = `tollmark() { "${process.execPath}" ${NODE_FLAGS.join(' ')} "${MAIN}" "$@"; }; ${line}`
  const child = spawn('bash', ['-c', command], {
    cwd,
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (out += piece))
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (err += piece))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, err }
}

/** Longer than a pipe holds at once. */
const LONG = page('Long', Array.from({ length: 5000 }, (_, n) => `<p>paragraph ${n}</p>`).join(''))

/** TABLE of ways to give a page or an archive that can be read only once. */
const STREAMS = [
  'cat Long.html | tollmark convert -',
  'cat Long.html | tollmark convert /dev/stdin',
  'tollmark convert <(cat Long.html)',
  'cat Long.zip | tollmark convert -',
  'tollmark convert - < Long.zip',
]

test(
  'a page, or an archive, is read from a pipe to its end',
  { skip: process.platform === 'win32' },
  async (t) => {
    const place = folders(t)
    writeFileSync(join(place.cwd, 'Long.html'), LONG)
    writeFileSync(join(place.cwd, 'Long.zip'), zip({ 'Long.html': LONG }))
    const results = await Promise.all(STREAMS.map((line) => shell(line, place)))
    for (const [n, { code, out, err }] of results.entries()) {
      assert.deepEqual([code, err], [0, ''], STREAMS[n])
      assert.match(out, /^# Long\n\nparagraph 0\n[\s\S]*\nparagraph 4999\n$/, STREAMS[n])
    }
    const head = await shell('tollmark convert Long.html | head -c 6; exit ${PIPESTATUS[0]}', place)
    assert.deepEqual([head.code, head.out, head.err], [0, '# Long', ''])
    assert.deepEqual(readdirSync(place.temporary), [])
  },
)

test(
  'an interrupted conversion leaves nothing behind and exits with the code that shells use',
  { skip: process.platform === 'win32' },
  async (t) => {
    const { cwd, temporary } = folders(t)
    for (const [signal, expected] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, 'convert', '-'], {
        cwd,
        env: { ...process.env, TMPDIR: temporary },
        stdio: ['pipe', 'ignore', 'inherit'],
      })
      child.stdin.write(LONG)
      await until(() =>
        readdirSync(temporary).some((name) => existsSync(join(temporary, name, 'input'))),
      )
      child.kill(signal)
      const [code] = (await once(child, 'close')) as [number | null]
      assert.equal(code, expected)
      assert.deepEqual(readdirSync(temporary), [])
    }
  },
)

test('an unpacked export is converted like its archive', async (t) => {
  const { cwd } = folders(t)
  const files = {
    'Home.html': page(
      'Home',
      '<figure><a href="Home/a.png"><img src="Home/a.png"/></a></figure><p><a href="Home/Sub.html">Sub</a></p>',
    ),
    'Home/Sub.html': page('Sub'),
    'Home/a.png': 'PNG',
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(cwd, 'Export', path, '..'), { recursive: true })
    writeFileSync(join(cwd, 'Export', path), content)
  }
  writeFileSync(join(cwd, 'Packed.zip'), zip(files))
  await runCommand(['convert', join(cwd, 'Export'), '-o', join(cwd, 'from-folder/')])
  await runCommand(['convert', join(cwd, 'Packed.zip'), '-o', join(cwd, 'from-zip/')])
  const read = (path: string) => readFileSync(join(cwd, path), 'utf8')
  assert.equal(read('from-folder/Export.md'), read('from-zip/Packed.md'))
  assert.equal(read('from-folder/Home/a.png'), 'PNG')
})

test('the parts of an export become one document, in whatever order they are named', async (t) => {
  const { cwd } = folders(t)
  const one = zip({ 'A.html': page('A', '<p><a href="B.html">B</a></p>') })
  const two = zip({ 'B.html': page('B'), 'B/b.png': 'PNG' })
  writeFileSync(join(cwd, 'Export-Part-1.zip'), one)
  writeFileSync(join(cwd, 'Export-Part-2.zip'), two)
  writeFileSync(join(cwd, 'Whole.zip'), zip({ 'Export-Part-1.zip': one, 'Export-Part-2.zip': two }))
  await runCommand([
    'convert',
    join(cwd, 'Export-Part-2.zip'),
    join(cwd, 'Export-Part-1.zip'),
    '-o',
    join(cwd, 'out/'),
  ])
  await runCommand(['convert', join(cwd, 'Whole.zip'), '-o', join(cwd, 'whole.md')])
  assert.deepEqual(readdirSync(join(cwd, 'out')).sort(), ['B', 'Export.md'])
  assert.equal(
    readFileSync(join(cwd, 'out', 'Export.md'), 'utf8'),
    readFileSync(join(cwd, 'whole.md'), 'utf8'),
  )
})

test('a folder of parts becomes one document with the assets of the parts', async (t) => {
  const { cwd } = folders(t)
  mkdirSync(join(cwd, 'Export'))
  const [one, two] = [
    zip({ 'A.html': page('A'), 'A/a.png': 'PNG' }),
    zip({ 'B.html': page('B'), 'B/b.png': 'PNG' }),
  ]
  writeFileSync(join(cwd, 'Export', 'Export-Part-1.zip'), one)
  writeFileSync(join(cwd, 'Export', 'Export-Part-2.zip'), two)
  await runCommand(['convert', join(cwd, 'Export'), '-o', join(cwd, 'out/')])
  assert.deepEqual(readdirSync(join(cwd, 'out')).sort(), ['A', 'B', 'Export.md'])
  assert.equal(readFileSync(join(cwd, 'out/A/a.png'), 'utf8'), 'PNG')
})

test('an input that cannot be converted does not stop the others', async (t) => {
  const { cwd, temporary } = folders(t)
  for (const name of ['a.html', 'c.html']) writeFileSync(join(cwd, name), page(name))
  writeFileSync(join(cwd, 'bad.txt'), 'no page')
  const { code, out, err } = await shell('tollmark convert a.html bad.txt c.html -o out/', {
    cwd,
    temporary,
  })
  assert.deepEqual([code, out], [1, ''])
  assert.equal(
    err,
    'a.html: 2 words, 0 tables, 0 lost\n' +
      'tollmark: bad.txt: The file is a text file. In Notion, export as HTML and use that file.\n' +
      'c.html: 2 words, 0 tables, 0 lost\n' +
      'tollmark: 1 of 3 exports could not be converted.\n',
  )
  assert.deepEqual(readdirSync(join(cwd, 'out')).sort(), ['a.md', 'c.md'])
  assert.deepEqual(readdirSync(temporary), [])
  await assert.rejects(runCommand(['convert', join(cwd, 'bad.txt'), '--json']), AlreadyReported)
})

test('a page that fails is reported, the document is written, and the exit code is 1', async (t) => {
  const { cwd, temporary } = folders(t)
  const dense = page('Dense', '<p>'.repeat(1_550_000))
  writeFileSync(join(cwd, 'One.zip'), zip({ 'A.html': page('A'), 'Dense.html': dense }))
  writeFileSync(join(cwd, 'Good.html'), page('Good'))
  const { code, err } = await shell('tollmark convert One.zip Good.html -o out/', {
    cwd,
    temporary,
  })
  assert.deepEqual(
    [code, err],
    [
      1,
      'One.zip: 2 words, 0 tables, 1 difference\n' +
        'tollmark: One.zip: one page could not be converted. The document gives the reason where the page would be.\n' +
        'Good.html: 2 words, 0 tables, 0 lost\n',
    ],
  )
  assert.match(
    readFileSync(join(cwd, 'out', 'One.md'), 'utf8'),
    /^# A\n[^]*\n# Dense\n\n\*This page could not be converted: /,
  )
  assert.deepEqual(readdirSync(join(cwd, 'out')).sort(), ['Good.md', 'One.md'])

  // The same by a server, in a request and in the background.
  for (const settings of [{}, { TOLLMARK_ASYNC_ABOVE: '1000' }]) {
    const server = await startServer(t, settings)
    const options = { cwd, temporary: join(cwd, 'tmp') }
    const remote = await shell(
      `tollmark convert One.zip -o remote.md --json --url ${server.url} --token ${await server.token()}`,
      options,
    )
    assert.equal(remote.code, 1)
    assert.equal((JSON.parse(remote.err) as { code: string }).code, 'page_failed')
    assert.equal(
      (JSON.parse(readFileSync(join(cwd, 'remote.md'), 'utf8')) as { object: string }).object,
      'document',
    )
  }
})

test('local conversion does not mention uploads', async (t) => {
  const { cwd, temporary } = folders(t)
  writeFileSync(join(cwd, 'Cut.zip'), zip({ 'A.html': page('A') }).subarray(0, 90))
  const { code, err } = await shell('tollmark convert Cut.zip', { cwd, temporary })
  assert.equal(code, 1)
  assert.doesNotMatch(err, /upload/i)
})
