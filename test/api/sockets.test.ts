// Open sockets of an account: a list, and their end.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { OPENAI } from '../proxy/support/served.ts'
import { connectSocket, rowsOf, startSockets, withKey } from '../proxy/socket/support.ts'
import { assertProblem } from '../support/harness.ts'
import { manager } from '../support/manager.ts'
import { until } from '../support/until.ts'

interface List {
  readonly data: readonly Record<string, unknown>[]
  readonly total: number
}

const served = await startSockets({ after })

test('an account sees its open sockets, and ends them', async () => {
  const [admin, other] = [await manager(served), await manager(served, 'member')]
  const made = (await other.api('POST', 'keys', { name: 'k', models: ['gpt-realtime'] })).json<{
    id: string
    secret: string
    account_id: string
  }>()
  const client = connectSocket(
    served.port,
    `${OPENAI}/v1/realtime?model=gpt-realtime`,
    [],
    withKey(made.secret),
  )
  await client.opened
  client.send({ type: 'input_audio_buffer.clear' })
  await until(() => served.provider.calls[0]!.messages.length === 1)
  const { data, total } = (await other.api('GET', 'sockets')).json<List>()
  assert.equal(total, 1)
  const [{ id, opened_at, account_id, ...socket } = {}] = data
  assert.match(String(opened_at), /Z$/)
  assert.equal(account_id, made.account_id)
  assert.deepEqual(socket, {
    object: 'socket',
    key_id: made.id,
    provider: 'openai',
    endpoint: '/v1/realtime',
    model: 'gpt-realtime',
    bytes_in: 6 + JSON.stringify({ type: 'input_audio_buffer.clear' }).length,
    bytes_out: 0,
  })

  assert.equal((await admin.api('GET', 'sockets')).json<List>().total, 0)
  assert.equal((await admin.api('GET', 'sockets?account=all')).json<List>().total, 1)
  const path = `sockets/${String(id)}`
  assertProblem(await admin.api('DELETE', path), 404, 'socket_not_found')
  assertProblem(await other.api('GET', 'sockets?account=all'), 403, 'insufficient_scope')
  assert.equal((await admin.api('DELETE', `${path}?account=all`)).status, 204)
  assert.deepEqual(await client.closed, {
    code: 1001,
    reason: 'The socket was ended by the operator of the proxy.',
  })
  await rowsOf(served, made.id, 1)
  assertProblem(await other.api('DELETE', path), 404, 'socket_not_found')
})
