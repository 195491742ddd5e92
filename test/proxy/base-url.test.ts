// `/proxy/<host>/<path>` is the same as `/proxy?url=`, for clients that take a base URL: with their
// provider's own way to send a key, and addresses that they follow as they stand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { respond, headerOf } from '../support/providers/fake.ts'
import { call } from './support/relayed.ts'
import { ANTHROPIC, FORMS, GOOGLE, OPENAI, raw, shareServed, TARGETS } from './support/served.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const CHAT = '{"model":"gpt-5","messages":[]}'

test("a key is read from the place each provider's clients use and is never forwarded", async () => {
  const { fake, key, port } = await shareServed(respond(200, JSON_TYPE, '{}'))
  const [{ secret }, other] = [
    await key({ objects: 'upstream' }),
    await key({ objects: 'upstream' }),
  ]
  /** TABLE: path behind /proxy/, headers, and the response: a status, or a code of ours. */
  const cases: [path: string, headers: Record<string, string>, got: number | string][] = [
    ['api.openai.com/v1/models', { Authorization: `Bearer ${secret}` }, 200],
    ['api.anthropic.com/v1/models', { 'X-Api-Key': secret }, 200],
    ['api.anthropic.com/v1/models', { Authorization: `Bearer ${secret}` }, 200],
    [
      'api.anthropic.com/v1/models',
      { 'X-Api-Key': secret, Authorization: `Bearer ${secret}` },
      200,
    ],
    [
      'api.anthropic.com/v1/models',
      { 'X-Api-Key': 'sk-ant-theirs', Authorization: `Bearer ${secret}` },
      200,
    ],
    [
      'api.anthropic.com/v1/models',
      { 'X-Api-Key': secret, Authorization: 'Bearer sk-theirs' },
      200,
    ],
    ['generativelanguage.googleapis.com/v1beta/models', { 'x-goog-api-key': secret }, 200],
    [`generativelanguage.googleapis.com/v1beta/models?pageSize=2&key=${secret}`, {}, 200],
    [
      `generativelanguage.googleapis.com/v1beta/models?key=${secret}&pageSize=2`,
      { 'x-goog-api-key': secret },
      200,
    ],
    [
      'api.anthropic.com/v1/models',
      { 'X-Api-Key': secret, Authorization: `Bearer ${other.secret}` },
      'malformed_request',
    ],
    [
      `generativelanguage.googleapis.com/v1beta/models?key=${secret}`,
      { 'x-goog-api-key': other.secret },
      'malformed_request',
    ],
    [
      `generativelanguage.googleapis.com/v1beta/models?key=${secret}&key=${other.secret}`,
      {},
      'malformed_request',
    ],
    [`api.openai.com/v1/models?key=${secret}`, {}, 'invalid_api_key'],
    [
      `generativelanguage.googleapis.com/v1beta/models?q=${secret}`,
      { 'x-goog-api-key': secret },
      'invalid_upstream_url',
    ],
    ['api.openai.com/v1/models', { Authorization: secret }, 'invalid_api_key'],
    ['api.openai.com/v1/models', { Authorization: 'Bearer sk-theirs' }, 'invalid_api_key'],
    ['api.openai.com/v1/models', {}, 'invalid_api_key'],
    ['api.openai.com/v1/models', { 'X-Title': secret }, 'invalid_api_key'],
  ]
  for (const [path, headers, expected] of cases) {
    const before = fake.requests.length
    const got = await call(port, { method: 'GET', target: `/proxy/${path}`, headers })
    const what = `${path} ${JSON.stringify(headers)}: ${got.body}`
    assert.equal(headerOf(got.rawHeaders, 'x-proxy-error') ?? got.status, expected, what)
    assert.equal(fake.requests.length - before, expected === 200 ? 1 : 0, what)
    assert.ok(!`${got.rawHeaders.join()}${got.body}`.includes(secret), what)
    const inQuery =
      /[?&]key=tmk/.test(path) && path.startsWith('generative') && expected !== 'malformed_request'
    assert.deepEqual(
      [
        headerOf(got.rawHeaders, 'content-security-policy'),
        headerOf(got.rawHeaders, 'x-content-type-options'),
      ],
      inQuery ? ['sandbox', 'nosniff'] : [null, null],
      what,
    )
  }
  for (const { target, rawHeaders } of fake.requests)
    assert.doesNotMatch(`${target} ${rawHeaders.join(' ')}`, /tmk_|sk-theirs|sk-ant-theirs/)
  assert.deepEqual(
    fake.requests.map(({ target }) => target).filter((target) => target.includes('pageSize')),
    ['/v1beta/models?pageSize=2', '/v1beta/models?pageSize=2'],
  )
})

test('each form of address gives the same response, on either reader and in absolute form', async () => {
  const { fake, key, send, port } = await shareServed(
    respond(200, { ...JSON_TYPE, 'X-Upstream': '1' }, '{"id":"x"}'),
  )
  const [scoped, limited] = [await key({ models: ['gpt-5'] }), await key({ rpm: 1 })]
  /** TABLE: an address, and what the key may do there. */
  const cases: [address: string, method: string, body: string | undefined, got: number | string][] =
    [
      [`${OPENAI}/v1/chat/completions?a=b&url=https://evil.test/`, 'POST', CHAT, 200],
      [`${OPENAI}/v1/chat/completions`, 'POST', '{"model":"gpt-5-pro"}', 'model_not_allowed'],
      [`${OPENAI}/v1/files/file-abcdefgh12345678`, 'DELETE', undefined, 'endpoint_not_allowed'],
      [`${OPENAI}/v1/organization/admin_api_keys`, 'GET', undefined, 'endpoint_not_allowed'],
      [`${OPENAI}//v1/chat/completions`, 'POST', CHAT, 'model_not_allowed'],
      [`${OPENAI}/v1/../v1/chat/completions`, 'POST', CHAT, 'model_not_allowed'],
      [`${OPENAI}/v1/chat%2Fcompletions`, 'POST', CHAT, 'model_not_allowed'],
      [`${OPENAI}/v1/%2e%2e/chat/completions`, 'POST', CHAT, 'invalid_upstream_url'],
      ['https://api.openai.com.:443/v1/models', 'GET', undefined, 'upstream_not_allowed'],
      ['https://api.openai.com:8443/v1/models', 'GET', undefined, 'upstream_not_allowed'],
      ['https://xapi.openai.com/v1/models', 'GET', undefined, 'upstream_not_allowed'],
      ['https://api.openai.com@evil.test/v1/models', 'GET', undefined, 'invalid_upstream_url'],
      ['https://[::1]/v1/models', 'GET', undefined, 'upstream_not_allowed'],
      ['https://API.OpenAI.com:443/v1/chat/completions', 'POST', CHAT, 200],
      [`${ANTHROPIC}/v1/messages`, 'POST', '{"model":"claude"}', 'model_not_allowed'],
      [`${GOOGLE}/v1beta/models/gemini:generateContent`, 'POST', '{}', 'model_not_allowed'],
      ['https://elsewhere.example/v1/models', 'GET', undefined, 'upstream_not_allowed'],
    ]
  for (const [address, method, body, expected] of cases) {
    const responses = []
    for (const form of FORMS) {
      const before = fake.requests.length
      const got = await send(scoped.secret, address, {
        form,
        method,
        headers: JSON_TYPE,
        ...(body !== undefined && { body }),
      })
      const headers = got.rawHeaders.filter(
        (name, i) => i % 2 === 0 && !/^(?:date|ratelimit)/i.test(name),
      )
      const up = fake.requests
        .slice(before)
        .map(({ method, target, rawHeaders, sha256 }) => [method, target, rawHeaders, sha256])
      responses.push({
        got: headerOf(got.rawHeaders, 'x-proxy-error') ?? got.status,
        status: got.status,
        headers,
        body: got.body.toString(),
        up,
      })
    }
    assert.equal(responses[0]?.got, expected, address)
    assert.deepEqual(responses[1], responses[0], address)
  }
  const request = (target: string) =>
    `POST ${target} HTTP/1.1\r\nHost: x\r\nx-api-key: ${scoped.secret}\r\nContent-Type: application/json\r\nContent-Length: ${CHAT.length}\r\nConnection: close\r\n\r\n${CHAT}`
  const chat = TARGETS['base-url'](`${OPENAI}/v1/chat/completions`)
  for (const bytes of [
    request(chat),
    `GET /livez HTTP/1.1\r\nHost: x\r\n\r\n${request(chat)}`,
    request(`http://x${chat}`),
  ])
    assert.match(await raw(port, bytes), /X-Upstream: 1\r\n[^]*\{"id":"x"\}/)
  // A target in absolute form has a host, and nobody's name in front of it.
  for (const authority of ['', 'u@x', 'u:p@x', '@x'])
    assert.doesNotMatch(
      await raw(port, request(`http://${authority}${chat}`)),
      /X-Upstream/,
      authority,
    )
  // A path is case-sensitive, a scheme is not (RFC 9110, section 4.2.3).
  assert.match(await raw(port, request(`HTTP://x${chat}`)), /X-Upstream/)
  for (const target of [chat, `http://x${chat}`, '/proxy?url=https://api.openai.com/v1/models'])
    assert.match(
      await raw(port, request(target.replace('/proxy', '/Proxy'))),
      /^HTTP\/1\.1 404 /,
      target,
    )
  for (const [form, expected] of [
    ['base-url', 200],
    ['parameter', 429],
  ] as const) {
    assert.equal(
      (
        await send(limited.secret, `${OPENAI}/v1/chat/completions`, {
          form,
          headers: JSON_TYPE,
          body: CHAT,
        })
      ).status,
      expected,
    )
  }
  for (const target of [
    '/proxy',
    '/proxy/',
    '/proxy/api.openai.com',
    '/proxy/api.openai.com?x',
    '/proxy/?url=https://api.openai.com/v1/models',
  ]) {
    const got = await call(port, {
      method: 'GET',
      target,
      headers: { Authorization: `Bearer ${scoped.secret}` },
    })
    assert.deepEqual(
      [got.status, headerOf(got.rawHeaders, 'x-proxy-error')],
      [400, 'invalid_upstream_url'],
      target,
    )
  }
  const preflight = await call(port, {
    method: 'OPTIONS',
    target: chat,
    headers: {
      Origin: 'https://app.test',
      'Access-Control-Request-Headers': 'x-api-key,anthropic-version',
    },
  })
  assert.deepEqual(
    [preflight.status, headerOf(preflight.rawHeaders, 'access-control-allow-headers')],
    [204, 'Authorization, Content-Type, x-api-key, anthropic-version'],
  )
})

test('an address that has /proxy twice, or lacks the host, is refused with what to change', async () => {
  const { key, port } = await shareServed(respond(200, JSON_TYPE, '{}'))
  const headers = { Authorization: `Bearer ${(await key()).secret}` }
  const twice =
    'The path has /proxy twice. Client packages add it themselves: leave it out of `proxyUrl`.'
  const hostless = (host: string) =>
    `No provider of this proxy has the host ${host}. A base URL names the provider's host after /proxy, such as /proxy/api.openai.com/v1.`
  for (const [target, expected] of [
    [`/proxy/proxy?url=${encodeURIComponent(`${OPENAI}/v1/models`)}`, twice],
    ['/proxy/proxy/?url=x', twice],
    ['/proxy/proxy/api.openai.com/v1/models', hostless('proxy')],
    ['/proxy/v1/models', hostless('v1')],
  ] as const) {
    const { body } = await call(port, { method: 'GET', target, headers })
    assert.equal(JSON.parse(body.toString()).error.message, expected, target)
  }
  // In the form of the provider that was meant, so that its SDK shows it.
  const target = `/proxy/proxy?url=${encodeURIComponent(`${GOOGLE}/v1beta/models`)}`
  const { body } = await call(port, { method: 'GET', target, headers })
  const { error } = JSON.parse(body.toString())
  assert.deepEqual([error.message, error.status], [twice, 'INVALID_ARGUMENT'])
})

test('a fetched response that could be a page is sandboxed, and any other is unchanged', async () => {
  const { fake, key, send } = await shareServed(respond(200, {}, 'x'))
  const { secret } = await key({ objects: 'upstream' })
  for (const [type, policy] of [
    ['text/html', 'sandbox'],
    ['image/svg+xml', 'sandbox'],
    ['text/plain', 'sandbox'],
    [undefined, 'sandbox'],
    ['application/json; charset=utf-8', null],
    ['text/event-stream', null],
    ['image/png', null],
    ['audio/mpeg', null],
  ] as const) {
    fake.play(respond(200, type === undefined ? {} : { 'Content-Type': type }, 'x'))
    for (const [headers, expected] of [
      [{ Origin: 'https://app.test' }, policy],
      [{ 'Sec-Fetch-Dest': 'empty' }, policy],
      [{}, null],
    ] as const) {
      const got = await send(secret, `${OPENAI}/v1/models`, { method: 'GET', headers })
      assert.deepEqual(
        [got.status, headerOf(got.rawHeaders, 'content-security-policy')],
        [200, expected],
        `${type} ${JSON.stringify(headers)}`,
      )
    }
  }
})

test('a redirect, and an upload that continues elsewhere, lead through the proxy', async () => {
  const { fake, key, port } = await shareServed(
    respond(302, { Location: `${GOOGLE}/v1beta/files/x:download?alt=media` }),
  )
  const { secret } = await key({ objects: 'upstream' })
  const ask = (target: string, method = 'GET', headers: Record<string, string> = {}) =>
    call(port, { method, target, headers: { 'x-goog-api-key': secret, ...headers } })
  const first = await ask('/proxy/generativelanguage.googleapis.com/v1beta/files/x')
  const next = headerOf(first.rawHeaders, 'location')!
  assert.equal(
    next,
    `/proxy?url=${encodeURIComponent(`${GOOGLE}/v1beta/files/x:download?alt=media`)}`,
  )
  fake.play(respond(200, {}, 'bytes'))
  assert.equal((await ask(next)).body.toString(), 'bytes')

  fake.play(
    respond(200, {
      'X-Goog-Upload-URL': `${GOOGLE}/upload/v1beta/files?upload_id=abcdefgh&upload_protocol=resumable`,
      'X-Goog-Upload-Status': 'active',
    }),
  )
  const begun = await ask('/proxy/generativelanguage.googleapis.com/upload/v1beta/files', 'POST', {
    'X-Goog-Upload-Command': 'start',
    Host: 'proxy.test:8484',
  })
  assert.equal(
    headerOf(begun.rawHeaders, 'x-goog-upload-url'),
    'http://proxy.test:8484/proxy/generativelanguage.googleapis.com/upload/v1beta/files?upload_id=abcdefgh&upload_protocol=resumable',
  )
})

test("fal's client names its target in a header", async () => {
  const { fake, key, port } = await shareServed(respond(200, JSON_TYPE, '{}'))
  const { secret } = await key()
  const send = (target: string, headers: Record<string, string>) =>
    call(port, {
      target,
      body: CHAT,
      headers: { ...JSON_TYPE, Authorization: `Key ${secret}`, ...headers },
    })
  for (const target of ['/proxy', '/proxy/'])
    assert.equal(
      (await send(target, { 'x-fal-target-url': `${OPENAI}/v1/chat/completions?a=%26` })).status,
      200,
    )
  assert.deepEqual(
    fake.requests.map(({ target }) => target),
    ['/v1/chat/completions?a=%26', '/v1/chat/completions?a=%26'],
  )
  for (const { rawHeaders } of fake.requests)
    assert.equal(headerOf(rawHeaders, 'x-fal-target-url'), null)
  assert.equal(
    headerOf(
      (await send('/proxy', { 'x-fal-target-url': 'https://fal.test/x' })).rawHeaders,
      'x-proxy-error',
    ),
    'upstream_not_allowed',
  )
  // Two addresses are none.
  assert.equal(
    (
      await send(TARGETS['base-url'](`${OPENAI}/v1/chat/completions`), {
        'x-fal-target-url': 'https://fal.run/x',
      })
    ).status,
    400,
  )
})

test('ambiguous slashes and dots are 400 even for an unrestricted key, in each form', async () => {
  const { fake, key, port } = await shareServed(respond(200, JSON_TYPE, '{}'))
  const { secret } = await key({ objects: 'upstream' })
  const headers = { ...JSON_TYPE, Authorization: `Bearer ${secret}` }
  const refused = [
    'api.openai.com//v1/chat/completions',
    'api.openai.com/v1//chat/completions',
    'api.openai.com/v1/x%2fchat',
    'api.openai.com/v1%2Fchat/completions',
    'api.openai.com/v1%5Cchat/completions',
    'api.openai.com/v1/./chat/completions',
    'api.openai.com/v1/../v1/chat/completions',
    'openrouter.ai/api/v1/models/a//b',
  ]
  for (const address of refused)
    for (const target of [
      `/proxy/${address}`,
      `/proxy?url=${encodeURIComponent(`https://${address}`)}`,
    ]) {
      const got = await call(port, { target, headers, body: CHAT })
      assert.deepEqual(
        [got.status, headerOf(got.rawHeaders, 'x-proxy-error')],
        [400, 'invalid_upstream_url'],
        target,
      )
    }
  assert.equal(fake.requests.length, 0)
  const chat = '/proxy/api.openai.com/v1/chat/completions?x=a%2Fb//c'
  assert.equal((await call(port, { target: chat, headers, body: CHAT })).status, 200)
})

test('a header that names another address than the target does is 400', async () => {
  const { key, port } = await shareServed(respond(200, JSON_TYPE, '{}'))
  const { secret } = await key({ objects: 'upstream' })
  const address = `${OPENAI}/v1/chat/completions`
  for (const target of [`/proxy?url=${address}`, '/proxy/api.openai.com/v1/chat/completions'])
    for (const [named, status] of [
      [address, 200],
      [`${OPENAI}/v1/embeddings`, 400],
      ['https://evil.test/', 400],
      ['x', 400],
    ] as const) {
      const headers = {
        ...JSON_TYPE,
        Authorization: `Bearer ${secret}`,
        'X-Fal-Target-Url': named,
      }
      assert.equal((await call(port, { target, headers, body: CHAT })).status, status, named)
    }
})
