// The store stands still for a while: what may pass goes on passing, within the limits, and
// everything is in the ledger afterwards, once.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import {
  openLedger,
  type Admission,
  type AdmissionRequest,
  type Ledger,
} from '../../../server/ledger/ledger.ts'
import type { AdmissionBackend } from '../../../server/ledger/admission/backend.ts'
import { MAX_BACKLOG, OutageFallback } from '../../../server/ledger/admission/outage-fallback.ts'
import { recent } from '../../../server/ledger/admission/recent-admissions.ts'
import { exchangeCounts } from '../../../server/ledger/admission/web-processes.ts'
import { recordAdmitted, reserve } from '../../../server/ledger/admission/sqlite-reserve.ts'
import { settle } from '../../../server/ledger/settlement/sqlite.ts'
import { WINDOW_MS } from '../../../server/ledger/admission/sliding-window.ts'
import { verifyWindows } from '../../../server/ledger/reports/verify.ts'
import { openLog } from '../../../server/common/log.ts'
import { StoreError } from '../../../server/store/store-error.ts'
import type { Store } from '../../../server/store/store.ts'
import type { Place } from '../../support/place.ts'
import { usedFolder } from '../../support/templates.ts'
import { temporaryFolder } from '../../support/temporary.ts'
import { until } from '../../support/until.ts'
import {
  admissionRequest,
  movedClock,
  openFor,
  pass,
  settlement,
  type Moved,
  type Opened,
} from '../support/opened.ts'
import { placeWithStandby, STOPPABLE } from '../support/stoppable.ts'

/** Signs of life fail too while the store stands still. */
const openGraced = (
  t: TestContext,
  place: Place,
  maxOutage: number,
  clock?: Moved,
): Promise<Opened> => openFor(t, place, clock, { maxOutage, onTrouble: () => {} })

/** Asks, and settles at once what passes. */
async function go(
  ledger: Ledger,
  key: string,
  rpm: number | null,
  passed: AdmissionRequest[],
  of: Partial<AdmissionRequest> = {},
): Promise<Admission> {
  const one = admissionRequest(key, rpm, of)
  const admission = await ledger.admit(one)
  if (admission.admitted) {
    passed.push(one)
    ledger.settle(settlement(one, admission))
  }
  return admission
}

async function assertWhole({ store }: Opened, passed: readonly AdmissionRequest[]): Promise<void> {
  const rows = () =>
    store.db
      .selectFrom('requests')
      .select(['id', 'state'])
      .where('state', '<>', 'aborted')
      .execute()
  await until(
    async () => (await rows()).filter(({ state }) => state === 'settled').length >= passed.length,
  )
  const found = await rows()
  assert.deepEqual(found.map(({ id }) => id).sort(), passed.map(({ id }) => id).sort())
  assert.ok(found.every(({ state }) => state === 'settled'))
  const { counted } = await store.db
    .selectFrom('usage_hours')
    .select((e) => e.fn.sum<number>('requests').as('counted'))
    .where('key_id', 'in', ['k', 'free'])
    .executeTakeFirstOrThrow()
  assert.equal(
    Number(counted),
    Number(
      (
        await store.db
          .selectFrom('requests')
          .select((e) => e.fn.countAll<number>().as('all'))
          .executeTakeFirstOrThrow()
      ).all,
    ),
  )
  assert.deepEqual((await verifyWindows(store)).violations, [])
}

/**
 * Requests that pass while the store refuses all of them, and end; then it takes them, but the
 * `bad` one never.
 */
async function passWithoutStore(
  t: TestContext,
  asked: readonly AdmissionRequest[],
  bad?: AdmissionRequest,
): Promise<{ written: string[]; ended: number[]; lines: string[] }> {
  const folder = temporaryFolder(t)
  const { store, clock } = await openFor(t, { data: usedFolder(t), databaseUrl: null })
  const [written, ended, lines]: [string[], number[], string[]] = [[], [], []]
  const refused = new StoreError('full', 'no room')
  let full = true
  const ask = (one: AdmissionRequest) =>
    new Promise<Admission>((resolve, reject) =>
      graced.submit({ request: one, caller: { closed: false }, patience: 0, resolve, reject }),
    )
  /** Asked while the first row is written. */
  let meanwhile: Promise<Admission> | undefined
  const inner: AdmissionBackend = {
    fullFor: () => 5,
    leftFor: () => null,
    submit: (one) =>
      queueMicrotask(() =>
        full ? one.reject(refused) : one.resolve({ admitted: true, seq: 99, created_at: 0 }),
      ),
    settle: async (rows) => rows.forEach(({ seq }) => ended.push(seq)),
    recordAdmitted: async (rows) => {
      if (full) throw refused
      meanwhile ??= ask(admissionRequest('k', null))
      if (rows.some(({ id }) => id === bad?.id)) throw new StoreError('failed', 'never')
      return rows.map(({ id }) => written.push(id))
    },
    recentAdmissions: async () => [],
    close: async () => {},
  }
  const graced = await OutageFallback.open(inner, {
    store,
    clock,
    log: openLog('error', { write: (line) => void lines.push(line) }),
    instance: 'ins',
    maxOutage: 60_000,
    folder,
    settle: ({ seq }) => ended.push(seq),
  })
  assert.equal(graced.fullFor('k', 9), 5)
  for (const one of asked) {
    const admission = await ask(one)
    assert.ok(admission.admitted)
    assert.equal(graced.fullFor('k', 9), null, 'another window decides now')
    graced.settle(settlement(one, admission))
  }
  full = false
  await until(() => !graced.failing)
  assert.equal(graced.fullFor('k', 9), 5)
  assert.equal(
    ((await meanwhile) as { seq?: number }).seq,
    99,
    'who asks while they are written waits for the store',
  )
  const found = { written: [...written], ended: [...ended], lines: [...lines] }
  await graced.close()
  return found
}

test('the first request that the store fails to write is written later, like all others', async (t) => {
  const asked = [admissionRequest('k', null), admissionRequest('k', 9), admissionRequest('k', 9)]
  const { written, ended } = await passWithoutStore(t, asked)
  assert.deepEqual([written, ended], [asked.map(({ id }) => id), [1, 2, 3]])
})

test('a store that can be read but not written is not back', async (t) => {
  const { store, clock } = await openFor(t, { data: usedFolder(t), databaseUrl: null })
  const lines: string[] = []
  const readOnly = new StoreError('full', 'the disk is read-only')
  let probes = 0
  const run: Store['run'] = (made, args, ...rest) => {
    if (!Object.is(made, exchangeCounts)) return store.run(made, args, ...rest)
    probes++
    const isWrite = Object(args).isProof === true
    return isWrite ? Promise.reject(readOnly) : store.run(made, args, ...rest)
  }
  const backend: AdmissionBackend = {
    fullFor: () => null,
    leftFor: () => null,
    submit: (one) => queueMicrotask(() => one.reject(readOnly)),
    settle: async () => {},
    recordAdmitted: () => Promise.reject(readOnly),
    recentAdmissions: async () => [],
    close: async () => {},
  }
  const graced = await OutageFallback.open(backend, {
    store: Object.create(store, { run: { value: run } }) as Store,
    clock,
    log: openLog('info', { write: (line) => void lines.push(line) }),
    instance: 'ins',
    maxOutage: 60_000,
    // Its file would be on the same disk.
    folder: null,
    settle() {},
  })
  t.after(() => graced.close())
  const ask = () =>
    new Promise<Admission>((resolve, reject) => {
      const request = admissionRequest('k', null)
      graced.submit({ request, caller: { closed: false }, patience: 0, resolve, reject })
    })
  await assert.rejects(ask())
  const before = probes
  await until(() => probes >= before + 2)
  await assert.rejects(ask())
  assert.ok(graced.failing)
  assert.deepEqual(
    lines.filter((line) => line.includes('responds again')),
    [],
  )
})

test('a backlog row that the store never accepts does not block the others', async (t) => {
  const asked = Array.from({ length: 7 }, () => admissionRequest('k', null))
  const bad = asked[3]!
  const { written, ended, lines } = await passWithoutStore(t, asked, bad)
  assert.deepEqual(
    [written, ended],
    [asked.filter((one) => one !== bad).map(({ id }) => id), [1, 2, 3, 4, 5, 6]],
  )
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, new RegExp(`The request ${bad.id}, `))
})

test('the backlog of unwritten rows is bounded', async (t) => {
  const { store, clock } = await openFor(t, { data: usedFolder(t), databaseUrl: null })
  const refused = new StoreError('full', 'no room')
  const refuse = () => Promise.reject(refused)
  const inner: AdmissionBackend = {
    fullFor: () => null,
    leftFor: () => null,
    submit: (one) => one.reject(refused),
    settle: refuse,
    recordAdmitted: refuse,
    recentAdmissions: async () => [],
    close: async () => {},
  }
  const graced = await OutageFallback.open(inner, {
    store,
    clock,
    log: openLog('silent'),
    instance: 'ins',
    maxOutage: 60_000,
    folder: temporaryFolder(t),
    settle: () => {},
  })
  let passed = 0
  const ends = Array.from({ length: MAX_BACKLOG + 1 }, () =>
    new Promise<Admission>((resolve, reject) =>
      graced.submit({
        request: admissionRequest('k', null),
        caller: { closed: false },
        patience: 0,
        resolve,
        reject,
      }),
    ).then(() => passed++),
  )
  const failed = (await Promise.allSettled(ends)).filter(({ status }) => status === 'rejected')
  assert.equal(failed.length, 1)
  assert.equal(passed, MAX_BACKLOG)
  await graced.close()
})

test('a failed read or write takes no room in a window and blocks no other request', async (t) => {
  const opened = await openFor(t, { data: usedFolder(t), databaseUrl: null })
  const { store, clock } = opened
  // A window under which nothing was ever admitted would not be read.
  await opened.ledger.admit(admissionRequest('k', null))
  clock.monoBy += 2 * WINDOW_MS
  let broken: unknown = recent
  const unless =
    (go: Store['run']) =>
    (...call: Parameters<Store['run']>) =>
      call[0] === broken ? Promise.reject(new StoreError('failed', 'not now')) : go(...call)
  const ledger = await openLedger(
    Object.create(store, {
      run: { value: unless(store.run) },
      readNow: { value: unless(store.readNow) },
    }) as Store,
    'ins',
    clock,
    openLog('silent'),
  )
  t.after(() => ledger.close())
  const ask = (key: string, rpm: number | null) => ledger.admit(admissionRequest(key, rpm))
  for (const procedure of [recent, reserve]) {
    broken = procedure
    const asked = await Promise.allSettled([
      ...Array.from({ length: 5 }, () => ask('k', 2)),
      ...(procedure === reserve ? [ask('free', null)] : []),
    ])
    for (const { status } of asked) assert.equal(status, 'rejected')
  }
  broken = null
  const again = await Promise.all(Array.from({ length: 3 }, () => ask('k', 2)))
  assert.deepEqual(
    again.map(({ admitted }) => admitted),
    [true, true, false],
  )
})

/**
 * A store whose responses a test can hold back, and which is busy as often as the test says, by
 * procedure.
 */
function scripted(store: Store): {
  store: Store
  busy: Map<unknown, number>
  hold(): void
  release(): void
  close(): void
} {
  const busy = new Map<unknown, number>()
  let held: PromiseWithResolvers<void> | undefined
  let closed = false
  const run: Store['run'] = async (procedure, args) => {
    await held?.promise
    if (closed) throw new StoreError('closed', 'the process has ended')
    const times = busy.get(procedure) ?? 0
    busy.set(procedure, times - 1)
    if (times > 0) throw new StoreError('busy', 'somebody else writes')
    return store.run(procedure, args)
  }
  const readNow: Store['readNow'] = async (procedure, args) => {
    await held?.promise
    // Reading is slower than writing.
    await setTimeout(200)
    return store.readNow(procedure, args)
  }
  return {
    store: Object.create(store, { run: { value: run }, readNow: { value: readNow } }) as Store,
    busy,
    hold: () => (held = Promise.withResolvers()),
    release: () => {
      held?.resolve()
      held = undefined
    },
    close: () => (closed = true),
  }
}

/** TABLE of what a store can be when a process ends that has let requests through without it. */
const ENDINGS: Record<string, (busy: Map<unknown, number>) => void> = {
  'still reads the window of a key': () => {},
  'is busy when their rows are written': (busy) => void busy.set(recordAdmitted, 2),
  'is busy when their ends are written': (busy) => void busy.set(settle, 2),
}

for (const [ending, script] of Object.entries(ENDINGS)) {
  test(`a process that stops while its store ${ending} loses no row`, async (t) => {
    const opened = await openFor(t, { data: usedFolder(t), databaseUrl: null })
    const { store, busy, hold, release, close } = scripted(opened.store)
    const ledger = await openLedger(store, 'ins', opened.clock, openLog('silent'), {
      maxOutage: 60_000,
      folder: temporaryFolder(t),
    })
    hold()
    const passed: AdmissionRequest[] = []
    for (let i = 0; i < 5; i++) await go(ledger, 'k', 5, passed)
    assert.equal(passed.length, 5)
    script(busy)
    release()
    await ledger.close()
    close()
    await assertWhole(opened, passed)
  })
}

test('postgres: while commits wait for a synchronous standby the store counts as unavailable, and requests pass', async (t) => {
  const place = await placeWithStandby(t)
  const graced = await openGraced(t, place, 60_000)
  const { store, ledger } = graced
  const { id } = await store.db.selectFrom('instances').select('id').executeTakeFirstOrThrow()
  const passed: AdmissionRequest[] = []
  await place.loseStandby()
  const probe = { instance: id, known: null }
  await store.run(exchangeCounts, probe)
  await assert.rejects(store.run(exchangeCounts, { ...probe, isProof: true }), {
    code: 'unavailable',
  })
  await go(ledger, 'free', null, passed)
  assert.ok(ledger.failing())
  await place.restoreStandby()
  await until(() => !ledger.failing())
  await assertWhole(graced, passed)
})

test('postgres: a row whose commit was not confirmed is ended', async (t) => {
  const place = await STOPPABLE.postgres(t)
  const { store, clock } = await openFor(t, place)
  const { id: instance } = await store.db
    .selectFrom('instances')
    .select('id')
    .executeTakeFirstOrThrow()
  let isLost = false
  // A call that doubts the clock writes no row: on a slow machine, one comes first.
  const isDecision = (row: { result?: { doubt: boolean } }) => row.result?.doubt === false
  const db = store.db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (isLost && result.rows.some(isDecision)) {
        isLost = false
        throw new StoreError('unavailable', 'the connection broke')
      }
      return result
    },
  })
  const deaf = Object.create(store, { db: { value: db } }) as Store
  const ledger = await openLedger(deaf, instance, clock, openLog('silent'))
  t.after(() => ledger.close())
  isLost = true
  await assert.rejects(ledger.admit(admissionRequest('k', null)), { code: 'unavailable' })
  const states = async () =>
    (await store.db.selectFrom('requests').select('state').execute()).map(({ state }) => state)
  assert.deepEqual(await states(), ['reserved'])
  await pass(place, 31_000, clock)
  await until(async () => (await states())[0] === 'aborted')
})

for (const [dialect, placeOf] of Object.entries(STOPPABLE)) {
  test(`${dialect}: limits hold during an outage, and afterwards every row is there once`, async (t) => {
    const place = await placeOf(t)
    const graced = await openGraced(t, place, 60_000)
    const { ledger } = graced
    const passed: AdmissionRequest[] = []
    for (let i = 0; i < 3; i++) assert.ok((await go(ledger, 'k', 5, passed)).admitted)
    const leftOf = (key: string) => ledger.leftFor(key, 5).requests
    assert.deepEqual([leftOf('k'), leftOf('new')], [2, 5])
    const child = async (key: string, rpm: number | null) =>
      (await go(ledger, key, rpm, passed, { child_id: `of ${key}`, child_rpm: 3 })).admitted
    assert.ok(await child('free', null))
    place.stop()
    // The first are on their way to the store when it stops, and wait until it counts as failing.
    const early = Array.from({ length: 20 }, () => go(ledger, 'k', 5, passed))
    await setTimeout(20)
    // These have not set out yet.
    const late = Array.from({ length: 5 }, () => go(ledger, 'free', null, passed))
    assert.equal((await Promise.all(early)).filter(({ admitted }) => admitted).length, 2)
    assert.ok((await Promise.all(late)).every(({ admitted }) => admitted))
    assert.ok(ledger.failing())
    assert.deepEqual([leftOf('k'), leftOf('new')], [0, 5])
    for (let i = 0; i < 20; i++) {
      const refused = await go(ledger, 'k', 5, passed)
      assert.ok(!refused.admitted && refused.wait > 0)
      assert.ok((await go(ledger, 'free', null, passed)).admitted)
    }
    assert.deepEqual(
      [await child('free', null), await child('free', null), await child('free', null)],
      [true, true, false],
    )
    assert.equal(await child('k', 5), false, 'its parent is full')
    place.goOn()
    await until(() => !ledger.failing())
    // Before anybody asks again, the store's own windows are not in memory.
    assert.equal(leftOf('k'), 0)
    assert.ok(!(await go(ledger, 'k', 5, passed)).admitted)
    assert.ok((await go(ledger, 'free', null, passed)).admitted)
    assert.deepEqual([await child('free', null), await child('k', 5)], [false, false])
    await assertWhole(graced, passed)
  })

  test(`${dialect}: a window advances during an outage`, async (t) => {
    const place = await placeOf(t)
    const graced = await openGraced(t, place, 300_000)
    const { ledger, clock } = graced
    const passed: AdmissionRequest[] = []
    const asked = async () =>
      (await Promise.all(Array.from({ length: 9 }, () => go(ledger, 'k', 4, passed)))).filter(
        ({ admitted }) => admitted,
      ).length
    assert.equal(await asked(), 4)
    place.stop()
    await until(() => ledger.failing())
    for (const by of [60_200, 60_200]) {
      assert.equal(await asked(), 0)
      clock.monoBy += by
      assert.equal(await asked(), 4)
    }
    place.goOn()
    await until(() => !ledger.failing())
    assert.equal(await asked(), 0)
    await assertWhole(graced, passed)
  })

  test(`${dialect}: requests are refused after the grace period and pass again when the store is back`, async (t) => {
    const place = await placeOf(t)
    const graced = await openGraced(t, place, 500)
    const { ledger } = graced
    const passed: AdmissionRequest[] = []
    assert.ok((await go(ledger, 'k', 100, passed)).admitted)
    place.stop()
    assert.ok((await go(ledger, 'k', 100, passed)).admitted)
    await until(() =>
      go(ledger, 'k', 100, passed).then(
        () => false,
        (error: { name: string; code: string }) =>
          error.name === 'StoreError' && error.code === 'unavailable',
      ),
    )
    assert.ok(ledger.failing())
    assert.equal(await ledger.canAdmitAlone(), false)
    place.goOn()
    await until(() => !ledger.failing())
    assert.ok((await go(ledger, 'k', 100, passed)).admitted)
    await assertWhole(graced, passed)
  })

  test(`${dialect}: without a grace period no request passes unwritten`, async (t) => {
    const place = await placeOf(t)
    const { ledger } = await openGraced(t, place, 0)
    for (const key of ['first', 'second']) {
      place.stop()
      await assert.rejects(ledger.admit(admissionRequest(key, 5)), {
        name: 'StoreError',
        code: 'unavailable',
      })
      await assert.rejects(ledger.admit(admissionRequest(key, null)), {
        name: 'StoreError',
        code: 'unavailable',
      })
      place.goOn()
      await until(() => !ledger.failing())
      assert.ok((await ledger.admit(admissionRequest(key, 5))).admitted)
    }
  })

  test(`${dialect}: each of two processes admits only what is certainly left, and half the limit after a minute`, async (t) => {
    const place = await placeOf(t)
    const [one, two] = [await openGraced(t, place, 300_000), await openGraced(t, place, 300_000)]
    const passed: AdmissionRequest[] = []
    place.stop()
    await until(() => one.ledger.failing() && two.ledger.failing())
    for (const { ledger, clock } of [one, two]) {
      // Nobody knows what the other one let through before the store stood still.
      assert.deepEqual(ledger.leftFor('k', 7).requests, 0)
      await assert.rejects(ledger.admit(admissionRequest('k', 7)), { name: 'StoreError' })
      assert.ok((await go(ledger, 'free', null, passed)).admitted)
      clock.monoBy += 62_200
      assert.deepEqual(ledger.leftFor('k', 7).requests, 3)
      let count = 0
      for (let i = 0; i < 10; i++) if ((await go(ledger, 'k', 7, passed)).admitted) count++
      assert.equal(count, 3)
      await assert.rejects(ledger.admit(admissionRequest('tiny', 1)), { name: 'StoreError' })
    }
    place.goOn()
    await until(() => !one.ledger.failing() && !two.ledger.failing())
    await assertWhole(one, passed)
  })

  test(`${dialect}: a starting process counts what another admitted just before`, async (t) => {
    const place = await placeOf(t)
    const clock = movedClock()
    const before = await openGraced(t, place, 60_000, clock)
    const passed: AdmissionRequest[] = []
    for (let i = 0; i < 4; i++) await go(before.ledger, 'k', 5, passed)
    await before.close()
    const graced = await openGraced(t, place, 60_000, clock)
    place.stop()
    const admissions = await Promise.all(
      Array.from({ length: 10 }, () => go(graced.ledger, 'k', 5, passed)),
    )
    assert.equal(admissions.filter(({ admitted }) => admitted).length, 1)
    place.goOn()
    await until(() => !graced.ledger.failing())
    await assertWhole(graced, passed)
  })

  test(`${dialect}: a process that stops once the store is back loses no row`, async (t) => {
    const place = await placeOf(t)
    const { ledger, close } = await openGraced(t, place, 60_000)
    const passed: AdmissionRequest[] = []
    place.stop()
    for (let i = 0; i < 5; i++) await go(ledger, 'k', 5, passed)
    place.goOn()
    await close()
    await assertWhole(await openGraced(t, place, 0), passed)
  })
}
