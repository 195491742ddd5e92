// GET /metrics: what is counted, who may read it, and that no label is of a caller's making.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMetrics } from '../../server/telemetry/metrics.ts'
import { call, startServer } from '../support/harness.ts'

test('the API counts its responses by route, method and status', async (t) => {
  const server = await startServer(t)
  await call(server.url, '/api/v1/tokens', { token: await server.token({ scopes: ['manage'] }) })
  await call(server.url, '/api/v1/tokens')
  await call(server.url, '/no/such/place/at/all')
  const { status, headers, text } = await call(server.url, '/metrics')
  assert.equal(status, 200)
  assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/)
  assert.match(
    text,
    /tollmark_http_request_duration_seconds_count\{route="\/api\/v1\/tokens",method="GET",status="200"\} 1/,
  )
  assert.match(
    text,
    /tollmark_http_request_duration_seconds_count\{route="\/api\/v1\/tokens",method="GET",status="401"\} 1/,
  )
  assert.match(text, /_count\{route="none",method="any",status="404"\} 1/)
  assert.match(text, /^tollmark_ready 1$/m)
  assert.match(text, /^process_resident_memory_bytes \d+$/m)
  assert.ok(!text.includes('such'), 'a path that a caller made up is a label')
})

test('with TOLLMARK_METRICS_TOKEN, only its bearer reads metrics', async (t) => {
  const server = await startServer(t, { TOLLMARK_METRICS_TOKEN: 'scrape-me' })
  assert.equal((await call(server.url, '/metrics')).status, 401)
  assert.equal((await call(server.url, '/metrics', { token: 'scrape-you' })).status, 401)
  assert.equal((await call(server.url, '/metrics', { token: 'scrape-me' })).status, 200)
  assert.equal(
    (await call(server.url, '/metrics', { headers: { authorization: 'bearer scrape-me' } })).status,
    200,
  )
})

test('a proxied request records duration, first byte, tokens and bytes, and a refusal its code', async () => {
  const metrics = openMetrics()
  const line = {
    request_id: 'req_1',
    method: 'POST',
    route: '/proxy',
    provider: 'openai',
    model: 'made-up-by-a-caller',
  }
  metrics.requests.request({
    ...line,
    status: 200,
    duration_ms: 1500,
    first_byte_ms: 20,
    tokens_in: 7,
    tokens_out: 9,
    tokens_cached: null,
    tokens_audio_in: 3,
    bytes_in: 100,
    bytes_out: 2000,
  })
  metrics.requests.request({ ...line, status: 429, duration_ms: 1, code: 'rate_limit_exceeded' })
  metrics.requests.request({ ...line, status: 200, duration_ms: 9, aborted: true })
  const { body } = await metrics.text()
  assert.match(
    body,
    /tollmark_proxy_request_duration_seconds_sum\{provider="openai",status="200"\} 1\.509/,
  )
  assert.match(body, /^# TYPE tollmark_proxy_request_duration_seconds histogram$/m)
  for (const [le, count] of [
    ['0.005', 0],
    ['0.025', 1],
    ['1', 1],
    ['2.5', 2],
    ['300', 2],
    ['+Inf', 2],
  ]) {
    assert.ok(
      body.includes(
        `tollmark_proxy_request_duration_seconds_bucket{le="${le}",provider="openai",status="200"} ${count}\n`,
      ),
      `up to ${le} s`,
    )
  }
  assert.match(body, /tollmark_proxy_first_byte_seconds_count\{provider="openai"\} 1/)
  assert.match(body, /tollmark_proxy_tokens_total\{provider="openai",kind="input"\} 7/)
  assert.match(body, /tollmark_proxy_tokens_total\{provider="openai",kind="output"\} 9/)
  assert.match(body, /tollmark_proxy_tokens_total\{provider="openai",kind="audio_input"\} 3/)
  assert.ok(!body.includes('kind="cached"'), 'what a provider did not say is not 0')
  assert.match(body, /tollmark_proxy_bytes_total\{provider="openai",direction="down"\} 2000/)
  assert.match(body, /tollmark_proxy_refused_total\{code="rate_limit_exceeded"\} 1/)
  assert.match(body, /tollmark_proxy_aborted_total\{provider="openai"\} 1/)
  assert.ok(!body.includes('made-up'), 'a model is a label')
})

test('concurrent scrapes share one text; cheap gauges are always current', async () => {
  const metrics = openMetrics()
  let value = 1
  let reads = 0
  metrics.add({
    thing: { help: 'A thing.', read: () => value },
    things_total: { help: 'Things.', read: () => ++reads, counts: true },
  })
  const line = {
    request_id: 'req_1',
    method: 'POST',
    route: '/proxy',
    provider: 'openai',
    status: 200,
    duration_ms: 5,
  }
  metrics.requests.request(line)
  const first = metrics.text()
  const bodies = (
    await Promise.all([first, ...Array.from({ length: 50 }, () => metrics.text())])
  ).map(({ body }) => body)
  const rest = (body: string): string => body.slice(body.indexOf('process_cpu'))
  assert.equal(new Set(bodies.map(rest)).size, 1)
  value = 2
  metrics.requests.request(line)
  const { body } = await metrics.text()
  assert.equal(rest(body), rest(bodies[0]!))
  assert.match(body, /^# TYPE tollmark_thing gauge\ntollmark_thing 2$/m)
  assert.match(body, /^# TYPE tollmark_things_total counter\ntollmark_things_total \d+$/m)
  // Nothing that would be counted one by one: a scrape costs the same with ten thousand
  // connections.
  assert.ok(!/nodejs_active/.test(body))
})
