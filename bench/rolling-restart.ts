// Restarts web processes one after the other behind our Caddyfile and nginx.conf, under load: no
// request may fail, and no stream shorter than the drain may break. Prints a row for each installed
// balancer and number of processes; exits with 1 if one failed. `--processes 2,5`, `--rounds N`,
// `--callers N` (as many again hold streams of two seconds).
import { request } from 'node:http'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '../test/support/free-port.ts'
import { command } from '../test/chaos/fleet.ts'
import { query, startPostgres } from '../test/support/postgres.ts'
import { startServer, type Server } from './parts/server.ts'
import { startUpstream, stopAll } from './proxy/contenders.ts'
import { BALANCERS } from './rolling-restart/balancers.ts'

const { values } = parseArgs({
  options: {
    processes: { type: 'string', default: '2,5' },
    rounds: { type: 'string', default: '1' },
    callers: { type: 'string', default: '10' },
  },
})
const DRAIN = '5s'
/** Streams of `EVENTS` events, one every `EVERY_MS`: two seconds. */
const [EVERY_MS, EVENTS] = [40, 50]
/** Time for a balancer to notice that a process is back. */
const SETTLE_MS = 4_500

process.setMaxListeners(0)
const folder = mkdtempSync(join(tmpdir(), 'tollmark-rolling-'))
const database = await startPostgres()
const upstream = await startUpstream(EVERY_MS, EVENTS)
const settings = {
  TOLLMARK_DATA: folder,
  DATABASE_URL: database.url.href,
  TOLLMARK_ROLE: 'web',
  TOLLMARK_DRAIN: DRAIN,
  TOLLMARK_TRUST_PROXY: 'true',
  OPENAI_API_KEY: 'sk-bench',
  TOLLMARK_UPSTREAM_OPENAI: `http://127.0.0.1:${upstream}`,
}
const { secret } = JSON.parse(
  await command(['keys', 'create', '--name', 'bench', '--json', '--init'], settings),
) as { secret: string }

/** The callers' results. */
class Tally {
  requests = 0
  streams = 0
  readonly failures = new Map<string, number>()
  /** What currently happens to the servers. */
  phase = 'all run'

  fail(what: string): void {
    const told = `${what} (${this.phase})`
    console.error(`${new Date().toISOString()} ${told}`)
    this.failures.set(told, (this.failures.get(told) ?? 0) + 1)
  }
}

/** Sends one request through the balancer. @returns a sentence if it failed */
function send(port: number, isStream: boolean): Promise<string | null> {
  return new Promise((resolve) => {
    const outgoing = request(
      `http://127.0.0.1:${port}/proxy/api.openai.com/v1/chat/completions`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      },
      (incoming) => {
        let text = ''
        incoming.setEncoding('utf8').on('data', (piece: string) => (text += piece))
        incoming.on('error', () => resolve('a response that broke off'))
        incoming.on('end', () => {
          if (incoming.statusCode !== 200)
            resolve(`status ${incoming.statusCode}: ${text.slice(0, 160).replaceAll(/\s+/g, ' ')}`)
          else if (!isStream || text.split('data: ').length > EVENTS) resolve(null)
          else {
            const id = String(incoming.headers['x-proxy-request-id'])
            resolve(`a stream of ${text.split('data: ').length - 1} events (${id})`)
          }
        })
      },
    )
    outgoing.on('error', (error) => resolve(error.message))
    outgoing.end(JSON.stringify({ model: 'gpt-5', stream: isStream, messages: [] }))
  })
}

async function call(port: number, isStream: boolean, tally: Tally, stop: AbortSignal) {
  while (!stop.aborted) {
    const failure = await send(port, isStream)
    if (isStream) tally.streams++
    else tally.requests++
    if (failure !== null) tally.fail(`${isStream ? 'stream' : 'request'}: ${failure}`)
    // Pace the callers, to leave CPU for starting servers.
    if (!isStream) await sleep(20)
  }
}

async function isReady(port: number): Promise<void> {
  for (;;) {
    const status = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (response) => response.status,
      () => 0,
    )
    if (status === 200) return
    await sleep(100)
  }
}

/** Restarts one process after the other. */
async function roll(servers: Server[], tally: Tally): Promise<void> {
  for (const [at, { child, port }] of servers.entries()) {
    const ended = once(child, 'exit')
    tally.phase = 'one ends'
    child.kill('SIGTERM')
    const [code] = (await ended) as [number | null]
    if (code !== 0) throw new Error(`a process ended with ${code}`)
    tally.phase = 'one starts'
    servers[at] = await startServer({ ...settings, PORT: String(port) })
    await isReady(port)
    tally.phase = 'all run'
    await sleep(SETTLE_MS)
  }
}

let failed = 0
console.log('balancer  processes  requests  streams  failed')
for (const count of values.processes.split(',').map(Number))
  for (const [name, start] of Object.entries(BALANCERS)) {
    const servers = await Promise.all(
      Array.from({ length: count }, async () =>
        startServer({ ...settings, PORT: String(await freePort()) }),
      ),
    )
    const place = mkdtempSync(join(folder, 'balancer-'))
    const port = await start(
      place,
      servers.map((server) => server.port),
    )
    if (port === null) console.log(`${name} is not installed`)
    else {
      await sleep(SETTLE_MS)
      const tally = new Tally()
      const stop = new AbortController()
      const callers = Array.from({ length: 2 * Number(values.callers) }, (_, i) =>
        call(port, i % 2 === 1, tally, stop.signal),
      )
      for (let round = 0; round < Number(values.rounds); round++) await roll(servers, tally)
      stop.abort()
      await Promise.all(callers)
      const failures = [...tally.failures.values()].reduce((sum, one) => sum + one, 0)
      failed += failures
      console.log(
        `${name.padEnd(8)}  ${String(count).padStart(9)}  ${String(tally.requests).padStart(8)}  ${String(tally.streams).padStart(7)}  ${String(failures).padStart(6)}`,
      )
      for (const [what, times] of tally.failures) {
        console.log(`  ${times} × ${what}`)
        const [id] = /req_\w+/.exec(what) ?? []
        if (id !== undefined)
          console.log(
            await query(
              database.url,
              `select state, status, error, tokens_out, bytes_out, total_ms from requests where id = '${id}'`,
            ),
          )
      }
      const log = join(place, 'error.log')
      if (failures > 0 && existsSync(log)) console.log(readFileSync(log, 'utf8').slice(-2_000))
    }
    for (const { child } of servers) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
await stopAll()
await database[Symbol.asyncDispose]()
rmSync(folder, { recursive: true, force: true })
process.exit(failed === 0 ? 0 : 1)
