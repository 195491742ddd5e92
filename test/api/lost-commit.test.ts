// PostgreSQL commits, and the connection is lost before it says so: a conversion is counted once,
// and nothing stays held.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { usedToday } from '../../server/accounts/quota.ts'
import { PAGE, file, form } from '../support/form.ts'
import { assertProblem, convert, startServer } from '../support/harness.ts'
import type { ReceivedResponse } from '../support/harness.ts'
import { freshDatabase } from '../support/postgres.ts'

/**
 * Where a way to PostgreSQL ends, which carries one commit there and its response not back: the
 * first of a transaction that holds `statement`.
 */
async function deafWay(t: TestContext, to: URL, statement: string): Promise<URL> {
  let cut = false
  const server = createServer((near) => {
    const far = connect(Number(to.port || 5432), to.hostname)
    let [meant, deaf] = [false, false]
    near.on('data', (bytes) => {
      meant ||= !cut && bytes.includes(statement)
      if (meant && !cut && bytes.includes('commit\0')) cut = deaf = true
      far.write(bytes)
    })
    far.on('data', (bytes) => void (deaf ? near.destroy() : near.write(bytes)))
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const way = new URL(to)
  way.hostname = '127.0.0.1'
  way.port = String((server.address() as AddressInfo).port)
  return way
}

/** TABLE of commits that are not heard of, and what the caller is told. */
const COMMITS: [
  what: string,
  statement: string,
  key: string | undefined,
  told: (response: ReceivedResponse) => void,
][] = [
  [
    'the count of a conversion',
    'insert into "quota_days"',
    undefined,
    (response) => assert.equal(response.status, 200, response.text),
  ],
  [
    'the count of a conversion with a key',
    'insert into "quota_days"',
    'a',
    (response) => assert.equal(response.status, 200, response.text),
  ],
  [
    'the reservation',
    'insert into "reservations"',
    'a',
    (response) => assertProblem(response, 503, 'store_unavailable'),
  ],
]

for (const [what, statement, key, told] of COMMITS) {
  test(`${what} commits although the database's reply is lost`, async (t) => {
    const server = await startServer(t, {
      DATABASE_URL: (await deafWay(t, await freshDatabase(), statement)).href,
      TOLLMARK_FREE_CONVERSIONS: '2',
    })
    const made = await server.newToken()
    const send = () =>
      convert(
        server.url,
        made.secret,
        form(file('Page.html', PAGE)),
        key === undefined ? {} : { 'idempotency-key': key },
      )
    const first = await send()
    told(first)
    const second = await Promise.race([send(), sleep(10_000, undefined, { ref: false })])
    assert.equal(second?.status, 200, second?.text ?? 'the key is still under way')
    const { account_id } = await server.store.db
      .selectFrom('tokens')
      .select('account_id')
      .executeTakeFirstOrThrow()
    assert.equal(
      await usedToday(server.store, account_id, server.clock()),
      key === undefined ? 2 : 1,
    )
  })
}
