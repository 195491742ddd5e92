// Reports of the most used keys and models with the rest as one, and lists that are sent
// compressed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NewKey } from '../../server/keys/key-record.ts'
import type { UsageLine } from '../../server/ledger/reports/usage.ts'
import { assertProblem, call, startServer } from '../support/harness.ts'
import { setUp } from '../support/browser-request.ts'
import { ledgerRow } from '../support/ledger-row.ts'

const HOUR = 3_600_000

test('a report lists the most used keys or models, and sums up all others', async (t) => {
  const server = await startServer(t)
  const admin = await setUp(server)
  const keys: NewKey[] = []
  for (const name of ['a', 'b', 'c', 'd'])
    keys.push((await admin.send('POST', 'keys', { name })).json<NewKey>())
  const account = keys[0]!.account_id
  const now = server.clock()
  /** TABLE: hours ago, requests of each key. */
  const hours: [ago: number, counts: number[]][] = [
    [2, [1, 3, 0, 2]],
    [1, [0, 2, 1, 1]],
    [0, [4, 0, 1, 0]],
  ]
  for (const [ago, counts] of hours) {
    for (const [at, count] of counts.entries())
      for (let i = 0; i < count; i++)
        await ledgerRow(server.store, {
          account,
          key: keys[at]!.id,
          model: `m${at}`,
          at: now - ago * HOUR - 2,
        })
  }
  const read = async (query: string) => {
    const { data, groups } = (await admin.send('GET', `usage?${query}`)).json<{
      data: (UsageLine & { key_name?: string })[]
      groups?: number
    }>()
    return {
      groups,
      lines: data.map(({ key_name, model, other, requests, tokens_in, time }) => [
        ...(time === undefined
          ? []
          : [now - Date.parse(time) > 90 * 60_000 ? 2 : Number(Date.parse(time) < now - HOUR - 1)]),
        other ? 'other' : (key_name ?? model),
        requests,
        tokens_in,
      ]),
    }
  }
  assert.deepEqual(await read('by=key&top=2'), {
    groups: 4,
    lines: [
      ['a', 5, 35],
      ['b', 5, 35],
      ['other', 5, 35],
    ],
  })
  assert.deepEqual(await read('by=model&top=1'), {
    groups: 4,
    lines: [
      ['m0', 5, 35],
      ['other', 10, 70],
    ],
  })
  assert.deepEqual((await read('by=key&top=10')).lines.length, 4, 'there is no rest')
  const plain = (await read('by=hour,key')).lines
  const byHour = await read('by=hour,key&top=2')
  const expected = [...Map.groupBy(plain, ([time]) => time)].flatMap(([time, lines]) => {
    const [mine, rest] = [
      lines.filter(([, name]) => name === 'a' || name === 'b'),
      lines.filter(([, name]) => name === 'c' || name === 'd'),
    ]
    const sum = (at: number) => rest.reduce((all, line) => all + Number(line[at]), 0)
    return [...mine, ...(rest.length === 0 ? [] : [[time, 'other', sum(2), sum(3)]])]
  })
  assert.deepEqual(byHour, { groups: 4, lines: expected })
  assert.deepEqual(
    (await read('by=hour,model&top=2')).lines.map(([, , requests]) => requests),
    expected.map(([, , requests]) => requests),
  )
  const from = new Date(now - 3 * HOUR).toISOString()
  assert.deepEqual((await read(`by=minute,key&top=2&from=${from}`)).lines.length, expected.length)
  const csv = (await admin.send('GET', 'usage?by=key&top=2&format=csv')).text.split('\r\n')
  assert.match(csv[0]!, /^key_id,key_name,other,requests/)
  assert.match(csv[3]!, /^,,true,5,/)
  for (const wrong of ['by=day&top=5', 'by=key,model&top=5', 'by=key&top=0', 'by=key&top=51'])
    assertProblem(await admin.send('GET', `usage?${wrong}`), 400, 'invalid_field')
})

test('lists are compressed on request; responses with secrets are not', async (t) => {
  const server = await startServer(t)
  const token = await server.token({ scopes: ['manage'] })
  const ask = async (path: string, encoding: string, method = 'GET') => {
    const made = method === 'GET' ? {} : { method, body: JSON.stringify({ name: 'x' }) }
    const response = await fetch(`${server.url}${path}`, {
      ...made,
      headers: {
        authorization: `Bearer ${token}`,
        'accept-encoding': encoding,
        'content-type': 'application/json',
      },
    })
    return {
      encoding: response.headers.get('content-encoding'),
      vary: response.headers.get('vary'),
      value: (await response.json()) as object,
    }
  }
  for (const path of ['/api/v1/providers', '/openapi.json', '/api/v1/keys', '/api/v1/usage']) {
    const [plain, packed] = [await ask(path, 'identity'), await ask(path, 'gzip, br')]
    assert.deepEqual(
      [plain.encoding, packed.encoding, packed.vary],
      [null, 'gzip', 'Accept-Encoding'],
      path,
    )
    assert.deepEqual(packed.value, plain.value)
  }
  assert.equal((await ask('/api/v1/keys', 'gzip', 'POST')).encoding, null)
  const { headers } = await call(server.url, '/api/v1/keys', { token })
  assert.equal(headers['content-encoding'], undefined)
})
