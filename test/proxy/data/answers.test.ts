// Heads of answers as bytes: which are read, and as what.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProtocolError, ResponseReader } from '../../../server/proxy/upstream/response.ts'

/** What one answer is read as: status, reason and whether the connection lives on; null where it cannot be trusted. */
function read(text: string): [status: number, reason: string, keepAlive: boolean] | null {
  let seen: [number, string] | null = null
  const reader = new ResponseReader({ onInterim() {}, onHead: (status, reason) => (seen = [status, reason]), onBody() {}, onEnd() {}, onPause() {} })
  reader.begin('GET')
  try {
    reader.push(Buffer.from(text, 'latin1'))
  } catch (error) {
    assert.ok(error instanceof ProtocolError)
    return null
  }
  assert.ok(seen !== null)
  return [seen[0], seen[1], reader.keepAlive]
}

test('status lines', () => {
  for (const [line, status, reason, keepAlive] of [
    ['HTTP/1.1 200 OK', 200, 'OK', true],
    ['HTTP/1.1 200', 200, '', true],
    ['HTTP/1.1 200 ', 200, '', true],
    ['HTTP/1.1 404 Not  Found at all ', 404, 'Not  Found at all ', true],
    ['HTTP/1.1 529 \xfcberlastet', 529, '\xfcberlastet', true],
    ['HTTP/1.0 999 x', 999, 'x', false],
  ] as const) {
    assert.deepEqual(read(`${line}\r\nContent-Length: 0\r\n\r\n`), [status, reason, keepAlive], line)
  }
  for (const line of [
    '', 'HTTP/1.1', 'HTTP/1.1 ', 'HTTP/1.1 20', 'HTTP/1.1 2000 OK', 'HTTP/1.1 099 OK', 'HTTP/1.1 000', 'HTTP/1.1 2x0 OK', 'HTTP/1.1 -20 OK', 'HTTP/1.1  200 OK', 'HTTP/1.1\t200 OK',
    'HTTP/1.1 200\tOK', 'HTTP/1.2 200 OK', 'HTTP/2 200 OK', 'HTTP/1.1x200 OK', 'http/1.1 200 OK', ' HTTP/1.1 200 OK', 'HTTP/1.1 200 O\x00K', 'HTTP/1.1 200 O\nK', 'HTTP/1.1 200 OK\r',
  ]) {
    assert.equal(read(`${line}\r\nContent-Length: 0\r\n\r\n`), null, JSON.stringify(line))
  }
})

test('lengths', () => {
  for (const [length, good] of [
    ['0', true], ['000', true], [' 0 ', true], ['', false], ['+0', false], ['-0', false], ['0x0', false], ['0,0', false], ['0 0', false], ['1e0', false], ['0.0', false], ['0'.repeat(15), true], ['0'.repeat(16), false],
  ] as const) {
    assert.equal(read(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`) !== null, good, JSON.stringify(length))
  }
  assert.notEqual(read('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n'), null)
  assert.equal(read('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 00\r\n\r\n'), null)
})
