import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PAGE } from '../support/form.ts'
import { tollmark } from '../support/harness.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { zip } from '../support/zip.ts'
import { openCommands } from './commands.ts'

test('a file is converted to standard output, to a file, and into a folder', async (t) => {
  const cwd = temporaryFolder(t)
  const run = openCommands(t, {}, cwd)
  writeFileSync(join(cwd, 'Page.html'), PAGE)
  writeFileSync(join(cwd, 'Export.zip'), zip({ 'Page.html': PAGE }))
  const printed = await run('convert', 'Page.html')
  assert.equal(printed.code, 0, printed.err)
  assert.match(printed.out, /Be kind\./)
  assert.equal(printed.err, '', 'no progress bar where there is no terminal')

  assert.equal((await run('convert', 'Page.html', '-o', 'out.md')).code, 0)
  assert.equal(readFileSync(join(cwd, 'out.md'), 'utf8'), printed.out)

  const json = await run(
    'convert',
    'Page.html',
    '--format',
    'json',
    '--metadata',
    '--output',
    'new/',
  )
  assert.equal(json.code, 0, json.err)
  assert.equal(
    (JSON.parse(readFileSync(join(cwd, 'new', 'Page.json'), 'utf8')) as { object: string }).object,
    'document',
  )

  const short = await run('convert', 'Page.html', '--json')
  const long = await run('convert', 'Page.html', '--format', 'json', '--json')
  assert.equal(short.code, 0, short.err)
  assert.equal((JSON.parse(short.out) as { object: string }).object, 'document')
  assert.equal(long.out, short.out)

  mkdirSync(join(cwd, 'there'))
  assert.equal((await run('convert', 'Page.html', 'Export.zip', '-o', 'there')).code, 0)
  assert.deepEqual(
    readdirSync(join(cwd, 'there'))
      .filter((name) => name.endsWith('.md'))
      .sort(),
    ['Export.md', 'Page.md'],
  )
  assert.equal(existsSync(join(cwd, 'data')), false, 'no store is needed')
})

test('chunks and a source map are written to separate files', async (t) => {
  const cwd = temporaryFolder(t)
  const run = openCommands(t, {}, cwd)
  writeFileSync(join(cwd, 'Page.html'), PAGE)
  const chunks = await run('convert', 'Page.html', '--format', 'chunks', '-o', 'new/')
  assert.equal(chunks.code, 0, chunks.err)
  assert.match(
    readFileSync(join(cwd, 'new', 'Page.jsonl'), 'utf8'),
    /^{"text":"# .*Be kind\.".*}\n$/,
  )

  const args = ['--metadata', '-o', 'out.md', '--source-map', 'map.json']
  const mapped = await run('convert', 'Page.html', ...args)
  assert.equal(mapped.code, 0, mapped.err)
  const document = readFileSync(join(cwd, 'out.md'))
  const [title, ...rest] = JSON.parse(readFileSync(join(cwd, 'map.json'), 'utf8')) as {
    start: number
    end: number
  }[]
  assert.match(document.subarray(title?.start, title?.end).toString(), /^# /)
  assert.match(document.subarray(0, title?.start).toString(), /^---\n[^]*---\n\n$/)
  assert.equal((rest.at(-1) ?? title)?.end, document.length - 1)

  await run('convert', 'Page.html', '--format', 'json', '-o', 'a.json', '--source-map', 'map.json')
  const inside = await run('convert', 'Page.html', '--format', 'json', '--source-map')
  assert.deepEqual(
    (JSON.parse(inside.out) as { source_map: unknown }).source_map,
    JSON.parse(readFileSync(join(cwd, 'map.json'), 'utf8')),
    'without a file the list is in the JSON, as in the response of the API',
  )
})

test('converting to a file reports what was kept; a certificate adds detail', async (t) => {
  const cwd = temporaryFolder(t)
  writeFileSync(join(cwd, 'Page.html'), '<h1 class="page-title">Two</h1><p>words</p>')
  const args = ['convert', 'Page.html', '-o', 'out.md', '--certificate', 'certificate.json']
  const { code, err } = await tollmark(args, {}, cwd)
  assert.deepEqual([code, err], [0, 'Page.html: 2 words, 0 tables, 0 lost\n'])
  const certificate = JSON.parse(readFileSync(join(cwd, 'certificate.json'), 'utf8')) as {
    input_sha256: string
    output_sha256: string
  }
  const hash = (file: string) =>
    createHash('sha256')
      .update(readFileSync(join(cwd, file)))
      .digest('hex')
  assert.equal(certificate.input_sha256, hash('Page.html'))
  assert.equal(certificate.output_sha256, hash('out.md'))
})

test('a doubtful file is converted, with a warning on standard error', async (t) => {
  const cwd = temporaryFolder(t)
  const run = openCommands(t, {}, cwd)
  const title = '<h1 class="page-title">Two</h1>'
  writeFileSync(
    join(cwd, 'Export.zip'),
    zip({ 'ExportBlock-1-Part-2.zip': zip({ 'Two.html': title }) }),
  )
  writeFileSync(join(cwd, 'blog.html'), '<h1>Blog</h1><p>Hello</p>')
  const part = await run('convert', 'Export.zip')
  assert.deepEqual([part.code, part.out], [0, '# Two\n'])
  assert.match(part.err, /^tollmark: Export\.zip: The export has more parts \(Part-1\).*\n$/)
  const blog = await run('convert', 'blog.html')
  assert.equal(blog.code, 0)
  assert.match(
    blog.err,
    /^tollmark: blog\.html: .*does not look like one that Notion exported.*\n$/,
  )
})

test('the limit on page size applies to local conversion, too', async (t) => {
  const cwd = temporaryFolder(t)
  const words = `<h1 class="page-title">A</h1><p>${'word '.repeat(300)}</p>`
  writeFileSync(join(cwd, 'Export.zip'), zip({ 'A.html': words }))
  const low = await tollmark(['convert', 'Export.zip'], { TOLLMARK_MAX_PAGE: '1KB' }, cwd)
  assert.equal(low.code, 1)
  assert.match(low.err, /at most 1,024 are accepted/)
  const high = await tollmark(['convert', 'Export.zip'], { TOLLMARK_MAX_PAGE: '2KB' }, cwd)
  assert.equal(high.code, 0, high.err)
})
