// Which of the server's files one streamed request runs through on the main thread, by V8's
// coverage of functions, without those that run in an idle server. The third request is measured,
// when everything is loaded and known. `--list` prints the files with their functions. `--order`
// prints in which order the steps of the proxy are entered before the provider is sent a byte, and
// which of them more than once.
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { makeSecrets } from './parts/secrets.ts'
import { startServer, stopServer } from './parts/server.ts'
import { printOrder } from './request-path/visits.ts'
import type { Entry } from './request-path/order.ts'

const flag = { type: 'boolean', default: false } as const
const { values } = parseArgs({ options: { list: flag, order: flag } })
/** Longer than every timer that a request leaves behind, and than an idle server's periods. */
const QUIET_MS = 6_000
const ROOT = dirname(import.meta.dirname)

const CHUNK = 'data: {"choices":[{"index":0,"delta":{"content":"word"}}]}\n\n'
const LAST =
  'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":6}}\n\ndata: [DONE]\n\n'
const upstream = createServer((incoming, outgoing) => {
  incoming.resume().on('end', () => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    outgoing.write(CHUNK)
    setTimeout(() => outgoing.write(CHUNK), 50)
    setTimeout(() => outgoing.end(LAST), 100)
  })
}).listen(0, '127.0.0.1')
await once(upstream, 'listening')

const data = mkdtempSync(join(tmpdir(), 'tollmark-path-'))
const report = join(data, 'report.json')
const probe = values.order ? 'order' : 'coverage'
const { key } = await makeSecrets(data, 'free', { rpm: 60, models: ['gpt-4o-mini'] })
const server = await startServer(
  {
    TOLLMARK_DATA: data,
    OPENAI_API_KEY: 'sk-bench',
    TOLLMARK_UPSTREAM_OPENAI: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    [`BENCH_${probe.toUpperCase()}`]: report,
  },
  ['--import', join(import.meta.dirname, `request-path/${probe}.ts`)],
)

async function call(): Promise<void> {
  const response = await fetch(
    `http://127.0.0.1:${server.port}/proxy/api.openai.com/v1/chat/completions`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"Hello"}]}',
    },
  )
  const text = await response.text()
  if (response.status !== 200 || !text.includes('[DONE]')) throw new Error(text)
}

/** What has run since the last call. */
async function ran(): Promise<unknown> {
  server.child.kill('SIGUSR2')
  while (!existsSync(report)) await sleep(20)
  const noted: unknown = JSON.parse(readFileSync(report, 'utf8'))
  rmSync(report)
  return noted
}

/** The functions that have run since the last call, as `file function`. */
const functionsRun = async (): Promise<string[]> => (await ran()) as string[]

async function end(): Promise<void> {
  await stopServer(server)
  upstream.close()
  rmSync(data, { recursive: true, force: true })
}

await call()
await call()
await sleep(QUIET_MS)
await ran()
if (values.order) {
  await call()
  printOrder((await ran()) as Entry[])
  await end()
  process.exit()
}
await sleep(QUIET_MS)
const idle = new Set(await functionsRun())
await call()
await sleep(QUIET_MS)
const byFile = new Map<string, string[]>()
for (const line of await functionsRun()) {
  if (idle.has(line)) continue
  const [url, name] = line.split(' ') as [string, string]
  const file = relative(ROOT, fileURLToPath(url))
  if (file.startsWith('server/')) byFile.set(file, [...(byFile.get(file) ?? []), name])
}
await end()

const byFolder = Map.groupBy(byFile.keys(), (file) => file.split('/').slice(0, 2).join('/'))
console.log(`${byFile.size} files in ${new Set([...byFile.keys()].map(dirname)).size} folders`)
for (const [folder, files] of byFolder)
  console.log(`${String(files.length).padStart(4)}  ${folder}`)
if (values.list) for (const [file, names] of byFile) console.log(`${file}: ${names.join(', ')}`)
