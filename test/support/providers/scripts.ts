// TABLE of provider responses, each with what must reach the caller. Bodies are wire bytes, also
// compressed ones.
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { respond, chunk, head, type Script } from './fake.ts'

export type Scripted = {
  name: string
  script: Script
  status: number
  /** End-to-end headers that must arrive unchanged: name, value, … */
  headers: string[]
  body: Buffer
  trailers?: string[]
}

const JSON_RESPONSE = JSON.stringify({
  id: 'resp_1',
  choices: [{ message: { content: 'Grüße 🙂' } }],
  usage: { prompt_tokens: 11, completion_tokens: 7 },
})
const SSE = [
  'data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n',
  ': keep-alive\n\n',
  'event: message\r\ndata: {"choices":[{"delta":{"content":"lo"}}]}\r\n\r\n',
  'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n',
  'data: [DONE]\n\n',
]
const ARRAY = [
  '[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}',
  ',\r\n',
  '{"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":2}}',
  ']',
]
export const BINARY = Buffer.from(
  Array.from({ length: 70_000 }, (_, i) => (i * 7919 + (i >> 8)) & 0xff),
)

/** A chunked response, one write per piece. */
export function chunked(
  status: number,
  headers: string[],
  pieces: (string | Buffer)[],
  trailers: string[] = [],
  gap = 0,
): Script {
  return async (call) => {
    await call.body()
    call.write(head(status, [...headers, 'Transfer-Encoding', 'chunked']))
    for (const piece of pieces) {
      if (gap > 0) await call.pause(gap)
      call.write(chunk(piece))
    }
    let end = '0\r\n'
    for (let i = 0; i < trailers.length; i += 2) end += `${trailers[i]}: ${trailers[i + 1]}\r\n`
    call.write(`${end}\r\n`)
  }
}

function counted(
  name: string,
  status: number,
  headers: Record<string, string>,
  body: string | Buffer,
): Scripted {
  return {
    name,
    script: respond(status, headers, body),
    status,
    headers: Object.entries(headers).flat(),
    body: Buffer.from(body),
  }
}

function streamed(
  name: string,
  headers: string[],
  pieces: (string | Buffer)[],
  trailers?: string[],
): Scripted {
  const body = Buffer.concat(pieces.map((piece) => Buffer.from(piece)))
  return {
    name,
    script: chunked(200, headers, pieces, trailers),
    status: 200,
    headers,
    body,
    ...(trailers ? { trailers } : {}),
  }
}

const json = { 'Content-Type': 'application/json' }

export const SCRIPTED: Scripted[] = [
  counted(
    'JSON',
    200,
    { ...json, 'X-Ratelimit-Remaining-Requests': '99', Date: 'Sat, 01 Jan 2022 00:00:00 GMT' },
    JSON_RESPONSE,
  ),
  counted('empty body', 200, { 'X-Nothing': '' }, ''),
  counted(
    'gzip',
    200,
    { ...json, 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' },
    gzipSync(JSON_RESPONSE),
  ),
  counted('br', 200, { ...json, 'Content-Encoding': 'br' }, brotliCompressSync(JSON_RESPONSE)),
  counted('zstd', 200, { ...json, 'Content-Encoding': 'zstd' }, zstdCompressSync(JSON_RESPONSE)),
  counted(
    'binary',
    200,
    { 'Content-Type': 'audio/mpeg', ETag: '"x"', 'Accept-Ranges': 'bytes' },
    BINARY,
  ),
  counted(
    'partial content',
    206,
    { 'Content-Type': 'video/mp4', 'Content-Range': 'bytes 0-3/100' },
    Buffer.from([0, 255, 13, 10]),
  ),
  counted(
    'created',
    201,
    { ...json, 'X-Goog-Upload-URL': 'https://example.test/upload?id=1' },
    '{}',
  ),
  counted('not modified', 304, { ETag: '"y"' }, ''),
  counted('bad request', 400, json, '{"error":{"message":"no"}}'),
  counted(
    'too many requests',
    429,
    { ...json, 'Retry-After': '7', 'Retry-After-Ms': '6500' },
    '{"error":{"message":"slow down"}}',
  ),
  counted(
    'unavailable',
    503,
    { ...json, 'Retry-After': 'Fri, 31 Dec 2027 23:59:59 GMT' },
    '{"error":"overloaded"}',
  ),
  counted(
    'overloaded',
    529,
    json,
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
  ),
  streamed(
    'SSE',
    ['Content-Type', 'text/event-stream; charset=utf-8', 'Cache-Control', 'no-cache'],
    SSE,
  ),
  streamed('JSON array stream', ['Content-Type', 'application/json'], ARRAY),
  streamed(
    'gzip SSE',
    ['Content-Type', 'text/event-stream', 'Content-Encoding', 'gzip'],
    [gzipSync(SSE.join(''))],
  ),
  streamed(
    'chunked binary',
    ['Content-Type', 'application/octet-stream'],
    [BINARY.subarray(0, 1), BINARY.subarray(1, 65_536), BINARY.subarray(65_536)],
  ),
  streamed(
    'trailers',
    ['Content-Type', 'text/plain', 'Trailer', 'X-Checksum'],
    ['with a tail'],
    ['X-Checksum', 'abc'],
  ),
  streamed(
    'repeated headers',
    ['Link', '<a>; rel=x', 'Link', '<b>; rel=y', 'X-Odd-CASE', 'Kept'],
    ['{}'],
  ),
  {
    name: 'until close',
    status: 200,
    headers: ['Content-Type', 'text/plain'],
    body: Buffer.from('ends with the connection'),
    script: async (call) => {
      await call.body()
      call.write(head(200, ['Content-Type', 'text/plain', 'Connection', 'close']))
      call.write('ends with the ')
      await call.pause(5)
      call.socket.end('connection')
    },
  },
  {
    name: 'no content',
    status: 204,
    headers: ['X-Done', '1'],
    body: Buffer.alloc(0),
    script: async (call) => {
      await call.body()
      call.write(head(204, ['X-Done', '1']))
    },
  },
  {
    name: 'one byte at a time, with letters beyond ASCII in the head',
    status: 200,
    headers: ['Content-Type', 'application/json', 'X-Place', 'M\xfcnchen'],
    body: Buffer.from('{"a":1}'),
    script: async (call) => {
      await call.body()
      const wire = `${head(200, ['Content-Type', 'application/json', 'X-Place', 'M\xfcnchen', 'Transfer-Encoding', 'chunked'])}3\r\n{"a\r\n4;x=y\r\n":1}\r\n0\r\n\r\n`
      for (const byte of wire) {
        call.write(byte)
        await new Promise(setImmediate)
      }
    },
  },
]
