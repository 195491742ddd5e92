// What a request holds (its share of the quota, its key) is given back when it fails, also where
// the store is away at that moment.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertProblem, convert, startServer } from '../support/harness.ts'
import { pagesOf, upload } from '../support/jobs.ts'
import { startPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

test('a conversion the store cannot count is 503, and its key and quota are free once the store is back', async (t) => {
  const postgres = await startPostgres()
  t.after(() => postgres[Symbol.asyncDispose]())
  const server = await startServer(t, {
    DATABASE_URL: postgres.url.href,
    TOLLMARK_FREE_CONVERSIONS: '1',
  })
  const token = await server.token()
  const archive = upload(pagesOf(300, 300))
  const send = () => convert(server.url, token, archive, { 'idempotency-key': 'a' })

  const failing = send()
  await until(
    async () =>
      (await server.store.db.selectFrom('idempotency').select('key').execute()).length === 1,
  )
  await postgres.stop()
  assertProblem(await failing, 503, 'store_unavailable')

  await postgres.start()
  const again = await Promise.race([send(), sleep(15_000, undefined, { ref: false })])
  assert.equal(again?.status, 200, again?.text ?? 'the key is still under way')
})
