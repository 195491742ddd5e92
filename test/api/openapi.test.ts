import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { call, startServer } from '../support/harness.ts'
import { temporaryFolder } from '../support/temporary.ts'

interface Described {
  paths: Record<
    string,
    Record<
      string,
      {
        requestBody?: { content: Record<string, { schema: { required?: string[] } }> }
        responses: Record<string, { headers: object }>
      }
    >
  >
  components: { schemas: Record<string, { required?: string[] }> }
}

test('the description names the file as required, every header, and the shape of the document', async (t) => {
  const server = await startServer(t)
  const { paths, components } = (await call(server.url, '/openapi.json')).json<Described>()
  const { requestBody, responses } = paths['/api/v1/convert']!['post']!
  assert.deepEqual(requestBody?.content['multipart/form-data']?.schema.required, ['file'])
  const always = ['X-Request-Id', 'RateLimit-Policy', 'RateLimit']
  const ofDocuments = [
    'Content-Disposition',
    'Vary',
    'Content-Encoding',
    'X-Tollmark-Warnings',
    'X-Tollmark-Failed-Pages',
    'X-Tollmark-Certificate',
  ]
  assert.deepEqual(Object.keys(responses['200']!.headers), [...always, ...ofDocuments])
  assert.deepEqual(Object.keys(responses['202']!.headers), [...always, 'Location', 'Retry-After'])
  assert.deepEqual(Object.keys(responses['429']!.headers), [...always, 'Retry-After'])
  assert.deepEqual(Object.keys(responses['401']!.headers), [...always, 'WWW-Authenticate'])
  assert.deepEqual(components.schemas['Document']?.required, [
    'object',
    'title',
    'markdown',
    'pages',
    'warnings',
  ])
})

test('health responses are never cached', async (t) => {
  const server = await startServer(t)
  for (const path of ['/livez', '/readyz'])
    assert.equal((await call(server.url, path)).headers['cache-control'], 'no-store')
})

test('the database is readable only by its owner, even in a shared folder', async (t) => {
  const data = join(temporaryFolder(t), 'data')
  mkdirSync(data)
  chmodSync(data, 0o755)
  await startServer(t, { TOLLMARK_DATA: data })
  for (const name of ['tollmark.db', 'tollmark.db-wal', 'master.key'])
    assert.equal(statSync(join(data, name)).mode & 0o777, 0o600, name)
})
