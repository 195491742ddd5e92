// PostgreSQL goes away and comes back: callers hear of it soon, and nothing has to be done for the
// recovery.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Client } from 'pg'
import { openKeyCache } from '../../server/keys/cache.ts'
import { openStore } from '../../server/store/open.ts'
import { lockNumber } from '../../server/store/postgres/lock.ts'
import type { Store } from '../../server/store/store.ts'
import { query, startPostgres } from '../support/postgres.ts'
import { openAt, placeOn } from '../support/stores.ts'
import type { Server } from '../support/postgres.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { admissionRequest, movedClock } from '../ledger/support/opened.ts'
import { openLedger } from '../../server/ledger/ledger.ts'
import { openLog } from '../../server/common/log.ts'
import { until } from '../support/until.ts'
import { lockedNames, names } from './counter.ts'

/** More than any unit may take, and much less than a caller waits. */
const SOON = 10_000

async function opened(t: TestContext): Promise<{ server: Server; store: Store }> {
  const server = await startPostgres()
  t.after(() => server[Symbol.asyncDispose]())
  const store = await openStore({ data: temporaryFolder(t), databaseUrl: server.url, now: 0 })
  return { server, store }
}

const insert = (store: Store, id: string) =>
  store.db
    .insertInto('accounts')
    .values({ id, name: id, email: null, plan: 'free', role: 'member', created_at: 1, disabled: 0 })
    .execute()

/** TABLE of what can be asked of a store. */
const ASKED: ((store: Store, id: string) => Promise<unknown>)[] = [
  (store) => store.db.selectFrom('accounts').selectAll().execute(),
  insert,
  (store) => store.write(store.db.deleteFrom('tokens'), store.db.deleteFrom('blobs')),
  (store) => store.run(names, { plan: 'free' }),
]

async function assertUnavailable(store: Store, times: number): Promise<void> {
  const started = performance.now()
  const outcomes = await Promise.allSettled(
    Array.from({ length: times }, (_, i) => ASKED[i % ASKED.length]!(store, `lost ${i}`)),
  )
  assert.ok(performance.now() - started < SOON, `it took ${performance.now() - started} ms`)
  for (const outcome of outcomes) {
    assert.equal(outcome.status, 'rejected')
    assert.ok(['unavailable', 'busy'].includes(outcome.reason.code), String(outcome.reason))
  }
}

test('a frozen database soon becomes unavailable, and recovers when it resumes', async (t) => {
  const { server, store } = await opened(t)
  await insert(store, 'a')
  const clock = movedClock()
  await using ledger = await openLedger(store, 'ins', clock, openLog('silent'))
  assert.ok((await ledger.admit(admissionRequest('k', 2))).admitted)
  let heard = 0
  t.after(store.onChange(() => heard++))
  server.signal('SIGSTOP')
  await assertUnavailable(store, 40)
  await assert.rejects(ledger.admit(admissionRequest('k', 2)), { name: 'StoreError' })
  server.signal('SIGCONT')
  await until(() =>
    insert(store, 'b').then(
      () => true,
      () => false,
    ),
  )
  // The ledger asks once a second whether the store is back.
  await until(() => !ledger.failing())
  // What failed may have been written all the same, and then it counts.
  assert.ok((await ledger.admit(admissionRequest('k', 3))).admitted)
  await query(server.url, `update accounts set plan = 'team' where id = 'b'`)
  await until(() => heard > 0)
  await store.close()
})

test('a stopped database is unavailable; known keys still work, and it recovers on restart', async (t) => {
  const { server, store } = await opened(t)
  await insert(store, 'a')
  await store.write(
    store.db.insertInto('keys').values({
      id: 'key',
      account_id: 'a',
      name: 'k',
      public_id: 'p',
      models: null,
      rpm: null,
      allowed_origins: null,
      objects: 'own',
      providers: null,
      read_only: 0,
      expires_at: null,
      disabled: 0,
      revoked_at: null,
      created_at: 0,
      revision: 1,
    }),
    store.db
      .insertInto('key_secrets')
      .values({ public_id: 'p', key_id: 'key', hash: 'ab', expires_at: null }),
  )
  using keys = await openKeyCache(store, () => {})
  await server.stop()
  await assertUnavailable(store, 40)
  await keys.refresh()
  assert.deepEqual([keys.fresh, keys.find('p')?.key.id], [false, 'key'])
  await server.start()
  await until(() =>
    insert(store, 'b').then(
      () => true,
      () => false,
    ),
  )
  await until(() => keys.fresh)
  await store.close()
})

test('a cut connection fails at most its own unit, and changes in the meantime are noticed', async (t) => {
  const { server, store } = await opened(t)
  let heard = 0
  t.after(store.onChange(() => heard++))
  for (let round = 0; round < 5; round++) {
    await insert(store, `row ${round}`)
    await query(
      server.url,
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'tollmark-%'`,
    )
    await store.db
      .selectFrom('accounts')
      .select('id')
      .execute()
      .catch((error: { code: string }) => assert.equal(error.code, 'unavailable'))
    assert.equal((await store.db.selectFrom('accounts').select('id').execute()).length, round + 1)
    const before = heard
    await query(server.url, `update accounts set plan = 'round ${round}'`)
    await until(() => heard > before)
  }
  await store.close()
})

test('a transaction whose lock is not released in time leaves no connection in it', async (t) => {
  const place = await placeOn.postgres(t)
  const store = await openAt(t, place)
  const held = new Client({ connectionString: place.databaseUrl?.href })
  await held.connect()
  t.after(() => held.end())
  await held.query(`select pg_advisory_lock(${lockNumber('names')})`)
  await assert.rejects(store.run(lockedNames, { plan: 'free' }), { code: 'busy' })
  await held.query(`select pg_advisory_unlock(${lockNumber('names')})`)
  // The connection that is free is the one that waited.
  assert.deepEqual(await store.db.selectFrom('accounts').select('id').execute(), [])
  assert.deepEqual(await store.run(lockedNames, { plan: 'free' }), [])
})

test('a connection that falls silent while it is set up fails only its own unit', async (t) => {
  const { server, store: first } = await opened(t)
  await first.close()
  let isSilent = false
  const address = createServer((socket) => {
    const behind = connect(Number(server.url.port), '127.0.0.1')
    socket.on('data', (bytes) => {
      if (isSilent && bytes.includes('set application_name')) behind.pause()
      else behind.write(bytes)
    })
    behind.on('data', (bytes) => socket.write(bytes))
    for (const one of [socket, behind]) one.on('error', () => {})
    socket.on('close', () => behind.destroy())
  })
  await once(address.listen(0, '127.0.0.1'), 'listening')
  t.after(() => address.close())
  const databaseUrl = new URL(server.url)
  databaseUrl.port = String((address.address() as AddressInfo).port)
  const store = await openStore({ data: temporaryFolder(t), databaseUrl, now: 0 })
  t.after(() => store.close())
  isSilent = true
  await assertUnavailable(store, 8)
  isSilent = false
  await insert(store, 'a')
})
