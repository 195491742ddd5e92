// Takes PostgreSQL away under load, kills every process with SIGKILL meanwhile, and one once more
// while the database returns. Everything that the provider received must be in the ledger once, no
// window may be exceeded, and the processes must recover by themselves. Exits with 1 otherwise.
// Prints a row for each round. `--seconds N` (of each outage), `--rounds N`, `--callers N` of
// each kind.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openStore } from '../server/store/open.ts'
import { auditStore } from '../test/chaos/audit.ts'
import { startUpstream } from '../test/chaos/upstream.ts'
import { freePort } from '../test/support/free-port.ts'
import { query, startPostgres, type Server as Postgres } from '../test/support/postgres.ts'
import { Callers, createCallersKeys } from './parts/callers.ts'
import { startServer, stopServer, type Server } from './parts/server.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '20' },
    callers: { type: 'string', default: '2' },
  },
})
const AWAY_MS = Number(values.seconds) * 1_000
/** Load before an outage and after it, and how long the processes may take to recover. */
const LOAD_MS = 2_000
const RECOVERY_MS = 60_000
/** A kill while the database returns comes at most so much later. */
const MAX_LATE_KILL_MS = 1_000

const ROLES = ['web', 'web', 'worker'] as const
/** TABLE of kills: at which part of an outage, and which process. */
const KILLS = [
  [0.3, 0],
  [0.5, 2],
  [0.8, 1],
] as const

/** TABLE of outages. */
const OUTAGES: Record<string, (postgres: Postgres) => readonly [go: Step, come: Step]> = {
  killed: (postgres) => [() => postgres.stop(), () => postgres.start()],
  silent: (postgres) => [() => postgres.signal('SIGSTOP'), () => postgres.signal('SIGCONT')],
}
type Step = () => Promise<void> | void

/** The processes of a round, each on its port for good. */
class Processes {
  readonly #settings: Readonly<Record<string, string>>
  readonly #servers: Server[]

  private constructor(settings: Readonly<Record<string, string>>, servers: Server[]) {
    this.#settings = settings
    this.#servers = servers
  }

  static async start(settings: Readonly<Record<string, string>>): Promise<Processes> {
    const servers = await Promise.all(
      ROLES.map(async (role) =>
        startServer({ ...settings, TOLLMARK_ROLE: role, PORT: String(await freePort()) }),
      ),
    )
    return new Processes(settings, servers)
  }

  /** The ports of those that answer requests. */
  get ports(): number[] {
    return this.#servers.filter((_, at) => ROLES[at] === 'web').map(({ port }) => port)
  }

  /** Kills a process and starts it again, as a supervisor does. */
  async kill(at: number): Promise<void> {
    const [role, server] = [ROLES[at], this.#servers[at]]
    if (role === undefined || server === undefined) return
    await stopServer(server, 'SIGKILL')
    this.#servers[at] = await startServer({
      ...this.#settings,
      TOLLMARK_ROLE: role,
      PORT: String(server.port),
    })
  }

  /** Whether each of them reaches its database and has written what it admitted without it. */
  async areWhole(): Promise<boolean> {
    const answers = await Promise.all(
      this.#servers.map(({ port }) =>
        fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) })
          .then((answer) => answer.json() as Promise<{ status?: string }>)
          .catch(() => null),
      ),
    )
    return answers.every((answer) => answer?.status === 'ok')
  }

  stop(): Promise<(number | null)[]> {
    return Promise.all(this.#servers.map((server) => stopServer(server)))
  }

  [Symbol.dispose](): void {
    for (const { child } of this.#servers) child.kill('SIGKILL')
  }
}

/** Takes the database away, and kills the processes meanwhile. */
async function away(go: Step, come: Step, processes: Processes): Promise<void> {
  const start = performance.now()
  await go()
  const kills = KILLS.map(async ([part, at]) => {
    await sleep(part * AWAY_MS)
    await processes.kill(at)
  })
  await sleep(Math.max(0, AWAY_MS - (performance.now() - start)))
  await come()
  await Promise.all(kills)
  await sleep(Math.random() * MAX_LATE_KILL_MS)
  await processes.kill(0)
}

/** What a round found. */
interface Round {
  readonly requests: number
  /** Requests that the provider received, and those of them that were admitted in the outage. */
  readonly received: number
  readonly inOutage: number
  /** Requests that failed, because a process was killed or admitted nothing. */
  readonly failed: number
  readonly recoveredMs: number
  readonly wrong: readonly string[]
}

async function runRound(how: string): Promise<Round> {
  await using resources = new AsyncDisposableStack()
  const data = mkdtempSync(join(tmpdir(), 'tollmark-outage-'))
  resources.defer(() => rmSync(data, { recursive: true, force: true }))
  const postgres = resources.use(await startPostgres({}))
  const upstream = resources.use(await startUpstream())
  const settings = {
    TOLLMARK_DATA: data,
    DATABASE_URL: postgres.url.href,
    OPENAI_API_KEY: 'sk-bench',
    TOLLMARK_UPSTREAM_OPENAI: upstream.origin,
  }
  const keys = await createCallersKeys(settings)
  const processes = resources.use(await Processes.start(settings))
  // A killed process breaks its requests off. The bar is the ledger.
  const callers = new Callers(processes.ports, keys, Number(values.callers), /^/)
  await sleep(LOAD_MS)
  const [go, come] = OUTAGES[how]?.(postgres) ?? []
  if (go === undefined || come === undefined) throw new Error(`there is no outage ${how}`)
  await away(go, come, processes)

  const wrong: string[] = []
  const start = performance.now()
  while (!(await processes.areWhole()))
    if (performance.now() - start > RECOVERY_MS) {
      wrong.push('the processes did not recover')
      break
    } else await sleep(100)
  const recoveredMs = Math.round(performance.now() - start)
  await sleep(LOAD_MS)
  await callers.stop()
  for (const code of await processes.stop())
    if (code !== 0) wrong.push(`a process ended with ${code}`)
  // The next start settles what a killed process left.
  await stopServer(await startServer({ ...settings, TOLLMARK_ROLE: 'web' }))
  await using store = await openStore({ data, databaseUrl: postgres.url, now: Date.now() })
  wrong.push(...(await auditStore(store, callers.told, upstream, { limited: keys.limited.id })))
  const [row] = (await query(
    postgres.url,
    'select count(*)::int as rows from requests where outage = 1',
  )) as { rows: number }[]
  return {
    requests: callers.requests + callers.streams,
    received: upstream.asked.size,
    inOutage: row?.rows ?? 0,
    failed: callers.expectedFailures,
    recoveredMs,
    wrong,
  }
}

process.setMaxListeners(0)
let wrongRounds = 0
console.log('round,seconds,database,requests,received,in_outage,failed,recovered_ms,wrong')
const hows = Object.keys(OUTAGES)
for (let round = 0; round < Number(values.rounds); round++) {
  const how = hows[round % hows.length] ?? ''
  const found = await runRound(how)
  if (found.wrong.length > 0) wrongRounds++
  const { requests, received, inOutage, failed, recoveredMs, wrong } = found
  const figures = [requests, received, inOutage, failed, recoveredMs, wrong.length]
  console.log([round + 1, values.seconds, how, ...figures].join(','))
  for (const sentence of wrong.slice(0, 20)) console.log(`WRONG  ${sentence}`)
}
process.exitCode = wrongRounds === 0 ? 0 : 1
