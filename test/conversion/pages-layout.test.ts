// layout=pages: a ZIP archive with a file for each page, in the response or as a job's result.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../support/harness.ts'
import { finished, type Job } from '../support/jobs.ts'
import { deadLinks, readFolder } from '../support/pages-folder.ts'
import { zip } from '../support/zip.ts'

const id = (n: number): string => n.toString(16).padStart(32, '0')
const page = (n: number, title: string, body: string): string =>
  `<html><body><article id="${id(n)}" class="page sans"><header><h1 class="page-title">${title}</h1></header><div class="page-body">${body}</div></article></body></html>`

/** An export with a page, its sub-page and a picture, of about so many bytes. */
const archiveOf = (bytes: number): Buffer =>
  zip({
    [`Home ${id(1)}.html`]: page(
      1,
      'Home',
      `<figure class="link-to-page"><a href="Home%20${id(1)}/Child%20${id(2)}.html">Child</a></figure>` +
        `<figure class="image"><a href="Home%20${id(1)}/a.png"><img src="Home%20${id(1)}/a.png"/></a></figure>`,
    ),
    [`Home ${id(1)}/Child ${id(2)}.html`]: page(2, 'Child', '<p>Some words.</p>'),
    [`Home ${id(1)}/a.png`]: Buffer.alloc(bytes, 7),
  })

interface Asked {
  url: string
  token: string
  archive: Buffer
  fields?: Record<string, string>
  key?: string
}

/** Uploads an archive; the response's bytes are what matters. */
function upload({ url, token, archive, fields = {}, key }: Asked): Promise<Response> {
  const form = new FormData()
  for (const [name, value] of Object.entries({ layout: 'pages', ...fields })) form.set(name, value)
  form.set('file', new Blob([new Uint8Array(archive)]), 'Export.zip')
  const headers = {
    authorization: `Bearer ${token}`,
    'accept-encoding': 'gzip, br',
    ...(key !== undefined && { 'idempotency-key': key }),
  }
  return fetch(`${url}/api/v1/convert`, { method: 'POST', headers, body: form })
}

const bytesOf = async (response: Response): Promise<Buffer> =>
  Buffer.from(await response.arrayBuffer())

const NAMES = ['.tollmark.json', 'Home.md', 'Home/Child.md', 'README.md']

/** What is in the folder besides its one asset. */
function assertFolder(bytes: Buffer): void {
  const files = readFolder(bytes)
  assert.deepEqual(deadLinks(files), [])
  const paths = [...files.keys()].sort()
  assert.deepEqual(
    paths.filter((path) => !path.startsWith('assets/')),
    NAMES,
  )
  assert.equal(paths.length, NAMES.length + 1)
}

test('the response to a small archive is a ZIP archive of its pages', async (t) => {
  const { url, token } = await startServer(t)
  const asked = { url, token: await token(), archive: archiveOf(1000), key: 'k-1' }
  const response = await upload(asked)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'application/zip')
  assert.equal(response.headers.get('content-disposition'), 'attachment; filename="Export.zip"')
  assert.equal(response.headers.get('content-encoding'), null)
  assert.equal(response.headers.get('x-tollmark-warnings'), '0')
  const bytes = await bytesOf(response)
  assertFolder(bytes)

  const again = await upload(asked)
  assert.equal(again.headers.get('content-type'), 'application/zip')
  assert.deepEqual(await bytesOf(again), bytes)
  const gfm = await upload({ ...asked, fields: { flavor: 'gfm' } })
  assert.deepEqual([gfm.status, await bytesOf(gfm)], [200, bytes])
  const other = await upload({ ...asked, fields: { flavor: 'obsidian' } })
  assert.equal(other.status, 422)
})

test('a single page becomes a folder, too', async (t) => {
  const { url, token } = await startServer(t)
  const form = new FormData()
  form.set('layout', 'pages')
  form.set('flavor', 'docusaurus')
  form.set('file', new Blob([page(1, 'Home', '<p>one</p>')]), `Home ${id(1)}.html`)
  const response = await fetch(`${url}/api/v1/convert`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await token()}` },
    body: form,
  })
  assert.deepEqual([...readFolder(await bytesOf(response)).keys()], ['Home.md', '.tollmark.json'])
})

test('a large archive becomes a job, whose result can be read in ranges', async (t) => {
  const server = await startServer(t, { TOLLMARK_ASYNC_ABOVE: '600000' })
  const { url } = server
  const token = await server.token()
  const archive = archiveOf(800 * 1024)
  const accepted = await upload({ url, token, archive, fields: { flavor: 'gfm' } })
  assert.equal(accepted.status, 202)
  const job = (await accepted.json()) as Job & { layout?: string; flavor?: string }
  assert.deepEqual([job.layout, job.flavor], ['pages', 'gfm'])
  const done = await finished(url, token, job.id)
  assert.equal(done.status, 'succeeded')
  const read = (headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}/api/v1/jobs/${job.id}/result`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    })
  const whole = await read()
  assert.equal(whole.headers.get('content-type'), 'application/zip')
  const bytes = await bytesOf(whole)
  assertFolder(bytes)
  const part = await read({ range: 'bytes=10-19' })
  assert.equal(part.status, 206)
  assert.deepEqual(await bytesOf(part), bytes.subarray(10, 20))
})
