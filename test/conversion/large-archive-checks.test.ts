// What would be refused in a request is refused for a large archive too, before it becomes a job.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGE, file, form } from '../support/form.ts'
import { assertProblem, convert, startServer } from '../support/harness.ts'
import { ASYNC, pagesOf } from '../support/jobs.ts'
import { zip } from '../support/zip.ts'

const TEXT = 'no page, but long enough '.repeat(10)
const encrypted = (archive: Buffer): Buffer => {
  const copy = Buffer.from(archive)
  for (const [signature, at] of [
    ['PK\u0003\u0004', 6],
    ['PK\u0001\u0002', 8],
  ] as const) {
    const start = copy.indexOf(signature, 0, 'latin1')
    copy.writeUInt16LE(copy.readUInt16LE(start + at) | 1, start + at)
  }
  return copy
}

/** TABLE of archives that are plainly wrong, and what they are told. */
const WRONG: [what: string, archive: () => Buffer, detail: RegExp][] = [
  ['cut off', () => pagesOf(3).subarray(0, -30), /./],
  ['without a page', () => zip({ 'Page.txt': TEXT }), /HTML/],
  ['a Markdown & CSV export', () => zip({ 'Notes.md': TEXT, 'Tasks.csv': TEXT }), /Markdown/],
  ['encrypted', () => encrypted(zip({ 'Page.html': PAGE })), /encrypted|password/i],
  ['of too many files', () => pagesOf(11), /10/],
]

test('an obviously invalid large archive gets 400 immediately, does not count and leaves nothing', async (t) => {
  const server = await startServer(t, {
    ...ASYNC,
    TOLLMARK_ROLE: 'web',
    TOLLMARK_MAX_ENTRIES: '10',
  })
  const direct = await startServer(t, { TOLLMARK_MAX_ENTRIES: '10' })
  const [token, other] = [await server.token(), await direct.token()]
  for (const [what, archive, detail] of WRONG) {
    await t.test(what, async () => {
      const response = await convert(server.url, token, form(file('Export.zip', archive())))
      assertProblem(response, 400, 'invalid_file')
      assert.match(String(response.json()['detail']), detail)
      assert.match(String(response.headers['ratelimit']), /r=10;/)
      // In the words of a request.
      assert.equal(
        (await convert(direct.url, other, form(file('Export.zip', archive())))).json()['detail'],
        response.json()['detail'],
      )
    })
  }
  for (const table of ['blobs', 'jobs', 'reservations'] as const)
    assert.deepEqual(await server.store.db.selectFrom(table).selectAll().execute(), [])
  assert.equal(
    (await convert(server.url, token, form(file('Export.zip', pagesOf(10))))).status,
    202,
  )
})

test("limits on an archive's contents are settings", async (t) => {
  /** TABLE: a setting, an archive above it, one at or below it. */
  const limits: [setting: Record<string, string>, above: Buffer, below: Buffer][] = [
    [{ TOLLMARK_MAX_ENTRIES: '2' }, pagesOf(3), pagesOf(2)],
    [{ TOLLMARK_MAX_PAGE: '1KB' }, pagesOf(1, 100), pagesOf(1)],
    [{ TOLLMARK_MAX_PAGES: '2KB' }, pagesOf(9), pagesOf(2)],
  ]
  for (const [setting, above, below] of limits) {
    const server = await startServer(t, setting)
    const token = await server.token()
    assertProblem(
      await convert(server.url, token, form(file('Export.zip', above))),
      400,
      'invalid_file',
    )
    assert.equal((await convert(server.url, token, form(file('Export.zip', below)))).status, 200)
  }
})
