// Far more than a server can do, for a while: every call is answered, or refused with 503 and Retry-After, and afterwards all is as before. Prints the
// shares, the slowest refusal, the most memory, and how long it takes until the server answers as before. `--seconds N`, `--calls N` and
// `--uploads N` at a time. Ends with code 1 where something else came back, or no refusal within a second. Linux only: it reads /proc.
// The load comes from this process on the same machine, so the times hold what it takes itself to send and read.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createToken } from '../server/accounts/tokens.ts'
import { createKey } from '../server/keys/keys.ts'
import { openStore } from '../server/store/open.ts'
import { file, form } from '../test/form.ts'
import { startServer } from './server.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '15' }, calls: { type: 'string', default: '2000' }, uploads: { type: 'string', default: '400' } } })
const SLOWEST_MS = 1_000
/** What a call may take more than before, once the server has recovered. */
const SLACK_MS = 250
/** How long the provider takes. */
const PROVIDER_MS = 200

const data = mkdtempSync(join(tmpdir(), 'tollmark-overload-'))
const upstream = createServer((incoming, outgoing) => {
  incoming.resume().on('end', () => setTimeout(() => outgoing.end('{"usage":{"prompt_tokens":1,"completion_tokens":1}}'), PROVIDER_MS))
}).listen(0, '127.0.0.1')
await once(upstream, 'listening')

const { port, pid, child } = await startServer({
  TOLLMARK_DATA: data, TOLLMARK_PLANS: '{"bench":{"conversions_per_day":null}}', OPENAI_API_KEY: 'sk-bench',
  TOLLMARK_UPSTREAM_OPENAI: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
  // A tenth of the calls that come.
  TOLLMARK_MAX_OPEN: String(Math.ceil(Number(values.calls) / 10)),
})

/** What came back of one kind of calls. */
class Tally {
  answered = 0
  refused = 0
  slowest = 0
  readonly others = new Map<string, number>()

  add(status: number | string, retryAfter: string | undefined, took: number): void {
    if (status === 200) this.answered++
    else if (status === 503 && retryAfter !== undefined) {
      this.refused++
      this.slowest = Math.max(this.slowest, took)
    } else this.others.set(String(status), (this.others.get(String(status)) ?? 0) + 1)
  }

  toString(): string {
    const others = [...this.others].map(([what, count]) => `, ${what}: ${count}`).join('')
    return `answered ${this.answered}, refused ${this.refused}${others}; slowest refusal ${this.slowest.toFixed(0)} ms`
  }

  get good(): boolean {
    return this.others.size === 0 && this.slowest <= SLOWEST_MS
  }
}

type Kind = { path: string; headers: Record<string, string>; body: Buffer; agent: Agent; tally: Tally }

/** One call, to its last byte. */
function call(port: number, { path, headers, body, agent }: Omit<Kind, 'tally'>): Promise<{ status: number | string; retryAfter: string | undefined; took: number }> {
  return new Promise((resolve) => {
    const started = performance.now()
    const took = () => performance.now() - started
    const outgoing = request({ port, host: '127.0.0.1', method: 'POST', path, agent, headers: { ...headers, 'content-length': body.length } }, (incoming) => {
      const refusedAfter = took()
      const end = () => resolve({ status: incoming.complete ? (incoming.statusCode ?? 0) : 'cut off', retryAfter: incoming.headers['retry-after'], took: refusedAfter })
      incoming.resume().on('close', end)
    })
    outgoing.on('error', (error) => resolve({ status: 'code' in error ? String(error.code) : error.message, retryAfter: undefined, took: took() }))
    outgoing.end(body)
  })
}

function memory(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

try {
  const now = Date.now()
  const store = await openStore({ data, databaseUrl: null, now })
  const { account, token } = await createToken(store, { name: 'bench', plan: 'bench' }, { name: 'bench', scopes: ['convert'], expiresAt: null }, now)
  const { secret } = await createKey(store, account.id, { name: 'bench', models: null, rpm: null, allowed_origins: null, expires_at: null }, now)
  await store.close()
  await new Promise((resolve) => setTimeout(resolve, 1_500))

  const page = `<html><body><article class="page"><h1 class="page-title">P</h1><div class="page-body">${'<p>Some words of a page.</p>'.repeat(4_000)}</div></article></body></html>`
  const upload = form(file('page.html', page))
  const calls: Kind = {
    path: `/proxy?url=${encodeURIComponent('https://api.openai.com/v1/chat/completions')}`, body: Buffer.from('{"model":"gpt-5","messages":[]}'),
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }, agent: new Agent({ keepAlive: true }), tally: new Tally(),
  }
  const uploads: Kind = { path: '/api/v1/convert', body: upload.body, headers: { authorization: `Bearer ${token.secret}`, 'content-type': upload.contentType }, agent: new Agent(), tally: new Tally() }
  const alone = async (kind: Kind) => (await call(port, kind)).took
  await alone(uploads)
  await alone(calls)
  const before = { call: await alone(calls), upload: await alone(uploads), memory: memory() }

  const until = performance.now() + Number(values.seconds) * 1000
  const press = async (kind: Kind): Promise<void> => {
    while (performance.now() < until) {
      const { status, retryAfter, took } = await call(port, kind)
      kind.tally.add(status, retryAfter, took)
      // A caller that was refused does not come back at once.
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
  const many = (kind: Kind, count: number) => Array.from({ length: count }, () => press(kind))
  await Promise.all([...many(calls, Number(values.calls)), ...many(uploads, Number(values.uploads))])

  const over = performance.now()
  for (;;) {
    const [one, other, ready] = [await call(port, calls), await call(port, uploads), await fetch(`http://127.0.0.1:${port}/readyz`)]
    if (one.status === 200 && one.took < before.call + SLACK_MS && other.status === 200 && other.took < before.upload + SLACK_MS && ready.ok) break
    if (performance.now() - over < 15_000) continue
    const seen = `call ${one.status} in ${one.took.toFixed(0)} ms, upload ${other.status} in ${other.took.toFixed(0)} ms, readyz ${ready.status}`
    console.log(`the server does not recover: ${seen}`)
    process.exitCode = 1
    break
  }
  console.log(`calls:    ${calls.tally}`)
  console.log(`uploads:  ${uploads.tally}`)
  console.log(`memory:   ${before.memory.toFixed(0)} MB before, ${memory().toFixed(0)} MB at most (the server's process, without its converters)`)
  console.log(`recovery: ${(performance.now() - over).toFixed(0)} ms after the last answer (a call alone took ${before.call.toFixed(0)} ms, an upload ${before.upload.toFixed(0)} ms)`)
  if (!calls.tally.good || !uploads.tally.good) process.exitCode = 1
} finally {
  child.kill('SIGTERM')
  upstream.close()
  upstream.closeAllConnections()
  await once(child, 'exit')
  rmSync(data, { recursive: true, force: true })
}
process.exit()
