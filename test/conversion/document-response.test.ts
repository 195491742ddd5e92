// What is said of a document beside its bytes, and the forms in which it is sent: named, counted,
// compressed, in ranges.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { PAGE, file, form } from '../support/form.ts'
import {
  assertProblem,
  call,
  convert,
  startServer,
  type ReceivedResponse,
} from '../support/harness.ts'
import { finished, type Job } from '../support/jobs.ts'
import { zip } from '../support/zip.ts'

const PLANS = { TOLLMARK_PLANS: '{"all":{"conversions_per_day":null}}' }
const PLAIN = '<html><body><p>shop</p></body></html>'
const dense = `<html><body>${'<p>'.repeat(1_550_000)}</body></html>`

/**
 * TABLE: the file's name, the document's as plain ASCII, and in RFC 8187's form where that is not
 * all.
 */
const NAMES: [fileName: string, ascii: string, extended: string | null][] = [
  ['Team handbook.html', 'Team handbook.md', null],
  ['Export.ZIP.htm', 'Export.ZIP.md', null],
  ['Größe 1.html', 'Gr__e 1.md', 'Gr%C3%B6%C3%9Fe%201.md'],
  ['日本語.html', '___.md', '%E6%97%A5%E6%9C%AC%E8%AA%9E.md'],
  ["100% (it's).html", "100_ (it's).md", '100%25%20%28it%27s%29.md'],
  ['a%22b.html', 'a_b.md', 'a%22b.md'],
  ['folder/..\\evil.html', 'evil.md', null],
  [`${'😀'.repeat(300)}.html`, `${'_'.repeat(120)}.md`, `${'%F0%9F%98%80'.repeat(120)}.md`],
  ['.html', 'document.md', null],
]

/** TABLE: Accept-Encoding, and the coding of the response. */
const CODINGS: [accepts: string | undefined, coding: 'br' | 'gzip' | undefined][] = [
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['gzip', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['GZIP ; Q=1', 'gzip'],
  ['x-gzip', 'gzip'],
  ['*', 'gzip'],
  ['br;q=0, *;q=0.1', 'gzip'],
  ['gzip;q=0', undefined],
  ['gzip;q=0.2, identity;q=0.9', undefined],
  ['gzip;q=nonsense', undefined],
  ['deflate', undefined],
]

const decode = { br: brotliDecompressSync, gzip: gunzipSync }

test('documents', async (t) => {
  const server = await startServer(t, { ...PLANS, TOLLMARK_ASYNC_ABOVE: '1000' })
  const token = await server.token({ account: 'all', plan: 'all' })

  const send = (
    name: string,
    content: string,
    headers = {},
    ...fields: Parameters<typeof form>
  ): Promise<ReceivedResponse> =>
    convert(server.url, token, form(file(name, content), ...fields), headers)
  const JSON_FORMAT = { name: 'format', content: 'json' }

  await t.test('a document has the name of its file', async () => {
    for (const [fileName, ascii, extended] of NAMES) {
      const { status, headers } = await send(fileName, PAGE)
      const encoded = extended === null ? '' : `; filename*=UTF-8''${extended}`
      assert.deepEqual(
        [status, headers['content-disposition']],
        [200, `attachment; filename="${ascii}"${encoded}`],
      )
    }
    assert.equal(
      (await send('shop.html', PLAIN, {}, JSON_FORMAT)).headers['content-disposition'],
      'attachment; filename="shop.json"',
    )
  })

  await t.test(
    'a document reports its number of warnings, including one kept for an Idempotency-Key',
    async () => {
      const counted = ({ headers }: ReceivedResponse): unknown[] => [
        headers['x-tollmark-warnings'],
        headers['x-tollmark-failed-pages'],
      ]
      assert.deepEqual(counted(await send('Page.html', PAGE)), ['0', '0'])
      const keyed = { 'idempotency-key': 'k' }
      const first = await send('shop.html', PLAIN, keyed, JSON_FORMAT)
      assert.equal(first.json<{ warnings: unknown[] }>().warnings.length, 1)
      for (const response of [first, await send('shop.html', PLAIN, keyed, JSON_FORMAT)])
        assert.deepEqual(counted(response), ['1', '0'])
    },
  )

  /** A job that has succeeded, with a page that could not be converted. */
  const job = async (): Promise<Job> => {
    const archive = zip({
      'Übersicht.html': PAGE.replace('Be kind.', 'Be kind. '.repeat(200)),
      'dense.html': dense,
    })
    const accepted = await convert(server.url, token, form(file('Übersicht.zip', archive)))
    assert.equal(accepted.status, 202, accepted.text)
    const done = await finished(server.url, token, accepted.json<Job>().id)
    assert.equal(done.status, 'succeeded')
    return done
  }
  let jobOnce: Promise<Job> | undefined
  const result = async (
    headers: Record<string, string> = {},
    method = 'GET',
  ): Promise<ReceivedResponse> =>
    call(server.url, (await (jobOnce ??= job())).result_url!, { token, headers, method })

  await t.test("a job's document has its name, counts and an ETag", async () => {
    const { status, headers } = await result()
    assert.equal(status, 200)
    assert.equal(
      headers['content-disposition'],
      'attachment; filename="_bersicht.md"; filename*=UTF-8\'\'%C3%9Cbersicht.md',
    )
    assert.deepEqual(
      [headers['x-tollmark-warnings'], headers['x-tollmark-failed-pages']],
      ['1', '1'],
    )
    assert.deepEqual(
      [headers['accept-ranges'], headers['etag']],
      ['bytes', `"${(await jobOnce!).id}"`],
    )
  })

  await t.test('documents are compressed in an encoding that the caller accepts', async () => {
    const [plain, whole] = [await send('Page.html', PAGE), await result()]
    for (const [accepts, coding] of CODINGS) {
      const headers: Record<string, string> =
        accepts === undefined ? {} : { 'accept-encoding': accepts }
      for (const [coded, clear] of [
        [await send('Page.html', PAGE, headers), plain],
        [await result(headers), whole],
      ] as const) {
        assert.equal(coded.headers['content-encoding'], coding, accepts)
        assert.equal(coded.headers['vary'], 'Accept-Encoding')
        assert.deepEqual(
          coding === undefined ? coded.bytes : decode[coding](coded.bytes),
          clear.bytes,
        )
        if (coding === undefined)
          assert.equal(coded.headers['content-length'], String(clear.bytes.length))
      }
    }
    const tags = await Promise.all(
      ['identity', 'br', 'gzip'].map(
        async (coding) => (await result({ 'accept-encoding': coding })).headers['etag'],
      ),
    )
    assert.equal(new Set(tags).size, 3, 'other bytes have another tag')
  })

  await t.test('a caller that names the tag of its document gets 304', async () => {
    const { bytes, headers } = await result()
    const tag = headers['etag'] ?? ''
    const gzip = { 'accept-encoding': 'gzip' }
    const zipped = (await result(gzip)).headers['etag'] ?? ''
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, ` ${tag},W/"x"`, '*'])
      for (const method of ['GET', 'HEAD']) {
        const same = await result({ 'if-none-match': known, range: 'bytes=0-9' }, method)
        assert.equal(same.status, 304, known)
        assert.equal(same.bytes.length, 0)
        assert.deepEqual([same.headers['etag'], same.headers['vary']], [tag, 'Accept-Encoding'])
        assert.equal(same.headers['content-type'], undefined)
      }
    const same = await result({ ...gzip, 'if-none-match': zipped })
    assert.deepEqual([same.status, same.headers['etag']], [304, zipped])
    for (const other of ['', '"other"', tag.slice(1, -1), zipped])
      assert.deepEqual((await result({ 'if-none-match': other })).bytes, bytes, other)
  })

  await t.test('a range of a document gets 206, whichever encoding is accepted', async () => {
    const whole = await result()
    const size = whole.bytes.length
    /** TABLE: the range, and its first and last byte; null is the whole. */
    const ranges: [range: string, part: [number, number] | null][] = [
      ['bytes=0-9', [0, 9]],
      ['bytes=0-0', [0, 0]],
      ['bytes=10-', [10, size - 1]],
      ['bytes=-5', [size - 5, size - 1]],
      [`bytes=-${size + 100}`, [0, size - 1]],
      [`bytes=${size - 1}-${size + 100}`, [size - 1, size - 1]],
      ['Bytes = 3-4', [3, 4]],
      ['bytes=0-1,5-6', null],
      ['bytes=9-3', null],
      ['bytes=-', null],
      ['bytes=x', null],
      ['lines=0-1', null],
    ]
    for (const [range, part] of ranges) {
      const response = await result({ range, ...(part !== null && { 'accept-encoding': 'gzip' }) })
      if (part === null) {
        assert.deepEqual(
          [response.status, response.bytes.length, response.headers['content-range']],
          [200, size, undefined],
          range,
        )
        continue
      }
      const [first, last] = part
      assert.equal(response.status, 206, range)
      assert.deepEqual(response.bytes, whole.bytes.subarray(first, last + 1), range)
      assert.equal(response.headers['content-range'], `bytes ${first}-${last}/${size}`)
      assert.equal(response.headers['content-length'], String(last - first + 1))
      for (const name of ['etag', 'content-type', 'content-disposition', 'x-tollmark-warnings'])
        assert.equal(response.headers[name], whole.headers[name], name)
      assert.equal(response.headers['content-encoding'], undefined)
    }
    for (const range of [`bytes=${size}-`, 'bytes=-0', 'bytes=999999999999999-']) {
      const response = await result({ range })
      assertProblem(response, 416, 'range_not_satisfiable')
      assert.equal(response.headers['content-range'], `bytes */${size}`)
    }
    const head = await result({ range: 'bytes=0-9' }, 'HEAD')
    assert.deepEqual([head.status, head.headers['content-length']], [200, String(size)])
  })

  await t.test('a range of a changed or compressed document is the whole document', async () => {
    const { bytes, headers } = await result()
    const part = async (condition: string) =>
      (await result({ range: 'bytes=0-9', 'if-range': condition })).bytes.length
    assert.equal(await part(headers['etag']!), 10)
    const zipped = (await result({ 'accept-encoding': 'gzip' })).headers['etag']!
    for (const other of [
      zipped,
      '"other"',
      `W/${headers['etag']}`,
      'Wed, 21 Oct 2015 07:28:00 GMT',
    ])
      assert.equal(await part(other), bytes.length, other)
  })
})
