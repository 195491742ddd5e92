// Timing and endings: nothing is held back, and no end looks like another.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { respond, chunk, head, type Script } from '../../support/providers/fake.ts'
import { chunked } from '../../support/providers/scripts.ts'
import { until } from '../../support/until.ts'
import { both, call, readResponse } from '../support/relayed.ts'

both('each event arrives before the next one is sent', async (rig) => {
  let release = () => {}
  const { port } = await rig(async (one) => {
    await one.body()
    one.write(head(200, ['Content-Type', 'text/event-stream', 'Transfer-Encoding', 'chunked']))
    for (let i = 0; i < 5; i++) {
      // The provider goes on only when the caller has what was sent before: anything held back
      // would stop here for good.
      await new Promise<void>((resolve) => (release = resolve))
      one.write(chunk(`data: ${i}\n\n`))
    }
    await new Promise<void>((resolve) => (release = resolve))
    one.write('0\r\n\r\n')
  })
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    path: '/proxy',
    method: 'POST',
    agent: false,
  })
  request.end('{}')
  const [response] = await once(request, 'response')
  const heard: string[] = []
  response.on('data', (bytes: Buffer) => {
    heard.push(bytes.toString())
    release()
  })
  release()
  await once(response, 'end')
  assert.deepEqual(heard, [
    'data: 0\n\n',
    'data: 1\n\n',
    'data: 2\n\n',
    'data: 3\n\n',
    'data: 4\n\n',
  ])
})

both('the head does not wait for a counted body', async (rig) => {
  let release = () => {}
  const { port } = await rig(async (one) => {
    await one.body()
    one.write(head(200, ['Content-Length', '4']))
    await new Promise<void>((resolve) => (release = resolve))
    one.write('done')
  })
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    path: '/proxy',
    method: 'POST',
    agent: false,
  })
  request.end('{}')
  const [response] = await once(request, 'response')
  release()
  const { body, whole } = await readResponse(response)
  assert.deepEqual([body.toString(), whole], ['done', true])
})

/** TABLE of ways in which an upstream breaks off a response that has begun. */
const BREAKS: { name: string; script: Script }[] = [
  {
    name: 'reset in a chunked response',
    script: async (one) => {
      await one.body()
      one.write(head(200, ['Content-Type', 'text/event-stream', 'Transfer-Encoding', 'chunked']))
      one.write(chunk('data: 1\n\n'))
      await one.pause(20)
      one.reset()
    },
  },
  {
    name: 'close between two chunks',
    script: async (one) => {
      await one.body()
      one.write(head(200, ['Transfer-Encoding', 'chunked']))
      one.write(chunk('data: 1\n\n'))
      one.socket.end()
    },
  },
  {
    name: 'close in a counted response',
    script: async (one) => {
      await one.body()
      one.write(`${head(200, ['Content-Length', '100'])}data: 1\n\n`)
      one.socket.end()
    },
  },
  {
    name: 'reset in a response that ends with the connection',
    script: async (one) => {
      await one.body()
      one.write(`${head(200, [])}data: 1\n\n`)
      await one.pause(20)
      one.reset()
    },
  },
  {
    name: 'a malformed chunk',
    script: async (one) => {
      await one.body()
      one.write(`${head(200, ['Transfer-Encoding', 'chunked'])}9\r\ndata: 1\n\n\r\nzz\r\n`)
    },
  },
  {
    name: 'silence beyond the limit',
    script: async (one) => {
      await one.body()
      one.write(head(200, ['Transfer-Encoding', 'chunked']))
      one.write(chunk('data: 1\n\n'))
      await one.gone()
    },
  },
]

both(
  'a response that breaks off is never ended cleanly, and what had come arrives',
  async (rig) => {
    const { fake, port, ends } = await rig(respond(200, {}), { idle: 200 })
    for (const { name, script } of BREAKS) {
      fake.play(script)
      const got = await call(port, { body: '{}' })
      assert.equal(got.whole, false, name)
      assert.equal(got.body.toString(), 'data: 1\n\n', name)
      assert.equal(ends.at(-1)?.outcome, 'broken', name)
    }
  },
)

both(
  'where a response breaks off the caller sees a reset, also one of HTTP/1.0, who gets neither length nor chunks',
  async (rig) => {
    const { port } = await rig(BREAKS[0]!.script)
    for (const head of ['HTTP/1.0\r\n', 'HTTP/1.1\r\nHost: x\r\n']) {
      const socket = connect({ port, host: '127.0.0.1' })
      socket.write(`POST /proxy ${head}Content-Length: 2\r\n\r\n{}`)
      socket.resume()
      const [error] = await once(socket, 'error')
      assert.equal(error.code, 'ECONNRESET')
    }
  },
)

both(
  'a response that breaks off before it is its turn breaks the connection when it is',
  async (rig) => {
    const { port } = await rig(async (one) => {
      const first = one.received.target === '/proxy/first'
      await one.pause(first ? 60 : 0)
      one.write(`${head(200, ['Content-Length', '5'])}${first ? 'first' : 'sec'}`)
      await one.pause(10)
      if (!first) one.reset()
    })
    const socket = connect({ port, host: '127.0.0.1' })
    let text = ''
    socket.on('data', (bytes: Buffer) => (text += bytes.toString()))
    socket.write(
      'GET /proxy/first HTTP/1.1\r\nHost: x\r\n\r\nGET /proxy/second HTTP/1.1\r\nHost: x\r\n\r\n',
    )
    const [error] = await once(socket, 'error')
    assert.equal(error.code, 'ECONNRESET')
    assert.match(text, /first[^]+\r\n\r\nsec$/)
  },
)

/** TABLE of upstreams that give no response at all. */
const NO_RESPONSE: { name: string; status: number; script: Script }[] = [
  { name: 'reset at once', status: 502, script: (one) => one.reset() },
  { name: 'closed at once', status: 502, script: (one) => void one.socket.end() },
  { name: 'silence', status: 504, script: (one) => one.gone() },
  { name: 'not HTTP', status: 502, script: (one) => one.write('SSH-2.0-OpenSSH\r\n\r\n') },
  {
    name: 'half a head',
    status: 502,
    script: (one) => void one.socket.end('HTTP/1.1 200 OK\r\nContent-Le'),
  },
  {
    name: 'two lengths',
    status: 502,
    script: (one) =>
      one.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
  },
  {
    name: 'length and chunks',
    status: 502,
    script: (one) =>
      one.write(
        'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ),
  },
  {
    name: 'folded header',
    status: 502,
    script: (one) => one.write('HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n'),
  },
  {
    name: 'bare line feed',
    status: 502,
    script: (one) => one.write('HTTP/1.1 200 OK\r\nA: b\nX: c\r\n\r\n'),
  },
  {
    name: 'switch of protocols',
    status: 502,
    script: (one) => one.write('HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n'),
  },
  {
    name: 'endless head',
    status: 502,
    script: (one) => one.write(`HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(20_000)}`),
  },
]

both('an upstream without a response becomes a refusal', async (rig) => {
  const { fake, port } = await rig(respond(200, {}), { firstByte: 200 })
  for (const { name, status, script } of NO_RESPONSE) {
    fake.play(script)
    const got = await call(port, { body: '{}' })
    assert.equal(got.status, status, name)
    assert.equal(
      fake.requests.length,
      NO_RESPONSE.findIndex((row) => row.name === name) + 1,
      `${name}: sent once`,
    )
  }
})

both("interim responses pass, and 100 is nobody's", async (rig) => {
  const { port } = await rig(async (one) => {
    await one.body()
    one.write(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n',
    )
    one.write(`${head(200, ['Content-Length', '2'])}ok`)
  })
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    path: '/proxy',
    method: 'POST',
    agent: false,
  })
  const interim: unknown[] = []
  request.on('information', ({ statusCode, statusMessage, headers }) =>
    interim.push([statusCode, statusMessage, headers.link]),
  )
  request.end('{}')
  const [response] = await once(request, 'response')
  assert.equal((await readResponse(response)).body.toString(), 'ok')
  assert.deepEqual(interim, [[103, 'Early Hints', '</a>; rel=preload']])
})

both('a caller that leaves ends the upstream call, whenever it leaves', async (rig) => {
  const { fake, port, ends } = await rig((one) => one.gone())
  const early = httpRequest({
    port,
    host: '127.0.0.1',
    path: '/proxy',
    method: 'POST',
    agent: false,
  })
  early.on('error', () => {})
  early.end('{}')
  await until(() => fake.requests.length === 1)
  early.destroy()
  await until(() => fake.requests[0]!.abandoned)

  fake.play(async (one) => {
    await one.body()
    one.write(head(200, ['Transfer-Encoding', 'chunked']))
    one.write(chunk('data: 1\n\n'))
    await one.gone()
  })
  const late = httpRequest({
    port,
    host: '127.0.0.1',
    path: '/proxy',
    method: 'POST',
    agent: false,
  })
  late.on('error', () => {})
  late.end('{}')
  const [response] = await once(late, 'response')
  response.on('error', () => {})
  await once(response, 'data')
  late.destroy()
  await until(() => fake.requests[1]!.abandoned)

  // In the middle of its upload.
  fake.play((one) => one.gone())
  const uploading = httpRequest({
    port,
    host: '127.0.0.1',
    path: '/proxy',
    method: 'POST',
    agent: false,
    headers: { 'content-length': '1000' },
  })
  uploading.on('error', () => {})
  uploading.write('x'.repeat(10))
  await until(() => fake.requests.length === 3)
  uploading.destroy()
  await until(() => fake.requests[2]!.abandoned && ends.length === 3)
  assert.deepEqual(
    ends.map(({ outcome }) => outcome),
    ['aborted', 'aborted', 'aborted'],
  )
})

both('a response that comes while the body is still going up arrives', async (rig) => {
  const { fake, port } = await rig(respond(200, {}))
  for (const close of [false, true]) {
    fake.play((one) => {
      one.write(
        `${head(413, ['Content-Length', '5', ...(close ? ['Connection', 'close'] : [])])}large`,
      )
      if (close) one.socket.end()
    })
    const request = httpRequest({
      port,
      host: '127.0.0.1',
      path: '/proxy',
      method: 'POST',
      agent: false,
      headers: { 'content-length': '100000000' },
    })
    request.on('error', () => {})
    const timer = setInterval(() => request.write(Buffer.alloc(65_536)), 1)
    const [response] = await once(request, 'response')
    const got = await readResponse(response)
    clearInterval(timer)
    request.destroy()
    assert.deepEqual([got.status, got.body.toString(), got.whole], [413, 'large', true])
  }
  // The connection whose request never went up whole must not carry another.
  fake.play(respond(200, {}, 'next'))
  assert.equal((await call(port, { body: '{}' })).body.toString(), 'next')
})

both(
  'an early response waits for a caller that reads only when it has sent everything',
  async (rig) => {
    const { port } = await rig((one) => one.write(`${head(413, ['Content-Length', '5'])}large`))
    for (const lines of [
      'HTTP/1.1\r\nHost: x\r\n',
      'HTTP/1.1\r\nHost: x\r\nConnection: close\r\n',
      'HTTP/1.0\r\n',
    ]) {
      const socket = connect({ port, host: '127.0.0.1' }).pause()
      socket.write(`POST /proxy ${lines}Content-Length: 655360\r\n\r\n`)
      for (let i = 0; i < 10; i++) {
        await sleep(10)
        socket.write(Buffer.alloc(65_536))
      }
      const [bytes] = (await once(socket.resume(), 'data')) as [Buffer]
      assert.match(bytes.toString(), /^HTTP\/1.1 413 .*\r\n\r\nlarge$/s, lines)
      socket.destroy()
    }
  },
)

both('a caller that stops reading stops the upstream, and loses nothing', async (rig) => {
  const piece = Buffer.alloc(64 * 1024, 'x')
  let written = 0
  const { port } = await rig(async (one) => {
    await one.body()
    one.write(head(200, ['Content-Length', String(piece.length * 400)]))
    for (let i = 0; i < 400; i++) {
      if (!one.socket.write(piece)) await once(one.socket, 'drain')
      written++
    }
  })
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    path: '/proxy',
    method: 'POST',
    agent: false,
  })
  request.end('{}')
  const [response] = await once(request, 'response')
  let before = -1
  // Nobody reads: the buffers of three sockets fill up, and then the provider stands still.
  while (before !== written) {
    before = written
    await sleep(100)
  }
  assert.ok(written < 400, `the provider could write only part of it (${written} of 400)`)
  const got = await readResponse(response)
  assert.equal(got.body.length, piece.length * 400)
})

both('an upstream that stops reading stops the caller, and loses nothing', async (rig) => {
  // Before the request: on a slow machine the caller may give up before it arrives.
  const { promise: started, resolve: start } = Promise.withResolvers<void>()
  const { fake, port } = await rig(async (one) => {
    one.socket.pause()
    await started
    one.socket.resume()
    await one.body()
    one.write(head(200, ['Content-Length', '0']))
  })
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    path: '/proxy',
    method: 'POST',
    agent: false,
  })
  const piece = Buffer.alloc(64 * 1024, 'y')
  let sent = 0
  while (
    sent < 400 &&
    (request.write(piece) ||
      (await Promise.race([once(request, 'drain').then(() => true), sleep(300).then(() => false)])))
  )
    sent++
  assert.ok(sent < 400, `the caller could send only part of it (${sent} of 400)`)
  start()
  for (let i = sent + 1; i < 400; i++) if (!request.write(piece)) await once(request, 'drain')
  request.end()
  const [response] = await once(request, 'response')
  await readResponse(response)
  assert.equal(fake.requests[0]!.body.length, piece.length * 400)
})

both('connections are used again, but never one that is spoilt', async (rig) => {
  const { fake, port } = await rig(respond(200, {}, 'a'))
  for (let i = 0; i < 5; i++) await call(port, { body: '{}' })
  assert.equal(fake.connections, 1)
  // Bytes behind a response would be the next caller's response.
  fake.play(async (one) => {
    await one.body()
    one.write(`${head(200, ['Content-Length', '1'])}a${head(200, ['Content-Length', '6'])}poison`)
  })
  assert.equal((await call(port, { body: '{}' })).body.toString(), 'a')
  fake.play(respond(200, {}, 'clean'))
  assert.equal((await call(port, { body: '{}' })).body.toString(), 'clean')
  assert.equal(fake.connections, 2)
})

both('a pooled connection that the upstream has closed is not used', async (rig) => {
  const { fake, port } = await rig(async (one) => {
    await one.body()
    one.write(`${head(200, ['Content-Length', '1'])}a`)
    one.socket.end()
  })
  for (let i = 0; i < 10; i++) {
    const got = await call(port, { body: '{}' })
    assert.equal(got.status, 200)
  }
  assert.equal(fake.requests.length, 10)
})

both('a request is repeated only where it cannot have been processed', async (rig) => {
  const { fake, port } = await rig(respond(200, {}, 'a'))
  await call(port, { body: '{}' })
  const second: Script = async (one) => {
    if (one.received.turn > 1) return one.reset()
    await one.body()
    one.write(`${head(200, ['Content-Length', '1'])}b`)
  }
  fake.play(second)
  // The provider has read the POST before it cut the connection: it may have acted on it.
  assert.equal((await call(port, { body: '{}' })).status, 502)
  assert.equal(fake.requests.length, 2)
  await call(port, { body: '{}' })
  // A GET may be asked twice.
  assert.equal((await call(port, { method: 'GET' })).status, 200)
  assert.equal(fake.requests.filter(({ method }) => method === 'GET').length, 2)
})

both('the upstream says how long a connection rests', async (rig) => {
  const { fake, port } = await rig(respond(200, { 'Keep-Alive': 'timeout=1' }, 'a'))
  await call(port, { body: '{}' })
  await call(port, { body: '{}' })
  assert.equal(fake.connections, 2)
})

both('many streams at once keep their bytes apart', async (rig) => {
  const { port } = await rig(async (one) => {
    const body = await one.body()
    await chunked(
      200,
      [],
      Array.from({ length: 20 }, () => body),
      [],
      1,
    )(one)
  })
  const all = await Promise.all(
    Array.from({ length: 100 }, async (_, i) => ({ i, got: await call(port, { body: `<${i}>` }) })),
  )
  for (const { i, got } of all) assert.equal(got.body.toString(), `<${i}>`.repeat(20))
})
