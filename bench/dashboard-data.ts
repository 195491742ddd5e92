// How long each page of the dashboard waits for its data when the ledger has 1,000,000 rows: the server as it is, asked by HTTP. The rows are
// written straight into the store's file: 30 days, 3 accounts, 60 keys, 8 models; the roll-ups are summed from them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createToken } from '../server/accounts/tokens.ts'
import { readConfig } from '../server/config.ts'
import { addHours } from '../server/ledger/days.ts'
import { openLog } from '../server/log.ts'
import { serve } from '../server/main.ts'

const ROWS = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = Number(process.argv[3] ?? 15)
const BAR_MS = 100
const DAY = 86_400_000
const MODELS = ['gpt-5', 'gpt-5-mini', 'o3', 'gemini-2.5-pro', 'gemini-2.5-flash', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'mistral-large']
const PROVIDERS = ['openai', 'openai', 'openai', 'google', 'google', 'anthropic', 'anthropic', 'mistral']
const ACCOUNTS = 3
const KEYS = 60

const folder = mkdtempSync(join(tmpdir(), 'tollmark-bench-'))
try {
  const server = await serve(readConfig({ PORT: '0', TOLLMARK_DATA: folder, LOG_LEVEL: 'silent' }), openLog('silent'))
  const now = Date.now()
  const tokens = []
  for (let i = 0; i < ACCOUNTS; i++) {
    tokens.push((await createToken(server.store, { name: i === 0 ? null : `account ${i}`, plan: 'free' }, { name: 'bench', scopes: ['manage'], expiresAt: null }, now)).token)
  }
  const filled = performance.now()
  fill(join(folder, 'tollmark.db'), tokens.map(({ account_id }) => account_id), now)
  const adding = performance.now()
  await addHours(server.store, now)
  console.log(`${ROWS} rows written in ${seconds(filled, adding)} s, added to their days in ${seconds(adding, performance.now())} s`)

  const key = 'key_000000'
  const middle = new Date(now - 15 * DAY).toISOString()
  const before = new Date(now - 14 * DAY).toISOString()
  const recently = new Date(now - 2 * DAY).toISOString()
  /** TABLE of what the pages ask for. */
  const asked = [
    'overview?range=hour', 'overview?range=day', 'overview?range=month', `overview?range=month&key=${key}`, 'overview?range=month&model=o3', 'overview?range=month&account=all',
    'usage?by=day', 'usage?by=day,model', 'usage?by=day,key', `usage?by=hour&from=${recently}`, `usage?by=hour&key=${key}&from=${recently}`, 'usage?by=model', 'usage?by=key&account=all',
    'models', 'keys?limit=25', 'keys?limit=100', 'keys?limit=25&sort=name', 'keys?limit=25&sort=-last_used_at', 'keys?limit=25&sort=-requests', 'keys?limit=25&model=o3', 'keys?limit=25&account=all', `keys/${key}`,
    'requests?limit=50', `requests?limit=50&key=${key}`, 'requests?limit=50&status=5xx', 'requests?limit=50&model=o3', 'requests?limit=50&model=nothing', 'requests?limit=50&status=404',
    `requests?limit=50&from=${middle}&to=${before}`, 'requests?limit=50&account=all', `requests?limit=50&key=${key}&status=5xx&from=${middle}`, 'requests?limit=50&state=aborted',
    'providers', 'credentials', 'tokens', 'accounts', 'invitations', 'plans', 'session',
  ]
  let slow = 0
  console.log('median ms   worst ms   CPU ms   KB   what is asked')
  for (const path of asked) {
    const times: number[] = []
    let [size, used] = [0, process.cpuUsage()]
    for (let round = 0; round <= ROUNDS; round++) {
      const started = performance.now()
      const answer = await fetch(`${server.url}/api/v1/${path}`, { headers: { authorization: `Bearer ${tokens[0]!.secret}` } })
      size = (await answer.arrayBuffer()).byteLength
      if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
      // The first one compiles and opens what all others share.
      if (round > 0) times.push(performance.now() - started)
      else used = process.cpuUsage()
    }
    const { user, system } = process.cpuUsage(used)
    const cpu = (user + system) / 1000 / ROUNDS
    times.sort((a, b) => a - b)
    const median = times[Math.floor(times.length / 2)]!
    if (median > BAR_MS) slow++
    console.log(`${median.toFixed(1).padStart(9)} ${times.at(-1)!.toFixed(1).padStart(10)} ${cpu.toFixed(1).padStart(8)} ${(size / 1024).toFixed(0).padStart(4)}   ${path}${median > BAR_MS ? '   TOO SLOW' : ''}`)
  }
  console.log(slow === 0 ? `every answer within ${BAR_MS} ms` : `${slow} answers take longer than ${BAR_MS} ms`)
  process.exitCode = slow === 0 ? 0 : 1
  await server[Symbol.asyncDispose]()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function seconds(from: number, to: number): string {
  return ((to - from) / 1000).toFixed(1)
}

function keyId(i: number): string {
  return `key_${String(i).padStart(6, '0')}`
}

function fill(path: string, accounts: string[], now: number): void {
  const db = new DatabaseSync(path, { timeout: 30_000 })
  db.exec('BEGIN IMMEDIATE')
  const [instance] = db.prepare('SELECT id FROM instances').all() as { id: string }[]
  const key = db.prepare(
    'INSERT INTO keys (id, account_id, name, public_id, models, rpm, allowed_origins, expires_at, disabled, revoked_at, created_at, revision) VALUES (?, ?, ?, ?, NULL, NULL, NULL, NULL, 0, NULL, ?, ?)',
  )
  // Most belong to the account that asks.
  const accountOf = (i: number): string => accounts[i % 10 < 8 ? 0 : 1 + (i % (ACCOUNTS - 1))]!
  for (let i = 0; i < KEYS; i++) key.run(keyId(i), accountOf(i), `key ${i}`, `bench${i}`, now, i + 1)
  const row = db.prepare(
    `INSERT INTO requests (id, account_id, key_id, rpm, provider, model, endpoint, method, context, state, created_at, instance, mono, boot, status, error, credential_id,
       first_byte_ms, total_ms, bytes_in, bytes_out, tokens_in, tokens_out, tokens_cached, tokens_reasoning)
     VALUES (?, ?, ?, NULL, ?, ?, '/v1/chat/completions', 'POST', NULL, ?, ?, ?, 0, 0, ?, NULL, 'env_x', ?, ?, 2000, 9000, ?, ?, ?, NULL)`,
  )
  const start = now - 30 * DAY
  // A fixed sequence, so that every run has the same rows (Park and Miller's generator).
  let seed = 7
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
  for (let i = 0; i < ROWS; i++) {
    const [k, m, luck] = [random(KEYS), random(MODELS.length), random(100)]
    const aborted = luck === 0
    const at = start + Math.floor((i / ROWS) * (30 * DAY))
    row.run(
      `req_bench${String(i).padStart(9, '0')}`, accountOf(k), keyId(k), PROVIDERS[m]!, MODELS[m]!, aborted ? 'aborted' : 'settled', at, instance!.id, aborted ? null : luck < 4 ? 500 : 200,
      100 + random(400), 1_000 + random(4_000), 500 + random(2_000), 100 + random(900), random(3) === 0 ? 300 : 0,
    )
  }
  db.exec(
    `INSERT INTO usage_hours (hour, key_id, provider, model, account_id, requests, errors, aborted, unknown, unmetered, bytes_in, bytes_out, tokens_in, tokens_out, tokens_cached,
       tokens_reasoning, answered, first_byte_ms, total_ms)
     SELECT created_at - created_at % 3600000 AS at, key_id, provider, model, account_id, count(*), sum(state = 'settled' AND status >= 400), sum(state = 'aborted'), 0, 0, sum(bytes_in),
       sum(bytes_out), sum(tokens_in), sum(tokens_out), sum(tokens_cached), NULL, count(first_byte_ms), sum(first_byte_ms), sum(total_ms)
     FROM requests GROUP BY at, key_id, provider, model`,
  )
  db.exec('COMMIT')
  db.close()
}
