// The response of a provider is never a page, frame, script or worker of our origin, however a
// browser is led to it: a key in the address needs no script.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { respond } from '../support/providers/fake.ts'
import { startServed } from '../proxy/support/served.ts'
import { closeChromium, sharedChromium } from './chromium.ts'

let browser: Browser

before(async () => {
  browser = await sharedChromium()
})
after(closeChromium)

/** Marks the origin that it runs in. */
const RUNS = "try{localStorage.setItem('ran',document.contentType)}catch{}"
/** TABLE of what a provider could have stored for somebody, by its type. */
const RESPONSES: readonly (readonly [type: string, body: string])[] = [
  ['text/html', `<script>${RUNS}</script>`],
  ['text/html', `<iframe srcdoc="<script>${RUNS}</script>"></iframe><img src=x onerror="${RUNS}">`],
  ['image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg"><script>${RUNS}</script></svg>`],
  [
    'application/xhtml+xml',
    `<html xmlns="http://www.w3.org/1999/xhtml"><body><script>${RUNS}</script></body></html>`,
  ],
  ['text/plain', `<html><script>${RUNS}</script></html>`],
  ['', `<html><script>${RUNS}</script></html>`],
]

/**
 * Asks for an address in every way in which a page gets code or another page, and says how that
 * ended. A text: these tests are not checked with the types of browsers.
 */
const ASKS = `async (path) => {
  const ended = (name, attributes) => new Promise((resolve) => {
    const element = Object.assign(document.createElement(name), attributes)
    element.onload = () => resolve('load')
    element.onerror = () => resolve('error')
    document.body.append(element)
  })
  const worker = new Promise((resolve) => (new Worker(path).onerror = () => resolve('error')))
  return {
    script: await ended('script', { src: path }),
    module: await ended('script', { src: path, type: 'module' }),
    style: await ended('link', { rel: 'stylesheet', href: path }),
    worker: await worker,
    registered: await navigator.serviceWorker.register(path, { scope: '/proxy/' }).then(() => 'registered', () => 'refused'),
    frame: await ended('iframe', { src: path }),
  }
}`
/** Shows an address in a frame; resolves when that has loaded. */
const FRAMES = `(path) => new Promise((resolve) => {
  const frame = Object.assign(document.createElement('iframe'), { src: path, onload: () => resolve(frame.contentDocument === null ? 'another origin' : 'ours') })
  document.body.append(frame)
})`

const FILE = '/v1beta/files/abc:download?alt=media'

async function visit(t: Parameters<typeof startServed>[0]) {
  const served = await startServed(t, respond(200, {}, ''))
  const { secret } = await served.key({ objects: 'upstream' })
  const origin = `http://127.0.0.1:${served.port}`
  const context = await browser.newContext()
  t.after(() => context.close())
  const page = await context.newPage()
  // A document of our own origin that forbids nothing. (To put one there by interception would turn
  // the browser's cache off.)
  await page.goto(`${origin}/proxy/`)
  const play = (type: string, body: string, more: Record<string, string> = {}) =>
    served.fake.play(
      respond(200, { ...(type === '' ? {} : { 'Content-Type': type }), ...more }, body),
    )
  return { ...served, secret, origin, page, play }
}

const ran = (page: Page): Promise<string | null> => page.evaluate("localStorage.getItem('ran')")

test('a browser cannot load a document, script or worker through the proxy, in either form', async (t) => {
  const { page, origin, secret, fake, play } = await visit(t)
  play('text/javascript', RUNS)
  const paths = [
    `/proxy/generativelanguage.googleapis.com${FILE}&key=${secret}`,
    `/proxy?url=${encodeURIComponent(`https://generativelanguage.googleapis.com${FILE}&key=${secret}`)}`,
  ]
  for (const path of paths) {
    const asked = await page.evaluate(`(${ASKS})(${JSON.stringify(path)})`)
    assert.deepEqual(asked, {
      script: 'error',
      module: 'error',
      style: 'error',
      worker: 'error',
      registered: 'refused',
      frame: 'load',
    })
    const opened = await page.context().newPage()
    const got = await opened.goto(origin + path)
    assert.equal(got?.status(), 403)
    await opened.close()
  }
  assert.equal(fake.requests.length, 0)
  assert.equal(await ran(page), null)
})

test('a fetched response never becomes a document of our origin, not even from the cache', async (t) => {
  const { page, origin, secret, play, fake } = await visit(t)
  for (const [index, [type, body]] of RESPONSES.entries()) {
    play(type, body, {
      'Cache-Control': 'public, max-age=3600',
      'X-Content-Type-Options': 'sniff',
      ETag: '"1"',
    })
    for (const path of [
      `/proxy/generativelanguage.googleapis.com/v1beta/files/a${index}:download?alt=media&key=${secret}`,
      `/proxy/generativelanguage.googleapis.com/v1beta/files/b${index}:download?alt=media`,
    ]) {
      const headers = path.includes('key=') ? {} : { 'x-goog-api-key': secret }
      const got = await page.evaluate(
        async ({ path, headers }) => {
          const response = await fetch(path, { headers })
          return {
            status: response.status,
            text: await response.text(),
            policy: response.headers.get('content-security-policy'),
            sniffing: response.headers.get('x-content-type-options'),
          }
        },
        { path, headers },
      )
      assert.deepEqual([got.status, got.text], [200, body])
      assert.deepEqual([got.policy, got.sniffing], ['sandbox', 'nosniff'])
      const frame = await page.evaluate(`(${FRAMES})(${JSON.stringify(path)})`)
      const opened = await page.context().newPage()
      const shown = await opened.goto(origin + path)
      // With the key in the address the cache has a response, in a sandbox. With the key in a
      // header it has none for a page: `Vary` says so, and we refuse.
      if (path.includes('key='))
        assert.deepEqual([frame, await opened.evaluate('self.origin')], ['another origin', 'null'])
      else
        assert.deepEqual(
          [shown?.status(), shown?.headers()['x-proxy-error']],
          [403, 'origin_not_allowed'],
        )
      assert.equal(await ran(page), null, `${type} ${path}`)
      await opened.close()
    }
  }
  // None of that reached the provider again.
  assert.equal(fake.requests.length, 2 * RESPONSES.length)
})
