// Each project of examples/, as it stands there: built, run and type-checked against the real
// server. The pages run in a real Chromium.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, extname, join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { EdgeVM } from '@edge-runtime/vm'
import type { Browser } from 'playwright-core'
import { rolldown } from 'rolldown'
import { closeChromium, sharedChromium } from '../browser/chromium.ts'
import { headerOf } from '../support/providers/fake.ts'
import { providers } from './responses.ts'
import { load, MAJORS, makeProject, ROOT, type Major } from './project.ts'
import { startProxied, type Proxied } from './proxied.ts'

const run = promisify(execFile)
const bin = (path: string): string => join(ROOT, 'node_modules', path)

let browser: Browser

before(async () => {
  browser = await sharedChromium()
})
after(closeChromium)

interface Example {
  folder: string
  proxied: Proxied
  key: string
  env: Record<string, string>
}

/** A copy of an example with the packages installed, and a server for it. */
async function example(t: TestContext, name: string, major: Major): Promise<Example> {
  const folder = await makeProject(t, major)
  cpSync(join(ROOT, 'examples', name), folder, { recursive: true })
  const proxied = await startProxied(t, providers())
  const key = await proxied.key()
  const { PATH = '', HOME = '' } = process.env
  return {
    folder,
    proxied,
    key,
    env: { PATH, HOME, NEXT_PUBLIC_AI_PROXY_KEY: key, NEXT_PUBLIC_AI_PROXY_URL: proxied.proxyUrl },
  }
}

async function assertTypes(folder: string): Promise<void> {
  assert.equal(
    await run(process.execPath, [bin('typescript/bin/tsc'), '-p', folder]).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    ),
    '',
  )
}

/** Opens a page, asks, and reads the response as it grows. */
async function ask(t: TestContext, url: string): Promise<string> {
  const context = await browser.newContext()
  t.after(() => context.close())
  const page = await context.newPage()
  const wrong: string[] = []
  page.on('pageerror', (error) => wrong.push(String(error)))
  await page.goto(url, { waitUntil: 'networkidle' })
  await page.getByRole('button').click()
  const response = page.locator('p')
  await response
    .filter({ hasText: 'Hello from Gemini' })
    .waitFor({ timeout: 60_000 })
    .catch((error: unknown) => {
      throw new Error(`${String(error)}\n${wrong.join('\n')}`)
    })
  assert.deepEqual(wrong, [])
  return (await response.textContent()) ?? ''
}

// The projects of the other tests lie in the repository, so that they would find what only the
// repository has.
for (const manifest of globSync('examples/*/package.json', { cwd: ROOT })) {
  test(`${dirname(manifest)}: its package.json lists every package that its sources and its compiler settings name`, () => {
    const folder = join(ROOT, dirname(manifest))
    const { dependencies, devDependencies = {} } = JSON.parse(
      readFileSync(join(ROOT, manifest), 'utf8'),
    ) as Record<string, Record<string, string>>
    const sources = globSync('**/*.{ts,jsx,js,html}', {
      cwd: folder,
      exclude: ['node_modules', '.next', 'dist'],
    }).map((file) => readFileSync(join(folder, file), 'utf8'))
    const imported = sources.flatMap((source) =>
      [...source.matchAll(/^import .*?'([^.'][^']*)'/gm)].map(([, from = '']) => from),
    )
    const packages = new Set(
      [...imported, ...typesOf(folder)]
        .filter((name) => !name.startsWith('node:'))
        .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0]),
    )
    assert.ok(packages.size > 0)
    assert.deepEqual(
      [...packages].filter((name) => !(name in { ...dependencies, ...devDependencies })),
      [],
    )
  })
}

/**
 * The packages whose types the compiler is told to take: `node` is that of `@types/node`, while
 * `vite/client` lies in a package itself.
 */
function typesOf(folder: string): string[] {
  const settings = join(folder, 'tsconfig.json')
  if (!existsSync(settings)) return []
  const { compilerOptions } = JSON.parse(readFileSync(settings, 'utf8')) as {
    compilerOptions: { types: string[] }
  }
  return compilerOptions.types.map((name) => (name.includes('/') ? name : `@types/${name}`))
}

for (const major of MAJORS) {
  test(`examples/node, with AI SDK ${major}`, async (t) => {
    const { folder, env } = await example(t, 'node', major)
    await assertTypes(folder)
    const { stdout } = await run(process.execPath, ['index.ts'], { cwd: folder, env })
    assert.equal(stdout, 'Hello from Gemini\n')
  })

  test(`examples/edge, with AI SDK ${major}`, async (t) => {
    const { folder, proxied, key } = await example(t, 'edge', major)
    await assertTypes(folder)
    const bundle = await rolldown({
      input: join(folder, 'worker.ts'),
      platform: 'browser',
      resolve: { conditionNames: ['edge-light', 'import', 'default'] },
      logLevel: 'silent',
    })
    const { output } = await bundle.generate({
      format: 'iife',
      name: 'worker',
      codeSplitting: false,
    })
    await bundle.close()
    const vm = new EdgeVM({ initialCode: output[0].code })
    vm.context['env'] = { AI_PROXY_KEY: key, AI_PROXY_URL: proxied.proxyUrl }
    assert.equal(vm.evaluate('typeof process'), 'undefined')
    const response = await vm.evaluate<Promise<Response>>(
      `worker.fetch(new Request('https://worker.test/', { method: 'POST', body: 'Why?' }), env)`,
    )
    assert.equal(await response.text(), 'Hello from Gemini')
    assert.equal(
      (
        await vm.evaluate<Promise<Response>>(
          `worker.fetch(new Request('https://worker.test/'), env)`,
        )
      ).status,
      405,
    )
  })

  test(`examples/vite, with AI SDK ${major}`, async (t) => {
    const { folder, proxied, key, env } = await example(t, 'vite', major)
    await assertTypes(folder)
    await run(process.execPath, [bin('vite/bin/vite.js'), 'build', '--logLevel', 'error'], {
      cwd: folder,
      env: { ...env, VITE_AI_PROXY_KEY: key, VITE_AI_PROXY_URL: proxied.proxyUrl },
    })
    assert.equal(await ask(t, await serveFolder(t, join(folder, 'dist'))), 'Hello from Gemini')
    assert.ok(
      proxied.wire().includes('X-Proxy-Context-Key: example') ||
        proxied.wire().includes('x-proxy-context-key: example'),
    )
  })
}

/** Settings of Next that make its build cheaper. */
const NEXT_EXPERIMENTAL = {
  turbopackMinify: false,
  turbopackSourceMaps: false,
  turbopackFileSystemCacheForBuild: false,
}

test('examples/next: the bundler puts the key into the page', async (t) => {
  const { folder, proxied, key, env } = await example(t, 'next', 7)
  // Small scripts and a cache for the next build are Next's work, and 9 s of the build's CPU.
  writeFileSync(
    join(folder, 'next.config.mjs'),
    `export default { experimental: ${JSON.stringify(NEXT_EXPERIMENTAL)} }`,
  )
  const next = { cwd: folder, env: { ...env, NEXT_TELEMETRY_DISABLED: '1' } }
  await run(process.execPath, [bin('next/dist/bin/next'), 'build'], next)
  const scripts = globSync('.next/static/**/*.js', { cwd: folder }).map((file) =>
    readFileSync(join(folder, file), 'utf8'),
  )
  assert.ok(
    scripts.some((script) => script.includes(key)),
    'no script that a browser gets has the key',
  )
  assert.ok(scripts.some((script) => script.includes(proxied.proxyUrl)))
  // Without the page's two variables: what the page does cannot come from the server's environment.
  const { PATH, HOME } = env
  const routed = await proxied.key()
  const parent = await proxied.parent()
  const server = spawn(
    process.execPath,
    [bin('next/dist/bin/next'), 'start', '-p', '0', '-H', '127.0.0.1'],
    {
      cwd: folder,
      env: {
        PATH,
        HOME,
        AI_PROXY_KEY: routed,
        AI_PROXY_URL: proxied.proxyUrl,
        AI_PROXY_KEY_ID: parent.id,
        AI_PROXY_MINT_TOKEN: parent.token,
        NEXT_TELEMETRY_DISABLED: '1',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  t.after(() => server.kill('SIGKILL'))
  let said = ''
  let url: string | undefined
  for await (const piece of server.stdout
    .setEncoding('utf8')
    .iterator({ destroyOnReturn: false })) {
    said += piece
    url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0]
    if (url !== undefined && said.includes('Ready')) break
  }
  server.stdout.resume()
  assert.ok(url, said)
  assert.equal(await ask(t, url), 'Hello from Gemini')
  assert.ok(!proxied.wire().includes(routed))
  // Each visitor's own key; the page asks once, whatever it sends.
  assert.equal(await ask(t, `${url}/visitor`), 'Hello from Gemini')
  assert.equal(proxied.wire().split(`POST /api/v1/keys/${parent.id}/children`).length, 2)
  // The route that adds a key to requests without one.
  const { ai, core, genai } = await load(folder)
  const google = genai.createProxyGenai({ proxyUrl: `${url}/api/ai`, apiKey: core.PROXY_MANAGED })
  assert.equal(
    (await ai.generateText({ model: google('gemini-2.5-flash'), prompt: 'Hello' })).text,
    'Hello from Gemini',
  )
  assert.ok(proxied.wire().includes(routed))
  // A body that comes in chunks goes on in chunks of its own.
  const streamed = await core.createProxyFetch({
    proxyUrl: `${url}/api/ai`,
    apiKey: core.PROXY_MANAGED,
  })('https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent', {
    method: 'POST',
    body: new Blob(['{"contents":[]}']).stream(),
    headers: { 'Content-Type': 'application/json' },
    duplex: 'half',
  })
  assert.equal(streamed.status, 200, await streamed.text())
})

test('examples/curl', async (t) => {
  const proxied = await startProxied(t, providers())
  const { PATH = '' } = process.env
  const { stdout } = await run('sh', [join(ROOT, 'examples/curl/run.sh')], {
    env: {
      PATH,
      NEXT_PUBLIC_AI_PROXY_KEY: await proxied.key(),
      NEXT_PUBLIC_AI_PROXY_URL: proxied.proxyUrl,
    },
  })
  assert.match(stdout, /"text":"Hello from Gemini".*\n?data: \{.*"text":"Hello"/s)
  const [once, streamed] = proxied.fake.requests
  assert.deepEqual(
    [once?.target, streamed?.target],
    [
      '/v1beta/models/gemini-2.5-flash:generateContent',
      '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    ],
  )
  assert.equal(headerOf(once!.rawHeaders, 'content-type'), 'application/json')
})

/** Serves a folder on the loopback until the test ends; gives the address. */
async function serveFolder(t: TestContext, folder: string): Promise<string> {
  const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' }
  const server = createServer((req, res) => {
    const file = join(folder, req.url === '/' ? 'index.html' : (req.url ?? ''))
    try {
      res
        .writeHead(200, { 'Content-Type': types[extname(file)] ?? 'application/octet-stream' })
        .end(readFileSync(file))
    } catch {
      res.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
