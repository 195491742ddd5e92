// Open sockets of an account: a list, and their end, whichever process holds them.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { OPENAI, startServed } from '../proxy/support/served.ts'
import { connectSocket, rowsOf, startSockets, withKey } from '../proxy/socket/support.ts'
import { assertProblem } from '../support/harness.ts'
import { manager } from '../support/manager.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { until } from '../support/until.ts'

interface List {
  readonly data: readonly Record<string, unknown>[]
  readonly total: number
  readonly next_cursor: string | null
}

const REALTIME = `${OPENAI}/v1/realtime?model=gpt-realtime`
const folder = temporaryFolder({ after })
const served = await startSockets({ after }, {}, ['OPENAI'], {}, folder)
/** Another process on the same store. */
const other = await startServed({ after }, ({ socket }) => void socket.destroy(), {}, folder)

test('an account sees its open sockets, and ends them', async () => {
  const [admin, member] = [await manager(served), await manager(served, 'member')]
  const made = (
    await member.api('POST', 'keys', { name: 'voice', models: ['gpt-realtime'] })
  ).json<{
    id: string
    secret: string
    account_id: string
  }>()
  const client = connectSocket(served.port, REALTIME, [], withKey(made.secret))
  await client.opened
  client.send({ type: 'input_audio_buffer.clear' })
  await until(() => served.provider.calls[0]!.messages.length === 1)
  const { data, total } = (await member.api('GET', 'sockets')).json<List>()
  assert.equal(total, 1)
  const [{ id, opened_at, account_id, account_name, ...socket } = {}] = data
  assert.match(String(opened_at), /Z$/)
  assert.equal(account_id, made.account_id)
  assert.equal(typeof account_name, 'string')
  assert.deepEqual(socket, {
    object: 'socket',
    key_id: made.id,
    key_name: 'voice',
    child_id: null,
    end_user: null,
    provider: 'openai',
    endpoint: '/v1/realtime',
    model: 'gpt-realtime',
    requests: 0,
    tokens_in: null,
    tokens_out: null,
    bytes_in: 6 + JSON.stringify({ type: 'input_audio_buffer.clear' }).length,
    bytes_out: 0,
  })

  assert.equal((await admin.api('GET', 'sockets')).json<List>().total, 0)
  assert.equal((await admin.api('GET', 'sockets?account=all')).json<List>().total, 1)
  const path = `sockets/${String(id)}`
  assertProblem(await admin.api('DELETE', path), 404, 'socket_not_found')
  assertProblem(await member.api('GET', 'sockets?account=all'), 403, 'insufficient_scope')
  assert.equal((await admin.api('DELETE', `${path}?account=all`)).status, 204)
  assert.deepEqual(await client.closed, {
    code: 1001,
    reason: 'The socket was ended by the operator of the proxy.',
  })
  await rowsOf(served, made.id, 1)
  assertProblem(await member.api('DELETE', path), 404, 'socket_not_found')
})

test("a refused message is listed among its key's refusals", async () => {
  served.provider.behaviour = {}
  const { api } = await manager(served)
  const { secret, id } = await served.key({ models: ['gpt-realtime'] })
  const client = connectSocket(served.port, REALTIME, [], withKey(secret))
  await client.opened
  client.send({ type: 'session.update', session: { model: 'gpt-other' } })
  assert.equal((await client.closed).code, 1008)
  await until(async () => (await api('GET', `refusals?key=${id}`)).json<List>().total === 1)
  const [refusal] = (await api('GET', `refusals?key=${id}`)).json<List>().data
  assert.deepEqual(
    [refusal!['code'], refusal!['status'], refusal!['provider'], refusal!['method']],
    ['model_not_allowed', 101, 'openai', 'GET'],
  )
  assert.match(String(refusal!['detail']), /gpt-other/)
  const found = (await api('GET', `requests/${String(refusal!['id'])}`)).json<{ object: string }>()
  assert.equal(found.object, 'refusal')
})

test('another process lists sockets page by page with what they used, and ends them', async () => {
  served.provider.behaviour = {
    message: (call) => {
      call.send({ type: 'response.created', response: { id: 'resp_1' } })
      const usage = { input_tokens: 3, output_tokens: 5 }
      call.send({ type: 'response.done', response: { id: 'resp_1', usage } })
    },
  }
  const { secret, id: key } = await served.key()
  await other.running.keys?.refresh()
  const { api } = await manager(other)
  const clients = [0, 1, 2].map(() => connectSocket(served.port, REALTIME, [], withKey(secret)))
  await Promise.all(clients.map(({ opened }) => opened))
  for (const { send } of clients) send({ type: 'response.create' })
  const list = async (query: string): Promise<List> =>
    (await api('GET', `sockets?account=all${query}`)).json<List>()
  await until(async () => (await list('')).total === 3)
  const { data, next_cursor } = await list('&limit=2')
  const rest = await list(`&limit=2&cursor=${next_cursor}`)
  assert.equal(rest.next_cursor, null)
  const ids = [...data, ...rest.data].map(({ id }) => String(id))
  assert.equal(new Set(ids).size, 3)
  assert.ok([...data, ...rest.data].every(({ key_id }) => key_id === key))

  assert.equal((await api('DELETE', `sockets/${ids[0]}?account=all`)).status, 204)
  const { code } = await Promise.race(clients.map(({ closed }) => closed))
  assert.equal(code, 1001)
  await until(async () => (await list('')).total === 2)
  // The process that holds them knows how far they are now.
  const here = await manager(served)
  const live = (await here.api('GET', 'sockets?account=all')).json<List>()
  assert.deepEqual(
    live.data.map(({ requests, tokens_in, tokens_out }) => [requests, tokens_in, tokens_out]),
    [
      [1, 3, 5],
      [1, 3, 5],
    ],
  )
  for (const { socket } of clients) socket.close()
  await until(async () => (await list('')).total === 0)
})
