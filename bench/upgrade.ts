// Upgrades under load from an older revision to this tree:
// `npm run bench -- upgrade --from REV`. On PostgreSQL it replaces one process after the
// other, so that older and newer ones run together, also while the ledger gets new partitions: no
// request may fail. On SQLite it stops the one process and starts the newer one: requests may fail
// only while nothing listens. Afterwards everything that the provider received must be in the
// ledger once, and `verify` must succeed. Exits with 1 otherwise. `--rounds N`, `--processes N`,
// `--callers N` of each kind. The older revision runs with this tree's dependencies.
import { execFileSync } from 'node:child_process'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { DAY } from '../server/common/clock.ts'
import { beginPartition } from '../server/ledger/retention/partitions.ts'
import { openStore } from '../server/store/open.ts'
import { auditStore } from '../test/chaos/audit.ts'
import { startUpstream } from '../test/chaos/upstream.ts'
import { freePort } from '../test/support/free-port.ts'
import { query, startPostgres } from '../test/support/postgres.ts'
import { Callers, createCallersKeys } from './parts/callers.ts'
import { startServer, stopServer, type Server } from './parts/server.ts'

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: 'HEAD' },
    rounds: { type: 'string', default: '1' },
    processes: { type: 'string', default: '2' },
    callers: { type: 'string', default: '4' },
  },
})
const TREE = join(import.meta.dirname, '..')
/** Shortest time for which older and newer processes run together. */
const BESIDE_MS = 4_000
/**
 * Errors that callers may see while nothing listens, or when an idle connection closes under a
 * request.
 */
const NOBODY_LISTENS = /^(connect ECONNREFUSED|socket hang up|read ECONNRESET)/

process.setMaxListeners(0)
await using resources = new AsyncDisposableStack()
const folder = mkdtempSync(join(tmpdir(), 'tollmark-upgrade-'))
resources.defer(() => rmSync(folder, { recursive: true, force: true }))
const older = checkOut(values.from)

/** Checks out an older revision. @returns its command line */
function checkOut(revision: string): string {
  const tree = join(folder, 'older')
  const git = (...args: string[]): void =>
    void execFileSync('git', args, { cwd: TREE, stdio: ['ignore', 'ignore', 'inherit'] })
  git('worktree', 'add', '--detach', tree, revision)
  resources.defer(() => git('worktree', 'remove', '--force', tree))
  linkPackages(join(TREE, 'node_modules'), join(tree, 'node_modules'))
  return join(tree, 'server', 'cli', 'main.ts')
}

/** Links the same packages, except workspaces, which are that tree's own. */
function linkPackages(from: string, to: string): void {
  mkdirSync(to)
  for (const name of readdirSync(from)) {
    const source = join(from, name)
    if (name.startsWith('@')) linkPackages(source, join(to, name))
    else if (lstatSync(source).isSymbolicLink()) symlinkSync(readlinkSync(source), join(to, name))
    else symlinkSync(source, join(to, name))
  }
}

/** Replaces a process with this tree's. */
async function replace(server: Server, settings: Record<string, string>): Promise<Server> {
  const code = await stopServer(server, 'SIGTERM')
  if (code !== 0) throw new Error(`a process ended with ${code}`)
  return startServer({ ...settings, PORT: String(server.port) })
}

/** Begins partitions as on four days after the upgrade, with a retention of days. */
async function beginPartitions(databaseUrl: URL, data: string): Promise<void> {
  await using store = await openStore({ data, databaseUrl, now: Date.now() })
  await query(databaseUrl, 'update migrations set applied_at = 0')
  for (const day of [-3, -2, -1, 0]) {
    await beginPartition(store, Date.now() + day * DAY, DAY)
    await sleep(BESIDE_MS / 4)
  }
}

/** Runs one upgrade. @returns its faults */
async function upgrade(databaseUrl: URL | null, processes: number): Promise<string[]> {
  await using upstream = await startUpstream()
  const data = mkdtempSync(join(folder, 'data-'))
  const settings = {
    TOLLMARK_DATA: data,
    TOLLMARK_DATA_PERSISTENT: 'yes',
    ...(databaseUrl && { DATABASE_URL: databaseUrl.href, TOLLMARK_ROLE: 'web' }),
    OPENAI_API_KEY: 'sk-bench',
    TOLLMARK_UPSTREAM_OPENAI: upstream.origin,
  }
  const keys = await createCallersKeys(settings, older)
  const servers = await Promise.all(
    Array.from({ length: processes }, async () =>
      startServer({ ...settings, PORT: String(await freePort()) }, [], older),
    ),
  )
  const callers = new Callers(
    servers.map(({ port }) => port),
    keys,
    Number(values.callers),
    databaseUrl === null ? NOBODY_LISTENS : null,
  )
  await sleep(BESIDE_MS)
  for (const [at, server] of servers.entries()) {
    callers.phase = `process ${at + 1} of ${processes} is replaced`
    servers[at] = await replace(server, settings)
    while (!callers.isReady(server.port)) await sleep(50)
    callers.phase = `${at + 1} of ${processes} are newer`
    if (databaseUrl !== null && at === 0) await beginPartitions(databaseUrl, data)
    await sleep(BESIDE_MS)
  }
  await callers.stop()
  for (const server of servers) await stopServer(server)
  await using store = await openStore({ data, databaseUrl, now: Date.now() })
  const counts = [callers.requests, callers.streams, callers.failed, callers.expectedFailures]
  console.log(
    `${databaseUrl === null ? 'SQLite    ' : 'PostgreSQL'}${counts.map((one) => String(one).padStart(10)).join('')}${String(upstream.asked.size).padStart(15)}`,
  )
  return [
    ...[...callers.failures].map(([what, times]) => `${times} × ${what}`),
    ...(await auditStore(store, callers.told, upstream, { limited: keys.limited.id })),
  ]
}

console.log('store       requests   streams    failed   refused  in the ledger')
const wrong: string[] = []
for (let round = 0; round < Number(values.rounds); round++) {
  const postgres = await startPostgres()
  wrong.push(...(await upgrade(postgres.url, Number(values.processes))))
  await postgres[Symbol.asyncDispose]()
  wrong.push(...(await upgrade(null, 1)))
}
for (const one of wrong.slice(0, 20)) console.log(`WRONG  ${one}`)
process.exitCode = wrong.length === 0 ? 0 : 1
