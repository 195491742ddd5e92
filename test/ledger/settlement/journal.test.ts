// What is let through enters the ledger whole, once, whoever enters it and however it has ended by
// then.
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { AdmissionRequest, Admission } from '../../../server/ledger/ledger.ts'
import { flushJournal } from '../../../server/ledger/settlement/journal.ts'
import { getRequest, listRequests } from '../../../server/ledger/reports/requests.ts'
import { markUnknown } from '../../../server/ledger/settlement/sqlite.ts'
import { onEveryStore, placeOn } from '../../support/stores.ts'
import { until } from '../../support/until.ts'
import { admissionRequest, openFor, openOn, settlement, type Opened } from '../support/opened.ts'

onEveryStore(
  'a request soon appears in progress in the ledger, even without other traffic',
  async (t, place) => {
    const { store, ledger } = await openFor(t, place)
    const one = admissionRequest('k', 10)
    assert.ok((await ledger.admit(one)).admitted)
    const rows = () => store.db.selectFrom('requests').select(['id', 'state']).execute()
    // Sooner than the next look for what dead processes left.
    await until(async () => (await rows()).length > 0, 5_000)
    assert.deepEqual(
      (await rows()).map((row) => ({ ...row })),
      [{ id: one.id, state: 'reserved' }],
    )
  },
)

onEveryStore('a request is listed as soon as it is admitted', async (t, place) => {
  const { store, ledger } = await openFor(t, place)
  for (let i = 1; i <= 20; i++) {
    const one = admissionRequest('k', null)
    assert.ok((await ledger.admit(one)).admitted)
    assert.equal((await listRequests(store, { account: 'acc' }, 100, undefined)).rows.length, i)
    assert.equal((await getRequest(store, one.id, 'acc'))?.state, 'reserved')
  }
})

/** What happens in one of two processes. */
type Event =
  | { kind: 'admit'; by: number; key: number; together: number }
  | { kind: 'settle'; which: number; tokens: number | null }
  | { kind: 'settle again'; which: number }
  | { kind: 'enter'; by: number }
  | { kind: 'pause' }
  | { kind: 'take for dead'; by: number }

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('admit' as const),
      by: fc.nat(1),
      key: fc.nat(2),
      together: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      which: fc.nat(),
      tokens: fc.option(fc.nat(9)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('settle again' as const), which: fc.nat() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('enter' as const), by: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'pause' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('take for dead' as const), by: fc.nat(1) }),
  },
)

type Passed = {
  by: number
  asking: AdmissionRequest
  admission: Admission & { admitted: true }
  tokens?: number | null
}

onEveryStore(
  'every request of two processes is in the ledger once, with its end, and in the roll-ups',
  async (t, place) => {
    const dialect = place.databaseUrl === null ? 'sqlite' : 'postgres'
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 8, maxLength: 40 }), async (events) => {
        const fresh = await placeOn[dialect](t)
        const processes = [await openOn(fresh), await openOn(fresh)]
        try {
          await assertWhole(events, processes)
        } finally {
          for (const { close } of processes) await close()
        }
      }),
      { numRuns: 6 },
    )
  },
)

async function assertWhole(events: Event[], processes: Opened[]): Promise<void> {
  const passed: Passed[] = []
  for (const one of events) await happen(one, processes, passed)
  await processes[0]!.ledger.close()
  await processes[1]!.ledger.close()
  const { store } = processes[0]!
  await store.run(flushJournal, null)
  const rows = await store.db
    .selectFrom('requests')
    .select(['id', 'seq', 'state', 'tokens_in', 'key_id', 'endpoint'])
    .orderBy('seq')
    .execute()
  const expected = passed.toSorted((a, b) => a.admission.seq - b.admission.seq)
  assert.deepEqual(
    rows.map(({ id, seq, tokens_in, key_id, endpoint }) => ({
      id,
      seq,
      tokens_in,
      key_id,
      endpoint,
    })),
    expected.map(({ asking, admission, tokens }) => ({
      id: asking.id,
      seq: admission.seq,
      tokens_in: tokens ?? null,
      key_id: asking.key_id,
      endpoint: 'chat',
    })),
  )
  assert.deepEqual(
    rows.filter(({ state }) => state === 'settled').map(({ id }) => id),
    expected.filter(({ tokens }) => tokens !== undefined).map(({ asking }) => asking.id),
  )
  const sums = await store.db
    .selectFrom('usage_hours')
    .select((e) => [
      e.fn.sum<number>('requests').as('requests'),
      e.fn.sum<number>('unknown').as('unknown'),
      e.fn.sum<number>('tokens_in').as('tokens'),
    ])
    .executeTakeFirstOrThrow()
  const unknown = rows.filter(({ state }) => state === 'unknown').length
  const settled = passed.filter(({ tokens }) => tokens !== undefined)
  assert.equal(Number(sums.requests ?? 0), settled.length + unknown)
  assert.equal(Number(sums.unknown ?? 0), unknown)
  assert.equal(
    Number(sums.tokens ?? 0),
    settled.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
  )
}

async function happen(event: Event, processes: Opened[], passed: Passed[]): Promise<void> {
  if (event.kind === 'admit') {
    const { by, key, together } = event
    // Of three keys one has no limit, and one is full after some.
    const askings = Array.from({ length: together }, () =>
      admissionRequest(`k${key}`, [null, 1_000, 5][key]!),
    )
    const admissions = await Promise.all(askings.map((one) => processes[by]!.ledger.admit(one)))
    admissions.forEach(
      (admission, at) => admission.admitted && passed.push({ by, asking: askings[at]!, admission }),
    )
  }
  if (event.kind === 'settle' || event.kind === 'settle again') {
    const again = event.kind === 'settle again'
    const those = passed.filter(({ tokens }) => (tokens !== undefined) === again)
    const one = those[event.which % those.length]
    if (one === undefined) return
    if (!again) one.tokens = event.tokens
    processes[one.by]!.ledger.settle(
      settlement(
        one.asking,
        one.admission,
        again ? { status: 500, tokens_in: 77 } : { tokens_in: event.tokens },
      ),
    )
  }
  if (event.kind === 'enter') await processes[event.by]!.store.run(flushJournal, null)
  if (event.kind === 'pause') await new Promise((resolve) => setTimeout(resolve, 60))
  if (event.kind === 'take for dead') {
    const { store } = processes[event.by]!
    const instances = await store.db.selectFrom('instances').selectAll().execute()
    await store.db.deleteFrom('instances').execute()
    await store.run(markUnknown, null)
    await store.write(store.db.insertInto('instances').values(instances))
  }
}
