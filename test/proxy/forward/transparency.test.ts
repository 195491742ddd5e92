// Bytes, statuses and headers arrive as they were sent, for every method, kind of body and kind of
// response.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { BINARY, SCRIPTED } from '../../support/providers/scripts.ts'
import { both, call, type Sent } from '../support/relayed.ts'

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')

both('every response of a provider arrives as it was sent', async (rig) => {
  const { fake, port, ends } = await rig(respond(500, {}))
  for (const { name, script, status, headers, body, trailers } of SCRIPTED) {
    fake.play(script)
    for (const method of ['POST', 'GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
      if (method === 'HEAD' && name !== 'JSON' && name !== 'empty body') continue
      const got = await call(port, { method, body: '{"q":1}' })
      const what = `${method} ${name}`
      assert.equal(got.status, status, what)
      assert.equal(got.whole, true, what)
      if (method !== 'HEAD') assert.equal(sha256(got.body), sha256(body), what)
      assert.deepEqual(got.trailers, trailers ?? [], what)
      const arrived = got.rawHeaders.filter(
        (_, i) =>
          !['connection', 'keep-alive', 'transfer-encoding', 'content-length'].includes(
            got.rawHeaders[i & ~1]!.toLowerCase(),
          ),
      )
      assert.deepEqual(arrived, headers, what)
      if (method === 'HEAD')
        assert.equal(headerOf(got.rawHeaders, 'content-length'), String(body.length), what)
    }
  }
  assert.ok(ends.every(({ outcome }) => outcome === 'complete'))
})

const LARGE = Buffer.concat(Array.from({ length: 60 }, () => BINARY))

/** TABLE of request bodies. */
const BODIES: { name: string; sent: Sent; bytes: Buffer | string; trailers?: string[] }[] = [
  {
    name: 'JSON with odd spacing and repeated keys',
    sent: { body: '{ "b":1,\n\t"a" : 2, "a":3, "n":1.0e+2 }' },
    bytes: '{ "b":1,\n\t"a" : 2, "a":3, "n":1.0e+2 }',
  },
  { name: 'no body', sent: {}, bytes: '' },
  { name: 'empty body', sent: { body: '' }, bytes: '' },
  { name: 'one byte', sent: { body: 'x' }, bytes: 'x' },
  { name: 'binary', sent: { body: BINARY }, bytes: BINARY },
  { name: 'large binary', sent: { body: LARGE }, bytes: LARGE },
  { name: 'chunks', sent: { body: [Buffer.from('{"a":'), Buffer.from('1}')] }, bytes: '{"a":1}' },
  {
    name: 'large chunks',
    sent: { body: [LARGE, Buffer.from('x'), LARGE] },
    bytes: Buffer.concat([LARGE, Buffer.from('x'), LARGE]),
  },
  {
    name: 'chunks with trailers',
    sent: { body: [Buffer.from('abc')], headers: { Trailer: 'X-Sum' }, trailers: [['X-Sum', '1']] },
    bytes: 'abc',
    trailers: ['X-Sum', '1'],
  },
]

both('every request body arrives as it was sent', async (rig) => {
  const { fake, port } = await rig(respond(200, {}, 'ok'))
  for (const { name, sent, bytes, trailers } of BODIES) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const got = await call(port, {
        ...sent,
        method,
        target: '/v1/x?alt=sse&k=%2F+',
        headers: { 'X-Mixed-Case': 'Kept  ', ...sent.headers },
      })
      assert.equal(got.status, 200)
      const received = fake.requests.at(-1)!
      assert.equal(received.sha256, sha256(bytes), `${method} ${name}`)
      assert.deepEqual(received.trailers, trailers ?? [], name)
      assert.equal(received.target, '/v1/x?alt=sse&k=%2F+')
      assert.equal(received.method, method)
      assert.equal(headerOf(received.rawHeaders, 'host'), 'api.test')
      assert.ok(received.rawHeaders.includes('X-Mixed-Case'))
    }
  }
})

both('a chunked body stays chunked and a counted one counted', async (rig) => {
  const { fake, port } = await rig(respond(200, {}))
  await call(port, { body: 'abc' })
  await call(port, { body: [Buffer.from('abc')] })
  await call(port, { method: 'GET' })
  const [counted, chunked, none] = fake.requests.map(({ rawHeaders }) => [
    headerOf(rawHeaders, 'content-length'),
    headerOf(rawHeaders, 'transfer-encoding'),
  ])
  assert.deepEqual(
    [counted, chunked, none],
    [
      ['3', null],
      [null, 'chunked'],
      [null, null],
    ],
  )
})
