// The ledger as a CSV: every row, however many there are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer, type TestServer } from '../support/harness.ts'
import { setUp } from '../support/browser-request.ts'
import { ledgerRow } from '../support/ledger-row.ts'

const ROWS = 12_345

/** Fills the ledger of the administrator with copies of one row; gives its account. */
async function fill(server: TestServer): Promise<string> {
  const account = (await server.newToken()).account_id
  await ledgerRow(server.store, { account, key: 'key_1', model: 'gpt-5', at: server.clock() })
  const row = await server.store.db.selectFrom('requests').selectAll().executeTakeFirstOrThrow()
  const copies = Array.from({ length: ROWS - 1 }, (_, i) => ({
    ...row,
    seq: row.seq + 1 + i,
    id: `req_copy${i}`,
    model: i === 0 ? 'rare' : 'gpt-5',
  }))
  for (let at = 0; at < copies.length; at += 500)
    await server.store.write(
      server.store.db.insertInto('requests').values(copies.slice(at, at + 500)),
    )
  return account
}

test('a CSV of requests has every row once, newest first', async (t) => {
  const server = await startServer(t)
  const admin = await setUp(server)
  const account = await fill(server)
  const { headers, text } = await admin.send('GET', `requests?format=csv&account=${account}`)
  assert.match(headers['content-disposition'] as string, /requests\.csv/)
  const [head, ...lines] = text.trimEnd().split('\r\n')
  assert.match(
    head!,
    /^id,created_at,key_id,key_name,.*,account_name,child_id,end_user,tokens_cache_write,tokens_audio_in,tokens_audio_out$/,
  )
  assert.equal(lines.length, ROWS)
  assert.equal(new Set(lines).size, ROWS)
  assert.equal(lines[0]!.split(',')[0], `req_copy${ROWS - 2}`)
  assert.match(lines.at(-2)!, /^req_copy0,.*,rare,.*,admin,,,,,$/)

  // From a cursor on, and of what fits.
  const rest = (
    await admin.send('GET', `requests?format=csv&account=${account}&cursor=req_copy9`)
  ).text
    .trimEnd()
    .split('\r\n')
  assert.equal(rest.length, 11)
  assert.equal(
    (await admin.send('GET', `requests?format=csv&account=${account}&provider=nobody`)).text
      .trimEnd()
      .split('\r\n').length,
    1,
  )
})
