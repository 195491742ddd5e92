// What the dashboard asks for is found along an index, whatever the size of the ledger: no
// statement of a report, or of a page of a list, reads all rows of the ledger, its roll-ups or the
// refusals.
import assert from 'node:assert/strict'
import { countKeys, expiringKeys, listKeys } from '../../../server/keys/key-list.ts'
import { countRefusals, readRefusals } from '../../../server/ledger/refusals/limit-counts.ts'
import { countRefused, listRefusals } from '../../../server/ledger/refusals/refusal-list.ts'
import { modelsSeen, readOverview, RANGES } from '../../../server/ledger/reports/overview.ts'
import { getRequest, listRequests } from '../../../server/ledger/reports/requests.ts'
import { readUsage, usageOfKeys } from '../../../server/ledger/reports/usage.ts'
import { addHours } from '../../../server/ledger/rollups/coarser.ts'
import type { Store } from '../../../server/store/store.ts'
import type { Statement } from '../../../server/store/statement.ts'
import { ledgerRow } from '../../support/ledger-row.ts'
import { query } from '../../support/postgres.ts'
import { raw, recording } from '../../support/recording.ts'
import { onEveryStore, openAt } from '../../support/stores.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NOW = 1_000 * DAY + HOUR / 2

/** A whole reading of one of the large tables, or of its index, as each database describes it. */
const SCANS = {
  // The index of requests in progress is nearly always empty.
  sqlite: /\bSCAN (?:requests|usage_(?!added)\w+|refus\w+)\b(?! USING INDEX requests_reserved\b)/,
  postgres:
    /\b(?:Seq Scan|Index (?:Only )?Scan(?: Backward)? using \w+) on (?:requests\w*|usage_(?!added)\w+|refus\w+)\b(?![^;]*; *Index Cond)/,
} as const

/** The first rows of an index, which are read alone. */
const isBeginning = (text: string): boolean => !/\swhere\s/.test(text) && /\slimit\s/.test(text)

/** TABLE of what the dashboard's pages ask for. */
const READINGS: readonly [what: string, read: (store: Store) => Promise<unknown>][] = [
  ...(['hour', 'day', 'month'] as const satisfies (keyof typeof RANGES)[]).flatMap(
    (range): typeof READINGS => [
      [`overview, ${range}`, (store) => readOverview(store, { account: 'acc', range }, NOW)],
      [
        `overview of a key, ${range}`,
        (store) => readOverview(store, { account: 'acc', range, key: 'key_1' }, NOW),
      ],
    ],
  ),
  ['models', (store) => modelsSeen(store, 'acc', NOW - 90 * DAY, 500)],
  ['limits', (store) => readRefusals(store, { account: 'acc', from: NOW - DAY }, 20)],
  ['limits of a key', (store) => countRefusals(store, { account: 'acc', key: 'key_1', from: 0 })],
  ...(['key', 'model'] as const).map((by): (typeof READINGS)[number] => [
    `usage by ${by}`,
    (store) =>
      readUsage(store, { account: 'acc', by: ['day', by], from: NOW - 30 * DAY, to: NOW, top: 5 }),
  ]),
  ['keys', (store) => listKeys(store, { account: 'acc' }, 25, undefined, NOW)],
  ['how many keys', (store) => countKeys(store, { account: 'acc' }, NOW)],
  ['keys that expire', (store) => expiringKeys(store, 'acc', NOW, NOW + DAY)],
  ...(['-requests', '-last_used_at'] as const).map((sort): (typeof READINGS)[number] => [
    `keys by ${sort}`,
    (store) => listKeys(store, { account: 'acc', sort }, 25, undefined, NOW),
  ]),
  ['usage of keys', (store) => usageOfKeys(store, ['key_1', 'key_2'])],
  ...[
    {},
    { key: 'key_1' },
    { outcome: 'failed' as const },
    { state: 'reserved' as const },
    { model: 'gpt-5' },
    { from: NOW - DAY, to: NOW },
    { account: null, provider: 'other' },
  ].map((filter): (typeof READINGS)[number] => [
    `requests ${JSON.stringify(filter)}`,
    (store) => listRequests(store, { account: 'acc', ...filter }, 50, undefined),
  ]),
  ['a request', (store) => getRequest(store, 'req_1', 'acc')],
  ...[{}, { key: 'key_1' }].flatMap((more): typeof READINGS => {
    const filter = { account: 'acc', from: 0, to: NOW, ...more }
    return [
      [`refusals ${JSON.stringify(more)}`, (store) => listRefusals(store, filter, 50, undefined)],
      [`how many refusals ${JSON.stringify(more)}`, (store) => countRefused(store, filter)],
    ]
  }),
]

onEveryStore('no query of the dashboard scans a whole table of the ledger', async (t, place) => {
  // PostgreSQL reads small tables whole where it may.
  if (place.databaseUrl)
    await query(
      place.databaseUrl,
      `alter database ${place.databaseUrl.pathname.slice(1)} set enable_seqscan = off`,
    )
  const store = await openAt(t, place, NOW)
  await store.db
    .insertInto('instances')
    .values({ id: 'ins', host: 'h', pid: 1, role: 'all', seen_at: NOW })
    .execute()
  for (const at of [NOW - 3 * DAY, NOW - 2 * HOUR, NOW])
    for (const key of ['key_1', 'key_2'])
      await ledgerRow(store, { account: 'acc', key, model: 'gpt-5', at })
  await addHours(store, NOW)
  for (const [what, read] of READINGS) {
    const seen: Statement[] = []
    await read(recording(store, seen))
    assert.ok(seen.length > 0, what)
    for (const one of seen.filter(({ sql }) => !isBeginning(sql))) {
      const plan = await planOf(store, one)
      assert.doesNotMatch(plan, SCANS[store.dialect], `${what}: ${one.sql}`)
      if (store.dialect === 'sqlite' && one.sql.includes(`"state" = 'reserved'`))
        assert.match(plan, /USING INDEX requests_reserved\b/, `${what}: ${one.sql}`)
    }
  }
})

async function planOf(store: Store, { sql, parameters }: Statement): Promise<string> {
  const how = store.dialect === 'sqlite' ? 'explain query plan' : 'explain (costs off)'
  const { rows } = await store.db.executeQuery<object>(raw({ sql: `${how} ${sql}`, parameters }))
  return rows.flatMap((row) => Object.values(row)).join('; ')
}
