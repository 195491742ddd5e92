// The database's clock is set while processes run on it, and while none does. `correction` stands
// for its setting: the ledger's time is their sum.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Ledger } from '../../../server/ledger/ledger.ts'
import { reserveGroups, WIDTH_MS } from '../../../server/ledger/admission/postgres-reserve.ts'
import { verifyWindows } from '../../../server/ledger/reports/verify.ts'
import { WINDOW_MS } from '../../../server/ledger/admission/sliding-window.ts'
import type { Place } from '../../support/place.ts'
import { query } from '../../support/postgres.ts'
import { placeOn } from '../../support/stores.ts'
import { until } from '../../support/until.ts'
import { admissionRequest, openFor, openOn, pass } from '../support/opened.ts'

const setClock = ({ databaseUrl }: Place, seconds: number) =>
  query(
    databaseUrl!,
    `update ledger_clock set correction = correction + ${seconds} * 1000000::bigint`,
  )

const passed = async (ledgers: Ledger[], rpm: number): Promise<number> =>
  (
    await Promise.all(
      ledgers.flatMap((ledger) =>
        Array.from({ length: 20 }, () => ledger.admit(admissionRequest('k', rpm))),
      ),
    )
  ).filter(({ admitted }) => admitted).length

for (const seconds of [3_600, 61, 1, -1, -61, -3_600]) {
  test(`a clock set by ${seconds} s neither admits nor delays any request`, async (t) => {
    const where = await placeOn.postgres(t)
    const [one, two] = [await openFor(t, where), await openFor(t, where)]
    const ledgers = [one.ledger, two.ledger]
    assert.equal(await passed(ledgers, 4), 4)
    await setClock(where, seconds)
    assert.equal(await passed(ledgers, 5), 1)
    await setClock(where, -2 * seconds)
    assert.equal(await passed(ledgers, 6), 1)
    await pass(where, WINDOW_MS + 3_000, one.clock, two.clock)
    assert.equal(await passed(ledgers, 6), 6)
    assert.deepEqual((await verifyWindows(one.store)).violations, [])
  })
}

test('a clock set back while no process ran causes no long delay', async (t) => {
  const where = await placeOn.postgres(t)
  const before = await openOn(where)
  assert.equal(await passed([before.ledger], 3), 3)
  await before.close()
  await setClock(where, -3_600)
  const after = await openFor(t, where)
  assert.equal(await passed([after.ledger], 3), 0)
  await pass(where, WINDOW_MS + 3_000, after.clock)
  assert.equal(await passed([after.ledger], 3), 3)
})

test('an admission released after its timestamp counts from its release, as do those after it', async (t) => {
  const where = await placeOn.postgres(t)
  const { ledger } = await openFor(t, where)
  assert.ok((await ledger.admit(admissionRequest('k', 5))).admitted)
  await query(
    where.databaseUrl!,
    `create function tarry() returns trigger language plpgsql as $$ begin perform pg_sleep(0.3); return null; end $$;
    create trigger tarry after insert on admissions for each statement execute function tarry()`,
  )
  const stamps = async () =>
    (await query(
      where.databaseUrl!,
      `select s.mono, r.mono as decided, tollmark_ledger_time() as now
       from (select *, row_number() over (order by last) as place from admission_stamps) as s
         join (select *, row_number() over (order by seq) as place from requests) as r on r.place = s.place order by last`,
    )) as { mono: string; decided: string; now: string }[]
  const [first] = await stamps()
  assert.ok((await ledger.admit(admissionRequest('k', 5))).admitted)
  await until(async () => Number((await stamps())[1]!.mono) >= Number(first!.now) + 300_000)
  assert.equal((await stamps())[0]!.mono, first!.mono)
  assert.ok((await stamps()).every(({ mono, now }) => Number(mono) <= Number(now)))

  // From then on the process expects it, and its stamps are ahead by as much as they may.
  await query(
    where.databaseUrl!,
    'create or replace function tarry() returns trigger language plpgsql as $$ begin return null; end $$',
  )
  assert.ok((await ledger.admit(admissionRequest('k', 5))).admitted)
  const third = (await stamps())[2]!
  assert.ok(Number(third.mono) - Number(third.decided) >= 250_000)
})

test('a stamp in the future admits no request sooner', async (t) => {
  const where = await placeOn.postgres(t)
  const { store } = await openFor(t, where)
  const admitted = async (allowance: number) => {
    const request = admissionRequest('k', 2)
    const pending = { request, patience: 0, superseded: false, callerLeft: false }
    const group = {
      key_id: 'k',
      rpm: 2,
      child_id: null,
      child_rpm: null,
      pending: [{ ...pending, resolve: () => {}, reject: () => {} }],
    }
    const response = await reserveGroups(store, 'one', [group], 0, null, allowance)
    assert.ok(response.kind === 'decided')
    return response.verdicts[0]!
  }
  const state = async () =>
    (await query(
      where.databaseUrl!,
      `select array(select mono from admission_stamps order by last) as stamps,
         array(select mono from requests order by seq) as decided, tollmark_ledger_time() as now`,
    )) as { stamps: string[]; decided: string[]; now: string }[]

  // As far ahead as one may be.
  assert.equal((await admitted(10_000)).written.length, 1)
  assert.equal((await admitted(0)).written.length, 1)
  const [{ stamps, decided, now } = { stamps: [], decided: [], now: '' }] = await state()
  const [first, second] = stamps.map(Number)
  assert.equal(first, Number(decided[0]) + 250_000)
  assert.ok(second! >= first, 'stamps of a key never go back')
  assert.ok(Number(decided[1]) <= Number(now), 'it was decided by the present time')

  // By the first stamp, not by its decision, the window has room again.
  await pass(where, WIDTH_MS - 30_000)
  const before = Number((await state())[0]!.now)
  const refused = await admitted(0)
  const after = Number((await state())[0]!.now)
  assert.equal(refused.written.length, 0)
  const until = first + WIDTH_MS * 1000
  const wait = refused.waits.key_id * 1000
  assert.ok(wait <= until - before && wait >= until - after)
  // As a process of the version before asks.
  assert.deepEqual(
    await query(
      where.databaseUrl!,
      `select tollmark_admit('[]', '[{"id":"k","rpm":2,"wanted":1}]', '{}', 'one', ${WIDTH_MS * 1000}, null, null)->'passed' as passed`,
    ),
    [{ passed: [0] }],
  )
})

test('a process that did not notice a step itself still notices the next one', async (t) => {
  const where = await placeOn.postgres(t)
  const [one, two] = [await openFor(t, where), await openFor(t, where)]
  assert.equal(await passed([one.ledger, two.ledger], 4), 4)
  await setClock(where, -61)
  assert.equal(await passed([one.ledger], 5), 1)
  // The other one has corrected the time: here all seems as before.
  assert.equal(await passed([two.ledger], 6), 1)
  await setClock(where, 122)
  assert.equal(await passed([two.ledger], 7), 1)
  assert.deepEqual((await verifyWindows(one.store)).violations, [])
})
