// Heads of responses as bytes: which are read, and as what.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProtocolError, ResponseParser } from '../../../server/http1/client/response-parser.ts'

/**
 * What one response is read as: status, reason and whether the connection lives on; null where it
 * cannot be trusted.
 */
function read(text: string): [status: number, reason: string, keepAlive: boolean] | null {
  let seen: [number, string] | null = null
  const reader = new ResponseParser({
    onInterim() {},
    onHead: (status, reason) => (seen = [status, reason]),
    onBody() {},
    onEnd() {},
    onPause() {},
  })
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
    assert.deepEqual(
      read(`${line}\r\nContent-Length: 0\r\n\r\n`),
      [status, reason, keepAlive],
      line,
    )
  }
  for (const line of [
    '',
    'HTTP/1.1',
    'HTTP/1.1 ',
    'HTTP/1.1 20',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 099 OK',
    'HTTP/1.1 000',
    'HTTP/1.1 2x0 OK',
    'HTTP/1.1 -20 OK',
    'HTTP/1.1  200 OK',
    'HTTP/1.1\t200 OK',
    'HTTP/1.1 200\tOK',
    'HTTP/1.2 200 OK',
    'HTTP/2 200 OK',
    'HTTP/1.1x200 OK',
    'http/1.1 200 OK',
    ' HTTP/1.1 200 OK',
    'HTTP/1.1 200 O\x00K',
    'HTTP/1.1 200 O\nK',
    'HTTP/1.1 200 OK\r',
  ]) {
    assert.equal(read(`${line}\r\nContent-Length: 0\r\n\r\n`), null, JSON.stringify(line))
  }
})

test('lengths', () => {
  for (const [length, good] of [
    ['0', true],
    ['000', true],
    [' 0 ', true],
    ['', false],
    ['+0', false],
    ['-0', false],
    ['0x0', false],
    ['0,0', false],
    ['0 0', false],
    ['1e0', false],
    ['0.0', false],
    ['0'.repeat(15), true],
    ['0'.repeat(16), false],
  ] as const) {
    assert.equal(
      read(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`) !== null,
      good,
      JSON.stringify(length),
    )
  }
  assert.notEqual(read('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n'), null)
  assert.equal(read('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 00\r\n\r\n'), null)
})

/**
 * What is read of the bytes of a connection, up to its end: in pieces of that size; null where they
 * cannot be trusted.
 */
function readAll(method: string, text: string, size: number) {
  const seen = {
    interim: [] as number[],
    status: 0,
    body: '',
    trailers: null as readonly string[] | null,
    keepAlive: false,
    rests: null as number | null,
    closed: false,
  }
  const reader = new ResponseParser({
    onInterim: (status) => void seen.interim.push(status),
    onHead: (status) => void (seen.status = status),
    onBody: (piece) => void (seen.body += piece.toString('latin1')),
    onEnd: (trailers) => void (seen.trailers = trailers),
    onPause() {},
  })
  // As it is on a connection that had another response.
  reader.begin('GET')
  reader.push(Buffer.from('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=99\r\nContent-Length: 0\r\n\r\n'))
  reader.begin(method)
  Object.assign(seen, { status: 0, trailers: null })
  try {
    for (let at = 0; at < text.length; at += size)
      reader.push(Buffer.from(text.slice(at, at + size), 'latin1'))
    seen.closed = !reader.done
    reader.finish()
  } catch (error) {
    assert.ok(error instanceof ProtocolError, String(error))
    return null
  }
  return { ...seen, keepAlive: reader.keepAlive, rests: reader.keepAliveSeconds }
}

/** TABLE of responses: what comes of them, beside an empty 200 that leaves the connection open. */
const RESPONSES: [
  name: string,
  text: string,
  seen: Partial<ReturnType<typeof readAll>> | null,
  method?: string,
][] = [
  ['a length', '200 OK\r\nContent-Length: 2\r\n\r\nok', { body: 'ok' }],
  [
    'chunks',
    '200 OK\r\nTransfer-Encoding: Chunked \r\n\r\n2\r\nok\r\n1;x=y\r\n!\r\n0\r\nX-Sum: 1\r\n\r\n',
    { body: 'ok!', trailers: ['X-Sum', '1'] },
  ],
  ['neither', '200 OK\r\n\r\nok', { body: 'ok', keepAlive: false, closed: true }],
  ['HEAD', '200 OK\r\nContent-Length: 5\r\n\r\n', {}, 'HEAD'],
  ['HEAD with chunks', '200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', {}, 'HEAD'],
  ['204 with a length', '204 No Content\r\nContent-Length: 5\r\n\r\n', { status: 204 }],
  ['304 with a length', '304 Not Modified\r\nContent-Length: 5\r\n\r\n', { status: 304 }],
  [
    'interim responses',
    '100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    { interim: [100, 103] },
  ],
  [
    'many interim responses',
    `${'103 x\r\n\r\nHTTP/1.1 '.repeat(32)}200 OK\r\nContent-Length: 0\r\n\r\n`,
    { interim: Array<number>(32).fill(103) },
  ],
  ['too many', `${'103 x\r\n\r\nHTTP/1.1 '.repeat(33)}200 OK\r\nContent-Length: 0\r\n\r\n`, null],
  ['another protocol', '101 x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', null],
  ['a folded line', '200 OK\r\nX: y\r\n z\r\nContent-Length: 0\r\n\r\n', null],
  [
    'a length beside chunks',
    '200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    null,
  ],
  ['another coding', '200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n', null],
  [
    'two codings',
    '200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    null,
  ],
  [
    'other bytes where a chunk ends',
    '200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokXX0\r\n\r\n',
    null,
  ],
  ['NUL and LF where a line ends', '200 OK\r\nX: y\0\nContent-Length: 0\r\n\r\n', null],
  ['bare LF between the lines', '200 OK\nContent-Length: 0\n\n', null],
  ['a head that ends with a bare LF', '200 OK\r\nContent-Length: 0\r\n\n', null],
  [
    'trailers that end with a bare LF',
    '200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Sum: 1\n\n',
    null,
  ],
  [
    'a last chunk that ends with a bare LF',
    '200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\n',
    null,
  ],
  ['half a head', '200 OK\r\nContent-Le', null],
  ['half a body', '200 OK\r\nContent-Length: 3\r\n\r\nok', null],
  ['half the chunks', '200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n', null],
  ['more than the body', '200 OK\r\nContent-Length: 2\r\n\r\nok!', null],
  ['more than the chunks', '200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 ', null],
  [
    'Connection: close',
    '200 OK\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n',
    { keepAlive: false },
  ],
  [
    'Connection twice',
    '200 OK\r\nConnection: close\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n',
    { keepAlive: false },
  ],
  [
    'what Keep-Alive says',
    '200 OK\r\nKEEP-ALIVE: max=9, Timeout=7\r\nContent-Length: 0\r\n\r\n',
    { rests: 7 },
  ],
  [
    'what it says behind a semicolon',
    '200 OK\r\nKeep-Alive: max=9;timeout=7\r\nContent-Length: 0\r\n\r\n',
    { rests: 7 },
  ],
  [
    'what only looks like it',
    '200 OK\r\nKeep-Alive: xtimeout=7\r\nX-Timeouts: timeout=7\r\nContent-Length: 0\r\n\r\n',
    {},
  ],
]

test('responses end correctly, in pieces of any size', () => {
  const usual = {
    interim: [],
    status: 200,
    body: '',
    trailers: [],
    keepAlive: true,
    rests: null,
    closed: false,
  }
  for (const [name, text, seen, method = 'GET'] of RESPONSES) {
    for (const size of [1, 7, 10_000])
      assert.deepEqual(
        readAll(method, `HTTP/1.1 ${text}`, size),
        seen && { ...usual, ...seen },
        `${name}, ${size}`,
      )
  }
  for (const [length, good] of [
    [60_000, true],
    [70_000, false],
  ] as const) {
    for (const size of [4_096, 100_000])
      assert.equal(
        readAll(
          'GET',
          `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(length)}\r\nContent-Length: 0\r\n\r\n`,
          size,
        ) !== null,
        good,
      )
  }
  for (const [connection, keepAlive] of [
    ['', false],
    ['Connection: keep-alive\r\n', true],
    ['Connection: keep-alive, close\r\n', false],
  ] as const) {
    assert.equal(
      readAll('GET', `HTTP/1.0 200 OK\r\n${connection}Content-Length: 0\r\n\r\n`, 99)?.keepAlive,
      keepAlive,
      connection,
    )
  }
})

test('an invalid response is refused as soon as it cannot become valid', () => {
  for (const text of [
    'HTTP/1.1 200 OK\n',
    'HTTP/1.1 200 OK\r\nA: b\n',
    'SSH-2.0-OpenSSH_9.9\r\n',
    '\n',
    '<',
    'HTTP/2',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\n',
  ]) {
    assert.equal(read(text), null, JSON.stringify(text))
  }
})

test('two equal Content-Length headers become one, and a response without a body has none', () => {
  const rows: [method: string, text: string, headers: string[]][] = [
    [
      'GET',
      '200 OK\r\nContent-Length: 0\r\nX: y\r\nCONTENT-LENGTH: 0\r\n',
      ['Content-Length', '0', 'X', 'y'],
    ],
    ['HEAD', '200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n', ['Content-Length', '5']],
    ['GET', '204 No Content\r\nContent-Length: 0\r\nX: y\r\n', ['X', 'y']],
    ['GET', '304 Not Modified\r\nContent-Length: 5\r\n', ['Content-Length', '5']],
  ]
  for (const [method, text, headers] of rows) {
    const seen: (readonly string[])[] = []
    const see = (_: number, __: string, found: readonly string[]) => void seen.push(found)
    const reader = new ResponseParser({
      onInterim: see,
      onHead: see,
      onBody() {},
      onEnd() {},
      onPause() {},
    })
    reader.begin(method)
    reader.push(
      Buffer.from(
        `HTTP/1.1 103 Early Hints\r\nContent-Length: 7\r\nLink: x\r\n\r\nHTTP/1.1 ${text}\r\n`,
      ),
    )
    assert.deepEqual(seen, [['Link', 'x'], headers], text)
  }
})
