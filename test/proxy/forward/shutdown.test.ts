// The server stops while a provider is still responding: the caller and the ledger are told, by
// either reader of requests.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { openStore } from '../../../server/store/open.ts'
import { chunk, head, type Script } from '../../support/providers/fake.ts'
import { placeOf } from '../../support/store-settings.ts'
import { usedFolder } from '../../support/templates.ts'
import { until } from '../../support/until.ts'
import { readResponse } from '../support/relayed.ts'
import { OPENAI, startServed, TARGETS } from '../support/served.ts'

const PATH = TARGETS.parameter(`${OPENAI}/v1/chat/completions`)

/** TABLE of how far a response has come, and what the ledger then says. */
const CASES: { name: string; script: Script; status: number; row: object }[] = [
  {
    name: 'a request without a response gets 503',
    script: ({ gone }) => gone(),
    status: 503,
    row: { state: 'settled', status: 503, error: 'server_shutdown' },
  },
  {
    name: 'a stream is broken off',
    script: async ({ write, gone }) => {
      write(head(200, { 'Content-Type': 'text/event-stream', 'Transfer-Encoding': 'chunked' }))
      write(chunk('data: {}\n\n'))
      await gone()
    },
    status: 200,
    row: { state: 'settled', status: 200, error: 'server_shutdown' },
  },
]

for (const { name, script, status, row } of CASES)
  for (const reader of ['ours', 'node'] as const)
    test(`${name} when the shutdown timeout is over (${reader})`, async (t) => {
      const data = usedFolder(t)
      const served = await startServed(t, script, { TOLLMARK_SHUTDOWN_TIMEOUT: '50ms' }, data)
      const { secret } = await served.key()
      const agent = new Agent({ keepAlive: true })
      t.after(() => agent.destroy())
      const send = (method: string, path: string): Promise<IncomingMessage> => {
        const outgoing = request({
          port: served.port,
          host: '127.0.0.1',
          method,
          path,
          agent,
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        })
        outgoing.on('error', () => {})
        outgoing.end(method === 'POST' ? '{"model":"gpt-4o"}' : undefined)
        return once(outgoing, 'response').then(([incoming]) => incoming as IncomingMessage)
      }
      // Node's server keeps a connection whose first request is not for the proxy.
      if (reader === 'node') await (await send('GET', '/livez')).toArray()
      const responded = send('POST', PATH)
      const read = responded.then(readResponse)
      await until(() => served.fake.requests.length === 1)
      if (status === 200) await responded
      await served.running.shutDown()
      const { status: told, whole, body } = await read
      assert.deepEqual([told, whole], [status, status === 503])
      if (status === 503) assert.match(body.toString(), /"code":"server_shutdown"/)
      await using store = await openStore({ ...(await placeOf(data)), now: 0 })
      const rows = await store.db
        .selectFrom('requests')
        .select(['state', 'status', 'error'])
        .execute()
      assert.deepEqual(
        rows.map((one) => ({ ...one })),
        [row],
      )
    })
