// One key never feels another: whatever a key sends, and however much, requests with other keys go
// through.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { respond, head } from '../../support/providers/fake.ts'
import { until } from '../../support/until.ts'
import { heldBytes } from '../inspect/memory.ts'
import { OPENAI, startServed, type Served } from '../support/served.ts'

const CHAT = `${OPENAI}/v1/chat/completions`
const JSON_TYPE = { 'Content-Type': 'application/json' }
const OK = respond(200, JSON_TYPE, '{}')

/** A caller that sends what it is told, and reads unless it is told not to. */
interface RawCaller {
  readonly socket: Socket
  /** The statuses of all responses so far. */
  statuses(): number[]
  /** Everything that came back. */
  text(): string
}

function callRaw(t: TestContext, port: number, bytes: string, reads = true): RawCaller {
  const socket = connect({ port, host: '127.0.0.1' })
  let text = ''
  socket.on('error', () => {})
  if (reads) socket.on('data', (piece: Buffer) => (text += piece.toString('latin1')))
  socket.write(bytes, 'latin1')
  t.after(() => socket.destroy())
  return {
    socket,
    text: () => text,
    statuses: () => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
  }
}

function headOf(secret: string, length: number, address = CHAT, type = 'application/json'): string {
  return `POST /proxy?url=${encodeURIComponent(address)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`
}

/**
 * Sends some requests with a key and holds that all of them get through, and that the server is
 * ready.
 */
async function allPass(
  { send, running }: Served,
  secret: string,
  body: string | Buffer = '{"model":"gpt-5"}',
  count = 20,
): Promise<void> {
  const got = await Promise.all(
    Array.from({ length: count }, () => send(secret, CHAT, { body, headers: JSON_TYPE })),
  )
  assert.deepEqual(
    got.map(({ status }) => status),
    got.map(() => 200),
  )
  assert.equal((await fetch(`${running.url}/readyz`)).status, 200)
}

/** Little memory for bodies, so that little has to be sent to fill it. */
const SMALL = { TOLLMARK_MAX_BODY: '8MB', TOLLMARK_MAX_HELD: '64MB' }

test('large unfinished bodies leave memory to the bodies of others', async (t) => {
  const served = await startServed(t, OK, SMALL)
  const attacker = await served.key({ models: ['gpt-*'], rpm: 1 })
  const other = await served.key({ models: ['gpt-*'] })
  const begun = Buffer.alloc(8_000_000 - 100, ' ')
  const callers = Array.from({ length: 8 }, () =>
    callRaw(t, served.port, headOf(attacker.secret, 8_000_000)),
  )
  for (const { socket } of callers) socket.write(begun)
  await until(() => callers.every(({ socket }) => socket.writableLength === 0))
  for (const { socket } of callers) socket.write(' ')
  await allPass(served, other.secret)
  await allPass(served, other.secret, `{"model":"gpt-5","input":"${'x'.repeat(2_000_000)}"}`, 4)
  const held = await served.metric('held_bytes')
  assert.ok(held > 0 && held <= 32 * 1_048_576, `${held} bytes are held`)
  assert.ok(callers.some((caller) => caller.statuses()[0] === 503))
})

test('half-sent bodies of one key leave room for the requests of others', async (t) => {
  const served = await startServed(t, OK, { TOLLMARK_MAX_OPEN: '200' })
  const attacker = await served.key({ models: ['gpt-*'] })
  const other = await served.key({ models: ['gpt-*'] })
  const callers = Array.from({ length: 1_000 }, () =>
    callRaw(t, served.port, `${headOf(attacker.secret, 1_024)}{`),
  )
  // What does not get a place is told so at once.
  await until(() => callers.filter((caller) => caller.statuses()[0] === 503).length === 800)
  await allPass(served, other.secret)
  const dropped = callers.filter((caller) => caller.statuses()[0] === 503)
  assert.ok(dropped.length > 800, 'the newest bodies of the attacker made room')
  assert.ok(dropped.every((caller) => /\r\nRetry-After: \d+\r\n/.test(caller.text())))
  assert.equal(await served.metric('dropped_for_places_total'), dropped.length - 800)
})

test('half-sent streaming bodies take slots of their own key only', async (t) => {
  const served = await startServed(t, OK, { TOLLMARK_MAX_OPEN: '40' })
  const attacker = await served.key()
  const other = await served.key({ models: ['gpt-*'] })
  const callers = Array.from({ length: 100 }, () =>
    callRaw(
      t,
      served.port,
      `${headOf(attacker.secret, 1_024, `${OPENAI}/v1/files`, 'multipart/form-data; boundary=b')}--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`,
    ),
  )
  await until(() => callers.filter((caller) => caller.statuses()[0] === 503).length === 60)
  await until(() => served.fake.requests.length === 40)
  await allPass(served, other.secret, '{"model":"gpt-5"}', 10)
  assert.equal(
    callers.filter((caller) => caller.statuses().length > 0).length,
    60,
    'what the provider has begun to read is not dropped',
  )
})

test('a key whose window is full is refused before its body is read', async (t) => {
  const served = await startServed(t, OK)
  const { secret, id } = await served.key({ models: ['gpt-*'], rpm: 1 })
  const other = await served.key({ models: ['gpt-*'] })
  const statuses = []
  for (let i = 0; i < 2; i++)
    statuses.push(
      (await served.send(secret, CHAT, { body: '{"model":"gpt-5"}', headers: JSON_TYPE })).status,
    )
  assert.deepEqual(statuses, [200, 429])
  const callers = Array.from({ length: 100 }, () =>
    callRaw(t, served.port, `${headOf(secret, 64_000_000)}{`),
  )
  await until(() => callers.every((caller) => caller.statuses()[0] === 429))
  for (const name of ['Retry-After', 'Retry-After-Ms', 'RateLimit', 'RateLimit-Policy'])
    assert.match(callers[0]!.text(), new RegExp(`\r\n${name}: `))
  assert.deepEqual(
    [await served.metric('open_requests'), await served.metric('held_bytes')],
    [0, 0],
  )
  // A caller that sends everything before it reads gets to read it.
  assert.equal(
    (await served.send(secret, CHAT, { body: Buffer.alloc(8_000_000, ' '), headers: JSON_TYPE }))
      .status,
    429,
  )
  await allPass(served, other.secret)
  const rows = () =>
    served.running.store.db.selectFrom('requests').select('id').where('key_id', '=', id).execute()
  // It is written a moment after the response.
  await until(async () => (await rows()).length > 0)
  assert.equal((await rows()).length, 1)
  const refused = () =>
    served.running.store.db
      .selectFrom('refused_hours')
      .select('refused')
      .where('key_id', '=', id)
      .execute()
  await until(async () => (await refused()).reduce((sum, row) => sum + row.refused, 0) === 102)
})

test("a body's memory is freed once the provider has it, while the response still streams", async (t) => {
  const served = await startServed(t, async (call) => {
    await call.body()
    call.write(head(200, ['Content-Type', 'text/event-stream', 'Transfer-Encoding', 'chunked']))
    await call.gone()
  })
  const { secret } = await served.key({ models: ['gpt-*'] })
  const small = '{"model":"gpt-5"}'
  const large = `{"model":"gpt-5","input":"${'x'.repeat(5_000_000)}"}`
  const callers = [small, large].map((body) =>
    callRaw(t, served.port, `${headOf(secret, body.length)}${body}`),
  )
  await until(() => callers.every((caller) => caller.statuses()[0] === 200))
  assert.deepEqual(
    [await served.metric('open_requests'), await served.metric('held_bytes')],
    [2, 0],
  )
})

test("callers that do not read their streams take bounded memory and only their key's slots", async (t) => {
  const piece = Buffer.alloc(64 * 1024, 'x')
  const served = await startServed(t, OK, { TOLLMARK_MAX_OPEN: '40' })
  const attacker = await served.key()
  const other = await served.key()
  served.fake.play(async ({ socket, ...call }) => {
    await call.body()
    call.write(
      head(200, [
        'Content-Type',
        'text/event-stream',
        'Content-Length',
        String(1_000 * piece.length),
      ]),
    )
    for (let i = 0; i < 1_000 && !socket.destroyed; i++)
      if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), call.gone()])
  })
  const before = heldBytes()
  const body = '{"model":"gpt-5"}'
  const callers = Array.from({ length: 60 }, () =>
    callRaw(t, served.port, `${headOf(attacker.secret, body.length)}${body}`, false),
  )
  await until(
    async () => (await served.metric('open_requests')) === 40 && served.fake.requests.length === 40,
  )
  // Until nothing moves any more: the systems' own buffers are full.
  const waiting = () => callers.reduce((sum, { socket }) => sum + socket.bytesRead, 0)
  let last = -1
  await until(async () => last === (last = waiting()))
  const took = (heldBytes() - before) / 40
  assert.ok(took < 300_000, `${took} bytes for each`)
  served.fake.play(OK)
  await allPass(served, other.secret, body, 10)
})

/** TABLE of floods by callers without a key: what they send, and what they get. */
const FLOODS: { name: string; bytes: string; status: number | null }[] = [
  {
    name: 'large bodies with a wrong key',
    bytes: `${headOf('tmk_x', 50_000_000)}${'x'.repeat(100_000)}`,
    status: 401,
  },
  {
    name: 'large bodies with no key',
    bytes: `${headOf('', 50_000_000)}${'x'.repeat(100_000)}`,
    status: 401,
  },
  {
    name: 'preflights with large bodies',
    bytes: headOf('tmk_x', 50_000_000).replace('POST', 'OPTIONS') + 'x'.repeat(100_000),
    status: 204,
  },
  { name: 'heads that do not end', bytes: headOf('tmk_x', 10).slice(0, -2), status: null },
  { name: 'connections that send nothing', bytes: '', status: null },
]

test('callers without a key take no slots and no body memory', async (t) => {
  const served = await startServed(t, OK, { TOLLMARK_MAX_OPEN: '20', ...SMALL })
  const { secret } = await served.key({ models: ['gpt-*'] })
  for (const { name, bytes, status } of FLOODS) {
    const callers = Array.from({ length: 100 }, () => callRaw(t, served.port, bytes))
    if (status !== null)
      await until(() => callers.every((caller) => caller.statuses()[0] === status))
    assert.deepEqual(
      [await served.metric('open_requests'), await served.metric('held_bytes')],
      [0, 0],
      name,
    )
    await allPass(served, secret)
    for (const { socket } of callers) socket.destroy()
  }
})
