// The reader of callers' requests, by itself: what it takes, what it refuses, and that Node's own
// parser never sees another request in the same bytes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, METHODS, type IncomingMessage } from 'node:http'
import { duplexPair } from 'node:stream'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  isForPath,
  pathMarker,
  RequestError,
  RequestParser,
  type RequestHead,
} from '../../server/http1/request-parser.ts'

interface Read {
  method: string
  target: string
  headers: readonly string[]
  body: string
  trailers: string[]
}

/** Reads whole requests out of pieces, until they end or something is wrong. */
function read(pieces: Iterable<Buffer>): { requests: Read[]; code: string | null; unread: string } {
  const reader = new RequestParser()
  const requests: Read[] = []
  let open: Read | null = null
  let last = false
  try {
    for (const bytes of pieces) {
      reader.push(bytes)
      for (;;) {
        if (open === null) {
          const head: RequestHead | null = last ? null : reader.nextHead()
          if (head === null) break
          open = {
            method: head.method,
            target: head.target,
            headers: head.headers,
            body: '',
            trailers: [],
          }
          last = !head.keepAlive
        }
        for (let piece = reader.nextChunk(); piece !== null; piece = reader.nextChunk())
          open.body += piece.toString('latin1')
        if (!reader.ended) break
        open.trailers = reader.trailers
        requests.push(open)
        open = null
      }
    }
    return { requests, code: null, unread: reader.unread.toString('latin1') }
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return { requests, code: error.code, unread: '' }
  }
}

const whole = (text: string): Buffer[] => [Buffer.from(text, 'latin1')]
const bytewise = (text: string): Buffer[] =>
  [...Buffer.from(text, 'latin1')].map((byte) => Buffer.from([byte]))
const HOST = 'Host: x\r\n'
const PROXY = pathMarker('/proxy')

/** TABLE of requests that are taken: name, bytes, and what they are. */
const TAKEN: [name: string, bytes: string, requests: Partial<Read>[]][] = [
  [
    'no body',
    `GET /proxy?url=a HTTP/1.1\r\n${HOST}\r\n`,
    [{ method: 'GET', target: '/proxy?url=a', headers: ['Host', 'x'], body: '' }],
  ],
  // Methods are case-sensitive tokens (RFC 9110, section 9.1); the proxy refuses those it does not
  // know.
  [
    'a method in lower case',
    `get /proxy HTTP/1.1\r\n${HOST}\r\nX-1 /proxy HTTP/1.1\r\n${HOST}\r\n`,
    [{ method: 'get' }, { method: 'X-1' }],
  ],
  [
    'a length',
    `POST /proxy HTTP/1.1\r\n${HOST}Content-Length: 5\r\n\r\nhello`,
    [{ body: 'hello' }],
  ],
  ['a length of 0', `POST /proxy HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`, [{ body: '' }]],
  [
    'chunks',
    `POST /proxy HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;a=b;c="d;e"\r\n!\r\n0\r\n\r\n`,
    [{ body: 'hello!' }],
  ],
  [
    'chunks, other case',
    `POST /proxy HTTP/1.1\r\n${HOST}transfer-encoding: Chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n`,
    [{ body: '0123456789' }],
  ],
  [
    'trailers',
    `POST /proxy HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n`,
    [{ body: 'x', trailers: ['X-Sum', '1', 'X-Sum', '2'] }],
  ],
  [
    'names as long as those that matter',
    `GET /proxy?1 HTTP/1.1\r\n${HOST}From: x\r\nExtras: y\r\nUser-Agent: close\r\nX-Stainless-OS: 5\r\nX-Not-An-Encoding: chunked\r\n\r\nGET /proxy?2 HTTP/1.1\r\n${HOST}\r\n`,
    [{ target: '/proxy?1', body: '' }, { target: '/proxy?2' }],
  ],
  [
    'an expectation',
    `POST /proxy HTTP/1.1\r\n${HOST}Expect: 100-Continue\r\nContent-Length: 1\r\n\r\nx`,
    [{ body: 'x' }],
  ],
  [
    'two in a row',
    `POST /proxy?1 HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\nabGET /proxy?2 HTTP/1.1\r\n${HOST}\r\n`,
    [{ target: '/proxy?1', body: 'ab' }, { target: '/proxy?2' }],
  ],
  ['HTTP/1.0 without Host', 'GET /proxy HTTP/1.0\r\n\r\n', [{ method: 'GET' }]],
  [
    'blanks around values',
    `GET /proxy HTTP/1.1\r\nHost: \t x \t\r\nA:\r\nB:c  d\r\n\r\n`,
    [{ headers: ['Host', 'x', 'A', '', 'B', 'c  d'] }],
  ],
  [
    'a value beyond ASCII',
    `GET /proxy HTTP/1.1\r\n${HOST}A: \xe4\r\n\r\n`,
    [{ headers: ['Host', 'x', 'A', '\xe4'] }],
  ],
]

for (const [name, bytes, expected] of TAKEN) {
  test(`accepted: ${name}`, () => {
    for (const pieces of [whole(bytes), bytewise(bytes)]) {
      const { requests, code, unread } = read(pieces)
      assert.deepEqual([code, unread, requests.length], [null, '', expected.length])
      for (const [i, want] of expected.entries())
        assert.deepEqual({ ...requests[i], ...want }, requests[i])
    }
  })
}

const post = (headers: string, body = ''): string =>
  `POST /proxy HTTP/1.1\r\n${HOST}${headers}\r\n${body}`
const CHUNKED = 'Transfer-Encoding: chunked\r\n'

/** TABLE of bytes that are no request, or could be read as two different ones. */
const REFUSED: [name: string, bytes: string, code?: 'headers_too_large'][] = [
  ['two lengths', post('Content-Length: 1\r\nContent-Length: 2\r\n', 'ab')],
  ['the same length twice', post('Content-Length: 2\r\nContent-Length: 2\r\n', 'ab')],
  ['a list of lengths', post('Content-Length: 2, 2\r\n', 'ab')],
  ['length and chunks', post(`Content-Length: 5\r\n${CHUNKED}`, '0\r\n\r\n')],
  ['chunks and length', post(`${CHUNKED}Content-Length: 5\r\n`, '0\r\n\r\n')],
  ['chunked twice', post(`${CHUNKED}${CHUNKED}`, '0\r\n\r\n')],
  ['chunked and another', post('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n')],
  ['chunked, then identity', post('Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n')],
  ['a coding that is almost chunked', post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n')],
  ['an empty coding', post('Transfer-Encoding:\r\n')],
  [
    'a name for chunked with a control character',
    post('Transfer-Encoding: \x0bchunked\r\n', '0\r\n\r\n'),
  ],
  ['chunks in HTTP/1.0', `POST /proxy HTTP/1.0\r\n${CHUNKED}\r\n0\r\n\r\n`],
  ['a negative length', post('Content-Length: -1\r\n')],
  ['a length with a sign', post('Content-Length: +1\r\n', 'a')],
  ['a hexadecimal length', post('Content-Length: 0x1\r\n', 'a')],
  ['a length without digits', post('Content-Length:\r\n')],
  ['a length beyond all bounds', post('Content-Length: 9999999999999999\r\n')],
  ['a blank before the colon', post('Content-Length : 1\r\n', 'a')],
  ['a tab before the colon', post('A\t: b\r\n')],
  ['a folded line', post('A: b\r\n c\r\n')],
  ['a line that begins with a blank', post(' A: b\r\n')],
  ['a header without a colon', post('Abc\r\n')],
  ['a header without a name', post(': b\r\n')],
  ['a name with a bad character', post('A(b): c\r\n')],
  ['a name beyond ASCII', post('\xc4: c\r\n')],
  ['NUL in a value', post('A: b\x00c\r\n')],
  ['NUL in a name', post('A\x00: b\r\n')],
  ['DEL in a value', post('A: b\x7fc\r\n')],
  ['a bare LF behind a header', post('A: b\nC: d\r\n')],
  ['a bare CR in a header', post('A: b\rC: d\r\n')],
  ['bare LF everywhere', 'GET /proxy HTTP/1.1\nHost: x\n\nGET /proxy HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['no Host', 'GET /proxy HTTP/1.1\r\n\r\n'],
  ['two Hosts', 'GET /proxy HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n'],
  ['another version', 'GET /proxy HTTP/1.2\r\nHost: x\r\n\r\n'],
  ['HTTP/2', 'GET /proxy HTTP/2.0\r\nHost: x\r\n\r\n'],
  ['no version', 'GET /proxy\r\nHost: x\r\n\r\n'],
  ['a method with a space', 'GE T /proxy HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['two blanks', 'GET  /proxy HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a blank in the target', 'GET /proxy?a b HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a tab in the target', 'GET /proxy?a\tb HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a control character in the target', 'GET /proxy?\x01 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a target beyond ASCII', 'GET /proxy?\xe4 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['an expectation that nobody knows', post('Expect: gold\r\n')],
  ['a blank behind the version', 'GET /proxy HTTP/1.1 \r\nHost: x\r\n\r\n'],
  ['a chunk without a size', post(CHUNKED, '\r\n')],
  ['a chunk size that is none', post(CHUNKED, 'g\r\n')],
  ['a chunk size with 0x', post(CHUNKED, '0x1\r\na\r\n0\r\n\r\n')],
  ['a chunk size with a sign', post(CHUNKED, '+1\r\na\r\n0\r\n\r\n')],
  ['a chunk size with a blank', post(CHUNKED, '1 \r\na\r\n0\r\n\r\n')],
  ['a chunk size beyond all bounds', post(CHUNKED, '10000000000000000\r\n')],
  ['a chunk line with a bare LF', post(CHUNKED, '1\na\r\n0\r\n\r\n')],
  ['a chunk extension with a bare LF', post(CHUNKED, '1;a\nb\r\na\r\n0\r\n\r\n')],
  ['a chunk extension with a bare CR', post(CHUNKED, '1;a\rb\r\na\r\n0\r\n\r\n')],
  ['a chunk longer than it says', post(CHUNKED, '1\r\nab\r\n0\r\n\r\n')],
  ['two other bytes where a chunk ends', post(CHUNKED, '1\r\naXX0\r\n\r\n')],
  ['CR and another byte where a chunk ends', post(CHUNKED, '1\r\na\rX0\r\n\r\n')],
  ['NUL and LF where a line ends', post('A: b\0\nB: c\r\n')],
  ['a chunk that ends with a bare LF', post(CHUNKED, '1\r\na\n0\r\n\r\n')],
  ['a malformed trailer', post(CHUNKED, '0\r\nA b\r\n\r\n')],
  ['a length among the trailers', post(CHUNKED, '1\r\nx\r\n0\r\nContent-Length: 1\r\n\r\n')],
  [
    'an encoding among the trailers',
    post(CHUNKED, '1\r\nx\r\n0\r\ntransfer-encoding: chunked\r\n\r\n'),
  ],
  ['a folded trailer', post(CHUNKED, '0\r\nA: b\r\n c\r\n\r\n')],
  ['a chunk line without end', post(CHUNKED, `1;${'a'.repeat(5_000)}`)],
  ['many extensions', post(CHUNKED, `1;${'a'.repeat(4_000)}\r\na\r\n`.repeat(6))],
  ['trailers without end', post(CHUNKED, `0\r\n${'A: b\r\n'.repeat(4_000)}`)],
  ['a head without end', post('A: b\r\n'.repeat(4_000)), 'headers_too_large'],
  ['a large head', post(`A: ${'b'.repeat(40_000)}\r\n`), 'headers_too_large'],
  ['too many headers', post('A:\r\n'.repeat(300)), 'headers_too_large'],
]

for (const [name, bytes, code = 'malformed_request'] of REFUSED) {
  test(`refused: ${name}`, () => {
    for (const pieces of [whole(bytes), bytewise(bytes)])
      assert.deepEqual({ ...read(pieces), unread: '' }, { requests: [], code, unread: '' })
  })
}

test('the router recognises a proxy request as early as possible', () => {
  for (const [bytes, ours] of [
    ['POST /proxy?url=a HTTP/1.1', true],
    ['GET /proxy HTTP/1.1', true],
    ['DELETE /proxy/x HTTP/1.1', true],
    ['BREW /proxy?', true],
    ['GET /proxyx HTTP/1.1', false],
    ['GET /prox HTTP/1.1', false],
    ['GET / HTTP/1.1', false],
    ['get /proxy?', true],
    ['M-SEARCH /proxy?', true],
    ['GE(T /proxy?', false],
    ['\r\nGET /proxy?', false],
    ['GET http://x/proxy?', false],
    ['\x16\x03\x01', false],
    ['ABCDEFGHIJKLMNOPQRSTUVWXYZ', false],
    ['GET  /proxy?', false],
    [' /proxy?', false],
    ['ABCDEFGHIJKLMNOP /proxy?', true],
    ['ABCDEFGHIJKLMNOPQ /proxy?', false],
    ['G\u0000T /proxy?', false],
    ['PO5T /proxy?', true],
  ] as const) {
    assert.equal(isForPath(Buffer.from(bytes, 'latin1'), PROXY), ours, bytes)
    let decided: boolean | null = null
    for (let length = 1; length <= bytes.length; length++) {
      const now = isForPath(Buffer.from(bytes.slice(0, length), 'latin1'), PROXY)
      if (decided !== null) assert.equal(now, decided, `${bytes} after ${length}`)
      decided = now
    }
  }
})

/** What Node's own server reads out of the same bytes. */
async function nodes(bytes: Buffer): Promise<Read[]> {
  const requests: Read[] = []
  const server = createServer((incoming: IncomingMessage, outgoing) => {
    let body = ''
    incoming.on('data', (piece: Buffer) => (body += piece.toString('latin1')))
    incoming.on('error', () => {})
    incoming.on('end', () => {
      requests.push({
        method: incoming.method!,
        target: incoming.url!,
        headers: incoming.rawHeaders,
        body,
        trailers: incoming.rawTrailers,
      })
      outgoing.end()
    })
  })
  server.on('checkContinue', (incoming, outgoing) => server.emit('request', incoming, outgoing))
  // What came before the error is reported first.
  server.on('clientError', (_, socket) => setImmediate(() => setImmediate(() => socket.destroy())))
  const [near, far] = duplexPair()
  server.emit('connection', near)
  far.on('error', () => {}).resume()
  near.on('error', () => {})
  far.end(bytes)
  await once(near, 'close')
  return requests
}

const name = fc.constantFrom(
  'A',
  'X-Long-Name',
  'Content-Length',
  'content-length',
  'Transfer-Encoding',
  'TRANSFER-ENCODING',
  'Connection',
  'Host',
  'Trailer',
  'Expect',
  'Content-Length ',
  ' A',
  'A\t',
  '',
)
const value = fc.constantFrom(
  '',
  'b',
  '0',
  '1',
  '5',
  '05',
  '+5',
  '5, 5',
  '5 5',
  'chunked',
  'Chunked',
  'gzip, chunked',
  'chunked, chunked',
  'identity',
  'keep-alive',
  'close',
  'x',
  '"q"',
  'b\tc',
  'b\x00',
  'b\x0b',
  '\xe4',
  'b\r\n c',
  '100-continue',
)
const line = fc
  .tuple(
    name,
    fc.constantFrom(': ', ':', ' : ', ':\t', ''),
    value,
    fc.constantFrom('\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\r\n'),
  )
  .map((parts) => parts.join(''))
const goodLine = fc.constantFrom(
  'Host: x\r\n',
  'A: b\r\n',
  'Content-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: keep-alive\r\n',
  'B:\t c \r\n',
)
const chunk = fc.constantFrom(
  '5\r\nhello\r\n',
  '1\r\nx\r\n',
  '0a\r\n0123456789\r\n',
  '1;e\r\nx\r\n',
  '1;e=v\r\nx\r\n',
  '1;e="v"\r\nx\r\n',
  '1 \r\nx\r\n',
  '1;\r\nx\r\n',
  '1\nx\r\n',
  '1\r\nx\n',
  '1\r\nxy\r\n',
  '-1\r\n',
  '0x1\r\nx\r\n',
  '1;e\nf\r\nx\r\n',
  '1; e\r\nx\r\n',
)
const chunks = fc
  .tuple(
    fc.array(chunk, { maxLength: 3 }),
    fc.constantFrom(
      '0\r\n\r\n',
      '0\r\n\r\n',
      '0\r\nT: v\r\n\r\n',
      '00\r\n\r\n',
      '0\n\n',
      '0\r\n',
      '',
      '0\r\nT : v\r\n\r\n',
      '0;e\r\n\r\n',
    ),
  )
  .map(([list, end]) => list.join('') + end)
const start = fc
  .tuple(
    fc.constantFrom('GET', 'POST', 'PUT', 'HEAD', 'DELETE', 'PATCH', 'OPTIONS'),
    fc.constantFrom(' ', ' ', ' ', ' ', '  ', '\t'),
    fc.constantFrom('/proxy', '/proxy?url=a', '/proxy?\xe4', '/proxy?a#b', '/proxy?"<>'),
    fc.constantFrom(
      ' HTTP/1.1',
      ' HTTP/1.1',
      ' HTTP/1.1',
      ' HTTP/1.0',
      ' HTTP/1.2',
      ' HTTP/1.1 ',
      '',
    ),
    fc.constantFrom('\r\n', '\r\n', '\r\n', '\n'),
  )
  .map((parts) => parts.join(''))
const goodStart = fc.constantFrom(
  'POST /proxy?url=a HTTP/1.1\r\nHost: x\r\n',
  'GET /proxy HTTP/1.1\r\nHost: x\r\n',
  'POST /proxy HTTP/1.0\r\n',
)
const request = fc
  .tuple(
    fc.oneof({ weight: 3, arbitrary: goodStart }, { weight: 1, arbitrary: start }),
    fc.array(fc.oneof({ weight: 3, arbitrary: goodLine }, { weight: 1, arbitrary: line }), {
      maxLength: 4,
    }),
    fc.oneof(fc.constant('hello'), fc.constant(''), chunks),
  )
  .map(([first, lines, body]) => `${first}${lines.join('')}\r\n${body}`)

/**
 * One request as a reader reads it: its head and body, and whether it can be followed by another
 * one.
 */
function one(
  reader: RequestParser,
  text: string,
): { head: RequestHead | null; body: string; whole: boolean; code: string | null } {
  reader.push(Buffer.from(text, 'latin1'))
  let head: RequestHead | null = null
  let body = ''
  try {
    head = reader.nextHead()
    if (head !== null)
      for (let piece = reader.nextChunk(); piece !== null; piece = reader.nextChunk())
        body += piece.toString('latin1')
    return {
      head,
      body,
      whole: head !== null && reader.ended && reader.unread.length === 0,
      code: null,
    }
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return { head, body, whole: false, code: error.code }
  }
}

/**
 * What becomes of a request until it is sent again: nothing, another length (of its body, or not),
 * a character more, less, or another one.
 */
const change = fc.oneof(
  fc.constant((text: string) => text),
  fc
    .tuple(
      fc.constantFrom(
        '0',
        '5',
        '05',
        '11',
        '123456789012345',
        '1234567890123456',
        '',
        ' 5',
        '5 ',
        '-5',
        '5,5',
        '\xb5',
      ),
      fc.boolean(),
    )
    .map(([digits, fill]) => (text: string) => {
      const [head = '', body = ''] = text.split('\r\n\r\n', 2)
      const long = Number(digits)
      return `${head.replace(/(content-length[ \t]*:[ \t]*)\d+/i, `$1${digits}`)}\r\n\r\n${fill && long >= 0 && long < 100 ? 'x'.repeat(long) : body}`
    }),
  fc
    .tuple(
      fc.nat(150),
      fc.nat(1),
      fc.constantFrom('', 'a', 'X', '5', ' ', '\t', '\r', '\n', '\r\n', ':', '\0', '\xe4'),
    )
    .map(
      ([at, cut, more]) =>
        (text: string) =>
          text.slice(0, at) + more + text.slice(at + cut),
    ),
)
const well = fc
  .tuple(
    goodStart,
    fc.array(goodLine, { maxLength: 4 }),
    fc.constantFrom('', 'hello', '5\r\nhello\r\n0\r\n\r\n'),
  )
  .map(([first, lines, body]) => `${first}${lines.join('')}\r\n${body}`)

test('a repeated head, identical or changed, is parsed as if it were the first', () => {
  let again = 0
  fc.assert(
    fc.property(well, fc.array(change, { minLength: 2, maxLength: 5 }), (text, changes) => {
      const reader = new RequestParser()
      const heads = new Set<RequestHead>()
      for (const changed of changes) {
        const sent = changed(text)
        const found = one(reader, sent)
        assert.deepEqual(found, one(new RequestParser(), sent))
        if (!found.whole) return
        if (heads.has(found.head!)) again++
        heads.add(found.head!)
      }
    }),
    { numRuns: 20_000 },
  )
  assert.ok(again > 500, `${again} heads were known again: too few to mean anything`)
})

test('a head that differs only in Content-Length is not parsed again, unless it is very long', () => {
  const reader = new RequestParser()
  const sent = (length: number, more = '') =>
    one(
      reader,
      `POST /proxy HTTP/1.1\r\n${HOST}Content-Length: ${length}\r\nA: b\r\n${more}\r\n${'x'.repeat(length)}`,
    ).head!
  const first = sent(5)
  assert.equal(sent(5), first)
  assert.deepEqual(sent(12), {
    ...first,
    framing: 12,
    headers: ['Host', 'x', 'Content-Length', '12', 'A', 'b'],
  })
  assert.equal(sent(5), first, 'the one that was read is the one that is kept')
  const long = sent(5, `B: ${'c'.repeat(5_000)}\r\n`)
  assert.notEqual(sent(5, `B: ${'c'.repeat(5_000)}\r\n`), long)
})

test('we refuse whatever Node refuses, and parse alike what both accept', async () => {
  let taken = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { minLength: 1, maxLength: 2 }),
      fc.array(fc.nat(400), { maxLength: 4 }),
      async (requests, cuts) => {
        const text = requests.join('')
        const bytes = Buffer.from(text, 'latin1')
        const ours = read([bytes])
        const at = [
          0,
          ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b),
          bytes.length,
        ]
        assert.deepEqual(
          read(at.slice(1).map((end, i) => bytes.subarray(at[i], end))),
          ours,
          'the split changes nothing',
        )
        // A method that nobody knows is refused by the handler, not here.
        const strange = ours.requests.findIndex(({ method }) => !METHODS.includes(method))
        const known = strange < 0 ? ours.requests : ours.requests.slice(0, strange)
        if (known.length === 0) return
        assert.deepEqual(known, (await nodes(bytes)).slice(0, known.length))
        taken++
      },
    ),
    { numRuns: 2_000 },
  )
  assert.ok(taken > 300, `${taken} generated requests were taken: too few to mean anything`)
})

test('a chunk size split over two reads can be followed by small chunks', () => {
  const reader = new RequestParser()
  reader.push(
    Buffer.from(
      'POST /proxy HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n000000000001',
    ),
  )
  reader.nextHead()
  assert.equal(reader.nextChunk(), null)
  reader.push(Buffer.from('\r\nx\r\n1\r\ny\r\n0\r\n\r\n'))
  assert.deepEqual(
    [reader.nextChunk()?.toString(), reader.nextChunk(), reader.ended],
    ['xy', null, true],
  )
})

test('small chunks that arrive together form one piece', () => {
  const small = Array.from(
    { length: 5_000 },
    (_, i) =>
      `${(1 + (i % 40)).toString(16)}\r\n${String.fromCharCode(97 + (i % 26)).repeat(1 + (i % 40))}\r\n`,
  )
  // Upper case, leading zeros, a large chunk and an extension.
  small.splice(1_000, 0, `2B\r\n${'A'.repeat(43)}\r\n`, `0001\r\nB\r\n`)
  small.splice(2_000, 0, `4000\r\n${'C'.repeat(16_384)}\r\n`)
  small.splice(3_000, 0, `3;e=v\r\nDDD\r\n`)
  const expected = small.map((text) => text.slice(text.indexOf('\r\n') + 2, -2)).join('')
  const bytes = Buffer.from(
    `POST /proxy HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${small.join('')}0\r\nT: v\r\n\r\nGET`,
  )
  for (const size of [bytes.length, 65_536, 1_000, 1]) {
    const reader = new RequestParser()
    let head = null
    const pieces: Buffer[] = []
    for (let at = 0; at < bytes.length; at += size) {
      reader.push(bytes.subarray(at, at + size))
      head ??= reader.nextHead()
      if (head === null) continue
      for (let piece = reader.nextChunk(); piece !== null; piece = reader.nextChunk())
        pieces.push(piece)
    }
    assert.equal(Buffer.concat(pieces).toString(), expected)
    assert.deepEqual(
      [reader.ended, reader.trailers, reader.unread.toString()],
      [true, ['T', 'v'], 'GET'],
    )
    if (size === bytes.length) assert.ok(pieces.length < 10, `${pieces.length} pieces`)
  }
})
