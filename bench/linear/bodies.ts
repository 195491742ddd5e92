// TABLE of readers of request and response bodies.
import { Readable } from 'node:stream'
import { withoutPadding } from '../../server/conversion/upload/transport-padding.ts'
import { RequestParser } from '../../server/http1/request-parser.ts'
import { FrameReader, frameOf, OPCODE, applyMask } from '../../server/http1/websocket/frames.ts'
import { decodedSource } from '../../server/proxy/inspect/decode-body.ts'
import { boundaryOf } from '../../server/proxy/inspect/boundaries.ts'
import { MultipartReader } from '../../server/proxy/inspect/multipart.ts'
import { wantPaths } from '../../server/proxy/json/paths.ts'
import { JsonScanner } from '../../server/proxy/json/scanner.ts'
import { CreatedIds } from '../../server/proxy/usage/created-ids.ts'
import { AwsReader } from '../../server/proxy/usage/aws-event-stream.ts'
import { JsonReader } from '../../server/proxy/usage/json.ts'
import type { Reader } from '../../server/proxy/usage/reader.ts'
import { findMarker, SseReader } from '../../server/proxy/usage/event-stream.ts'
import { PieceList } from '../../server/proxy/inspect/buffer-body.ts'
import { MAX_STEP_BYTES } from '../../server/proxy/inspect/scheduler.ts'
import { ResponseParser } from '../../server/http1/client/response-parser.ts'
import {
  CODINGS,
  JSON_BODIES,
  largeForm,
  manyFields,
  tokenLists,
  type Body,
} from '../parts/bodies.ts'
import { fill, large, split, type Row } from './row.ts'

const WANTED = wantPaths(['model', 'models[]', 'messages[].content', 'input[].file_id'])
const sink = { value() {}, oddity() {} }
const nothing = { onInterim() {}, onHead() {}, onBody() {}, onEnd() {}, onPause() {} }
const MB = 1024 * 1024

const scanned = (bytes: Buffer, strict: boolean, piece?: number) => () => {
  const scanner = new JsonScanner(WANTED, sink, { strict })
  for (const part of split(bytes, piece)) scanner.write(part)
  scanner.end()
}

const metered = (make: () => Reader, bytes: Buffer, piece?: number) => () => {
  const reader = make()
  for (const part of split(bytes, piece)) reader.write(part)
  reader.end()
  return reader.findings()
}

const created = (): CreatedIds => new CreatedIds({ id: 'response', 'output[].id': 'item' })
const sse = (): Reader => new SseReader(created())

/** TABLE of events of a stream. */
const EVENTS: Readonly<Record<string, (size: number) => string>> = {
  'small events': (size) => fill('data: {"choices":[{"delta":{"content":"token "}}]}\n\n', size),
  'events that hold usage': (size) =>
    fill('data: {"id":"resp_1","usage":{"input_tokens":1}}\n\n', size),
  'events that speak of usage': (size) =>
    fill('data: {"text":"\\"usage\\":null, \\"usage"}\n\n', size),
  'one event': (size) => `data: ${'x'.repeat(size)}`,
  'one event of many lines': (size) => fill('data: x\n', size),
  'empty lines': (size) => fill('\n', size),
  'carriage returns': (size) => fill('\r', size),
  comments: (size) => fill(': x\n\n', size),
  '"usage" and nothing': (size) => fill('"usage":null', size),
}

/** Frames of Amazon's event stream, with empty checksums. */
function frames(payload: number, size: number): Buffer {
  const frame = Buffer.alloc(16 + payload, 'x')
  frame.fill(0, 0, 12)
  frame.writeUInt32BE(frame.length, 0)
  return Buffer.alloc(Math.ceil(size / frame.length) * frame.length, frame)
}

/** A body in chunks of one size, behind a head. */
function chunked(head: string, size: number, chunk: number): Buffer {
  const one = `${chunk.toString(16)}\r\n${'x'.repeat(chunk)}\r\n`
  return Buffer.concat([
    Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`),
    Buffer.alloc(Math.ceil(size / one.length) * one.length, one),
    Buffer.from('0\r\n\r\n'),
  ])
}

const requestBody = (bytes: Buffer, piece?: number) => () => {
  const reader = new RequestParser()
  for (const part of split(bytes, piece)) {
    reader.push(part)
    if (reader.ended) reader.nextHead()
    while (reader.nextChunk() !== null);
  }
}

/** A client's frames with payloads of this size. */
const socketFrames = (size: number, payload: number, piece?: number) => {
  const frame = frameOf(OPCODE.text, Buffer.alloc(payload, 'x'), true)
  const bytes = Buffer.concat(Array.from({ length: size / frame.length }, () => frame))
  return (): void => {
    let mask = 0
    const reader = new FrameReader(
      {
        onFrame: (head) => void (mask = head.mask ?? mask),
        onPayload: (raw, at) => applyMask(raw, mask, at),
        onFrameEnd() {},
      },
      true,
    )
    for (const part of split(bytes, piece))
      for (let at = 0; at < part.length;) at = reader.next(part, at)
  }
}

const responseBody = (bytes: Buffer, piece?: number) => () => {
  const reader = new ResponseParser(nothing)
  reader.begin('GET')
  for (const part of split(bytes, piece)) reader.push(part)
}

const form =
  ({ type, bytes }: Body, piece?: number) =>
  () => {
    const reader = new MultipartReader(boundaryOf(type)!, new Set(['model']))
    for (const part of split(bytes, piece)) reader.write(part)
    return reader.end()
  }

const unpadded = (bytes: Buffer, piece: number) => async () => {
  const form = Readable.from(split(bytes, piece)).pipe(
    withoutPadding('multipart/form-data; boundary=b'),
  )
  for await (const part of form) void part
}

/** Decodes a body to its end. */
const decoded = (bytes: Buffer, coding: string) => async () => {
  const source = decodedSource([bytes], coding, 64 * MB)
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const next = source?.next(resolve, MAX_STEP_BYTES) ?? 'broken'
    if (next === 'waiting') await promise
    else if (!Buffer.isBuffer(next)) return next
  }
}

export const BODIES: readonly Row[] = [
  ...Object.entries({ ...JSON_BODIES, 'token lists': tokenLists }).flatMap(([name, make]) =>
    [true, false].map((strict) =>
      large(`JSON, ${strict ? 'strict' : 'lenient'}: ${name}`, (size) =>
        scanned(make(size).bytes, strict),
      ),
    ),
  ),
  large(
    'JSON, byte by byte',
    (size) => scanned(JSON_BODIES['short messages']!(size).bytes, true, 1),
    4 * MB,
  ),
  large(
    'JSON, a key in pieces of a byte',
    (size) => scanned(Buffer.from(`{"${'k'.repeat(size)}":1}`), true, 1),
    4 * MB,
  ),
  large(
    'JSON, a captured value in pieces of a byte',
    (size) => scanned(Buffer.from(`{"model":"${'k'.repeat(size)}"}`), true, 1),
    4 * MB,
  ),
  large(
    'JSON, a number in pieces of a byte',
    (size) => scanned(Buffer.from(`[${'1'.repeat(size)}]`), false, 1),
    4 * MB,
  ),
  ...Object.entries(EVENTS).map(([name, make]) =>
    large(`SSE: ${name}`, (size) => metered(sse, Buffer.from(make(size)))),
  ),
  ...Object.entries(EVENTS).map(([name, make]) =>
    large(`SSE, byte by byte: ${name}`, (size) => metered(sse, Buffer.from(make(size)), 1), 2 * MB),
  ),
  large('usage of JSON', (size) =>
    metered(() => new JsonReader(created()), JSON_BODIES['short messages']!(size).bytes),
  ),
  large('usage of JSON lines', (size) =>
    metered(
      () => new JsonReader(created()),
      Buffer.from(fill('{"usage":{"input_tokens":1}}\n', size)),
    ),
  ),
  large('usage of AWS frames, small', (size) =>
    metered(() => new AwsReader(created()), frames(20, size)),
  ),
  large(
    'usage of AWS frames, large, byte by byte',
    (size) => metered(() => new AwsReader(created()), frames(200_000, size), 1),
    4 * MB,
  ),
  large('usage of AWS frames, too large', (size) =>
    metered(() => new AwsReader(created()), frames(300_000, size)),
  ),
  large(
    'the marker of usage in escapes',
    (size) => () => findMarker(Buffer.from(fill('\\"usage', size)), 0, size),
  ),
  ...[0, 100, 60_000].map((payload) =>
    large(`frames of a socket, ${payload} bytes each`, (size) => socketFrames(size, payload)),
  ),
  large('frames of a socket, byte by byte', (size) => socketFrames(size, 100, 1), 4 * MB),
  large('a form with a large file', (size) => form(largeForm(size))),
  large('a form of small fields', (size) => form(manyFields(size))),
  large('a form with a large file, byte by byte', (size) => form(largeForm(size), 1), 4 * MB),
  large('a form of small fields, byte by byte', (size) => form(manyFields(size), 1), 4 * MB),
  ...[1, 64 * 1024].map((piece) =>
    large(
      `a form with padding, in pieces of ${piece} bytes`,
      (size) => unpadded(Buffer.from(fill(`\r\n--b${' '.repeat(60)}`, size)), piece),
      piece === 1 ? 4 * MB : undefined,
    ),
  ),
  large('a form without its boundary', (size) =>
    form({ type: 'multipart/form-data; boundary=b', bytes: Buffer.from(fill('\r\n-', size)) }),
  ),
  ...Object.entries(CODINGS).map(([coding, encode]) =>
    large(coding, (size) => {
      const bytes = encode(JSON_BODIES['short messages']!(size).bytes)
      return decoded(bytes, coding)
    }),
  ),
  large('gzip with a name without end', (size) => {
    const bytes = Buffer.alloc(size, 'x')
    bytes.set([0x1f, 0x8b, 8, 8])
    return decoded(bytes, 'gzip')
  }),
  ...[1, 16, 4096].map((chunk) =>
    large(`a request in chunks of ${chunk}`, (size) =>
      requestBody(chunked('POST /proxy HTTP/1.1\r\nHost: x\r\n', size, chunk)),
    ),
  ),
  large(
    'a request in chunks of 16, byte by byte',
    (size) => requestBody(chunked('POST /proxy HTTP/1.1\r\nHost: x\r\n', size, 16), 1),
    4 * MB,
  ),
  ...[1, 16, 4096].map((chunk) =>
    large(`a response in chunks of ${chunk}`, (size) =>
      responseBody(chunked('HTTP/1.1 200 OK\r\n', size, chunk)),
    ),
  ),
  large(
    'a response in chunks of 16, byte by byte',
    (size) => responseBody(chunked('HTTP/1.1 200 OK\r\n', size, 16), 1),
    4 * MB,
  ),
  large(
    'a body kept in pieces of a byte',
    (size) => () => {
      const list = new PieceList()
      for (const piece of split(Buffer.alloc(size, 'x'), 1)) list.add(piece)
      return list.all()
    },
    16 * MB,
  ),
]
