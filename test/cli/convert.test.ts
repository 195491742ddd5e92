import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PAGE } from '../form.ts'
import { tollmark } from '../harness.ts'
import { temporaryFolder } from '../temporary.ts'
import { zip } from '../zip.ts'

test('a file is converted to standard output, to a file, and into a folder', async (t) => {
  const cwd = temporaryFolder(t)
  writeFileSync(join(cwd, 'Page.html'), PAGE)
  writeFileSync(join(cwd, 'Export.zip'), zip({ 'Page.html': PAGE }))
  const printed = await tollmark(['convert', 'Page.html'], {}, cwd)
  assert.equal(printed.code, 0, printed.err)
  assert.match(printed.out, /Be kind\./)
  assert.equal(printed.err, '', 'no progress bar where there is no terminal')

  assert.equal((await tollmark(['convert', 'Page.html', '-o', 'out.md'], {}, cwd)).code, 0)
  assert.equal(readFileSync(join(cwd, 'out.md'), 'utf8'), printed.out)

  const json = await tollmark(['convert', 'Page.html', '--format', 'json', '--metadata', '--output', 'new/'], {}, cwd)
  assert.equal(json.code, 0, json.err)
  assert.equal((JSON.parse(readFileSync(join(cwd, 'new', 'Page.json'), 'utf8')) as { object: string }).object, 'document')

  const short = await tollmark(['convert', 'Page.html', '--json'], {}, cwd)
  const long = await tollmark(['convert', 'Page.html', '--format', 'json', '--json'], {}, cwd)
  assert.equal(short.code, 0, short.err)
  assert.equal((JSON.parse(short.out) as { object: string }).object, 'document')
  assert.equal(long.out, short.out)

  mkdirSync(join(cwd, 'there'))
  assert.equal((await tollmark(['convert', 'Page.html', 'Export.zip', '-o', 'there'], {}, cwd)).code, 0)
  assert.deepEqual(readdirSync(join(cwd, 'there')).filter((name) => name.endsWith('.md')).sort(), ['Export.md', 'Page.md'])
  assert.equal(existsSync(join(cwd, 'data')), false, 'no store is needed')
})

/** TABLE of calls that are refused: arguments and the one line that says why. */
const REFUSED: [args: string[], line: RegExp][] = [
  [[], /^tollmark: Say which file to convert/],
  [['missing.html'], /^tollmark: missing\.html: there is no such file or folder\.\n$/],
  [['.'], /^tollmark: \.: this is a folder\.\n$/],
  [['notes.txt'], /^tollmark: notes\.txt: neither an HTML page nor a ZIP archive\..*\n$/],
  [['Empty.zip'], /^tollmark: Empty\.zip: .+\n$/],
  [['Page.html', '--format', 'docx'], /^tollmark: --format must be markdown or json, but is "docx"\.\n$/],
  [['Page.html', '--json', '--format', 'markdown'], /^tollmark: --json and --format markdown ask for two different documents\. Give one of them\.\n$/],
  [['Page.html', 'Page.html'], /^tollmark: Several files need a folder for their documents: -o FOLDER\/\.\n$/],
  [['Page.html', '-o', 'no/such/folder/out.md'], /^tollmark: no\/such\/folder\/out\.md cannot be written: there is no such file or folder\.\n$/],
  [['Page.html', '--pdf'], /^tollmark: Unknown option '--pdf'\.\n$/],
]

test('bad input is refused with one line and exit 1', async (t) => {
  const cwd = temporaryFolder(t)
  writeFileSync(join(cwd, 'Page.html'), PAGE)
  writeFileSync(join(cwd, 'notes.txt'), 'just some words')
  writeFileSync(join(cwd, 'Empty.zip'), zip({}))
  for (const [args, line] of REFUSED) {
    const { code, out, err } = await tollmark(['convert', ...args], {}, cwd)
    assert.deepEqual([code, out], [1, ''], args.join(' '))
    assert.match(err, line)
  }
  assert.deepEqual(readdirSync(cwd).sort(), ['Empty.zip', 'Page.html', 'notes.txt'])
})
