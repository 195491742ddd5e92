// Certificates in requests and in jobs: who gets one, and where it stands.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGE, file, form } from '../support/form.ts'
import { call, convert, startServer } from '../support/harness.ts'
import { ASYNC, finished, pagesOf, upload } from '../support/jobs.ts'
import type { Job } from '../support/jobs.ts'

interface Certificate {
  in: { pages: number; words: number }
  out: { pages: number; words: number }
  differences: unknown[]
  input_sha256: string
  output_sha256: string
}

const json = { name: 'format', content: 'json' }
const certificate = (content: string) => ({ name: 'certificate', content })

test('a document has a certificate if its form asks for one', async (t) => {
  const server = await startServer(t)
  const token = await server.token()
  const page = file('Page.html', PAGE)
  const plain = await convert(server.url, token, form(json, page))
  assert.equal(plain.json<{ certificate?: unknown }>().certificate, undefined)
  const certified = await convert(server.url, token, form(json, certificate('true'), page))
  const { certificate: found, ...document } = certified.json<{ certificate: Certificate }>()
  assert.deepEqual(document, plain.json())
  assert.deepEqual([found.differences, found.in.pages], [[], 1])
  assert.deepEqual(found.in, found.out)
  assert.match(found.input_sha256, /^[0-9a-f]{64}$/)
  const markdown = await convert(server.url, token, form(certificate('true'), page))
  assert.deepEqual([markdown.status, markdown.headers['x-tollmark-warnings']], [200, '0'])
  assert.equal((await convert(server.url, token, form(certificate('x'), page))).status, 400)
})

test('a job has a certificate unless its form declines it', async (t) => {
  const server = await startServer(t, ASYNC)
  const token = await server.token()
  const run = async (...fields: Parameters<typeof upload>[1][]) => {
    const archive = pagesOf(40, 1000)
    const { id } = (await convert(server.url, token, upload(archive, ...fields))).json<Job>()
    const job = (await finished(server.url, token, id)) as Omit<Job, 'certificate'> & {
      certificate?: Certificate
    }
    assert.equal(job.status, 'succeeded')
    return { job, result: await call(server.url, job.result_url ?? '', { token }) }
  }
  const { job } = await run()
  assert.deepEqual([job.certificate?.in.pages, job.certificate?.differences], [40, []])
  assert.deepEqual(job.certificate?.in, job.certificate?.out)
  assert.equal((await run(certificate('false'))).job.certificate, undefined)
  const apart = await run(json)
  assert.equal(apart.job.certificate?.in.words, job.certificate?.in.words)
  assert.equal(apart.result.json<{ certificate?: unknown }>().certificate, undefined)
  const within = await run(json, certificate('true'))
  assert.deepEqual(
    within.result.json<{ certificate?: unknown }>().certificate,
    within.job.certificate,
  )
})

test('pages are certified, in a request and as a job', async (t) => {
  const server = await startServer(t, ASYNC)
  const token = await server.token()
  const layout = { name: 'layout', content: 'pages' }
  const page = file('Page.html', PAGE)
  const response = await convert(server.url, token, form(layout, certificate('true'), page))
  assert.equal(response.headers['content-type'], 'application/zip')
  assert.match(
    String(response.headers['x-tollmark-certificate']),
    /^words=[1-9]\d*, tables=\d+, differences=0$/,
  )
  const plain = await convert(server.url, token, form(layout, page))
  assert.equal(plain.headers['x-tollmark-certificate'], undefined)
  const sent = await convert(server.url, token, upload(pagesOf(40, 1000), layout))
  const job = (await finished(server.url, token, sent.json<Job>().id)) as unknown as {
    certificate: Certificate
  }
  assert.deepEqual([job.certificate.in.pages, job.certificate.differences], [40, []])
})
