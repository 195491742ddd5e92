// The memory of a held body is freed as its pieces are sent, and no sooner.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { createHttpClient, destinationOf } from '../../../server/http1/client/client.ts'
import { RawConnection } from '../../../server/http1/raw-connection.ts'
import { freeRead } from '../../../server/http1/read-memory.ts'
import { RequestParser } from '../../../server/http1/request-parser.ts'
import { createTurns } from '../../../server/common/fairness/turn-budget.ts'

const PIECE_BYTES = 64 * 1024
const PIECES = 100
const LIMITS = {
  connect: 5_000,
  firstByte: 20_000,
  idle: 20_000,
  keepAlive: 1_000,
  maxIdlePerDestination: 1,
}

/** Each with memory of its own, filled with its number. */
const newPieces = (): Buffer[] =>
  Array.from({ length: PIECES }, (_, i) => Buffer.allocUnsafeSlow(PIECE_BYTES).fill(i + 1))

/** Sends the pieces to a provider that reads only after a while. @returns the body it has read */
async function bodyReceived(
  t: TestContext,
  held: readonly Buffer[],
  freesHeld: boolean,
): Promise<Buffer> {
  const expected = PIECES * PIECE_BYTES
  const provider = createServer((socket) => {
    const read: Buffer[] = []
    let length = 0
    let bodyFrom = -1
    socket.pause()
    // More than both systems keep for a connection waits in the sender until then.
    setTimeout(() => socket.resume(), 100)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      read.push(bytes)
      length += bytes.length
      if (bodyFrom < 0) bodyFrom = Buffer.concat(read).indexOf('\r\n\r\n') + 4
      if (bodyFrom < 4 || length < bodyFrom + expected) return
      received.resolve(Buffer.concat(read).subarray(bodyFrom))
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
    })
  })
  const received = Promise.withResolvers<Buffer>()
  const responded = Promise.withResolvers<void>()
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  t.after(() => provider.close())
  const { port } = provider.address() as AddressInfo
  const origin = new URL(`http://127.0.0.1:${port}`)
  const body = {
    length: expected,
    held,
    freesHeld,
    heldTrailers: [],
    rest: null,
    observe: null,
    trailers: (raw: readonly string[]) => [...raw],
  }
  createHttpClient(LIMITS, () => performance.now(), createTurns).send(
    { destination: destinationOf(origin, origin), method: 'POST', path: '/', headers: [], body },
    {
      onInterim() {},
      onHead() {},
      onBody() {},
      onPause() {},
      onEnd: () => responded.resolve(),
      onError: (error) => responded.reject(error),
    },
  )
  await responded.promise
  return received.promise
}

test('a slow provider gets every byte of a body whose pieces are freed as they are sent', async (t) => {
  const pieces = newPieces()
  const whole = Buffer.concat(pieces)
  assert.ok((await bodyReceived(t, [...pieces], true)).equals(whole))
  assert.ok(pieces.every(({ length, buffer }) => length === 0 && buffer.byteLength === 0))
})

test('pieces that others may still read are not freed', async (t) => {
  const pieces = newPieces()
  const whole = Buffer.concat(pieces)
  assert.ok((await bodyReceived(t, [...pieces], false)).equals(whole))
  assert.ok(Buffer.concat(pieces).equals(whole))
})

test('a switched connection frees each last piece once it is sent', async (t) => {
  const reader = createServer((socket) => {
    const read: Buffer[] = []
    socket.pause()
    setTimeout(() => socket.resume(), 100)
    socket.on('data', (bytes) => read.push(bytes)).on('end', () => all.resolve(Buffer.concat(read)))
  })
  const all = Promise.withResolvers<Buffer>()
  reader.listen(0, '127.0.0.1')
  await once(reader, 'listening')
  t.after(() => reader.close())
  const socket = connect((reader.address() as AddressInfo).port, '127.0.0.1')
  const connection = new RawConnection({ socket, unread: Buffer.alloc(0), subscribe() {} })
  t.after(() => connection.destroy())
  const pieces = newPieces()
  const whole = Buffer.concat(pieces)
  for (const piece of pieces) connection.writeLast(piece)
  connection.end()
  assert.ok((await all.promise).equals(whole))
  assert.ok(pieces.every(({ length }) => length === 0))
})

test('a small piece, or one of a larger buffer, is left to the garbage collector', () => {
  const memory = Buffer.allocUnsafeSlow(PIECE_BYTES)
  const part = memory.subarray(1)
  const small = Buffer.allocUnsafeSlow(1_024)
  freeRead(part)
  freeRead(small)
  assert.deepEqual(
    [part.length, memory.length, small.length],
    [PIECE_BYTES - 1, PIECE_BYTES, 1_024],
  )
})

const HEAD = `POST /proxy HTTP/1.1\r\nHost: x\r\nContent-Length: ${PIECE_BYTES}\r\n\r\n`
/** Bytes of a request that were read at once, in memory of their own. */
function readAtOnce(text: string, before = ''): Buffer {
  const memory = Buffer.allocUnsafeSlow(before.length + text.length)
  memory.write(before + text)
  return memory.subarray(before.length)
}

test('what was read with the head of a request is freed, if all of it is its body', () => {
  const begun = HEAD + 'x'.repeat(PIECE_BYTES - 1_000)
  const ended = HEAD + 'x'.repeat(PIECE_BYTES)
  // Joined by the parser, in memory of its own.
  const inTwo = [readAtOnce(begun.slice(0, 10)), readAtOnce(begun.slice(10))]
  for (const [pieces, isFreed] of [
    [[readAtOnce(begun)], true],
    [[readAtOnce(ended)], true],
    [[readAtOnce(`${ended}GET /`)], false],
    [[readAtOnce(begun, 'the end of another body')], false],
    [inTwo, true],
  ] as const) {
    const parser = new RequestParser()
    for (const piece of pieces) parser.push(piece)
    parser.nextHead()
    const body = parser.nextChunk()
    assert.ok(body !== null && body.length >= PIECE_BYTES - 1_000)
    freeRead(body)
    assert.equal(body.length === 0, isFreed)
  }
})

test('what was read with the head of a second request on a connection is freed, too', () => {
  const parser = new RequestParser()
  for (const _ of [1, 2]) {
    parser.push(readAtOnce(HEAD + 'x'.repeat(PIECE_BYTES)))
    parser.nextHead()
    const body = parser.nextChunk()
    assert.ok(body !== null)
    freeRead(body)
    assert.equal(body.length, 0)
  }
})
