// Repeatedly kills (-9) a server whose sockets have automatic responses in progress: every response
// that the provider started must have one row, and a limit of N must hold exactly over all sockets
// of its key. Exits with 1 otherwise. `--store sqlite|postgres`, `--rounds N`, `--sockets N` (half
// of them on a key with a limit), `--rpm N`.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { killWithSockets } from '../test/proxy/socket/kills.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { startServer } from './parts/server.ts'

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    rounds: { type: 'string', default: '20' },
    sockets: { type: 'string', default: '100' },
    rpm: { type: 'string', default: '100' },
  },
})
const [rounds, sockets, rpm] = [Number(values.rounds), Number(values.sockets), Number(values.rpm)]

await using resources = new AsyncDisposableStack()
const data = mkdtempSync(join(tmpdir(), 'tollmark-socket-kills-'))
resources.defer(() => rmSync(data, { recursive: true, force: true }))
const databaseUrl =
  values.store === 'postgres'
    ? resources.use(await startPostgres({ fsync: 'on', synchronous_commit: 'on' })).url
    : null

const start = async (env: Record<string, string>) => {
  const { port, child } = await startServer(env)
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { port, kill }
}
const options = { rounds, sockets, rpm, responses: 4 * rpm }
const { kills, started, rows, wrong, limited, violations } = await killWithSockets(
  { data, databaseUrl },
  options,
  start,
)
const isExact = limited.every(({ rows, isFull }) => (isFull ? rows === rpm : rows <= rpm))
const full = limited.flatMap(({ rows, isFull }) => (isFull ? [rows] : []))
const isGood = wrong.length === 0 && violations.length === 0 && isExact
console.log(
  `${isGood ? 'exact ' : 'WRONG '} ${values.store}: ${kills} × kill -9 under ${sockets} sockets: ${started} responses were started, ${rows} rows ` +
    `(up to one ahead for each socket); ${wrong.length} sockets with too few or too many; ${violations.length} windows over a limit; ` +
    `rows of ${sockets / 2} sockets in a window of ${rpm}, once full: ${full.join(', ')}`,
)
for (const one of wrong) console.log(`WRONG  ${JSON.stringify(one)}`)
process.exitCode = isGood ? 0 : 1
