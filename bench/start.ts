// How long a server takes to start and to respond to a key's first request, if the key was heavily
// used in the minute before kill -9, compared with an empty store. Exits with 1 if the start takes
// over 1 s longer, or the first request over 200 ms longer. `--rows N`, `--rounds N`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../server/common/clock.ts'
import { UNKNOWN_TOKENS } from '../server/common/token-kinds.ts'
import { openLedger } from '../server/ledger/ledger.ts'
import { openLog } from '../server/common/log.ts'
import { enterInstance } from '../server/store/instance.ts'
import { openStore } from '../server/store/open.ts'
import { makeSecrets } from './parts/secrets.ts'
import { startServer } from './parts/server.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '60000' },
    rounds: { type: 'string', default: '3' },
    fill: { type: 'string' },
  },
})
const rows = Number(values.rows)
const RPM = 1_000_000

/**
 * Admits `rows` requests of the newest key in a data folder, reports that, and waits to be killed.
 */
async function fill(data: string): Promise<void> {
  const clock = systemClock(Date.now)
  const store = await openStore({ data, databaseUrl: null, now: clock.now() })
  const instance = await enterInstance(store, clock.now, () => {})
  const ledger = await openLedger(store, instance.id, clock, openLog('silent'))
  const { id, account_id } = await store.db
    .selectFrom('keys')
    .select(['id', 'account_id'])
    .executeTakeFirstOrThrow()
  const shared = {
    account_id,
    key_id: id,
    rpm: RPM,
    provider: 'openai',
    model: 'gpt-5',
    endpoint: '/v1/chat/completions',
    method: 'POST',
    context: null,
    child_id: null,
    child_rpm: null,
    end_user: null,
  }
  let made = 0
  const one = async (): Promise<void> => {
    while (made < rows) {
      const admission = await ledger.admit({
        id: `req_${(++made).toString().padStart(22, '0')}`,
        ...shared,
      })
      if (!admission.admitted) throw new Error('refused')
      // Some are in progress when it is killed.
      if (made < rows - 100) {
        ledger.settle({
          seq: admission.seq,
          account_id,
          key_id: id,
          provider: 'openai',
          created_at: admission.created_at,
          state: 'settled',
          model: 'gpt-5',
          status: 200,
          error: null,
          credential_id: 'env_openai',
          first_byte_ms: 5,
          total_ms: 9,
          bytes_in: 1024,
          bytes_out: 1536,
          ...UNKNOWN_TOKENS,
          tokens_in: 200,
          tokens_out: 300,
          upstream_request_id: null,
        })
      }
    }
  }
  await Promise.all(Array.from({ length: 256 }, one))
  process.stdout.write('filled\n')
}

const BODY = '{"model":"gpt-5","messages":[]}'
const upstream = createServer((incoming, outgoing) => {
  incoming
    .resume()
    .on('end', () => outgoing.end('{"usage":{"prompt_tokens":1,"completion_tokens":1}}'))
})

/** Milliseconds until a server on a folder listens, and for its first two requests. */
async function measure(filled: boolean): Promise<{ start: number; first: number; second: number }> {
  const data = mkdtempSync(join(tmpdir(), 'tollmark-start-'))
  try {
    const { key } = await makeSecrets(data, 'free', { rpm: RPM })
    if (filled) {
      const filler = spawn(
        process.execPath,
        [...process.execArgv, import.meta.filename, '--rows', String(rows), '--fill', data],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      )
      await once(filler.stdout, 'data')
      filler.kill('SIGKILL')
      await once(filler, 'exit')
    }
    const before = performance.now()
    const server = await startServer({
      TOLLMARK_DATA: data,
      OPENAI_API_KEY: 'sk-bench',
      TOLLMARK_UPSTREAM_OPENAI: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    })
    const start = performance.now() - before
    const call = async (): Promise<number> => {
      const asked = performance.now()
      const response = await fetch(
        `http://127.0.0.1:${server.port}/proxy?url=${encodeURIComponent('https://api.openai.com/v1/chat/completions')}`,
        {
          method: 'POST',
          body: BODY,
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        },
      )
      await response.text()
      if (response.status !== 200) throw new Error(`got ${response.status}`)
      return performance.now() - asked
    }
    const first = await call()
    const second = await call()
    server.child.kill('SIGKILL')
    await once(server.child, 'exit')
    return { start, first, second }
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}

async function compare(): Promise<void> {
  await once(upstream.listen(0, '127.0.0.1'), 'listening')
  const found: Record<'empty' | 'filled', Awaited<ReturnType<typeof measure>>[]> = {
    empty: [],
    filled: [],
  }
  for (let round = 0; round < Number(values.rounds); round++) {
    found.empty.push(await measure(false))
    found.filled.push(await measure(true))
  }
  upstream.close()
  // The best of each, because other load only adds time.
  const best = (kind: keyof typeof found, what: 'start' | 'first' | 'second'): number =>
    Math.min(...found[kind].map((one) => one[what]))
  for (const kind of ['empty', 'filled'] as const) {
    const name = kind === 'empty' ? 'an empty store' : `${rows} admissions of the key, then kill -9`
    console.log(
      `${name.padEnd(46)} start ${best(kind, 'start').toFixed(0).padStart(6)} ms   first request ${best(kind, 'first').toFixed(0).padStart(6)} ms   second ${best(kind, 'second').toFixed(0).padStart(5)} ms`,
    )
  }
  const longer = (what: 'start' | 'first'): number => best('filled', what) - best('empty', what)
  const good = longer('start') <= 1_000 && longer('first') <= 200
  console.log(
    `${good ? 'good' : 'TOO LONG'}: the start takes ${longer('start').toFixed(0)} ms longer, the first request ${longer('first').toFixed(0)} ms`,
  )
  process.exitCode = good ? 0 : 1
}

await (values.fill === undefined ? compare() : fill(values.fill))
