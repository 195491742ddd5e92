import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { HOSTILE } from '../../../test/support/archives/hostile.ts'
import { bytesSource, InvalidArchive, openExport } from '../src/archive/index.ts'
import { REASONS } from '../src/archive/invalid-archive.ts'

let scratch = ''
before(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'tollmark-hostile-'))
})
after(() => rm(scratch, { recursive: true }))

const seen = new Set<string>()

for (const { name, says, build } of HOSTILE) {
  test(`refuses: ${name}`, async () => {
    const source = bytesSource(build())
    await assert.rejects(
      async () => {
        await using opened = await openExport(source, { scratch })
        for (const page of opened.pages) await page.read()
      },
      (error) => {
        assert.ok(error instanceof InvalidArchive, String(error))
        assert.equal(error.code, 'invalid_file')
        assert.match(error.detail, says)
        assert.doesNotMatch(error.detail, /[^\P{C}]|\{|undefined/u)
        seen.add(error.fault)
        return true
      },
    )
    assert.deepEqual(await readdir(scratch), [])
  })
}

test('every reason to refuse an archive has a test archive', () => {
  // These are seen when pages are converted: convert.test.ts, result-limit.test.ts.
  assert.deepEqual(
    Object.keys(REASONS).filter((fault) => !seen.has(fault)),
    ['page_too_dense', 'result_too_large'],
  )
})
