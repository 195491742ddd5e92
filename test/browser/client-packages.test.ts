// The client packages in a real browser, on a page of another origin than the proxy's: CORS,
// streaming, bodies, files, videos, redirects.
import assert from 'node:assert/strict'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { rolldown } from 'rolldown'
import { respond, chunk, head, headerOf, startFake } from '../support/providers/fake.ts'
import { MEDIA, providers } from '../packages/responses.ts'
import { entryOf, makeProject, type Loaded } from '../packages/project.ts'
import { startProxied, UPSTREAM_SECRET, type Proxied } from '../packages/proxied.ts'
import { closeChromium, sharedChromium } from './chromium.ts'

let browser: Browser

before(async () => {
  browser = await sharedChromium()
})
after(closeChromium)

/** What the page has: the packages, and how to reach the proxy. */
declare const sdk: Pick<Loaded, 'ai' | 'core' | 'genai' | 'express'>
declare const settings: { apiKey: string; proxyUrl: string }

interface Visit {
  page: Page
  origin: string
  proxied: Proxied
  key: string
  /** Where the requests of the page's own origin went. */
  own: string[]
}

let bundled: Promise<string> | undefined

async function bundle(t: TestContext): Promise<string> {
  const input = entryOf(await makeProject(t, 7))
  const { output } = await (
    await rolldown({ input, platform: 'browser', logLevel: 'silent' })
  ).generate({ format: 'iife', name: 'sdk', codeSplitting: false })
  return output[0].code
}

/** Opens a page that has the packages, beside the real server. */
async function visit(
  t: TestContext,
  wishes: { allowed?: 'this origin' | 'another'; objects?: 'upstream' } = {},
): Promise<Visit> {
  const code = await (bundled ??= bundle(t))
  const proxied = await startProxied(t, providers())
  const own: string[] = []
  let key = ''
  // The page, and the route of its own that adds the key.
  const site = createServer((req, res) => {
    const url = req.url ?? '/'
    if (url === '/')
      return void res
        .writeHead(200, { 'Content-Type': 'text/html' })
        .end('<!doctype html><link rel="icon" href="data:,"><script src="/sdk.js"></script>')
    if (url === '/sdk.js')
      return void res.writeHead(200, { 'Content-Type': 'text/javascript; charset=utf-8' }).end(code)
    own.push(`${req.method} ${url} ${req.headers.authorization ?? 'no key'}`)
    const onward = request(`${proxied.proxyUrl}${url.replace('/api/ai', '')}`, {
      method: req.method,
      headers: { ...req.headers, authorization: `Bearer ${key}` },
    })
    onward.on('response', (response) =>
      response.pipe(res.writeHead(response.statusCode ?? 502, response.headers)),
    )
    req.pipe(onward)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    site.closeAllConnections()
    site.close()
  })
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  const origins = { 'this origin': [origin], another: ['https://app.test'] }
  const { allowed, objects = 'own' } = wishes
  key = await proxied.key({
    objects,
    allowed_origins: allowed === undefined ? null : origins[allowed],
  })
  const context = await browser.newContext()
  t.after(() => context.close())
  const page = await context.newPage()
  await page.addInitScript(
    `globalThis.settings = ${JSON.stringify({ apiKey: key, proxyUrl: proxied.proxyUrl })}`,
  )
  await page.goto(origin)
  return { page, origin, proxied, key, own }
}

test("the AI SDK's text, streams, objects, embeddings and images work with an origin-bound key", async (t) => {
  const { page, proxied, key, origin } = await visit(t, { allowed: 'this origin' })
  const got = await page.evaluate(async () => {
    const google = sdk.genai.createProxyGenai(settings)
    const vertex = sdk.express.createProxyExpress({ ...settings, contextKey: 'chat-1' })
    let streamed = ''
    for await (const piece of sdk.ai.streamText({
      model: vertex('gemini-2.5-flash'),
      prompt: 'Hello',
    }).textStream)
      streamed += piece
    const { object } = await sdk.ai.generateObject({
      model: google('gemini-2.5-flash'),
      schema: sdk.ai.jsonSchema({ type: 'object' }),
      prompt: 'How warm is it?',
    })
    const { embedding } = await sdk.ai.embed({
      model: google.embedding('gemini-embedding-001'),
      value: 'a',
    })
    const { image } = await sdk.ai.generateImage({
      model: google.image('gemini-2.5-flash-image'),
      prompt: 'A cat',
    })
    const { text } = await sdk.ai.generateText({
      model: google('gemini-2.5-flash'),
      prompt: 'Hello',
    })
    return { text, streamed, object, embedding, image: image.mediaType }
  })
  assert.deepEqual(got, {
    text: 'Hello from Gemini',
    streamed: 'Hello from Gemini',
    object: { city: 'Ulm', degrees: 21 },
    embedding: [0, 0.5],
    image: 'image/png',
  })
  assert.equal(proxied.fake.requests.length, 5)
  assert.doesNotMatch(proxied.wire(), /proxy-managed|x-goog-api-key: /i)
  for (const { rawHeaders } of proxied.fake.requests) {
    assert.equal(headerOf(rawHeaders, 'x-goog-api-key'), UPSTREAM_SECRET)
    assert.ok(
      !JSON.stringify(rawHeaders).includes(origin) && !JSON.stringify(rawHeaders).includes(key),
    )
  }
})

test('a file is uploaded to the address Google names, and a video is downloaded', async (t) => {
  const { page, proxied } = await visit(t)
  const got = await page.evaluate(async () => {
    const google = sdk.genai.createProxyGenai(settings)
    const file = await sdk.ai.uploadFile({
      api: google.files(),
      data: { type: 'text', text: 'What is in the file' },
      mediaType: 'text/plain',
    })
    const { video } = await sdk.ai.experimental_generateVideo({
      model: google.video('veo-3.1-generate-preview'),
      prompt: 'A cat',
      poll: { intervalMs: 1 },
    })
    return { file: file.providerReference['google'], bytes: video.uint8Array.length }
  })
  assert.deepEqual(got, {
    file: 'https://generativelanguage.googleapis.com/v1beta/files/up1',
    bytes: MEDIA.length,
  })
  assert.ok(proxied.fake.requests.some(({ body }) => body.toString() === 'What is in the file'))
  assert.doesNotMatch(proxied.wire(), /proxy-managed/)
})

test('a response arrives piece by piece', async (t) => {
  const { page, proxied } = await visit(t, { objects: 'upstream' })
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  proxied.fake.play(async (call) => {
    await call.body()
    if (call.received.target === '/v1/release') {
      release()
      return respond(200, {}, '')(call)
    }
    call.write(head(200, { 'Content-Type': 'text/event-stream', 'Transfer-Encoding': 'chunked' }))
    call.write(chunk('data: 1\n\n'))
    // The second piece is not sent before the page has read the first.
    await released
    call.write(chunk('data: 2\n\n'))
    call.write('0\r\n\r\n')
  })
  const got = await page.evaluate(async () => {
    const proxyFetch = sdk.core.createProxyFetch(settings)
    const reader = (await proxyFetch('https://api.openai.com/v1/stream'))
      .body!.pipeThrough(new TextDecoderStream())
      .getReader()
    const first = await reader.read()
    await proxyFetch('https://api.openai.com/v1/release')
    let rest = ''
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      rest += piece.value
    return [first.value, rest]
  })
  assert.deepEqual(got, ['data: 1\n\n', 'data: 2\n\n'])
})

test('bodies of every kind arrive, including those of a Request', async (t) => {
  const { page, proxied } = await visit(t)
  proxied.fake.play(async (call) => {
    const body = await call.body()
    await respond(
      200,
      { 'X-Ratelimit-Remaining-Requests': '7' },
      `${headerOf(call.received.rawHeaders, 'content-type')} ${headerOf(call.received.rawHeaders, 'content-length')} ${body.toString()}`,
    )(call)
  })
  const got = await page.evaluate(async () => {
    const proxyFetch = sdk.core.createProxyFetch(settings)
    // A file as it is, of any type.
    const at = 'https://generativelanguage.googleapis.com/upload/v1beta/files?uploadType=media'
    const form = new FormData()
    form.append('a', 'ä')
    const bodies = [
      'text',
      new TextEncoder().encode('bytes'),
      new Blob(['blob'], { type: 'text/x' }),
      new URLSearchParams({ a: 'b' }),
      form,
    ]
    const said: string[] = []
    for (const body of bodies) {
      for (const call of [
        () => proxyFetch(at, { method: 'POST', body }),
        () => proxyFetch(new Request(at, { method: 'POST', body })),
      ]) {
        const response = await call()
        if (response.headers.get('x-ratelimit-remaining-requests') !== '7')
          throw new Error('a header is hidden from the page')
        said.push((await response.text()).replaceAll(/-{4}WebKitFormBoundary\w+/g, 'BOUNDARY'))
      }
    }
    return said
  })
  const plain = [
    'text/plain;charset=UTF-8 4 text',
    'null 5 bytes',
    'text/x 4 blob',
    'application/x-www-form-urlencoded;charset=UTF-8 3 a=b',
  ]
  assert.deepEqual(
    got.slice(0, 8),
    plain.flatMap((one) => [one, one]),
  )
  assert.match(
    got[8]!,
    /^multipart\/form-data; boundary=BOUNDARY \d+ --BOUNDARY\r\nContent-Disposition: form-data; name="a"\r\n\r\nä\r\n--BOUNDARY--\r\n$/,
  )
  assert.equal(got[9], got[8])
})

test('a page that stops listening cancels the request at the provider', async (t) => {
  const { page, proxied } = await visit(t, { objects: 'upstream' })
  const gone = Promise.withResolvers<void>()
  proxied.fake.play(async (call) => {
    await call.body()
    call.write(head(200, { 'Content-Type': 'text/event-stream', 'Transfer-Encoding': 'chunked' }))
    call.write(chunk('data: 1\n\n'))
    await call.gone()
    gone.resolve()
  })
  const name = await page.evaluate(async () => {
    const controller = new AbortController()
    const response = await sdk.core.createProxyFetch(settings)('https://api.openai.com/v1/stream', {
      signal: controller.signal,
    })
    const reader = response.body!.getReader()
    await reader.read()
    controller.abort()
    return reader.read().then(
      () => 'read on',
      (error: Error) => error.name,
    )
  })
  assert.equal(name, 'AbortError')
  await gone.promise
})

test('a page can read an error and how long to wait', async (t) => {
  const { page, proxied, origin } = await visit(t, { allowed: 'another' })
  const refused = await page.evaluate(async () => {
    const response = await sdk.core.createProxyFetch(settings)('https://api.openai.com/v1/models')
    return {
      status: response.status,
      code: response.headers.get('x-proxy-error'),
      id: response.headers.get('x-request-id'),
    }
  })
  assert.deepEqual(
    [refused.status, refused.code, typeof refused.id],
    [403, 'origin_not_allowed', 'string'],
  )
  const apiKey = await proxied.key({ rpm: 1, allowed_origins: [origin] })
  const limited = await page.evaluate(async (apiKey) => {
    const google = sdk.genai.createProxyGenai({ ...settings, apiKey })
    await sdk.ai.generateText({ model: google('gemini-2.5-flash'), prompt: 'Hello' })
    return sdk.ai
      .generateText({ model: google('gemini-2.5-flash'), prompt: 'Hello', maxRetries: 0 })
      .then(
        () => null,
        (error: unknown) =>
          sdk.ai.APICallError.isInstance(error)
            ? { message: error.message, wait: error.responseHeaders?.['retry-after-ms'] }
            : String(error),
      )
  }, apiKey)
  assert.ok(limited !== null && typeof limited === 'object', String(limited))
  assert.match(limited.message, /^The proxy key allows 1 request a minute/)
  assert.ok(Number(limited.wait) > 0)
})

test('the key goes to the proxy and nowhere else, wherever the provider redirects to', async (t) => {
  const { page, proxied, key } = await visit(t, { objects: 'upstream' })
  const elsewhere = await startFake(
    respond(
      200,
      { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' },
      'stored elsewhere',
    ),
  )
  t.after(() => elsewhere.close())
  proxied.fake.play(respond(302, { Location: `${elsewhere.origin}/blob` }))
  const text = await page.evaluate(async () =>
    (await sdk.core.createProxyFetch(settings)('https://api.openai.com/v1/files/x/content')).text(),
  )
  assert.equal(text, 'stored elsewhere')
  assert.ok(
    !JSON.stringify(
      elsewhere.requests.map(({ target, rawHeaders }) => [target, rawHeaders]),
    ).includes(key),
  )
})

test("a relative proxyUrl leads to a route of the page's own, which adds the key", async (t) => {
  const { page, own, proxied, key } = await visit(t)
  const text = await page.evaluate(async () => {
    const google = sdk.genai.createProxyGenai({
      proxyUrl: '/api/ai/',
      apiKey: sdk.core.PROXY_MANAGED,
    })
    return (await sdk.ai.generateText({ model: google('gemini-2.5-flash'), prompt: 'Hello' })).text
  })
  assert.equal(text, 'Hello from Gemini')
  const asked = encodeURIComponent(
    'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent',
  )
  assert.deepEqual(own, [`POST /api/ai/proxy?url=${asked} no key`])
  assert.ok(proxied.wire().includes(key))
})

test("data:, blob: and, with a relative proxyUrl, the page's own origin bypass the proxy", async (t) => {
  const { page, own, proxied } = await visit(t)
  const got = await page.evaluate(async () => {
    const proxyFetch = sdk.core.createProxyFetch({ proxyUrl: '/api/ai', apiKey: 'tmk_x' })
    const texts = [
      await (await proxyFetch('data:,inside')).text(),
      await (await proxyFetch(URL.createObjectURL(new Blob(['blob'])))).text(),
    ]
    await proxyFetch('/api/ai/other')
    return texts
  })
  assert.deepEqual(
    [got, own, proxied.fake.requests.length],
    [['inside', 'blob'], ['GET /api/ai/other no key'], 0],
  )
})

// A bundler puts `undefined` in the place of a variable that is not set, and that would be a path
// of the page's own origin.
test('a missing proxyUrl is an error, and nothing is sent', async (t) => {
  const { page, own } = await visit(t)
  const said = await page.evaluate(async () => {
    const messages: string[] = []
    for (const proxyUrl of ['', undefined, null] as string[]) {
      messages.push(
        await sdk.core
          .createProxyFetch({ proxyUrl, apiKey: 'tmk_x' })('https://api.openai.com/v1/models')
          .then(
            ({ url }) => url,
            (error: Error) => error.message,
          ),
      )
    }
    return messages
  })
  for (const message of said) assert.match(message, /^`proxyUrl` must be/)
  assert.deepEqual(own, [])
})
