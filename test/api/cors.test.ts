// Pages of other origins may call the conversion API where the operator allows it
// (https://fetch.spec.whatwg.org/#http-cors-protocol).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGE, file, form } from '../support/form.ts'
import { call, convert, startServer } from '../support/harness.ts'

const APP = 'https://app.example.com'
const PATHS = ['/api/v1/convert', '/api/v1/jobs', '/api/v1/jobs/job_x', '/api/v1/jobs/job_x/result']

const preflight = (url: string, path: string, origin = APP): Promise<Response> =>
  fetch(url + path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, idempotency-key',
    },
  })

test('without the setting, pages of other origins may not call the API', async (t) => {
  const server = await startServer(t)
  for (const path of PATHS) {
    const { status, headers } = await preflight(server.url, path)
    assert.deepEqual([status, headers.get('access-control-allow-origin')], [405, null])
  }
  const response = await convert(server.url, await server.token(), form(file('Page.html', PAGE)), {
    origin: APP,
  })
  assert.deepEqual(
    [response.status, response.headers['access-control-allow-origin']],
    [200, undefined],
  )
})

test('pages of allowed origins may call the API with a token, others may not, and cookies never count', async (t) => {
  const server = await startServer(t, { TOLLMARK_ALLOWED_ORIGINS: `${APP}, http://localhost:3000` })
  const token = await server.token()
  for (const path of PATHS) {
    const { status, headers } = await preflight(server.url, path)
    assert.deepEqual(
      [
        status,
        headers.get('access-control-allow-origin'),
        headers.get('access-control-allow-credentials'),
      ],
      [204, APP, null],
      path,
    )
    assert.match(headers.get('access-control-allow-headers')!, /authorization/)
    assert.match(headers.get('access-control-allow-methods')!, /POST.*DELETE/)
    assert.match(headers.get('vary')!, /Origin/)
    assert.match(headers.get('x-request-id')!, /^req_/)
    assert.equal(
      (await preflight(server.url, path, 'https://evil.example')).headers.get(
        'access-control-allow-origin',
      ),
      null,
    )
  }
  const good = form(file('Page.html', PAGE))
  for (const origin of [APP, 'http://localhost:3000']) {
    const responses = [
      await convert(server.url, token, good, { origin }),
      await convert(server.url, undefined, good, { origin }),
      await call(server.url, '/api/v1/jobs/none', { token, headers: { origin } }),
    ]
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 401, 404],
    )
    for (const { headers } of responses) {
      assert.equal(headers['access-control-allow-origin'], origin)
      assert.match(String(headers['access-control-expose-headers']), /X-Tollmark-Warnings/)
      assert.match(String(headers['vary']), /Origin/)
    }
    assert.match(String(responses[0]!.headers['vary']), /Accept-Encoding/)
  }
  const other = await convert(server.url, token, good, { origin: 'https://evil.example' })
  assert.deepEqual([other.status, other.headers['access-control-allow-origin']], [200, undefined])
  assert.match(String(other.headers['vary']), /Origin/)
  assert.equal(
    (await preflight(server.url, '/api/v1/keys')).status,
    405,
    'the setting is for conversions alone',
  )
})

test('any origin may be allowed', async (t) => {
  const server = await startServer(t, { TOLLMARK_ALLOWED_ORIGINS: '*' })
  assert.equal(
    (await preflight(server.url, PATHS[0]!)).headers.get('access-control-allow-origin'),
    '*',
  )
})
