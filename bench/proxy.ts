// What the proxy costs, compared in one run with nginx's plain proxy_pass, Caddy's plain
// reverse_proxy and the Portkey gateway: CPU per request and per event, the delay of an event,
// memory of open streams, and the effect of two conversions of 50 MB on proxied requests. Machines
// differ and are noisy: trust the ratios, each a median over the rounds. `--seconds N`, `--rounds
// N`, `--only requests|large|events|memory|isolation`. Linux only: it reads /proc.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { noise } from '../test/support/archives/bombs.ts'
import { pageHtml } from '../test/support/archives/pages.ts'
import { many } from '../test/support/archives/shapes.ts'
import { archive } from '../test/support/archives/writer.ts'
import { file, form } from '../test/support/form.ts'
import { responseOf, start } from '../test/support/request.ts'
import {
  startCaddy,
  startNginx,
  startOurs,
  startPortkeys,
  startRelay,
  startUpstream,
  stopAll,
  streams,
  type Contender,
  type Ours,
} from './proxy/contenders.ts'
import { cpu, load, median, MODES, RUN_IN_SECONDS, type Mode } from './proxy/measure.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '21' },
    only: { type: 'string' },
  },
})
const seconds = Number(options.seconds)
const rounds = Number(options.rounds)
const wanted = (what: string): boolean => options.only === undefined || options.only === what
const folder = mkdtempSync(join(tmpdir(), 'tollmark-bench-'))
const MB = 1024 * 1024

/** Our goal for a large request, besides the bars: its cost as a multiple of nginx's. */
const GOAL_OF_NGINX = 1.5

/** TABLE of bars: what is measured, the competitor, and the largest allowed ratio. */
const BARS: readonly [what: Mode, of: string, most: number][] = [
  ['large', 'bare relay', 1.25],
  ['requests', 'nginx', 5],
  ['requests', 'caddy', 1],
  ['requests', 'portkey', 1 / 7],
  ['events', 'nginx', 4],
  ['events', 'portkey', 1 / 2.5],
]
const MOST_DELAY_MS = 1
const MOST_STREAMS_MB = 300
const MOST_ISOLATION_MS = 5
/** Many rounds, because a p99 depends on the machine's few worst moments. */
const ISOLATION_ROUNDS = 9

/** Resident memory in MB. */
function memory(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}

/** @param numbers sorted */
const p99 = (numbers: number[]): number => numbers[Math.floor(numbers.length * 0.99)]!

let missed = 0
const verdict = (holds: boolean): string => {
  if (!holds) missed++
  return holds ? '' : '  MISSED'
}

/** CPU per request or event, in turns, so that noise affects all alike. */
async function costs(mode: Mode, contenders: Contender[]): Promise<void> {
  const { connections, warm, name: what } = MODES[mode]
  const all = new Map(
    contenders.map(({ name }) => [
      name,
      { cost: [] as number[], p50: [] as number[], p99: [] as number[] },
    ]),
  )
  // Warm up by a number of requests, after which the compiler is done.
  for (const contender of contenders) await load(mode, contender, connections, ...warm).found
  for (let round = 0; round < rounds; round++) {
    // Alternate the order, so that none always follows one that leaves the machine hot.
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      await load(mode, contender, connections, RUN_IN_SECONDS).found
      const before = cpu(contender.pid)
      const { done, events, p50, p99 } = await load(mode, contender, connections, seconds).found
      const mine = all.get(contender.name)!
      mine.cost.push((cpu(contender.pid) - before) / (mode === 'events' ? events : done))
      mine.p50.push(p50)
      mine.p99.push(p99)
    }
  }
  const ours = all.get('tollmark')!.cost
  console.log(`\nCPU of ${what}, median of ${rounds} × ${seconds} s`)
  for (const [name, { cost, p50, p99 }] of all) {
    const most = BARS.find(([measured, of]) => measured === mode && of === name)?.[2]
    const ratio = median(cost.map((theirs, round) => ours[round]! / theirs))
    const delay =
      mode === 'events'
        ? `  late by ${median(p50).toFixed(2)} ms median, ${median(p99).toFixed(2)} ms p99`
        : ''
    const bar =
      name === 'tollmark'
        ? ''
        : `  ours is ${ratio.toPrecision(3)} ×${most === undefined ? '' : ` (at most ${most.toPrecision(3)} ×)${verdict(ratio <= most)}`}`
    console.log(
      `  ${name.padEnd(17)} ${median(cost).toFixed(1).padStart(7)} µs (${Math.min(...cost).toFixed(1)} to ${Math.max(...cost).toFixed(1)})${delay}${bar}`,
    )
  }
  if (mode === 'large' && all.has('nginx')) console.log(`  the goal is ${GOAL_OF_NGINX} × nginx`)
  if (mode !== 'events') return
  const added =
    median(all.get('tollmark')!.p50) - (all.has('nginx') ? median(all.get('nginx')!.p50) : 0)
  console.log(
    `  an event is ${added.toFixed(2)} ms later than through ${all.has('nginx') ? 'nginx' : 'nothing'} (at most ${MOST_DELAY_MS} ms)${verdict(added <= MOST_DELAY_MS)}`,
  )
}

/** With its own provider of short streams, because this measures the cost of large bodies. */
async function costsOfLarge(): Promise<void> {
  const upstream = await startUpstream(5, 20)
  mkdirSync(join(folder, 'large'))
  const rivals = [
    await startNginx(join(folder, 'large'), upstream),
    await startCaddy(join(folder, 'large'), upstream),
    ...(await startPortkeys(upstream)),
  ].filter((one) => one !== null)
  await costs('large', [
    ...rivals,
    await startRelay(upstream),
    await startOurs(join(folder, 'large'), upstream),
  ])
}

async function openStreams(contenders: Contender[]): Promise<void> {
  console.log('\nMemory, resident: at rest, and with 2,000 open streams')
  for (const contender of contenders) {
    const before = memory(contender.pid)
    const running = load('events', contender, 2_000, 6)
    await sleep(5_000)
    const open = memory(contender.pid)
    await running.found.catch(() => {})
    console.log(
      `  ${contender.name.padEnd(17)} ${before.toFixed(0).padStart(5)} MB ${open.toFixed(0).padStart(5)} MB${contender.name === 'tollmark' ? ` (under ${MOST_STREAMS_MB} MB)${verdict(open < MOST_STREAMS_MB)}` : ''}`,
    )
  }
}

/** The p99 of proxied requests, at rest and while two exports are converted. */
async function isolation(ours: Ours): Promise<void> {
  const pages = (count: number) =>
    many(count, (i) => ({
      name: `Page ${i}.html`,
      data: pageHtml(
        `Page ${i}`,
        `<p>${noise(MB / 2).toString('hex')}</p>`.replaceAll(/[0-9a-f]{600}/g, '$&</p><p>'),
      ),
    }))
  const exportOf = (count: number) => form(file('Export.zip', Buffer.from(archive(pages(count)))))
  const upload = exportOf(88)
  // One load for both figures, after a warm-up conversion.
  const paced = load('paced', ours, 16, 600)
  await convert(ours, exportOf(12))
  await sleep(3_000)
  const moments: { rest: number; begun: number; ended: number }[] = []
  for (let round = 0; round < ISOLATION_ROUNDS; round++) {
    const rest = Date.now()
    await sleep(6_000)
    const begun = Date.now()
    await Promise.all([convert(ours, upload), convert(ours, upload)])
    moments.push({ rest, begun, ended: Date.now() })
    await sleep(2_000)
  }
  paced.child.kill('SIGTERM')
  const { responses } = await paced.found
  const p99Between = (from: number, to: number) =>
    p99(
      responses
        .filter(([at]) => at >= from && at < to)
        .map(([, delay]) => delay)
        .toSorted((a, b) => a - b),
    )
  console.log(
    `\nIsolation: p99 of proxied requests at rest, and while two exports of ${(upload.body.length / MB).toFixed(0)} MB are converted`,
  )
  const later = moments.map(({ rest, begun, ended }) => {
    const [idle, busy] = [p99Between(rest, begun), p99Between(begun, ended)]
    console.log(`  ${idle.toFixed(1).padStart(6)} ms ${busy.toFixed(1).padStart(6)} ms`)
    return busy - idle
  })
  console.log(
    `  ${median(later).toFixed(1)} ms more in the middle (at most ${MOST_ISOLATION_MS} ms)${verdict(median(later) <= MOST_ISOLATION_MS)}`,
  )
}

/** Converts an export to its end, directly or as a job. */
async function convert(
  { port, token }: Ours,
  { contentType, body }: ReturnType<typeof form>,
): Promise<void> {
  const url = `http://127.0.0.1:${port}`
  const outgoing = start(url, '/api/v1/convert', {
    token,
    headers: { 'content-type': contentType, 'content-length': body.length },
  })
  outgoing.end(body)
  const { status, headers, text } = await responseOf(outgoing)
  if (status === 200) return
  if (status !== 202 || headers.location === undefined)
    throw new Error(`the export was not taken: ${text.slice(0, 200)}`)
  for (;;) {
    const asking = start(url, headers.location, { method: 'GET', token })
    asking.end()
    const job = (await responseOf(asking)).json<{ status: string }>()
    if (job.status === 'failed') throw new Error('the conversion failed')
    if (job.status !== 'queued' && job.status !== 'running') return
    await sleep(50)
  }
}

try {
  const upstream = await startUpstream()
  const ours = await startOurs(folder, upstream)
  const rivals =
    options.only === 'isolation' || options.only === 'large'
      ? []
      : [
          await startNginx(folder, upstream),
          await startCaddy(folder, upstream),
          ...(await startPortkeys(upstream)),
        ]
  const contenders = [...rivals.filter((one) => one !== null), ours]
  console.log(
    `contenders: ${contenders.map(({ name }) => name).join(', ')}; Node ${process.versions.node}`,
  )
  if (wanted('requests')) await costs('requests', contenders)
  if (wanted('large')) await costsOfLarge()
  const streaming: Contender[] = []
  for (const contender of contenders) {
    if (await streams(contender)) streaming.push(contender)
    else
      console.log(
        `\n${contender.name} fails on a streamed response: it takes no part in what follows.`,
      )
  }
  if (wanted('events')) await costs('events', streaming)
  if (wanted('memory')) await openStreams(streaming)
  if (wanted('isolation')) await isolation(ours)
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = missed > 0 ? 1 : 0
