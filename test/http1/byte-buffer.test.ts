// What comes byte by byte is gathered without a copy of everything for each byte.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_BYTES } from '../../server/http1/header-fields.ts'
import { ByteBuffer } from '../../server/http1/byte-buffer.ts'
import { ResponseParser } from '../../server/http1/client/response-parser.ts'

const MOST = 16 * 1024

test('bytes that arrive one by one are copied only when their buffer is full', () => {
  const room = new ByteBuffer(MOST)
  const buffers = new Set<ArrayBufferLike>()
  let held: Buffer = NO_BYTES
  let sent = ''
  for (let i = 0; i < MOST; i++) {
    const byte = Buffer.from([97 + (i % 26)])
    sent += byte.toString()
    held = room.append(held, byte)
    buffers.add(held.buffer)
  }
  assert.equal(held.toString(), sent)
  assert.ok(buffers.size <= 5, `${buffers.size} buffers for 1 KB, doubled until 16 KB`)
})

test('bytes already handed out are never overwritten', () => {
  const room = new ByteBuffer(MOST)
  const first = room.append(Buffer.from('a'), Buffer.from('b'))
  const longer = room.append(first, Buffer.from('c'))
  const other = room.append(first, Buffer.from('d'))
  const tail = room.append(longer.subarray(2), Buffer.from('e'))
  assert.deepEqual([first, longer, other, tail].map(String), ['ab', 'abc', 'abd', 'ce'])
  assert.equal(room.append(Buffer.alloc(MOST, 'x'), Buffer.from('y')).length, MOST + 1)
})

test('a response reads the same in pieces of any size', () => {
  const response =
    'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\nA\r\n, everyone\r\n0\r\nA: b\r\nC: d\r\n\r\n'
  const read = (size: number): string[] => {
    const said: string[] = []
    let body = ''
    const reader = new ResponseParser({
      onInterim: (status) => said.push(String(status)),
      onHead: (status, _, headers) => said.push(`${status} ${headers.join()}`),
      onBody: (bytes) => (body += bytes.toString()),
      onEnd: (trailers) => said.push(body, trailers.join()),
      onPause() {},
    })
    reader.begin('GET')
    for (let at = 0; at < response.length; at += size)
      reader.push(Buffer.from(response.slice(at, at + size)))
    return said
  }
  const whole = read(response.length)
  assert.deepEqual(whole, ['103', '200 Transfer-Encoding,chunked', 'hello, everyone', 'A,b,C,d'])
  for (let size = 1; size < 60; size++) assert.deepEqual(read(size), whole, `in pieces of ${size}`)
})
