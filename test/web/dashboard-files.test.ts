// The dashboard's files: pages, scripts that never change, and nothing where there is nothing.
import assert from 'node:assert/strict'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { buildWhereChanged } from '../../dashboard/build.ts'
import { openDashboard, type Dashboard } from '../../server/web/dashboard-files.ts'
import { assertProblem, responseOf, start, startServer } from '../support/harness.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { until } from '../support/until.ts'

assert.equal(buildWhereChanged(), null)

/** One request; the pages are not part of the API's description. */
async function get(
  url: string,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
) {
  const outgoing = start(url, path, { method, headers })
  outgoing.end()
  return responseOf(outgoing)
}

test("every page is one document, under a policy that allows only this server's files", async (t) => {
  const { url } = await startServer(t)
  for (const path of [
    '/',
    '/setup?token=x',
    '/sign-in',
    '/invite?token=x',
    '/keys',
    '/keys/key_x',
    '/providers',
    '/requests?status=429',
    '/sockets',
    '/convert',
    '/tokens',
    '/accounts',
    '/account',
    '/docs',
  ]) {
    const page = await get(url, path)
    assert.equal(page.status, 200, path)
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(page.headers['cache-control'], 'no-cache')
    const policy = String(page.headers['content-security-policy'])
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "require-trusted-types-for 'script'",
    ])
      assert.ok(policy.includes(part), part)
    assert.doesNotMatch(policy, /unsafe|\*|https?:|data:/)
    assert.doesNotMatch(page.text, /<script>|<style|style=|onload=/)
  }
})

/** TABLE of requests for the dashboard: what is asked for, how, and the status. */
const WATCHED: readonly [path: string, method: string, accept: string, status: number][] = [
  ['/', 'GET', '*/*', 200],
  ['/keys', 'HEAD', '*/*', 200],
  ['/Keys/', 'GET', 'text/html', 308],
  ['/nothing', 'GET', 'text/html', 404],
  ['/', 'POST', '*/*', 405],
]

test('every dashboard response has an id, which is in the log', async (t) => {
  const server = await startServer(t)
  for (const [path, method, accept, status] of WATCHED) {
    const id = (await get(server.url, path, { accept }, method)).headers['x-request-id']
    assert.match(String(id), /^req_/)
    await until(() => server.lines.some((line) => line.includes(String(id))))
    const { request_id, ...line } = JSON.parse(
      server.lines.find((line) => line.includes(String(id))) ?? '',
    ) as Record<string, unknown>
    assert.deepEqual(
      [request_id, line['method'], line['route'], line['status']],
      [id, method, '/*', status],
    )
  }
  assert.match(
    await (await fetch(`${server.url}/metrics`)).text(),
    /^tollmark_http_request_duration_seconds_count\{route="\/\*",method="HEAD",status="200"\} 1$/m,
  )
})

test('another spelling of a page redirects to its own address', async (t) => {
  const { url } = await startServer(t)
  const html = { accept: 'text/html,*/*' }
  for (const [path, own] of [
    ['/keys/', '/keys'],
    ['/KEYS', '/keys'],
    ['/Keys/key_A/', '/keys/key_A'],
    ['/Requests/?status=429', '/requests?status=429'],
    ['/setup/?token=A/b', '/setup?token=A/b'],
  ] as const) {
    const led = await get(url, path, html)
    assert.deepEqual([led.status, led.headers['location']], [308, own], path)
    assert.equal((await get(url, path)).status, 404, 'a program is told that nothing is there')
  }
  for (const path of ['//example.com/keys/', '/keys//', '/nowhere/', '/keys/a/b/', '/API/v1/keys'])
    assert.equal((await get(url, path, html)).headers['location'], undefined, path)
})

test('an unknown address is a page for a browser and a problem for a program', async (t) => {
  const { url } = await startServer(t)
  const lost = await get(url, '/nowhere', { accept: 'text/html,*/*' })
  assert.equal(lost.status, 404)
  assert.match(lost.text, /<div id="root">/)
  for (const path of [
    '/nowhere',
    '/keys/a/b',
    '/assets/nothing.js',
    '/nothing.svg',
    '/current',
    '/%2e%2e/build.ts',
    '/assets/../../build.ts',
    '/assets/%2e%2e/current',
  ])
    assertProblem(await get(url, path), 404, 'not_found')
  for (const path of ['/api', '/api/v1/nothing', '/proxy/x', '/assets/x'])
    assert.equal(
      (await get(url, path, { accept: 'text/html' })).headers['content-type']?.includes('html'),
      false,
      path,
    )
  const posted = await get(url, '/keys', {}, 'POST')
  assert.deepEqual([posted.status, posted.headers['allow']], [405, 'GET, HEAD'])
})

test('files are compressed on request, immutable if their name has a hash, and have an ETag', async (t) => {
  const { url } = await startServer(t)
  const page = await get(url, '/')
  const path = /src="(\/assets\/[^"]+\.js)"/.exec(page.text)?.[1] ?? ''
  const plain = await get(url, path)
  assert.equal(plain.headers['content-encoding'], undefined)
  assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
  assert.equal(plain.headers['vary'], 'Accept-Encoding')
  const br = await get(url, path, { 'accept-encoding': 'gzip, deflate, br' })
  assert.equal(br.headers['content-encoding'], 'br')
  assert.deepEqual(brotliDecompressSync(br.bytes), plain.bytes)
  const gzip = await get(url, path, { 'accept-encoding': 'gzip, br;q=0' })
  assert.equal(gzip.headers['content-encoding'], 'gzip')
  assert.deepEqual(gunzipSync(gzip.bytes), plain.bytes)
  const head = await get(url, path, {}, 'HEAD')
  assert.deepEqual(
    [head.status, head.bytes.length, head.headers['content-length']],
    [200, 0, String(plain.bytes.length)],
  )
  const known = await get(url, '/', { 'if-none-match': String(page.headers['etag']) })
  assert.deepEqual([known.status, known.bytes.length], [304, 0])
  assert.equal((await get(url, '/', { 'if-none-match': '"other"' })).status, 200)
})

/** Asks for the first page; gives what is said to that, as it is said. */
function askFor(dashboard: Dashboard, url: string): { taken: boolean; said: unknown[] } {
  const said: unknown[] = []
  const outgoing = {
    writeHead: (...head: unknown[]) => (said.push(head[0]), outgoing),
    end: (text: unknown) => said.push(String(text)),
  }
  const taken = dashboard({ url, method: 'GET', headers: {} } as never, outgoing as never)
  return { taken, said }
}

test('a dashboard that is not built explains how to build it', (t) => {
  const { taken, said } = askFor(openDashboard(temporaryFolder(t)), '/')
  assert.ok(taken)
  assert.deepEqual(said, [503, 'The dashboard has not been built. `npm start` builds it.\n'])
})

test('while the dashboard is being built, only its pages wait', async (t) => {
  const dist = temporaryFolder(t)
  const write = (hash: string): void => {
    mkdirSync(join(dist, hash))
    writeFileSync(join(dist, hash, 'index.html'), hash)
    writeFileSync(join(dist, 'current'), hash)
  }
  write('before')
  const building = Promise.withResolvers<void>()
  const dashboard = openDashboard(dist, building.promise)
  const page = askFor(dashboard, '/keys')
  assert.deepEqual([page.taken, page.said], [true, []])
  assert.equal(askFor(dashboard, '/api/v1/keys').taken, false)
  write('after')
  building.resolve()
  await until(() => page.said.length > 0)
  assert.deepEqual(page.said, [200, 'after'])
  assert.deepEqual(askFor(dashboard, '/').said, [200, 'after'])
})

test('a failed build keeps the previous pages', async (t) => {
  const dist = temporaryFolder(t)
  mkdirSync(join(dist, 'last'))
  writeFileSync(join(dist, 'last', 'index.html'), 'last')
  writeFileSync(join(dist, 'current'), 'last')
  const page = askFor(openDashboard(dist, Promise.reject(new Error('no memory'))), '/')
  await until(() => page.said.length > 0)
  assert.deepEqual(page.said, [200, 'last'])
})

test('JavaScript: 200 KB gzipped at most for the first page, 360 KB for all pages together', () => {
  const dist = join(import.meta.dirname, '..', '..', 'dashboard', 'dist')
  const folder = join(dist, readFileSync(join(dist, 'current'), 'utf8'))
  const size = (file: string): number =>
    gzipSync(readFileSync(join(folder, file)), { level: 9 }).length
  const scripts = globSync('**/*.js', { cwd: folder })
  const all = scripts.reduce((sum, file) => sum + size(file), 0)
  assert.ok(all <= 360 * 1024, `${all} bytes in all`)
  // What the document asks for, and what each of those imports at once; the largest page comes on
  // top.
  const first = new Set<string>()
  const visit = (file: string): void => {
    if (first.has(file)) return
    first.add(file)
    for (const [, name = ''] of readFileSync(join(folder, file), 'utf8').matchAll(
      /(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g,
    ))
      visit(`assets/${name}`)
  }
  for (const [, file = ''] of readFileSync(join(folder, 'index.html'), 'utf8').matchAll(
    /(?:src|href)="\/([^"]+\.js)"/g,
  ))
    visit(file)
  for (const page of scripts.filter((file) => /\/(?:overview|sign-in|setup)-/.test(file)))
    visit(page)
  const sum = [...first].reduce((sum, file) => sum + size(file), 0)
  assert.ok(first.size > 4)
  assert.ok(sum <= 200 * 1024, `${sum} bytes at first`)
})
