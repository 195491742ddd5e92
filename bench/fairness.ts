// Runs each attack by one key, account or address at full volume (test/proxy/fairness/attacks.ts),
// and measures whether every request of another key or account succeeds, how much later its p99 is
// than at a second server on the same machine at the same time, which nobody attacks (the cost of
// sharing a process with the attacker), what the attacker gets, and the server's memory; also
// the longest turn of its event loop in CPU time, and the longest pause of the garbage collector.
// `--only TEXT`, `--seconds N`, `--many N` connections, `--megabytes N` of a body. Exits with 1 if
// a bar is missed. Linux only: it reads /proc.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { file, form, PAGE } from '../test/support/form.ts'
import { freePort } from '../test/support/free-port.ts'
import { ATTACKS } from '../test/proxy/fairness/attacks.ts'
import { SCENE_MODELS, type Attack, type Scene } from '../test/proxy/fairness/attack.ts'
import { NODE_FLAGS } from '../test/support/node.ts'
import { askProbe, PROBE_FLAGS } from './parts/probe-client.ts'
import { startServer } from './parts/server.ts'
import { makeKeys } from './parts/secrets.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    seconds: { type: 'string', default: '8' },
    many: { type: 'string', default: '1000' },
    megabytes: { type: 'string', default: '60' },
  },
})
const MOST_LATER_MS = 10
/** Most resident memory of the server: 512 MB of buffered bodies, and itself. */
const MOST_MB = 1_200
const PACE_MS = 10
const MB = 1024 * 1024
const CHAT = `/proxy?url=${encodeURIComponent('https://api.openai.com/v1/chat/completions')}`
const BODY = Buffer.from(
  JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'x'.repeat(900) }] }),
)

const folder = mkdtempSync(join(tmpdir(), 'tollmark-fairness-'))
const upstream = await freePort()
// Endless streams with an event each millisecond.
const provider = fork(
  join(import.meta.dirname, 'proxy/upstream.ts'),
  [String(upstream), '1', '1000000000'],
  { execArgv: NODE_FLAGS },
)
const settings = {
  OPENAI_API_KEY: 'sk-bench',
  XAI_API_KEY: 'sk-bench',
  TOLLMARK_UPSTREAM_OPENAI: `http://127.0.0.1:${upstream}`,
  TOLLMARK_UPSTREAM_XAI: `http://127.0.0.1:${upstream}`,
  TOLLMARK_MAX_CONNECTIONS_PER_ADDRESS: '5000',
  TOLLMARK_PLANS: '{"attacker":{"conversions_per_day":null},"other":{"conversions_per_day":null}}',
}
const probe = join(folder, 'probe')
const attacked = join(folder, 'attacked')
const { port, pid, child } = await startServer(
  { ...settings, BENCH_PROBE: probe, TOLLMARK_DATA: attacked },
  PROBE_FLAGS,
)
// The control, which nobody attacks: shows what a busy machine does to the same requests.
const unattacked = join(folder, 'control')
const control = await startServer({ ...settings, TOLLMARK_DATA: unattacked })
const models = [...SCENE_MODELS]
const attacker = await makeKeys(attacked, 'attacker', [{ models }, { models, rpm: 1 }])
const other = await makeKeys(attacked, 'other', [{ models }])
const [controlKey] = (await makeKeys(unattacked, 'other', [{ models }])).keys
const scene: Scene = {
  port,
  key: attacker.keys[0]!.secret,
  usedUp: attacker.keys[1]!.secret,
  token: attacker.token,
  many: Number(values.many),
  body: Number(values.megabytes) * MB,
}

const agent = new Agent({ keepAlive: true })
const upload = form(file('page.html', PAGE))

/** Who sends requests: the others, or the control. */
type Asking = Attack['others'] | 'control'

/** One request: its status, and how long it took in milliseconds. */
function ask(kind: Asking): Promise<{ status: number; took: number }> {
  const [path, body, headers] =
    kind !== 'convert'
      ? [
          CHAT,
          BODY,
          {
            authorization: `Bearer ${(kind === 'control' ? controlKey : other.keys[0])!.secret}`,
            'content-type': 'application/json',
          },
        ]
      : [
          '/api/v1/convert',
          upload.body,
          { authorization: `Bearer ${other.token}`, 'content-type': upload.contentType },
        ]
  return new Promise((resolve) => {
    const began = performance.now()
    const end = (status: number): void => resolve({ status, took: performance.now() - began })
    const outgoing = request(
      {
        port: kind === 'control' ? control.port : port,
        host: '127.0.0.1',
        path,
        method: 'POST',
        agent,
        headers: { ...headers, 'content-length': body.length },
      },
      (incoming) => {
        incoming.resume().on('end', () => end(incoming.statusCode ?? 0))
      },
    )
    outgoing.on('error', () => end(0)).setTimeout(20_000, () => outgoing.destroy())
    outgoing.end(body)
  })
}

interface Asked {
  failed: number
  all: number
  p99: number
}

/**
 * Sends requests for some seconds, one every few milliseconds. @returns the number of failures, and
 * the p99
 */
async function others(kind: Asking, seconds: number): Promise<Asked> {
  const until = performance.now() + seconds * 1000
  const asked: ReturnType<typeof ask>[] = []
  while (performance.now() < until) {
    asked.push(ask(kind))
    await sleep(kind === 'convert' ? 500 : PACE_MS)
  }
  const responses = await Promise.all(asked)
  const times = responses.map(({ took }) => took).sort((a, b) => a - b)
  return {
    failed: responses.filter(({ status }) => status !== 200).length,
    all: responses.length,
    p99: times[Math.floor(times.length * 0.99)] ?? 0,
  }
}

/** The same with the control at the same time; conversions have none. */
function both(kind: Attack['others'], seconds: number): Promise<[Asked, Asked]> {
  return Promise.all([others(kind, seconds), others('control', seconds)])
}

const memory = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

let missed = 0
try {
  await sleep(1_500)
  await Promise.all([others('proxy', 2), others('convert', 2)])
  console.log(
    `${'attack'.padEnd(62)}${'failed'.padStart(7)}${'of'.padStart(6)}${'p99'.padStart(8)}${'before'.padStart(8)}${'control'.padStart(8)}${'before'.padStart(8)}${'later'.padStart(8)}${'turn'.padStart(8)}${'gc max'.padStart(8)}${'RSS MB'.padStart(8)}  missed; the attacker got`,
  )
  for (const attack of ATTACKS.filter(
    ({ name }) => values.only === undefined || name.includes(values.only),
  )) {
    const [before, calm] = await both(attack.others, 3)
    await askProbe(probe)
    let largest = 0
    const watching = setInterval(() => (largest = Math.max(largest, memory())), 100)
    const attacker = fork(
      join(import.meta.dirname, 'fairness/attacker.ts'),
      [attack.name, JSON.stringify(scene)],
      { execArgv: NODE_FLAGS },
    )
    await once(attacker, 'message')
    await sleep(500)
    const [during, busy] = await both(attack.others, Number(values.seconds))
    clearInterval(watching)
    const { turn, pause } = await askProbe(probe)
    attacker.send('stop')
    const [given] = (await once(attacker, 'message')) as [Record<string, number>]
    attacker.kill('SIGKILL')
    // The control gets the same requests, but no conversions.
    const later =
      attack.others === 'proxy'
        ? during.p99 - busy.p99
        : during.p99 - before.p99 - Math.max(0, busy.p99 - calm.p99)
    const misses = [
      during.failed > 0 ? 'FAILED' : '',
      later > MOST_LATER_MS ? 'LATE' : '',
      largest > MOST_MB ? 'MEMORY' : '',
    ].filter((word) => word !== '')
    if (misses.length > 0) missed++
    const responses = Object.entries(given)
      .map(([status, count]) => `${count} × ${status}`)
      .join(', ')
    const columns = [
      String(during.failed).padStart(7),
      String(during.all).padStart(6),
      during.p99.toFixed(1).padStart(8),
      before.p99.toFixed(1).padStart(8),
      busy.p99.toFixed(1).padStart(8),
      calm.p99.toFixed(1).padStart(8),
      later.toFixed(1).padStart(8),
      turn.toFixed(1).padStart(8),
      pause.toFixed(1).padStart(8),
      largest.toFixed(0).padStart(8),
    ]
    console.log(
      `${attack.name.padEnd(62)}${columns.join('')}  ${misses.join(' ').padEnd(18)} ${responses}`,
    )
    await sleep(1_500)
  }
} finally {
  child.kill('SIGKILL')
  provider.kill('SIGKILL')
  control.child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
process.exit(missed > 0 ? 1 : 0)
