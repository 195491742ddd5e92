// How long other streams stall during an attack by one key, account or stranger. For each attack
// (bench/gaps/troubles.ts): the longest gap in another key's stream, minus the longest in a control
// stream through a process that only relays, and the longest turn of the server's event loop in CPU
// time, without garbage collection. Medians of the rounds. `--only TEXT` (part of a kind's name),
// `--rounds N`, `--seconds N`, `--every MS` between events, `--rows N` in the ledger, `--slices`
// (also measures the longest callback, which slows the server down), `--profile FOLDER` (a CPU
// profile of the server). Exits with 1 if a bar is missed. Linux only.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '../test/support/free-port.ts'
import { SCENE_MODELS } from '../test/proxy/fairness/attack.ts'
import { NODE_FLAGS } from '../test/support/node.ts'
import type { Gaps } from './gaps/monitor.ts'
import type { Probed } from './gaps/probe.ts'
import { TROUBLES, type Situation } from './gaps/troubles.ts'
import { askProbe, PROBE_FLAGS } from './parts/probe-client.ts'
import { fillLedger } from './parts/rows.ts'
import { makeKeys } from './parts/secrets.ts'
import { HEAP_FLAGS, startServer } from './parts/server.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    every: { type: 'string', default: '5' },
    rows: { type: 'string', default: '100000' },
    slices: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
})
const MOST_GAP_MS = 20
/** A slice of 1 ms, and the rest of the turn. */
const MOST_TURN_MS = 5
const MOST_SLICE_MS = 1
/** So that the reported pauses include all marking. */
const WHOLE_PAUSES = ['--no-incremental-marking']
/** How much longer than planned an attack may take before it is stopped. */
const PATIENCE_MS = 60_000
const here = join(import.meta.dirname, 'gaps')
const folder = mkdtempSync(join(tmpdir(), 'tollmark-gaps-'))
const children: ChildProcess[] = []

/** Runs a part until the bench ends. */
function part(file: string, args: readonly string[], flags: readonly string[] = []): ChildProcess {
  const child = fork(file, args, { execArgv: [...NODE_FLAGS, ...flags] })
  children.push(child)
  return child
}

/** The next message of a part; rejects if it ends instead. */
async function said<T>(child: ChildProcess, most = PATIENCE_MS): Promise<T> {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(new Error('a part of the bench says nothing')), most)
  const { signal } = over
  try {
    const ended = once(child, 'exit', { signal }).then(() =>
      Promise.reject(new Error('a part of the bench has ended')),
    )
    return await Promise.race([
      once(child, 'message', { signal }).then(([what]) => what as T),
      ended,
    ])
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}

/** Resolves when something listens there. */
async function listening(port: number): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; ; await sleep(50)) {
    const socket = connect({ port, host: '127.0.0.1' })
    const error = await once(socket, 'connect').then(
      () => null,
      (error: unknown) => error,
    )
    socket.destroy()
    if (error === null) return
    if (performance.now() > until) throw error
  }
}

/** A provider of endless streams with an event every few milliseconds. */
async function startProvider(): Promise<number> {
  const port = await freePort()
  part(join(import.meta.dirname, 'proxy/upstream.ts'), [String(port), values.every, '1000000000'])
  await listening(port)
  return port
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

type Round = { gaps: Gaps; probed: Probed; responses: Record<string, number> }

async function round(
  name: string,
  situation: Situation,
  monitor: ChildProcess,
  probe: string,
): Promise<Round> {
  const attacker = part(
    join(here, 'attacker.ts'),
    [name, JSON.stringify(situation)],
    ['--max-old-space-size=2000'],
  )
  await said(attacker)
  await askProbe(probe)
  monitor.send('begin')
  attacker.send('go')
  const responses = await said<Record<string, number>>(
    attacker,
    situation.seconds * 1000 + PATIENCE_MS,
  )
  monitor.send('end')
  const gaps = await said<Gaps>(monitor)
  const probed = await askProbe(probe)
  attacker.kill('SIGKILL')
  await sleep(500)
  return { gaps, probed, responses }
}

let missed = 0

function report(name: string, rounds: readonly Round[]): void {
  const over = median(rounds.map(({ gaps }) => gaps.proxied - gaps.control))
  // The minimum of the rounds: a callback that is long only in some rounds was delayed by the
  // machine.
  const slice = Math.min(...rounds.map(({ probed }) => probed.slice))
  const of = (what: 'turn' | 'stall' | 'pause' | 'paused'): number =>
    median(rounds.map(({ probed }) => probed[what]))
  const misses = [
    over > MOST_GAP_MS ? 'GAP' : '',
    of('turn') > MOST_TURN_MS ? 'TURN' : '',
    slice > MOST_SLICE_MS ? 'SLICE' : '',
  ].filter((word) => word !== '')
  if (misses.length > 0) missed++
  const columns = [
    over,
    median(rounds.map(({ gaps }) => gaps.proxied)),
    median(rounds.map(({ gaps }) => gaps.control)),
    of('turn'),
    of('stall'),
    slice,
    of('pause'),
    of('paused'),
  ]
  const responses = Object.entries(rounds.at(-1)!.responses).map(
    ([what, count]) => `${count} × ${what}`,
  )
  const long = values.slices ? longSlices(rounds) : ''
  console.log(
    `${name.padEnd(38)}${columns.map((ms) => ms.toFixed(1).padStart(9)).join('')}  ${misses.join(' ').padEnd(10)} ${responses.join(', ')}${long}`,
  )
}

/** The kinds of callbacks that took more than a millisecond, and how many per round. */
function longSlices(rounds: readonly Round[]): string {
  const counts = new Map<string, number[]>()
  rounds.forEach(({ probed }, i) => {
    for (const [kind, count] of Object.entries(probed.long))
      counts.set(kind, Object.assign(counts.get(kind) ?? rounds.map(() => 0), { [i]: count }))
  })
  const all = median(rounds.map(({ probed }) => probed.slices))
  return [...counts]
    .map(
      ([kind, each]) =>
        `\n${''.padEnd(38)}long: ${kind}, ${median(each)} of ${all} callbacks in a round`,
    )
    .join('')
}

try {
  const [watched, sink] = [await startProvider(), await startProvider()]
  const data = join(folder, 'data')
  const probe = join(folder, 'probe')
  const profile =
    values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`]
  const server = await startServer(
    {
      TOLLMARK_DATA: data,
      BENCH_PROBE: probe,
      BENCH_SLICES: values.slices ? '1' : '0',
      TOLLMARK_PLANS: '{"bench":{"conversions_per_day":null}}',
      OPENAI_API_KEY: 'sk-bench',
      MISTRAL_API_KEY: 'sk-bench',
      XAI_API_KEY: 'sk-bench',
      TOLLMARK_UPSTREAM_OPENAI: `http://127.0.0.1:${sink}`,
      TOLLMARK_UPSTREAM_XAI: `http://127.0.0.1:${sink}`,
      TOLLMARK_UPSTREAM_MISTRAL: `http://127.0.0.1:${watched}`,
    },
    [...PROBE_FLAGS, ...(values.slices ? WHOLE_PAUSES : []), ...profile],
  )
  children.push(server.child)
  const {
    keys: [streaming],
  } = await makeKeys(data, 'watched', [{}])
  const {
    keys: [scoped, open, limited, busy],
    account,
    token,
  } = await makeKeys(data, 'bench', [
    { models: [...SCENE_MODELS] },
    {},
    { rpm: 1 },
    { rpm: 100_000 },
  ])
  fillLedger(join(data, 'tollmark.db'), [account], Number(values.rows), Date.now())
  await sleep(2_000)
  const situation: Situation = {
    port: server.port,
    data,
    seconds: Number(values.seconds),
    token,
    scoped: scoped!.secret,
    open: open!.secret,
    limited: limited!.secret,
    busy: { secret: busy!.secret, id: busy!.id, account },
  }
  const control = await freePort()
  part(join(import.meta.dirname, 'proxy/relay.ts'), [String(control), String(watched)], HEAP_FLAGS)
  await listening(control)
  const path = `/proxy?url=${encodeURIComponent('https://api.mistral.ai/v1/chat/completions')}`
  const monitor = part(join(here, 'monitor.ts'), [
    String(server.port),
    path,
    streaming!.secret,
    String(control),
  ])
  await said(monitor)

  console.log(
    `milliseconds, median of ${values.rounds} rounds of ${values.seconds} s; bars: gap over control ${MOST_GAP_MS}, turn ${MOST_TURN_MS}, slice ${MOST_SLICE_MS}`,
  )
  console.log(
    `${'trouble'.padEnd(38)}${['over', 'proxied', 'control', 'turn', 'stall', 'slice', 'gc max', 'gc all'].map((title) => title.padStart(9)).join('')}  missed     responses of the last round`,
  )
  for (const name of Object.keys(TROUBLES).filter(
    (name) => values.only === undefined || name.includes(values.only),
  )) {
    const rounds: Round[] = []
    for (let i = 0; i < Number(values.rounds); i++)
      rounds.push(await round(name, situation, monitor, probe))
    report(name, rounds)
  }
  monitor.kill('SIGKILL')
  server.child.kill('SIGTERM')
  await once(server.child, 'exit')
} finally {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
process.exit(missed > 0 ? 1 : 0)
