// Traces, as a collector receives them over OTLP/HTTP.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { openLog } from '../../server/common/log.ts'
import { openTraces } from '../../server/telemetry/traces.ts'
import { call, startServer } from '../support/harness.ts'
import { until } from '../support/until.ts'

interface Span {
  traceId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
  status: { code?: number }
}

/** A collector that keeps what it is sent. */
async function collector(
  t: TestContext,
): Promise<{ url: string; spans: Span[]; paths: string[]; auth: (string | undefined)[] }> {
  const spans: Span[] = []
  const paths: string[] = []
  const auth: (string | undefined)[] = []
  const server = createServer((req, res) => {
    const pieces: Buffer[] = []
    req.on('data', (piece: Buffer) => pieces.push(piece))
    req.on('end', () => {
      paths.push(req.url ?? '')
      auth.push(req.headers.authorization)
      const sent = JSON.parse(Buffer.concat(pieces).toString()) as {
        resourceSpans: { scopeSpans: { spans: Span[] }[] }[]
      }
      spans.push(
        ...sent.resourceSpans.flatMap((resource) =>
          resource.scopeSpans.flatMap((scope) => scope.spans),
        ),
      )
      res.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, paths, auth }
}

const SILENT = openLog('silent')

const attributesOf = (span: Span) =>
  Object.fromEntries(
    span.attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]),
  )

test('a proxied request is a span by the generative AI conventions, under the caller’s span', async (t) => {
  const { url, spans, paths, auth } = await collector(t)
  const traces = openTraces(
    { endpoint: url, headers: { authorization: 'Bearer abc' }, serviceName: 'tollmark', ratio: 1 },
    () => 1_700_000_001_500,
    SILENT,
  )
  traces.request({
    request_id: 'req_1',
    method: 'POST',
    route: '/proxy',
    provider: 'google',
    model: 'gemini-x',
    endpoint: 'POST /v1beta/models/{model}:streamGenerateContent',
    status: 200,
    duration_ms: 1500,
    first_byte_ms: 20,
    tokens_in: 7,
    tokens_out: 9,
    tokens_cached: null,
    tokens_cache_write: 3,
    token_id: 'key_1',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  })
  await traces[Symbol.asyncDispose]()
  assert.deepEqual(paths, ['/v1/traces'])
  assert.deepEqual(auth, ['Bearer abc'])
  const [span] = spans
  assert.ok(span)
  assert.equal(span.name, 'generate_content gemini-x')
  assert.equal(span.traceId, '0af7651916cd43dd8448eb211c80319c')
  assert.equal(span.parentSpanId, 'b7ad6b7169203331')
  assert.equal(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano), 1_500_000_000n)
  assert.deepEqual(attributesOf(span), {
    'http.request.method': 'POST',
    'http.response.status_code': 200,
    'http.route': '/proxy',
    'tollmark.request_id': 'req_1',
    'tollmark.key_id': 'key_1',
    'gen_ai.operation.name': 'generate_content',
    'gen_ai.provider.name': 'gcp.gemini',
    'gen_ai.request.model': 'gemini-x',
    'gen_ai.usage.input_tokens': 7,
    'gen_ai.usage.output_tokens': 9,
    'gen_ai.usage.cache_creation.input_tokens': 3,
    'tollmark.first_byte_ms': 20,
  })
})

test('a caller that opts out of tracing is not traced', async (t) => {
  const { url, spans } = await collector(t)
  const traces = openTraces(
    { endpoint: url, headers: null, serviceName: 'tollmark', ratio: 1 },
    () => 1_700_000_000_000,
    SILENT,
  )
  const line = { request_id: 'req_1', method: 'GET', route: '/livez', status: 200, duration_ms: 1 }
  traces.request({
    ...line,
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00',
  })
  traces.request({ ...line, traceparent: 'made up' })
  await traces[Symbol.asyncDispose]()
  assert.deepEqual(
    spans.map(({ name, parentSpanId }) => ({ name, parentSpanId: parentSpanId ?? '' })),
    [{ name: 'GET /livez', parentSpanId: '' }],
  )
})

test('with OTEL_EXPORTER_OTLP_ENDPOINT the server sends a span for each response', async (t) => {
  const { url, spans } = await collector(t)
  const server = await startServer(t, { OTEL_EXPORTER_OTLP_ENDPOINT: url })
  await call(server.url, '/livez', {
    headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  })
  await until(() => spans.length > 0)
  assert.equal(spans[0]?.name, 'GET /livez')
  assert.equal(spans[0]?.traceId, '0af7651916cd43dd8448eb211c80319c')
})

test('lost traces are logged when the loss begins and when it ends', async (t) => {
  let status = 400
  const server = createServer((_, res) =>
    res.writeHead(status, { 'content-type': 'application/json' }).end('{}'),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const said: string[] = []
  const log = {
    warn: (sentence: string) => said.push(sentence),
    info: (sentence: string) => said.push(sentence),
  }
  const traces = openTraces(
    {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      headers: null,
      serviceName: 'tollmark',
      ratio: 1,
    },
    () => 1_700_000_000_000,
    log,
  )
  const responded = async (): Promise<void> => {
    traces.request({
      request_id: 'req_1',
      method: 'GET',
      route: '/livez',
      status: 200,
      duration_ms: 1,
    })
    await once(server, 'request')
  }
  await responded()
  await responded()
  await until(() => said.length > 0)
  status = 200
  await responded()
  await responded()
  await traces[Symbol.asyncDispose]()
  assert.deepEqual(said, ['traces cannot be delivered and are lost', 'traces are delivered again'])
})

test('an unresponsive collector does not delay shutdown beyond its limit', async (t) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const traces = openTraces(
    { endpoint, headers: null, serviceName: 'tollmark', ratio: 1 },
    () => 1_700_000_000_000,
    SILENT,
  )
  traces.request({
    request_id: 'req_1',
    method: 'GET',
    route: '/livez',
    status: 200,
    duration_ms: 1,
  })
  let ended = false
  void (async () => {
    await traces[Symbol.asyncDispose]()
    ended = true
  })()
  await until(() => ended, 8_000)
})
