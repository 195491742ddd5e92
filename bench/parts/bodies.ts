// Large bodies that are expensive to read.
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'

const MB = 1024 * 1024

/** A body and the headers that go with it. */
export interface Body {
  readonly type: string
  readonly encoding?: string
  readonly bytes: Buffer
}

/**
 * Repeats `unit` between a beginning and an end, up to this many bytes in total. Omits the last
 * unit's trailing comma.
 */
export function filled(before: string, unit: string, after: string, bytes: number): Buffer {
  const times = Math.max(
    1,
    Math.floor((bytes - before.length - after.length) / Buffer.byteLength(unit)),
  )
  const middle = Buffer.alloc(times * Buffer.byteLength(unit), unit)
  return Buffer.concat([
    Buffer.from(before),
    unit.endsWith(',') ? middle.subarray(0, -1) : middle,
    Buffer.from(after),
  ])
}

const json = (bytes: Buffer): Body => ({ type: 'application/json', bytes })
const chat = (unit: string, bytes: number): Body =>
  json(filled('{"model":"gpt-5","messages":[', unit, ']}', bytes))

/** Different keys in one object. */
function keys(bytes: number): Body {
  const pieces = ['{"model":"gpt-5","messages":[],"metadata":{']
  for (let i = 0, size = 60; size < bytes; i++) {
    const pair = `"k${i}":${i % 10},`
    pieces.push(pair)
    size += pair.length
  }
  return json(Buffer.from(`${pieces.join('')}"last":0}}`))
}

/** TABLE of JSON bodies of a given size in bytes. */
export const JSON_BODIES: Readonly<Record<string, (bytes: number) => Body>> = {
  'short messages': (bytes) => chat('{"role":"user","content":"hello"},', bytes),
  'objects of one number': (bytes) => chat('{"a":1},', bytes),
  numbers: (bytes) => chat('1,', bytes),
  keys,
  'deep lists': (bytes) => chat(`${'['.repeat(400)}${']'.repeat(400)},`, bytes),
  'deeper than any limit': (bytes) => chat('[', bytes),
  'deep objects': (bytes) => chat(`${'{"a":'.repeat(400)}1${'}'.repeat(400)},`, bytes),
  escapes: (bytes) =>
    json(
      filled(
        '{"model":"gpt-5","messages":[{"role":"user","content":"',
        String.raw`\u0061\"`,
        '"}]}',
        bytes,
      ),
    ),
  'one long string': (bytes) =>
    json(filled('{"model":"gpt-5","messages":[{"role":"user","content":"', 'word ', '"}]}', bytes)),
  'white space': (bytes) => json(filled('{"model":"gpt-5",', ' \n', '"messages":[]}', bytes)),
  'lines of white space': (bytes) =>
    json(filled('{"model":"gpt-5",', '\n', '"messages":[]}', bytes)),
  'model again and again': (bytes) =>
    json(filled('{"model":"gpt-5","messages":[],', '"model":"gpt-5",', ',"x":1}', bytes)),
  'not quite JSON': (bytes) =>
    json(filled("{'model':'gpt-5','messages':[", 'file-abcdef0123,', ']}', bytes)),
}

/** Token ids, as embeddings take them. */
export function tokenLists(bytes: number): Body {
  return json(
    filled(
      '{"model":"text-embedding-3-small","input":[',
      '[40,1781,12345,9,100257,318,64,2742],',
      ']}',
      bytes,
    ),
  )
}

const BOUNDARY = 'bench-boundary'
const field = (name: string, value: string): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

/** A form whose model comes after a file of this size. */
export function largeForm(bytes: number): Body {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\nContent-Type: audio/mpeg\r\n\r\n`
  return {
    type: `multipart/form-data; boundary=${BOUNDARY}`,
    bytes: filled(
      head,
      '\r\n--bench-boundarx',
      `\r\n${field('model', 'whisper-1')}--${BOUNDARY}--\r\n`,
      bytes,
    ),
  }
}

/** A form of nothing but small fields. */
export function manyFields(bytes: number): Body {
  return {
    type: `multipart/form-data; boundary=${BOUNDARY}`,
    bytes: filled(field('model', 'whisper-1'), field('x', '1'), `--${BOUNDARY}--\r\n`, bytes),
  }
}

/** TABLE of content codings. */
export const CODINGS: Readonly<Record<string, (plain: Buffer) => Buffer>> = {
  gzip: (plain) => gzipSync(plain, { level: 1 }),
  br: (plain) => brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: (plain) => zstdCompressSync(plain),
}

/** An encoded body of this size when decoded. */
export function encoded(coding: string, bytes: number): Body {
  return {
    type: 'application/json',
    encoding: coding,
    bytes: CODINGS[coding]!(chat('{"role":"user","content":"hello"},', bytes).bytes),
  }
}

/** Slightly less than the largest body that the server accepts by default. */
export const LARGEST = 64 * MB - 1024
