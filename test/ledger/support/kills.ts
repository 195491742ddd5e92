// kill -9 at any moment: every request that the upstream received is in the ledger, none twice, and
// no window was exceeded. A file of tests for each store calls this: both together would take
// longer than a file may.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { createConnection } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureAccount } from '../../../server/accounts/accounts.ts'
import { createChild } from '../../../server/keys/children.ts'
import { createKey } from '../../../server/keys/keys.ts'
import { flushJournal } from '../../../server/ledger/settlement/journal.ts'
import { verifyWindows } from '../../../server/ledger/reports/verify.ts'
import { openStore } from '../../../server/store/open.ts'
import { spawnServer } from '../../support/harness.ts'
import { respond, headerOf, startFake } from '../../support/providers/fake.ts'
import { settingsOf } from '../../support/place.ts'
import type { Place } from '../../support/place.ts'

/** Two servers share the store, and both are killed in every round. */
const ROUNDS = 2
const TOGETHER = 2
const CALLERS = 12
/** Responses that a server has given when it is killed: then it is under load, on any machine. */
const RESPONSES = 4
const RPM = 60
/** A child of the limited key, with a limit within its own. */
const CHILD = { ttl: 600, models: null, rpm: 20, allowed_origins: null, end_user: null }

export const KILLED = `what the upstream received is in the ledger after ${ROUNDS * TOGETHER} × kill -9 under load`

export async function killUnderLoad(t: TestContext, place: Place): Promise<void> {
  const fake = await startFake(
    respond(
      200,
      { 'Content-Type': 'application/json' },
      '{"usage":{"prompt_tokens":1,"completion_tokens":2}}',
    ),
  )
  t.after(() => fake.close())
  const now = Date.now()
  const store = await openStore({ ...place, now })
  const account = await store.run(ensureAccount, { name: null, plan: 'free', newId: 'acc_x', now })
  const wishes = { name: 'k', models: null, rpm: null, allowed_origins: null, expires_at: null }
  const [free, limited] = [
    await createKey(store, account.id, wishes, now),
    await createKey(store, account.id, { ...wishes, rpm: RPM }, now),
  ]
  const child = await createChild(store, limited.id, null, CHILD, now)
  await store.close()

  const secrets = [free, limited, child].map(({ secret }) => secret)
  for (let round = 0; round < ROUNDS; round++) {
    const times = Array.from({ length: TOGETHER }, (_, i) => 40 + ((round * 37 + i * 61) % 160))
    await Promise.all(times.map((time) => loadUntilKilled(t, place, fake.origin, secrets, time)))
  }

  await using after = await openStore({ ...place, now })
  await after.run(flushJournal, null)
  const rows = await after.db.selectFrom('requests').select(['id', 'context']).execute()
  assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length)
  // Every caller gives each of its requests a name, which goes upstream in one header and is hashed
  // into the ledger from another.
  const written = Map.groupBy(rows, ({ context }) => context)
  assert.ok(
    [...written.values()].every((same) => same.length === 1),
    'no request is written twice',
  )
  assert.ok(fake.requests.length >= ROUNDS * TOGETHER * RESPONSES)
  for (const { rawHeaders } of fake.requests) {
    const name = headerOf(rawHeaders, 'x-name')!
    assert.ok(
      written.has(hash('sha256', name).slice(0, 32)),
      `${name} was received, and is not in the ledger`,
    )
  }
  const proof = await verifyWindows(after)
  assert.deepEqual(proof.violations, [])
  const ofChild = await after.db
    .selectFrom('requests')
    .select(['key_id', 'child_rpm'])
    .where('child_id', '=', child.id)
    .execute()
  assert.ok(ofChild.length > 0)
  assert.ok(ofChild.every((row) => row.key_id === limited.id && row.child_rpm === CHILD.rpm))
}

/** Starts the server, calls it from many sides, and kills it after a time. */
async function loadUntilKilled(
  t: TestContext,
  place: Place,
  upstream: string,
  secrets: readonly string[],
  milliseconds: number,
): Promise<void> {
  const server = await spawnServer(t, {
    HOST: '127.0.0.1',
    ...settingsOf(place),
    LOG_LEVEL: 'silent',
    OPENAI_API_KEY: 'sk',
    TOLLMARK_UPSTREAM_OPENAI: upstream,
  })
  const port = Number(new URL(server.url).port)
  await new Promise<void>((resolve) => {
    let passed = 0
    const pass = () => ++passed === RESPONSES && resolve()
    for (let i = 0; i < CALLERS; i++) callOn(port, secrets[i % secrets.length]!, pass)
  })
  await sleep(milliseconds)
  server.kill('SIGKILL')
  await server.exited
}

let calls = 0

/**
 * One connection that calls again as soon as it has a response, until it is cut. @param pass told
 * of each response that came from the upstream
 */
export function callOn(port: number, secret: string, pass: () => void): void {
  const head = `POST /proxy?url=${encodeURIComponent('https://api.openai.com/v1/chat/completions')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n`
  const again = () => {
    const name = `call-${++calls}`
    socket.write(
      `${head}X-Name: ${name}\r\nX-Proxy-Context-Key: ${name}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    )
  }
  const socket = createConnection({ port, host: '127.0.0.1', noDelay: true }, again)
  socket.on('error', () => {})
  socket.on('data', (bytes: Buffer) => {
    if (bytes.toString('latin1').startsWith('HTTP/1.1 200')) pass()
    again()
  })
}
