// What a proxied WebSocket frame costs, compared with nginx's plain proxy_pass and a plain TCP pipe
// in Node: CPU and delay per frame; then the memory of idle sockets with TLS to the provider.
// `--sockets N`, `--seconds N`, `--rounds N`, `--idle N`, `--only frames|idle`. Linux only: it
// reads /proc.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '../test/support/free-port.ts'
import { NODE_FLAGS } from '../test/support/node.ts'
import { certificateOf } from '../test/support/providers/certificate.ts'
import { listening, runNginx, startProgram, stopAll, type Contender } from './proxy/contenders.ts'
import { cpu, median } from './proxy/measure.ts'
import { makeSecrets } from './parts/secrets.ts'
import { startServer, type Server } from './parts/server.ts'

const { values: options } = parseArgs({
  options: {
    sockets: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '7' },
    idle: { type: 'string', default: '5000' },
    only: { type: 'string' },
  },
})
const [seconds, rounds] = [Number(options.seconds), Number(options.rounds)]
const folder = mkdtempSync(join(tmpdir(), 'tollmark-bench-'))
const here = join(import.meta.dirname, 'sockets')
const PATH = '/v1/realtime?model=gpt-realtime'
const ADDRESS = `/proxy/api.openai.com${PATH}`

/**
 * TABLE of bars: CPU as a multiple of nginx's, and additional milliseconds compared with nginx.
 */
const BARS = { cpu: 2, p50: 0.3, p99: 3 } as const
const MOST_IDLE_MB = 500
/** Warm-up rounds, which measure the compiler. */
const WARM_ROUNDS = 2

let missed = 0
const verdict = (holds: boolean): string => {
  if (!holds) missed++
  return holds ? '' : '  MISSED'
}

interface Found {
  readonly frames: number
  readonly p50: number
  readonly p99: number
}

/** Opens sockets through a contender. @returns its process and its output, once all are open */
async function startLoad({ port, path, headers }: Contender, sockets: string, time: string) {
  const args = [...NODE_FLAGS, join(here, 'load.ts'), String(port), sockets, time, path, ...headers]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const opened = await lines.next()
  if (opened.done === true) throw new Error('the load did not start')
  return { child, next: async () => JSON.parse(String((await lines.next()).value)) as Found }
}

const startNode = (file: string, ...args: string[]): ChildProcess =>
  startProgram(process.execPath, [...NODE_FLAGS, join(here, file), ...args])

async function startUpstream(...tls: string[]): Promise<number> {
  const port = await freePort()
  startNode('upstream.ts', String(port), ...tls)
  await listening(port)
  return port
}

async function startPipe(upstream: number): Promise<Contender> {
  const port = await freePort()
  const { pid = 0 } = startNode('pipe.ts', String(port), String(upstream))
  await listening(port)
  return { name: 'bare pipe', port, pid, path: PATH, headers: [] }
}

async function startNginx(upstream: number): Promise<Contender | null> {
  const nginx = await runNginx(
    folder,
    (port) =>
      `server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${upstream}; proxy_http_version 1.1;
    proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; proxy_read_timeout 1h; } }`,
  )
  return nginx && { name: 'nginx', ...nginx, path: PATH, headers: [] }
}

/** With a key restricted to models and a rate, so that each message is fully inspected. */
async function startOurs(
  name: string,
  upstream: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Contender & { readonly server: Server }> {
  const data = join(folder, name)
  const { key } = await makeSecrets(data, 'free', { models: ['gpt-*'], rpm: 1_000_000 })
  const server = await startServer({
    TOLLMARK_DATA: data,
    OPENAI_API_KEY: 'sk-bench',
    TOLLMARK_UPSTREAM_OPENAI: upstream,
    TOLLMARK_IDLE_TIMEOUT: '1h',
    ...env,
  })
  const { port, pid } = server
  const headers = [`Authorization: Bearer ${key}`]
  return { name: 'tollmark', port, pid, path: ADDRESS, headers, server }
}

/** CPU of each relayed frame and how late it comes back, in turns. */
async function frames(contenders: readonly Contender[]): Promise<void> {
  const all = new Map(
    contenders.map(({ name }) => [
      name,
      { cost: [] as number[], p50: [] as number[], p99: [] as number[] },
    ]),
  )
  for (let round = -WARM_ROUNDS; round < rounds; round++)
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const load = await startLoad(contender, options.sockets, options.seconds)
      const before = cpu(contender.pid)
      const { frames, p50, p99 } = await load.next()
      const used = cpu(contender.pid) - before
      await once(load.child, 'exit')
      if (round < 0) continue
      const mine = all.get(contender.name)!
      // Up, and back.
      mine.cost.push(used / (2 * frames))
      mine.p50.push(p50)
      mine.p99.push(p99)
    }
  console.log(
    `A frame of 20 ms of audio through ${options.sockets} sockets, 50 a second each way; median of ${rounds} × ${seconds} s`,
  )
  const ours = all.get('tollmark')!
  for (const [name, { cost, p50, p99 }] of all) {
    const ratio = median(cost.map((theirs, i) => ours.cost[i]! / theirs))
    const [later, latest] = [median(ours.p50) - median(p50), median(ours.p99) - median(p99)]
    const isBar = name === 'nginx'
    const holds = ratio <= BARS.cpu && later <= BARS.p50 && latest <= BARS.p99
    const compared =
      name === 'tollmark'
        ? ''
        : `  ours: ${ratio.toPrecision(3)} × CPU, ${later.toFixed(2)} ms later, ${latest.toFixed(2)} ms at p99${isBar ? verdict(holds) : ''}`
    console.log(
      `  ${name.padEnd(10)} ${median(cost).toFixed(1).padStart(6)} µs (${Math.min(...cost).toFixed(1)} to ${Math.max(...cost).toFixed(1)}), back after ${median(p50).toFixed(2)} ms, p99 ${median(p99).toFixed(2)} ms${compared}`,
    )
  }
}

/** Resident memory in MB. */
const memory = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

async function idle(): Promise<void> {
  const ends: (() => unknown)[] = []
  const { key, cert, file } = certificateOf({ after: (end) => ends.push(end) }, 'api.openai.com')
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  writeFileSync(keyFile, key)
  writeFileSync(certFile, cert)
  const upstream = await startUpstream(certFile, keyFile)
  const ours = await startOurs('idle', `https://127.0.0.1:${upstream}`, {
    NODE_EXTRA_CA_CERTS: file,
    TOLLMARK_MAX_OPEN: '100000',
  })
  const rest = memory(ours.pid)
  const load = await startLoad(ours, options.idle, '0')
  await sleep(5_000)
  const before = cpu(ours.pid)
  await sleep(5_000)
  const early = memory(ours.pid)
  const busy = (cpu(ours.pid) - before) / 5_000_000
  // V8 frees what the burst of opening them left behind once the server has been idle for a while.
  await sleep(20_000)
  const open = memory(ours.pid)
  load.child.kill('SIGKILL')
  ours.server.child.kill('SIGKILL')
  for (const end of ends) await end()
  console.log(
    `${options.idle} idle sockets with TLS to the provider: ${rest.toFixed(0)} MB before, ${early.toFixed(0)} MB 10 s after they were opened, ${open.toFixed(0)} MB after 30 s (at most ${MOST_IDLE_MB})${verdict(open <= MOST_IDLE_MB)}, ${(busy * 100).toFixed(1)} % of a processor`,
  )
}

try {
  if (options.only !== 'idle') {
    const upstream = await startUpstream()
    const rivals = [await startNginx(upstream), await startPipe(upstream)]
    const ours = await startOurs('data', `http://127.0.0.1:${upstream}`)
    await frames([...rivals.filter((one) => one !== null), ours])
    ours.server.child.kill('SIGKILL')
  }
  if (options.only !== 'frames') await idle()
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = missed > 0 ? 1 : 0
