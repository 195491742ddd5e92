// Fills a SQLite store with a month of proxied requests, and their roll-ups by the hour.
import { DatabaseSync } from 'node:sqlite'
import { DAY } from '../../server/common/clock.ts'

const MODELS = [
  'gpt-5',
  'gpt-5-mini',
  'o3',
  'gemini-2.5-pro',
  'gemini-2.5-flash',
  'claude-sonnet-4-5',
  'claude-haiku-4-5',
  'mistral-large',
]
const PROVIDERS = [
  'openai',
  'openai',
  'openai',
  'google',
  'google',
  'anthropic',
  'anthropic',
  'mistral',
]
/** Default number of keys. */
const KEYS = 60

/** The id of one of the keys that the rows belong to. */
export function keyId(i: number): string {
  return `key_${String(i).padStart(6, '0')}`
}

/**
 * Writes `rows` requests over the 30 days before `now` straight into the store's file: 60 keys or
 * `keys`, 8 models. Eight of ten belong to the first account. A server must run on the store,
 * because each row names an instance.
 */
export function fillLedger(
  path: string,
  accounts: readonly string[],
  rows: number,
  now: number,
  keys = KEYS,
): void {
  const db = new DatabaseSync(path, { timeout: 30_000 })
  db.exec('BEGIN IMMEDIATE')
  const [instance] = db.prepare('SELECT id FROM instances').all() as { id: string }[]
  // Below the ids that a server assigns, so that none is used twice.
  const key = db.prepare(
    'INSERT INTO keys (id, account_id, name, public_id, models, rpm, allowed_origins, expires_at, disabled, revoked_at, created_at, revision) VALUES (?, ?, ?, ?, NULL, NULL, NULL, NULL, 0, NULL, ?, ?)',
  )
  const accountOf = (i: number): string =>
    accounts[i % 10 < 8 || accounts.length === 1 ? 0 : 1 + (i % (accounts.length - 1))]!
  for (let i = 0; i < keys; i++)
    key.run(keyId(i), accountOf(i), `key ${i}`, `bench${i}`, now, -1 - i)
  const row = db.prepare(
    `INSERT INTO requests (id, account_id, key_id, rpm, provider, model, endpoint, method, context, state, created_at, instance, mono, boot, status, error, credential_id,
       first_byte_ms, total_ms, bytes_in, bytes_out, tokens_in, tokens_out, tokens_cached, tokens_reasoning)
     VALUES (?, ?, ?, NULL, ?, ?, '/v1/chat/completions', 'POST', NULL, ?, ?, ?, 0, 0, ?, NULL, 'env_x', ?, ?, 2000, 9000, ?, ?, ?, NULL)`,
  )
  const start = now - 30 * DAY
  // A fixed sequence, so that every run has the same rows (Park and Miller's generator).
  let seed = 7
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
  for (let i = 0; i < rows; i++) {
    const [k, m, luck] = [random(keys), random(MODELS.length), random(100)]
    const aborted = luck === 0
    const at = start + Math.floor((i / rows) * (30 * DAY))
    row.run(
      `req_bench${String(i).padStart(9, '0')}`,
      accountOf(k),
      keyId(k),
      PROVIDERS[m]!,
      MODELS[m]!,
      aborted ? 'aborted' : 'settled',
      at,
      instance!.id,
      aborted ? null : luck < 4 ? 500 : 200,
      100 + random(400),
      1_000 + random(4_000),
      500 + random(2_000),
      100 + random(900),
      random(3) === 0 ? 300 : 0,
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
