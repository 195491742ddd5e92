// 10,000 requests over 500 connections with a key of 5 per minute: exactly 5 must pass, on one
// server, on that server after kill -9, and on two that share a data folder. Exits with 1
// otherwise. `--requests N`, `--connections N`, `--rpm N`.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeSecrets } from './parts/secrets.ts'
import { startServer, type Server } from './parts/server.ts'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000' },
    connections: { type: 'string', default: '500' },
    rpm: { type: 'string', default: '5' },
  },
})
const [requests, connections, rpm] = [
  Number(values.requests),
  Number(values.connections),
  Number(values.rpm),
]
const data = mkdtempSync(join(tmpdir(), 'tollmark-rpm-'))

let received = 0
const upstream = createServer((incoming, outgoing) => {
  received++
  incoming
    .resume()
    .on('end', () => outgoing.end('{"usage":{"prompt_tokens":1,"completion_tokens":1}}'))
}).listen(0, '127.0.0.1')
await once(upstream, 'listening')

const env = {
  TOLLMARK_DATA: data,
  OPENAI_API_KEY: 'sk-bench',
  TOLLMARK_UPSTREAM_OPENAI: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
}

const started: Server[] = []
async function start(): Promise<Server> {
  const server = await startServer(env)
  started.push(server)
  return server
}

const newKey = async (): Promise<string> => (await makeSecrets(data, 'free', { rpm })).key

const BODY = '{"model":"gpt-5","messages":[]}'
const agent = new Agent({ keepAlive: true, maxSockets: connections })

/** One request: its status, and the Retry-After of a refusal. */
function call(port: number, secret: string): Promise<{ status: number; wait: number }> {
  return new Promise((resolve, reject) => {
    const path = `/proxy?url=${encodeURIComponent('https://api.openai.com/v1/chat/completions')}`
    const headers = {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'content-length': BODY.length,
    }
    const outgoing = request(
      { port, host: '127.0.0.1', method: 'POST', path, agent, headers },
      (incoming) => {
        incoming.resume().on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            wait: Number(incoming.headers['retry-after-ms'] ?? 0),
          }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(BODY)
  })
}

/** Sends everything at once, to the servers in turn. @returns whether exactly `expected` passed */
async function round(
  name: string,
  servers: Server[],
  secret: string,
  expected: number,
): Promise<boolean> {
  received = 0
  const started = performance.now()
  const responses = await Promise.all(
    Array.from({ length: requests }, (_, i) => call(servers[i % servers.length]!.port, secret)),
  )
  const seconds = (performance.now() - started) / 1000
  const passed = responses.filter(({ status }) => status === 200).length
  const refused = responses.filter(
    ({ status, wait }) => status === 429 && wait > 0 && wait < 60_000,
  ).length
  const good = passed === expected && received === expected && refused === requests - expected
  console.log(
    `${good ? 'exact ' : 'WRONG '} ${name}: ${requests} requests over ${connections} connections in ${seconds.toFixed(1)} s: ` +
      `${passed} passed, ${received} reached the provider, ${refused} refused with a true wait (${expected} were to pass)`,
  )
  return good
}

/**
 * Waits until a server knows the key, by requests to an unknown host: a valid key gets 403, which
 * does not count.
 */
async function known({ port }: Server, secret: string): Promise<void> {
  for (;;) {
    const outgoing = request({
      port,
      host: '127.0.0.1',
      path: `/proxy?url=${encodeURIComponent('https://nobody.invalid/')}`,
      agent,
      headers: { authorization: `Bearer ${secret}` },
    })
    outgoing.end()
    const [incoming] = (await once(outgoing, 'response')) as [
      { statusCode?: number; resume(): void },
    ]
    incoming.resume()
    if (incoming.statusCode === 403) return
  }
}

let good = true
try {
  const first = await start()
  const secret = await newKey()
  await known(first, secret)
  good = (await round('one server', [first], secret, rpm)) && good

  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  const again = await start()
  good = (await round('the same key after kill -9 and a new start', [again], secret, 0)) && good

  const second = await start()
  const shared = await newKey()
  for (const server of [again, second]) await known(server, shared)
  good = (await round('two servers on one data folder', [again, second], shared, rpm)) && good
} finally {
  for (const { child } of started) child.kill('SIGKILL')
  agent.destroy()
  upstream.close()
  rmSync(data, { recursive: true, force: true })
}
process.exitCode = good ? 0 : 1
