// Overloads a server for a while: every call must succeed or be refused with 503 and Retry-After,
// and the server must recover. Prints the shares, the slowest refusal, peak memory, and the time to
// recover. `--seconds N`, `--calls N` and `--uploads N` at a time. Exits with 1 if another response
// came, or a refusal took longer than a second. Linux only: it reads /proc. The load comes from
// this process on the same machine, so the times, measured from connect, include its own sending
// and reading; to keep that small, callers write prepared bytes to sockets.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { file, form } from '../test/support/form.ts'
import { makeSecrets } from './parts/secrets.ts'
import { startServer } from './parts/server.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '15' },
    calls: { type: 'string', default: '2000' },
    uploads: { type: 'string', default: '400' },
  },
})
const SLOWEST_MS = 1_000
/** How much longer than before a call may take once the server has recovered. */
const SLACK_MS = 250
/** Response time of the provider. */
const PROVIDER_MS = 200

const data = mkdtempSync(join(tmpdir(), 'tollmark-overload-'))
const upstream = createServer((incoming, outgoing) => {
  incoming
    .resume()
    .on('end', () =>
      setTimeout(
        () => outgoing.end('{"usage":{"prompt_tokens":1,"completion_tokens":1}}'),
        PROVIDER_MS,
      ),
    )
}).listen(0, '127.0.0.1')
await once(upstream, 'listening')

const { port, pid, child } = await startServer({
  TOLLMARK_DATA: data,
  TOLLMARK_PLANS: '{"bench":{"conversions_per_day":null}}',
  OPENAI_API_KEY: 'sk-bench',
  TOLLMARK_UPSTREAM_OPENAI: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
  // A tenth of the concurrent calls.
  TOLLMARK_MAX_OPEN: String(Math.ceil(Number(values.calls) / 10)),
})

/** The responses to one kind of call. */
class Tally {
  succeeded = 0
  refused = 0
  slowest = 0
  readonly others = new Map<string, number>()

  add(status: number | string, retryAfter: string | undefined, took: number): void {
    if (status === 200) this.succeeded++
    else if (status === 503 && retryAfter !== undefined) {
      this.refused++
      this.slowest = Math.max(this.slowest, took)
    } else this.others.set(String(status), (this.others.get(String(status)) ?? 0) + 1)
  }

  toString(): string {
    const others = [...this.others].map(([what, count]) => `, ${what}: ${count}`).join('')
    return `succeeded ${this.succeeded}, refused ${this.refused}${others}; slowest refusal ${this.slowest.toFixed(0)} ms`
  }

  get good(): boolean {
    return this.others.size === 0 && this.slowest <= SLOWEST_MS
  }
}

/** A kind of call: its whole request, and whether callers keep their connections. */
type Kind = { request: Buffer; keeps: boolean; tally: Tally }
type ReceivedResponse = { status: number | string; retryAfter: string | undefined; took: number }

function kindOf(path: string, headers: Record<string, string>, body: Buffer, keeps: boolean): Kind {
  const lines = Object.entries({
    host: 'localhost',
    ...headers,
    'content-length': body.length,
    connection: keeps ? 'keep-alive' : 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return {
    request: Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), body]),
    keeps,
    tally: new Tally(),
  }
}

/** A caller that calls repeatedly. */
class Caller {
  readonly #port: number
  #socket: Socket | undefined

  constructor(port: number) {
    this.#port = port
  }

  /** One call, to its last byte. */
  call({ request, keeps }: Kind): Promise<ReceivedResponse> {
    return new Promise((resolve) => {
      const started = performance.now()
      const socket = (this.#socket ??= connect({
        port: this.#port,
        host: '127.0.0.1',
        noDelay: true,
      }))
      let head = ''
      let left = Infinity
      let retryAfter: string | undefined
      let took = 0
      const end = (status: number | string): void => {
        socket.removeAllListeners().on('error', () => {})
        if (!keeps || typeof status === 'string' || /^connection: close/im.test(head)) {
          socket.destroy()
          this.#socket = undefined
        }
        resolve({ status, retryAfter, took: took || performance.now() - started })
      }
      socket.on('data', (bytes) => {
        if (left === Infinity) {
          took ||= performance.now() - started
          head += bytes.toString('latin1')
          const at = head.indexOf('\r\n\r\n')
          if (at < 0) return
          left = Number(/^content-length: (\d+)/im.exec(head)?.[1]) - (head.length - at - 4)
          head = head.slice(0, at)
          retryAfter = /^retry-after: (.*)/im.exec(head)?.[1]
        } else left -= bytes.length
        // Every response here has a Content-Length.
        if (!(left > 0)) end(left === 0 ? Number(head.slice(9, 12)) : 'no length')
      })
      socket.on('error', (error) => end('code' in error ? String(error.code) : error.message))
      socket.on('close', () => end('cut off'))
      socket.write(request)
    })
  }
}

function memory(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

try {
  const { token, key } = await makeSecrets(data, 'bench')
  await new Promise((resolve) => setTimeout(resolve, 1_500))

  const page = `<html><body><article class="page"><h1 class="page-title">P</h1><div class="page-body">${'<p>Some words of a page.</p>'.repeat(4_000)}</div></article></body></html>`
  const upload = form(file('page.html', page))
  const target = `/proxy?url=${encodeURIComponent('https://api.openai.com/v1/chat/completions')}`
  const calls = kindOf(
    target,
    { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    Buffer.from('{"model":"gpt-5","messages":[]}'),
    true,
  )
  const uploads = kindOf(
    '/api/v1/convert',
    { authorization: `Bearer ${token}`, 'content-type': upload.contentType },
    upload.body,
    false,
  )
  const callOnce = (kind: Kind) => new Caller(port).call(kind)
  const alone = async (kind: Kind) => (await callOnce(kind)).took
  // Warm the server up, because the first requests measure its compiler.
  const warm = async (kind: Kind, times: number): Promise<void> => {
    for (let i = 0; i < times; i++) await alone(kind)
  }
  await Promise.all([
    warm(uploads, 60),
    warm(uploads, 60),
    ...Array.from({ length: 20 }, () => warm(calls, 15)),
  ])
  const before = { call: await alone(calls), upload: await alone(uploads), memory: memory() }

  const until = performance.now() + Number(values.seconds) * 1000
  const press = async (kind: Kind): Promise<void> => {
    const caller = new Caller(port)
    while (performance.now() < until) {
      const { status, retryAfter, took } = await caller.call(kind)
      kind.tally.add(status, retryAfter, took)
      // A refused caller waits before it tries again.
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
  const many = (kind: Kind, count: number) => Array.from({ length: count }, () => press(kind))
  await Promise.all([
    ...many(calls, Number(values.calls)),
    ...many(uploads, Number(values.uploads)),
  ])

  const over = performance.now()
  for (;;) {
    const [one, other, ready] = [
      await callOnce(calls),
      await callOnce(uploads),
      await fetch(`http://127.0.0.1:${port}/readyz`),
    ]
    if (
      one.status === 200 &&
      one.took < before.call + SLACK_MS &&
      other.status === 200 &&
      other.took < before.upload + SLACK_MS &&
      ready.ok
    )
      break
    if (performance.now() - over < 15_000) continue
    const seen = `call ${one.status} in ${one.took.toFixed(0)} ms, upload ${other.status} in ${other.took.toFixed(0)} ms, readyz ${ready.status}`
    console.log(`the server does not recover: ${seen}`)
    process.exitCode = 1
    break
  }
  console.log(`calls:    ${calls.tally}`)
  console.log(`uploads:  ${uploads.tally}`)
  console.log(
    `memory:   ${before.memory.toFixed(0)} MB before, ${memory().toFixed(0)} MB at most (the server's process, without its converters)`,
  )
  console.log(
    `recovery: ${(performance.now() - over).toFixed(0)} ms after the last response (a call alone took ${before.call.toFixed(0)} ms, an upload ${before.upload.toFixed(0)} ms)`,
  )
  if (!calls.tally.good || !uploads.tally.good) process.exitCode = 1
} finally {
  child.kill('SIGTERM')
  upstream.close()
  upstream.closeAllConnections()
  await once(child, 'exit')
  rmSync(data, { recursive: true, force: true })
}
process.exit()
