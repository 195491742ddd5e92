// What the whole gate costs, side by side with nginx's bare proxy_pass in one run: CPU of a request, CPU of an event and its delay,
// memory of open streams. Machines differ and are noisy: believe the ratios. `--seconds N`, `--rounds N`, `--only requests|events|memory`.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createToken } from '../server/accounts/tokens.ts'
import { createKey } from '../server/keys/keys.ts'
import { openStore } from '../server/store/open.ts'

const { values: options } = parseArgs({ options: { seconds: { type: 'string', default: '4' }, rounds: { type: 'string', default: '3' }, only: { type: 'string' } } })
const here = import.meta.dirname
const folder = mkdtempSync(join(tmpdir(), 'tollmark-bench-'))
const children: ChildProcess[] = []

/** A proxy under test: where it is called, and the processes whose CPU it uses. */
type Contender = { name: string; port: number; pids: number[]; path: string; secret: string; streamPath: string }

const node = (file: string, args: string[], env: Record<string, string> = {}): ChildProcess =>
  start(process.execPath, ['--conditions=tollmark', '--disable-warning=ExperimentalWarning', file, ...args], env)

function start(command: string, args: string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...env } })
  children.push(child)
  return child
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const socket = createConnection({ port, host: '127.0.0.1' })
    const reached = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)]).catch(() => false)
    socket.destroy()
    if (reached) return
    await sleep(50)
  }
  throw new Error(`nothing listens on port ${port}`)
}

/** User and system time of processes with all their threads, in microseconds. */
function cpu(pids: number[]): number {
  return pids.reduce((sum, pid) => {
    // Fields 14 and 15 of proc(5), counted from behind the command's name, which may hold spaces; in hundredths of a second.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return sum + (Number(fields[11]) + Number(fields[12])) * 10_000
  }, 0)
}

/** Resident memory in MB. */
function memory(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}

async function load(mode: string, { port, path, streamPath, secret }: Contender, connections: number, seconds: number): Promise<{ done: number; events: number; p50: number; p99: number }> {
  const args = [mode, String(port), String(connections), String(seconds), mode === 'events' ? streamPath : path, secret]
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(here, 'proxy/load.ts'), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()))
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error('the load ended with an error')
  return JSON.parse(text)
}

async function startNginx(upstream: number): Promise<Contender | null> {
  const found = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/local/bin/nginx'].find((path) => existsSync(path))
  if (found === undefined || spawnSync(found, ['-v']).status !== 0) return null
  const port = await freePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
  const config = join(folder, 'nginx.conf')
  writeFileSync(
    config,
    `worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log /dev/null crit; events { worker_connections 4096; }
http { access_log off; ${temporary} keepalive_requests 100000000;
  upstream u { server 127.0.0.1:${upstream}; keepalive 64; keepalive_requests 100000000; }
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://u; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; } } }`,
  )
  const master = start(found, ['-c', config, '-p', folder])
  await listening(port)
  const workers = readFileSync(`/proc/${master.pid}/task/${master.pid}/children`, 'utf8').trim().split(' ').map(Number)
  return { name: 'nginx', port, pids: workers, path: '/v1/chat/completions', streamPath: '/stream', secret: '' }
}

const through = (address: string) => `/proxy?url=${encodeURIComponent(address)}`

async function startOurs(upstream: number): Promise<Contender> {
  const data = join(folder, 'data')
  const now = Date.now()
  const store = await openStore({ data, databaseUrl: null, now })
  const { account } = await createToken(store, { name: null, plan: 'free' }, { name: 'bench', scopes: ['manage'], expiresAt: null }, now)
  const { secret } = await createKey(store, account.id, { name: 'bench', models: ['gpt-*'], rpm: 1_000_000, allowed_origins: null, expires_at: null }, now)
  await store.close()
  const port = await freePort()
  const child = node(join(here, '../packages/cli/src/main.ts'), ['serve'], {
    PORT: String(port), HOST: '127.0.0.1', TOLLMARK_DATA: data, LOG_LEVEL: 'warn', OPENAI_API_KEY: 'sk-bench', TOLLMARK_UPSTREAM_OPENAI: `http://127.0.0.1:${upstream}`,
    ...(process.env['BENCH_NODE_OPTIONS'] === undefined ? {} : { NODE_OPTIONS: process.env['BENCH_NODE_OPTIONS'] }),
  })
  await listening(port)
  return {
    name: 'tollmark', port, pids: [child.pid!], secret,
    path: through('https://api.openai.com/v1/chat/completions'), streamPath: through('https://api.openai.com/v1/chat/completions?x=/stream'),
  }
}

const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!
const seconds = Number(options.seconds)
const rounds = Number(options.rounds)
const wanted = (what: string) => options.only === undefined || options.only === what

try {
  const upstreamPort = await freePort()
  node(join(here, 'proxy/upstream.ts'), [String(upstreamPort), '20', '50'])
  await listening(upstreamPort)
  const nginx = await startNginx(upstreamPort)
  const ours = await startOurs(upstreamPort)
  const contenders = nginx === null ? [ours] : [nginx, ours]
  if (nginx === null) console.log('nginx is not installed: only our own figures.')

  for (const mode of ['requests', 'events'].filter(wanted)) {
    const connections = mode === 'requests' ? 32 : 200
    const costs = new Map<string, number[]>(contenders.map(({ name }) => [name, []]))
    // Until the compiler is through: before that the figures are about the compiler.
    for (const contender of contenders) await load(mode, contender, connections, 8)
    for (let round = 0; round < rounds; round++) {
      for (const contender of contenders) {
        const before = cpu(contender.pids)
        const { done, events, p50, p99 } = await load(mode, contender, connections, seconds)
        const cost = (cpu(contender.pids) - before) / (mode === 'requests' ? done : events)
        costs.get(contender.name)!.push(cost)
        const delays = mode === 'events' ? `, delay ${p50.toFixed(2)} ms median, ${p99.toFixed(2)} ms p99` : ''
        console.log(`${mode.padEnd(9)} ${contender.name.padEnd(9)} ${cost.toFixed(1).padStart(6)} µs CPU each, ${mode === 'requests' ? done : events} in ${seconds} s${delays}`)
      }
    }
    if (nginx !== null) console.log(`${mode.padEnd(9)} ratio of medians: ${(median(costs.get('tollmark')!) / median(costs.get('nginx')!)).toFixed(2)} × nginx`)
  }
  if (wanted('memory')) {
    const before = memory(ours.pids[0]!)
    const running = load('events', ours, 2_000, 8)
    await sleep(6_000)
    console.log(`memory    2,000 open streams: ${memory(ours.pids[0]!).toFixed(0)} MB resident (${before.toFixed(0)} MB before)`)
    await running
  }
} finally {
  for (const child of children) child.kill('SIGTERM')
  await Promise.all(children.map((child) => (child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null)))
  rmSync(folder, { recursive: true, force: true })
}
