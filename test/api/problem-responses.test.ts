import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { PAGE, file, form } from '../support/form.ts'
import { assertProblem, call, shareServer, startServer } from '../support/harness.ts'
import { until } from '../support/until.ts'

test('an unknown path is 404 and an unknown method 405', async () => {
  const server = await shareServer()
  for (const path of [
    '/nothing',
    '/api',
    '/api/v1',
    '/api/v1/converts',
    '/api/v1/tokens/a/b',
    '/%2e%2e/etc/passwd',
  ]) {
    assertProblem(await call(server.url, path), 404, 'not_found')
  }
  for (const [method, path, allow] of [
    ['GET', '/api/v1/convert', 'POST'],
    ['DELETE', '/livez', 'GET, HEAD'],
    ['PUT', '/api/v1/tokens/tok_x', 'DELETE, GET, HEAD'],
    ['OPTIONS', '/api/v1/tokens', 'GET, HEAD, POST'],
  ] as const) {
    const response = await call(server.url, path, { method })
    assertProblem(response, 405, 'method_not_allowed')
    assert.equal(response.headers['allow'], allow)
  }
})

test('a running server reports that it is alive', async () => {
  const server = await shareServer()
  assert.deepEqual((await call(server.url, '/livez')).json(), { status: 'ok', troubles: [] })
  assert.deepEqual((await call(server.url, '/readyz')).json(), { status: 'ok', troubles: [] })
  const head = await call(server.url, '/livez', { method: 'HEAD' })
  assert.deepEqual([head.status, head.text], [200, ''])
})

test('the description is OpenAPI 3.1 and has every route', async () => {
  const server = await shareServer()
  const document = (await call(server.url, '/openapi.json')).json<{
    openapi: string
    paths: Record<string, object>
    components: { securitySchemes: object }
  }>()
  assert.equal(document.openapi, '3.1.0')
  assert.deepEqual(Object.keys(document.paths).sort(), [
    '/api/v1/accounts',
    '/api/v1/accounts/{id}',
    '/api/v1/accounts/{id}/reset-password',
    '/api/v1/convert',
    '/api/v1/credentials',
    '/api/v1/credentials/{id}',
    '/api/v1/credentials/{id}/test',
    '/api/v1/invitations',
    '/api/v1/invitations/accept',
    '/api/v1/invitations/open',
    '/api/v1/invitations/{id}',
    '/api/v1/jobs',
    '/api/v1/jobs/{id}',
    '/api/v1/jobs/{id}/events',
    '/api/v1/jobs/{id}/result',
    '/api/v1/keys',
    '/api/v1/keys/purge',
    '/api/v1/keys/{id}',
    '/api/v1/keys/{id}/children',
    '/api/v1/keys/{id}/objects',
    '/api/v1/keys/{id}/objects/{object}',
    '/api/v1/keys/{id}/rotate',
    '/api/v1/keys/{id}/rotate/end',
    '/api/v1/limits',
    '/api/v1/models',
    '/api/v1/overview',
    '/api/v1/password-resets/accept',
    '/api/v1/password-resets/open',
    '/api/v1/plans',
    '/api/v1/providers',
    '/api/v1/providers/{id}',
    '/api/v1/refusals',
    '/api/v1/requests',
    '/api/v1/requests/{id}',
    '/api/v1/session',
    '/api/v1/session/password',
    '/api/v1/setup',
    '/api/v1/sockets',
    '/api/v1/sockets/{id}',
    '/api/v1/tokens',
    '/api/v1/tokens/{id}',
    '/api/v1/usage',
    '/livez',
    '/metrics',
    '/openapi.json',
    '/proxy',
    '/proxy/{host}/{path}',
    '/readyz',
  ])
  assert.deepEqual(Object.keys(document.components.securitySchemes), ['key', 'token', 'session'])
})

/**
 * TABLE of bytes that are no request, or a strange one: what, the bytes, the status line that
 * responses.
 */
const STRANGE: [what: string, bytes: string, response: RegExp][] = [
  ['no HTTP', 'hello\r\n\r\n', /^HTTP\/1\.1 400 /],
  ['no Host', 'GET /livez HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
  [
    'no Host in HTTP/1.0, as balancers ask how a server is',
    'GET /livez HTTP/1.0\r\n\r\n',
    /^HTTP\/1\.1 200 /,
  ],
  [
    'two Hosts',
    'GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n',
    /^HTTP\/1\.1 400 [^]*"code":"malformed_request"/,
  ],
  ['a bad Host', 'GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n', /^HTTP\/1\.1 400 /],
  ['a Host with a user', 'GET /livez HTTP/1.1\r\nHost: a@b\r\n\r\n', /^HTTP\/1\.1 400 /],
  ['a backslash', 'GET /..\\livez HTTP/1.1\r\nHost: localhost\r\n\r\n', /^HTTP\/1\.1 400 /],
  [
    'an absolute address',
    'GET http://other.test/livez HTTP/1.1\r\nHost: localhost\r\n\r\n',
    /^HTTP\/1\.1 200 /,
  ],
  [
    'an absolute address of the proxy',
    'GET http://other.test/proxy?url=https%3A%2F%2Fapi.openai.com%2Fv1%2Fmodels HTTP/1.1\r\nHost: localhost\r\n\r\n',
    /^HTTP\/1\.1 401 [^]*\nX-Proxy-Error: invalid_api_key/i,
  ],
  [
    'two lengths',
    'POST /api/v1/convert HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
    /^HTTP\/1\.1 400 /,
  ],
  [
    'length and chunks',
    'POST /api/v1/convert HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    /^HTTP\/1\.1 400 /,
  ],
  [
    'heads without end',
    `GET / HTTP/1.1\r\nHost: localhost\r\n${'X: y\r\n'.repeat(20_000)}\r\n`,
    /^HTTP\/1\.1 431 /,
  ],
  [
    'no Host for the API',
    'GET /api/v1/jobs HTTP/1.1\r\n\r\n',
    /^HTTP\/1\.1 400 [^]*\nx-request-id: req_[^]*"code":"malformed_request"/i,
  ],
  [
    'no Host for a page',
    'GET / HTTP/1.1\r\n\r\n',
    /^HTTP\/1\.1 400 [^]*\nx-request-id: req_[^]*"code":"malformed_request"/i,
  ],
  [
    'a bad Host for the API',
    'GET /api/v1/jobs HTTP/1.1\r\nHost: a b\r\n\r\n',
    /^HTTP\/1\.1 400 [^]*\nx-request-id: req_/i,
  ],
  [
    'an expectation that nobody knows',
    'POST /api/v1/convert HTTP/1.1\r\nHost: localhost\r\nExpect: gold\r\nContent-Length: 0\r\n\r\n',
    /^HTTP\/1\.1 400 [^]*\nx-request-id: req_[^]*"code":"malformed_request"/i,
  ],
  [
    'the same for the proxy, behind another request',
    'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\nGET /proxy?url=x HTTP/1.1\r\nHost: localhost\r\nExpect: gold\r\n\r\n',
    /^HTTP\/1\.1 200 [^]*HTTP\/1\.1 400 [^]*"code":"malformed_request"/i,
  ],
  ['an unknown method', 'BREW /livez HTTP/1.1\r\nHost: localhost\r\n\r\n', /^HTTP\/1\.1 400 /],
]

test('bytes that are not a request get an error response and affect no other caller', async (t) => {
  const server = await shareServer()
  for (const [what, bytes, expected] of STRANGE) {
    await t.test(what, async () => {
      const socket = connect(server.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.setTimeout(5_000, () => socket.destroy())
      socket.write(bytes)
      let text = ''
      for await (const piece of socket) if (expected.test((text += String(piece)))) break
      assert.match(text, expected)
    })
  }
  assert.equal((await call(server.url, '/livez')).status, 200)
})

test('a truncated upload is not converted', async () => {
  const server = await shareServer()
  const token = await server.token()
  const { contentType, body } = form(file('Page.html', PAGE))
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
  socket.write(
    `POST /api/v1/convert HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  socket.end(body.subarray(0, -40))
  assert.match(
    String(Buffer.concat((await socket.toArray()) as Buffer[])),
    /^HTTP\/1\.1 400 [^]*"code":"invalid_file"/,
  )
})

test('a caller that never finishes its headers is disconnected', async (t) => {
  const server = await startServer(t, { TOLLMARK_HEADERS_TIMEOUT: '300ms' })
  const socket = connect(server.port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ')
  const timer = setInterval(() => socket.write('x'), 50)
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(timer)
})

test('IPv4 and IPv6 both reach localhost', async () => {
  const server = await shareServer()
  assert.equal((await fetch(`http://127.0.0.1:${server.port}/livez`)).status, 200)
  assert.equal((await fetch(`http://localhost:${server.port}/livez`)).status, 200)
})

test('the log has every request, and no secret, query or path from a caller', async (t) => {
  const server = await startServer(t)
  const secret = await server.token({ scopes: ['manage'] })
  await call(server.url, '/api/v1/tokens?cursor=tok_private', { token: secret })
  await call(server.url, '/api/v1/tokens/private', { token: secret })
  await call(server.url, '/private', { token: secret })
  await call(server.url, '/api/v1/tokens', {
    method: 'POST',
    token: secret,
    headers: { 'content-type': 'application/json' },
    body: '{"name":"private","scopes":["private"]}',
  })
  const requests = () =>
    server.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg, route }) => msg === 'request' && route !== '/openapi.json')
  await until(() => requests().length >= 4)
  assert.deepEqual(
    requests().map(({ method, route, status, code }) => [method, route, status, code]),
    [
      ['GET', '/api/v1/tokens', 200, undefined],
      ['GET', '/api/v1/tokens/:id', 404, 'token_not_found'],
      ['GET', null, 404, 'not_found'],
      ['POST', '/api/v1/tokens', 400, 'invalid_field'],
    ],
  )
  assert.doesNotMatch(server.lines.join(''), /private|tmt_/)
})
