// The reader of certificates on a thread of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DOCUMENT } from '../src/certificate/dialect.ts'
import { openReader } from '../src/archive/certificate-reader.ts'
import { hashFile, type NumberedReading } from '../src/archive/page-reader.ts'
import { pageOf } from './document-of.ts'

const SETUP = { dialect: DOCUMENT, files: ['a.png'], input: { path: import.meta.filename } }

/** What is read of three pages and a database, and of their Markdown; one page has lost a word. */
async function read(size: number): Promise<{ readings: NumberedReading[]; sha256: string | null }> {
  const readings: NumberedReading[] = []
  await using reader = openReader(SETUP, { size, busy: 0 }, (...reading) => readings.push(reading))
  const long = 'word '.repeat(10_000)
  /** TABLE of pages and their Markdown. */
  const pages = [
    [pageOf('<p>one two</p>'), '# T\n\none\n'],
    [
      pageOf(`<p>${long}é 🚀</p><figure class="image"><img src="gone.png"/></figure>`),
      `# T\n\n${long}é 🚀\n\ngone.png\n`,
    ],
    [pageOf('<ul class="bulleted-list"><li>three</li></ul>'), '# T\n\n- three\n'],
    ['a,b\n1,2\n', '# Db.csv\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n'],
  ] as const
  for (const [number, [text, markdown]] of pages.entries()) {
    const path = number === 3 ? 'Db.csv' : `P${number}.html`
    // One lies in a larger buffer, as small pages do.
    const bytes = number === 0 ? Buffer.from(text) : new TextEncoder().encode(text)
    await reader.exported({ path, bytes, text })
    await reader.converted(number, markdown)
  }
  return { sha256: await reader.finish(), readings }
}

test('a thread reads what this thread reads', async () => {
  const [here, beside] = [await read(0), await read(Infinity)]
  assert.deepEqual(
    here.readings.map(([page, , match]) => [page, match !== null]),
    [
      [0, false],
      [1, true],
      [2, true],
      [3, true],
    ],
  )
  assert.equal(here.sha256, await hashFile(import.meta.filename))
  assert.deepEqual(beside, here)
})

test("a thread's failure is reported, and the next conversion gets a new thread", async () => {
  await using missing = openReader(
    { ...SETUP, input: { path: '/nowhere' } },
    { size: Infinity, busy: 0 },
  )
  await assert.rejects(missing.finish(), { code: 'ENOENT' })
  await using reader = openReader(SETUP, { size: Infinity, busy: 0 })
  await reader[Symbol.asyncDispose]()
  await assert.rejects(reader.finish(), /thread that reads/)
})
