// Kills a PostgreSQL primary under load, so that its synchronous standby takes over its address, or
// kills the standby, so that commits wait, again and again. Every request of a key without a limit
// must pass, everything that the provider received must be in the ledger once, and no window may be
// exceeded. Exits with 1 otherwise. `--rounds N`, `--processes N`, `--callers N` of each kind.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openStore } from '../server/store/open.ts'
import { auditStore } from '../test/chaos/audit.ts'
import { startUpstream } from '../test/chaos/upstream.ts'
import {
  query,
  startPostgres,
  startSynchronousStandby,
  type Server as Postgres,
} from '../test/support/postgres.ts'
import { MovingAddress } from './failover/address.ts'
import { Callers, createCallersKeys } from './parts/callers.ts'
import { startServer, stopServer } from './parts/server.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    processes: { type: 'string', default: '2' },
    callers: { type: 'string', default: '4' },
  },
})
/** Longest outage of the database, and the pause between two outages. */
const MAX_AWAY_MS = 6_000
const PAUSE_MS = 4_000

/** A primary and its standby. */
interface Pair {
  readonly primary: Postgres
  readonly standby: Postgres
  readonly address: MovingAddress
}

/** TABLE of outages of `away` milliseconds; each returns the primary afterwards. */
const LOSSES: Record<string, (pair: Pair, away: number) => Promise<Postgres>> = {
  'primary killed': async (pair, away) => {
    await pair.primary.stop()
    return takeOver(pair, away)
  },
  'primary silent': async (pair, away) => {
    pair.address.fallSilent()
    await pair.primary.stop()
    return takeOver(pair, away)
  },
  'standby silent': async ({ primary, standby }, away) => {
    standby.signal('SIGSTOP')
    await sleep(away)
    standby.signal('SIGCONT')
    await query(primary.url, 'alter system reset synchronous_standby_names')
    await query(primary.url, 'select pg_reload_conf()')
    await standby[Symbol.asyncDispose]()
    return primary
  },
}

async function takeOver({ primary, standby, address }: Pair, away: number): Promise<Postgres> {
  await sleep(away)
  await query(standby.url, 'select pg_promote()')
  address.moveTo(Number(standby.url.port))
  await primary[Symbol.asyncDispose]()
  return standby
}

process.setMaxListeners(0)
await using resources = new AsyncDisposableStack()
const data = mkdtempSync(join(tmpdir(), 'tollmark-failover-'))
resources.defer(() => rmSync(data, { recursive: true, force: true }))
let primary = await startPostgres({ fsync: 'off', wal_keep_size: '1GB' })
resources.defer(() => primary[Symbol.asyncDispose]())
const address = resources.use(await MovingAddress.open(Number(primary.url.port)))
const databaseUrl = new URL(primary.url)
databaseUrl.port = String(address.port)
const upstream = resources.use(await startUpstream())
const settings = {
  TOLLMARK_DATA: data,
  TOLLMARK_DATA_PERSISTENT: 'yes',
  DATABASE_URL: databaseUrl.href,
  TOLLMARK_ROLE: 'web',
  OPENAI_API_KEY: 'sk-bench',
  TOLLMARK_UPSTREAM_OPENAI: upstream.origin,
}

const keys = await createCallersKeys(settings)
const servers = await Promise.all(
  Array.from({ length: Number(values.processes) }, () => startServer(settings)),
)
const callers = new Callers(
  servers.map(({ port }) => port),
  keys,
  Number(values.callers),
)

const losses = Object.entries(LOSSES)
for (let round = 0; round < Number(values.rounds); round++) {
  callers.phase = `round ${round + 1}: a standby starts`
  const standby = await startSynchronousStandby(primary)
  await sleep(PAUSE_MS)
  const [how, lose] = losses[round % losses.length] ?? []
  const away = Math.round(Math.random() * MAX_AWAY_MS)
  callers.phase = `round ${round + 1}: ${how}, away for ${away} ms`
  if (lose !== undefined) primary = await lose({ primary, standby, address }, away)
}
await sleep(PAUSE_MS)
await callers.stop()
const codes = await Promise.all(servers.map((server) => stopServer(server)))
// The next start settles what was lost between the database and a process.
await stopServer(await startServer(settings))
await using store = await openStore({ data, databaseUrl, now: Date.now() })
const wrong = [
  ...codes.filter((code) => code !== 0).map((code) => `a process ended with ${code}`),
  ...(await auditStore(store, callers.told, upstream, { limited: keys.limited.id })),
]
const isGood = wrong.length === 0 && callers.failed === 0
console.log(
  `${isGood ? 'good ' : 'WRONG '} ${values.rounds} failovers: ${callers.requests} requests, ${callers.streams} streams, ${callers.failed} failed; ${callers.later} under a limit were told to come later; ${upstream.asked.size} are in the ledger`,
)
for (const [what, times] of callers.failures) console.log(`  ${times} × ${what}`)
for (const one of wrong.slice(0, 20)) console.log(`WRONG  ${one}`)
process.exitCode = isGood ? 0 : 1
