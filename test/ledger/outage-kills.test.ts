// PostgreSQL stops under load, and every process is killed before it is back: every request that
// the upstream received is in the ledger, once, and no window was exceeded. With default settings.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ensureAccount } from '../../server/accounts/accounts.ts'
import { createKey } from '../../server/keys/keys.ts'
import { verifyWindows } from '../../server/ledger/reports/verify.ts'
import { openStore } from '../../server/store/open.ts'
import { spawnServer, type Process } from '../support/harness.ts'
import { settingsOf, type Place } from '../support/place.ts'
import { startPostgres } from '../support/postgres.ts'
import { respond, headerOf, startFake } from '../support/providers/fake.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { callOn } from './support/kills.ts'

const RPM = 60
const CALLERS = 6
/** Requests that must pass in the outage before a process is killed. */
const ENOUGH = 40

interface Secrets {
  free: string
  limited: string
}

async function prepare(place: Place): Promise<Secrets> {
  const now = Date.now()
  await using store = await openStore({ ...place, now })
  const account = await store.run(ensureAccount, { name: null, plan: 'free', newId: 'acc_x', now })
  const fields = { name: 'k', models: null, rpm: null, allowed_origins: null, expires_at: null }
  const free = await createKey(store, account.id, fields, now)
  const limited = await createKey(store, account.id, { ...fields, rpm: RPM }, now)
  return { free: free.secret, limited: limited.secret }
}

const ROLES = ['web', 'web', 'worker']

const startAll = (t: TestContext, place: Place, upstream: string): Promise<Process[]> =>
  Promise.all(
    ROLES.map((role) =>
      spawnServer(t, {
        HOST: '127.0.0.1',
        ...settingsOf(place),
        TOLLMARK_ROLE: role,
        // Where the tests' folders lie in memory, too.
        TOLLMARK_DATA_PERSISTENT: 'yes',
        LOG_LEVEL: 'silent',
        OPENAI_API_KEY: 'sk',
        TOLLMARK_UPSTREAM_OPENAI: upstream,
      }),
    ),
  )

async function kill(one: Process): Promise<void> {
  one.kill('SIGKILL')
  await one.exited
}

test('killing every process while PostgreSQL is unavailable loses no request that an upstream received', async (t) => {
  const postgres = await startPostgres()
  t.after(() => postgres[Symbol.asyncDispose]())
  const place = { data: temporaryFolder(t), databaseUrl: postgres.url }
  const fake = await startFake(
    respond(
      200,
      { 'Content-Type': 'application/json' },
      '{"usage":{"prompt_tokens":1,"completion_tokens":2}}',
    ),
  )
  t.after(() => fake.close())
  const { free, limited } = await prepare(place)
  const [one, two, worker] = await startAll(t, place, fake.origin)
  assert.ok(one && two && worker)

  let passed = 0
  for (const { url } of [one, two])
    for (let i = 0; i < CALLERS; i++)
      callOn(Number(new URL(url).port), i % 2 === 0 ? free : limited, () => passed++)
  const pass = async (more: number): Promise<void> => {
    const enough = passed + more
    await until(() => passed >= enough)
  }
  await pass(ENOUGH)
  await postgres.stop()
  await until(async () => !/"ok"/.test(await (await fetch(`${one.url}/readyz`)).text()))
  const before = fake.requests.length
  await pass(ENOUGH)
  await kill(one)
  await kill(worker)
  await pass(ENOUGH)
  await kill(two)
  assert.ok(fake.requests.length > before, 'requests passed in the outage')
  const files = join(place.data, 'outage')
  assert.equal(readdirSync(files).length, 2)

  await postgres.start()
  await startAll(t, place, fake.origin)
  await until(() => !existsSync(files) || readdirSync(files).length === 0)
  await using store = await openStore({ ...place, now: Date.now() })
  const rows = () =>
    store.db.selectFrom('requests').select(['id', 'context', 'state', 'outage']).execute()
  await until(async () => (await rows()).every(({ state }) => state !== 'reserved'))
  const found = await rows()
  assert.equal(new Set(found.map(({ id }) => id)).size, found.length)
  const byName = Map.groupBy(found, ({ context }) => context)
  for (const { rawHeaders } of fake.requests) {
    const name = headerOf(rawHeaders, 'x-name') ?? ''
    const same = byName.get(hash('sha256', name).slice(0, 32)) ?? []
    assert.equal(same.length, 1, `${name} was received, and is in the ledger ${same.length} times`)
  }
  const outage = found.filter((row) => row.outage === 1)
  assert.ok(outage.length >= 2 * ENOUGH)
  assert.ok(
    outage.some(({ state }) => state === 'settled'),
    'ends of requests are brought in, too',
  )
  const proof = await verifyWindows(store)
  assert.deepEqual(proof.violations, [])
  assert.equal(proof.outage, outage.length)
})
