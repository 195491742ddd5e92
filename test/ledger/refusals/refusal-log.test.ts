// Refused requests are written in bunches: samples of them, and how many there were.
import assert from 'node:assert/strict'
import { countRefused, listRefusals } from '../../../server/ledger/refusals/refusal-list.ts'
import {
  MAX_OF_KEY,
  SAMPLES,
  openRefusalLog,
  expireRefusals,
  type Refusal,
} from '../../../server/ledger/refusals/refusal-log.ts'
import type { Store } from '../../../server/store/store.ts'
import { onEveryStore, openAt } from '../../support/stores.ts'

const MINUTE = 60_000
const NOW = 1_000_000 * MINUTE
let last = 0

const refusal = (more: Partial<Refusal> = {}): Refusal => ({
  id: `req_${String(++last).padStart(8, '0')}`,
  created_at: NOW,
  account_id: 'acc',
  key_id: 'key',
  provider: 'openai',
  model: 'gpt-5',
  method: 'POST',
  status: 403,
  code: 'model_not_allowed',
  detail: 'The key may not use this model.',
  ...more,
})
const everything = { account: null, from: 0, to: Number.MAX_SAFE_INTEGER }
const rowsOf = (store: Store) =>
  store.db.selectFrom('refusals').selectAll().orderBy('created_at').orderBy('id').execute()
const fail = (error: unknown) => {
  throw error
}

onEveryStore(
  'a flood of refusals leaves samples and exact counts by key, code and minute',
  async (t, place) => {
    const store = await openAt(t, place)
    const log = openRefusalLog(store, fail)
    for (let i = 0; i < 1_000; i++) log.note(refusal())
    for (let i = 0; i < 500; i++) log.note(refusal({ code: 'rate_limit_exceeded', status: 429 }))
    for (let i = 0; i < 300; i++) log.note(refusal({ created_at: NOW + MINUTE }))
    log.note(refusal({ key_id: 'other', account_id: 'else' }))
    await log.flush()
    const rows = await rowsOf(store)
    // The first of each key, code and minute, and as many more as there is room for.
    assert.equal(rows.filter(({ key_id }) => key_id === 'key').length, SAMPLES + 2)
    assert.equal(
      rows.reduce((sum, { count }) => sum + count, 0),
      1_801,
      'each refusal is counted by one row',
    )
    const counts = await store.db
      .selectFrom('refusal_minutes')
      .select(['key_id', 'code', 'minute', 'refused'])
      .orderBy('minute')
      .orderBy('refused')
      .execute()
    assert.deepEqual(
      counts.map(({ key_id, code, minute, refused }) => [key_id, code, minute, refused]),
      [
        ['other', 'model_not_allowed', NOW, 1],
        ['key', 'rate_limit_exceeded', NOW, 500],
        ['key', 'model_not_allowed', NOW, 1_000],
        ['key', 'model_not_allowed', NOW + MINUTE, 300],
      ],
    )
    for (let i = 0; i < 10; i++) log.note(refusal())
    await log.flush()
    /** TABLE: a filter, and the counts of what it finds, by code. */
    const cases: [filter: object, counts: Record<string, number>][] = [
      [{}, { model_not_allowed: 1_311, rate_limit_exceeded: 500 }],
      [{ account: 'else' }, { model_not_allowed: 1 }],
      [{ key: 'key', code: 'rate_limit_exceeded' }, { rate_limit_exceeded: 500 }],
      [{ key: 'key', from: NOW + MINUTE }, { model_not_allowed: 300 }],
      [
        { key: 'key', to: NOW + MINUTE },
        { model_not_allowed: 1_010, rate_limit_exceeded: 500 },
      ],
      [{ key: 'none' }, {}],
    ]
    for (const [filter, expected] of cases)
      assert.deepEqual(
        await countRefused(store, { ...everything, ...filter }),
        expected,
        JSON.stringify(filter),
      )
  },
)

onEveryStore(
  'refusals are listed newest first, page by page, with a bounded number of rows per key',
  async (t, place) => {
    const store = await openAt(t, place)
    const log = openRefusalLog(store, fail)
    const made: string[] = []
    for (let i = 0; i < 7; i++) {
      const one = refusal({
        created_at: NOW + Math.floor(i / 2),
        key_id: i === 6 ? 'other' : 'key',
        code: i === 0 ? 'rate_limit_exceeded' : 'model_not_allowed',
      })
      made.unshift(one.id)
      log.note(one)
      await log.flush()
    }
    const pages = async (filter: object, limit: number) => {
      const found: string[] = []
      for (let cursor: string | undefined; ;) {
        const { rows, next } = await listRefusals(
          store,
          { ...everything, ...filter },
          limit,
          cursor,
        )
        found.push(...rows.map(({ id }) => id))
        if (next === null) return found.map((id) => made.indexOf(id))
        cursor = next
      }
    }
    assert.deepEqual(await pages({}, 3), [0, 1, 2, 3, 4, 5, 6])
    assert.deepEqual(await pages({ key: 'key' }, 2), [1, 2, 3, 4, 5, 6])
    assert.deepEqual(await pages({ account: 'acc', code: 'rate_limit_exceeded' }, 2), [6])
    assert.deepEqual(await pages({ from: NOW + 1, to: NOW + 3 }, 2), [1, 2, 3, 4])
    assert.deepEqual(await pages({ account: 'nobody' }, 2), [])

    const many = Array.from({ length: MAX_OF_KEY + 50 }, (_, i) => ({
      ...refusal({ created_at: NOW + 100 + i }),
      count: 1,
    }))
    for (let at = 0; at < many.length; at += 100)
      await store.write(store.db.insertInto('refusals').values(many.slice(at, at + 100)))
    for (let i = 0; i < 60; i++) {
      for (let j = 0; j < SAMPLES; j++) log.note(refusal({ created_at: NOW + 5_000 }))
      await log.flush()
    }
    const rows = await rowsOf(store)
    const mine = rows.filter(({ key_id }) => key_id === 'key')
    assert.ok(mine.length >= MAX_OF_KEY && mine.length <= MAX_OF_KEY + 200, `${mine.length} rows`)
    assert.equal(mine.at(-1)?.created_at, NOW + 5_000)
    assert.equal(rows.length - mine.length, 1, 'another key keeps its own')

    await expireRefusals(store, NOW + 5_000)
    assert.deepEqual(
      [...new Set((await rowsOf(store)).map(({ created_at }) => created_at))],
      [NOW + 5_000],
    )
    await expireRefusals(store, NOW + 2 * MINUTE)
    assert.deepEqual(
      [await rowsOf(store), await store.db.selectFrom('refusal_minutes').selectAll().execute()],
      [[], []],
    )
  },
)

onEveryStore('counts survive a store that is temporarily unavailable', async (t, place) => {
  const store = await openAt(t, place)
  let failures = 0
  let down = true
  const flaky: Store = {
    ...store,
    run: (procedure, args) =>
      down ? Promise.reject(new Error('down')) : store.run(procedure, args),
  }
  const log = openRefusalLog(flaky, () => void failures++)
  for (let i = 0; i < 20; i++) log.note(refusal())
  await log.flush()
  for (let i = 0; i < 3; i++) log.note(refusal())
  await log.flush()
  assert.equal(failures, 2)
  down = false
  log.note(refusal())
  await log.flush()
  assert.deepEqual(await countRefused(store, everything), { model_not_allowed: 24 })
})
