import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { HOUR, MINUTE } from '../../../server/common/clock.ts'
import { eachToken, TOKEN_COLUMNS, type TokenColumn } from '../../../server/common/token-kinds.ts'
import {
  openLedger,
  type AdmissionRequest,
  type Settlement,
} from '../../../server/ledger/ledger.ts'
import { encodeSettlements } from '../../../server/ledger/settlement/row-codec.ts'
import { markUnknown, settle } from '../../../server/ledger/settlement/sqlite.ts'
import { openLog } from '../../../server/common/log.ts'
import { StoreError } from '../../../server/store/store-error.ts'
import type { Store } from '../../../server/store/store.ts'
import type { Place } from '../../support/place.ts'
import { query } from '../../support/postgres.ts'
import { onEveryStore } from '../../support/stores.ts'
import { usedFolder } from '../../support/templates.ts'
import { until } from '../../support/until.ts'
import { admissionRequest, openFor, openOn, settlement } from '../support/opened.ts'
import { summed } from '../support/summed.ts'

onEveryStore('a settled row is complete, exists once, and is in the roll-ups', async (t, place) => {
  const { store, ledger } = await openFor(t, place)
  const one = admissionRequest('k', 10)
  const two = admissionRequest('k', 10, { model: null })
  const [first, second] = await Promise.all([ledger.admit(one), ledger.admit(two)])
  assert.ok(first.admitted && second.admitted)
  const sent = settlement(one, first, {
    ...eachToken(() => 2),
    tokens_in: 3,
    tokens_out: 4,
    tokens_cached: 1,
  })
  ledger.settle(sent)
  ledger.settle(settlement(one, first, { status: 500 }))
  ledger.settle(
    settlement(two, second, {
      model: 'gpt-5',
      status: 502,
      tokens_in: null,
      tokens_out: null,
      first_byte_ms: null,
    }),
  )
  await ledger.close()
  const rows = await store.db
    .selectFrom('requests')
    .select(['id', 'state', 'status', 'model', 'tokens_in', 'tokens_cached'])
    .orderBy('seq')
    .execute()
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      { id: one.id, state: 'settled', status: 200, model: 'gpt-5', tokens_in: 3, tokens_cached: 1 },
      {
        id: two.id,
        state: 'settled',
        status: 502,
        model: 'gpt-5',
        tokens_in: null,
        tokens_cached: null,
      },
    ],
  )
  // Whatever is known of a request arrives: on PostgreSQL by a statement that names each column.
  const stored = await store.db
    .selectFrom('requests')
    .selectAll()
    .where('id', '=', one.id)
    .executeTakeFirstOrThrow()
  assert.deepEqual({ ...stored, ...sent }, { ...stored })
  const hours = await store.db.selectFrom('usage_hours').selectAll().execute()
  assert.equal(hours.length, 1)
  const { requests, errors, unmetered, tokens_in, tokens_out, tokens_cached, bytes_in, answered } =
    hours[0]!
  assert.deepEqual(
    { requests, errors, unmetered, tokens_in, tokens_out, tokens_cached, bytes_in, answered },
    {
      requests: 2,
      errors: 1,
      unmetered: 1,
      tokens_in: 3,
      tokens_out: 4,
      tokens_cached: 1,
      bytes_in: 200,
      answered: 1,
    },
  )
})

onEveryStore('a truncated response counts as an error, whatever its status', async (t, place) => {
  const { store, ledger } = await openFor(t, place)
  for (const error of ['upstream_unreachable', null] as const) {
    const one = admissionRequest('k', null)
    const admission = await ledger.admit(one)
    assert.ok(admission.admitted)
    ledger.settle(settlement(one, admission, { error }))
  }
  await ledger.close()
  const { requests, errors } = await store.db
    .selectFrom('usage_hours')
    .select(['requests', 'errors'])
    .executeTakeFirstOrThrow()
  assert.deepEqual({ requests, errors }, { requests: 2, errors: 1 })
})

/** A number of its own for each kind of tokens. */
const SAID = eachToken((column) => 1 + TOKEN_COLUMNS.indexOf(column))
const UNSAID = { tokens_in: null, tokens_out: null }

/**
 * TABLE of requests: what is different of them, how they ended, and how they did the second time.
 */
const ENDS: [
  asked: Partial<AdmissionRequest>,
  end: Partial<Settlement>,
  later?: Partial<Settlement>,
][] = [
  [{}, {}],
  [{}, { state: 'aborted', status: null, ...UNSAID }],
  [{}, { state: 'aborted', status: 500, first_byte_ms: null }],
  [{}, { status: 399, total_ms: null, tokens_in: null }],
  [{}, { status: 400, tokens_out: null, tokens_cached: 2 }],
  [{}, { status: null, tokens_reasoning: 5 }],
  [{}, { error: 'upstream_timeout', tokens_cached: 1, tokens_reasoning: 7 }],
  [{ key_id: 'other' }, {}],
  [{ provider: 'azure' }, {}],
  [{ model: 'o3' }, SAID, UNSAID],
  [{ model: null }, UNSAID, SAID],
]

/** A roll-up as it says of itself what it is. */
function sumUp(rows: readonly Settlement[]) {
  const [{ created_at, key_id, provider, model, account_id }] = rows as [Settlement]
  const known = (column: TokenColumn) =>
    rows.reduce<number | null>(
      (sum, { [column]: value }) => (value === null ? sum : (sum ?? 0) + value),
      null,
    )
  const total = (
    some: readonly Settlement[],
    column: 'bytes_in' | 'bytes_out' | 'first_byte_ms' | 'total_ms',
  ) => some.reduce((sum, { [column]: value }) => sum + value!, 0)
  const timed = rows.filter(
    ({ first_byte_ms, total_ms }) => first_byte_ms !== null && total_ms !== null,
  )
  return {
    hour: Math.floor(created_at / HOUR) * HOUR,
    key_id,
    provider,
    model: model ?? '',
    account_id,
    requests: rows.length,
    errors: rows.filter(
      ({ state, status, error }) =>
        state !== 'aborted' && (status === null || status >= 400 || error !== null),
    ).length,
    aborted: rows.filter(({ state }) => state === 'aborted').length,
    unknown: 0,
    unmetered: rows.filter(({ tokens_in, tokens_out }) => tokens_in === null && tokens_out === null)
      .length,
    bytes_in: total(rows, 'bytes_in'),
    bytes_out: total(rows, 'bytes_out'),
    ...eachToken(known),
    answered: timed.length,
    first_byte_ms: total(timed, 'first_byte_ms'),
    total_ms: total(timed, 'total_ms'),
  }
}

onEveryStore(
  'a roll-up is the sum of the requests of its hour, key, provider and model, however they ended',
  async (t, place) => {
    const { store, ledger } = await openFor(t, place)
    const ended: Settlement[] = []
    for (const unit of [1, 2]) {
      const asked = [0, HOUR].flatMap((before) =>
        ENDS.map(([different, end, later = end]) => ({
          before,
          end: unit === 1 ? end : later,
          one: admissionRequest('k', null, different),
        })),
      )
      const admissions = await Promise.all(asked.map(({ one }) => ledger.admit(one)))
      asked.forEach(({ before, end, one }, i) => {
        const admission = admissions[i]!
        assert.ok(admission.admitted)
        ended.push(
          settlement(one, { ...admission, created_at: admission.created_at - before }, end),
        )
        ledger.settle(ended.at(-1)!)
      })
      await until(
        async () =>
          (
            await store.db
              .selectFrom('requests')
              .select('seq')
              .where('state', 'in', ['settled', 'aborted'])
              .execute()
          ).length ===
          unit * asked.length,
      )
    }
    const expected = [
      ...Map.groupBy(ended, ({ created_at, key_id, provider, model }) =>
        [Math.floor(created_at / HOUR), key_id, provider, model].join(),
      ).values(),
    ].map(sumUp)
    const found = await store.db.selectFrom('usage_hours').selectAll().execute()
    assert.equal(found.length, expected.length)
    for (const sum of expected) {
      const { hour, key_id, provider, model } = sum
      assert.deepEqual(
        {
          ...found.find(
            (row) =>
              row.hour === hour &&
              row.key_id === key_id &&
              row.provider === provider &&
              row.model === model,
          ),
        },
        sum,
      )
    }

    // What is made of the ledger itself, by the minute, comes to the same.
    const time = { from: ended[0]!.created_at - 2 * HOUR, to: ended.at(-1)!.created_at + HOUR }
    const [minutes, hours] = await Promise.all(
      [MINUTE, HOUR].map((finest) => store.read(summed, { ...time, finest })),
    )
    assert.ok(minutes!.length > 1)
    assert.deepEqual(minutes, hours)
  },
)

onEveryStore('roll-ups sum known and unknown values', async (t, place) => {
  const { store, ledger } = await openFor(t, place)
  for (const tokens_cached of [null, 5, null, 2]) {
    const one = admissionRequest('k', null)
    const admission = await ledger.admit(one)
    assert.ok(admission.admitted)
    await store.run(settle, encodeSettlements([settlement(one, admission, { tokens_cached })]))
  }
  const { requests, tokens_cached, tokens_reasoning } = await store.db
    .selectFrom('usage_hours')
    .selectAll()
    .executeTakeFirstOrThrow()
  assert.deepEqual(
    { requests, tokens_cached, tokens_reasoning },
    { requests: 4, tokens_cached: 7, tokens_reasoning: null },
  )
})

onEveryStore(
  "a dead process's open requests become unknown; a live one's do not",
  async (t, place) => {
    const dead = await openOn(place)
    const lost = admissionRequest('k', null)
    const late = admissionRequest('k', null)
    assert.ok((await dead.ledger.admit(lost)).admitted)
    const admission = await dead.ledger.admit(late)
    assert.ok(admission.admitted)
    const live = await openFor(t, place)
    const states = async () =>
      (await live.store.db.selectFrom('requests').select('state').orderBy('seq').execute()).map(
        ({ state }) => state,
      )
    assert.deepEqual(await states(), ['reserved', 'reserved'])
    assert.equal(await live.store.run(markUnknown, null), 0)
    const { instance } = await live.store.db
      .selectFrom('requests')
      .select('instance')
      .executeTakeFirstOrThrow()
    await live.store.db.deleteFrom('instances').where('id', '=', instance).execute()
    assert.equal(await live.store.run(markUnknown, null), 2)
    assert.deepEqual(await states(), ['unknown', 'unknown'])
    // It was not dead after all: the row is completed and still counted once.
    dead.ledger.settle(settlement(late, admission))
    await dead.close()
    assert.deepEqual(await states(), ['unknown', 'settled'])
    const sums = await live.store.db
      .selectFrom('usage_hours')
      .select((e) => [
        e.fn.sum<number>('requests').as('requests'),
        e.fn.sum<number>('unknown').as('unknown'),
        e.fn.sum<number>('unmetered').as('unmetered'),
      ])
      .executeTakeFirstOrThrow()
    assert.deepEqual({ ...sums }, { requests: 2, unknown: 1, unmetered: 1 })
  },
)

onEveryStore(
  'a settlement that the store never accepts does not block the others',
  async (t, place) => {
    const { store, ledger } = await openFor(t, place)
    const all = Array.from({ length: 9 }, () => admissionRequest('k', null))
    const admissions = await Promise.all(all.map((one) => ledger.admit(one)))
    admissions.forEach((admission, i) => {
      assert.ok(admission.admitted)
      ledger.settle(settlement(all[i]!, admission, i % 4 === 2 ? { state: null as never } : {}))
    })
    const states = async () =>
      (await store.db.selectFrom('requests').select('state').orderBy('seq').execute()).map(
        ({ state }) => state,
      )
    const whole = (i: number) => (i % 4 === 2 ? 'reserved' : 'settled')
    await until(async () => (await states()).filter((state) => state === 'settled').length === 7)
    assert.deepEqual(
      await states(),
      all.map((_, i) => whole(i)),
    )
    assert.equal(
      (await store.db.selectFrom('usage_hours').select('requests').executeTakeFirstOrThrow())
        .requests,
      7,
    )
    const later = admissionRequest('k', null)
    const admission = await ledger.admit(later)
    assert.ok(admission.admitted)
    ledger.settle(settlement(later, admission))
    await until(async () => (await states()).at(-1) === 'settled')
  },
)

test('settlements that fail are written a second later, even without other traffic', async (t) => {
  const { store, clock } = await openFor(t, { data: usedFolder(t), databaseUrl: null })
  const tried: unknown[] = []
  const full = new StoreError('full', 'no room')
  const run = (...call: Parameters<Store['run']>) =>
    call[0] === settle && tried.push(call[1]) === 1 ? Promise.reject(full) : store.run(...call)
  const ledger = await openLedger(
    Object.create(store, { run: { value: run } }) as Store,
    'ins',
    clock,
    openLog('silent'),
  )
  t.after(() => ledger.close())
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const triedAfter = async (milliseconds: number): Promise<number> => {
    t.mock.timers.tick(milliseconds)
    await new Promise(setImmediate)
    return tried.length
  }
  for (const one of [admissionRequest('k', null), admissionRequest('k', null)]) {
    // In a hurry: nobody lets the time of a unit's company pass here.
    const admission = await ledger.admit(one, undefined, 0)
    assert.ok(admission.admitted)
    ledger.settle(settlement(one, admission))
  }
  assert.equal(await triedAfter(50), 1)
  assert.equal(await triedAfter(999), 1)
  assert.equal(await triedAfter(1), 2)
  assert.equal(tried[1], tried[0])
})

onEveryStore('closing waits for pending settlements', async (t, place) => {
  const { store, ledger } = await openFor(t, place)
  const one = admissionRequest('k', null)
  const admission = await ledger.admit(one)
  assert.ok(admission.admitted)
  const state = async () =>
    (await store.db.selectFrom('requests').select('state').executeTakeFirst())?.state
  await until(async () => (await state()) === 'reserved')
  const held = holdWriters(place, 400)
  await sleep(100)
  ledger.settle(settlement(one, admission))
  // The unit has set out, and waits for the store.
  await sleep(100)
  await ledger.close()
  assert.equal(await state(), 'settled')
  await held
})

/** Nobody else writes the store for some milliseconds. */
async function holdWriters({ data, databaseUrl }: Place, milliseconds: number): Promise<void> {
  if (databaseUrl)
    return void (await query(
      databaseUrl,
      `begin; lock table requests in exclusive mode; select pg_sleep(${milliseconds / 1000}); commit`,
    ))
  const other = new DatabaseSync(join(data, 'tollmark.db'), { timeout: 10_000 })
  other.exec('BEGIN IMMEDIATE')
  await sleep(milliseconds)
  other.exec('COMMIT')
  other.close()
}
