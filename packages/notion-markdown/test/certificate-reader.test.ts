// The reader of certificates on a thread of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DOCUMENT } from '../src/certificate/dialect.ts'
import { openReader } from '../src/archive/certificate-reader.ts'
import {
  readForCertificate,
  type NumberedReading,
  type ReaderResult,
} from '../src/archive/page-reader.ts'
import { pageOf } from './document-of.ts'

const SETUP = { dialect: DOCUMENT, files: ['a.png'], input: { path: import.meta.filename } }

/** What is read of three pages and a database, one page of which has lost a word. */
async function read(size: number): Promise<ReaderResult & { readings: NumberedReading[] }> {
  const readings: NumberedReading[] = []
  await using reader = openReader(SETUP, { size, busy: 0 }, (...reading) => readings.push(reading))
  const long = `<p>${'word '.repeat(10_000)}é 🚀</p><figure class="image"><img src="gone.png"/></figure>`
  const texts = ['<p>one two</p>', long, '<ul class="bulleted-list"><li>three</li></ul>'].map(
    pageOf,
  )
  for (const [number, text] of [...texts, 'a,b\n1,2\n'].entries()) {
    const path = number === 3 ? 'Db.csv' : `P${number}.html`
    // One lies in a larger buffer, as small pages do.
    const bytes = number === 0 ? Buffer.from(text) : new TextEncoder().encode(text)
    await reader.exported({ number, path, bytes, text })
  }
  const page = { path: 'P0.html', reading: null, hasMore: false, databases: 0, missingFiles: 0 }
  await reader.document(page, '# T\n\none\n')
  // Behind this one, a page is read here while the thread reads.
  await reader.document({ ...page, path: 'P1.html' }, 'word '.repeat(100_000))
  const reading = JSON.stringify(readForCertificate(texts[2] ?? '', 'P2.html', null))
  await reader.document({ ...page, path: 'P2.html', reading }, '# T\n\n- four\n')
  return { ...(await reader.finish('x')), readings }
}

test('a thread reads what this thread reads', async () => {
  const [here, beside] = [await read(0), await read(Infinity)]
  assert.equal(here.readings.length, 4)
  assert.equal(here.found, 3)
  assert.match(here.certificate.differences[2]?.detail ?? '', /^What follows "T four"/)
  assert.match(here.certificate.input_sha256 ?? '', /^[0-9a-f]{64}$/)
  assert.deepEqual(beside, here)
})

test("a thread's failure is reported, and the next conversion gets a new thread", async () => {
  await using missing = openReader(
    { ...SETUP, input: { path: '/nowhere' } },
    { size: Infinity, busy: 0 },
  )
  await assert.rejects(missing.finish('x'), { code: 'ENOENT' })
  await using reader = openReader(SETUP, { size: Infinity, busy: 0 })
  await reader[Symbol.asyncDispose]()
  await assert.rejects(reader.finish('x'), /thread that reads/)
})
