// The readers of bodies, on generated input in arbitrary pieces, each beside an oracle that reads
// the whole.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import * as fc from 'fast-check'
import { wantPaths } from '../../../server/proxy/json/paths.ts'
import { JsonScanner } from '../../../server/proxy/json/scanner.ts'
import { decodedSource } from '../../../server/proxy/inspect/decode-body.ts'
import { scannerFor } from '../../../server/proxy/inspect/body-reader.ts'
import { STEP_BYTES } from '../../../server/proxy/inspect/scheduler.ts'
import { Findings } from '../../../server/proxy/inspect/findings.ts'
import { MultipartReader } from '../../../server/proxy/inspect/multipart.ts'
import { compilePaths } from '../../../server/proxy/inspect/places.ts'
import { WordBodyScanner } from '../../../server/proxy/inspect/words.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'

/** Cuts bytes at these places, in whatever order. */
function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const edges = [
    0,
    ...cuts.map((cut) => cut % (bytes.length + 1)).sort((one, other) => one - other),
    bytes.length,
  ]
  return edges.slice(1).map((edge, i) => bytes.subarray(edges[i], edge))
}

const cuts = fc.array(fc.nat(100_000), { maxLength: 12 })

test('the scanner finds what JSON.parse finds at a path', () => {
  const wanted = wantPaths(['model', 'items[].id'])
  const body = fc.record({
    model: fc.json({ maxDepth: 1 }).map((text) => JSON.parse(text) as unknown),
    before: fc.jsonValue(),
    items: fc.array(fc.record({ x: fc.array(fc.integer()), id: fc.string() })),
    numbers: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true })),
  })
  fc.assert(
    fc.property(body, cuts, fc.constantFrom(undefined, 1, '\n\t'), (value, at, indent) => {
      const found: unknown[] = []
      const scanner = new JsonScanner(
        wanted,
        { value: (path, raw) => found.push([path, JSON.parse(raw!.toString())]) },
        { strict: true },
      )
      for (const piece of cutAt(Buffer.from(JSON.stringify(value, null, indent)), at))
        scanner.write(piece)
      scanner.end()
      assert.ok(scanner.ok)
      const own = JSON.parse(JSON.stringify(value)) as typeof value
      assert.deepEqual(found, [
        ['model', own.model],
        ...own.items.map(({ id }) => ['items[].id', id]),
      ])
    }),
    { numRuns: 500 },
  )
})

test('lists of integers follow the grammar at every split', () => {
  const item = fc.constantFrom(
    '0',
    '7',
    '12',
    '01',
    '00',
    '-1',
    '1.5',
    '1e3',
    '1e',
    '',
    ' 3',
    '4 ',
    'true',
    '99999',
  )
  fc.assert(
    fc.property(fc.array(item, { maxLength: 8 }), cuts, (items, at) => {
      const text = `[${items.join(',')}]`
      const scanner = new JsonScanner(wantPaths(['[].x']), { value() {} }, { strict: true })
      for (const piece of cutAt(Buffer.from(text), at)) scanner.write(piece)
      scanner.end()
      let valid = true
      try {
        JSON.parse(text)
      } catch {
        valid = false
      }
      assert.equal(scanner.ok, valid, text)
    }),
    { numRuns: 5_000 },
  )
})

test('a form gives the same findings at every split, whole or damaged', () => {
  const part = fc.tuple(
    fc.constantFrom('model', 'Model', 'x', 'file', '_charset_'),
    fc.constantFrom('', '; filename="f"'),
    fc.string({ unit: fc.constantFrom('a', '-', '\r', '\n', 'b', 'é') }),
  )
  const form = fc
    .array(part, { maxLength: 5 })
    .map(
      (parts) =>
        `${parts.map(([name, more, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`).join('')}--b--\r\n`,
    )
  let readable = 0
  fc.assert(
    fc.property(
      form,
      cuts,
      fc.option(fc.tuple(fc.nat(), fc.constantFrom(0x0d, 0x0a, 0x2d, 0x62))),
      (text, at, damage) => {
        const bytes = Buffer.from(text)
        if (damage !== null) bytes[damage[0] % bytes.length] = damage[1]
        const read = (pieces: readonly Buffer[]) => {
          const reader = new MultipartReader('b', new Set(['model']))
          for (const piece of pieces) reader.write(piece)
          return reader.end()
        }
        const whole = read([bytes])
        if (whole.problem === null) readable++
        const split = read(cutAt(bytes, at))
        assert.deepEqual(
          [split.problem === null, split.fields],
          [whole.problem === null, whole.fields],
        )
        assert.deepEqual(read([...bytes].map((byte) => Buffer.from([byte]))), split)
      },
    ),
    { numRuns: 2_000 },
  )
  assert.ok(readable > 200, 'many forms must be readable, or nothing was tested')
})

test('a boundary, a line break and a long field at the edge of a window are seen', () => {
  const field = (length: number) =>
    `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${'x'.repeat(length)}\r\n`
  const file = (length: number) =>
    `--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n${'\r'.repeat(length)}\r\n`
  for (let length = 32_600; length < 32_800; length++) {
    const reader = new MultipartReader('b', new Set(['model']))
    reader.write(Buffer.from(`${file(length)}${field(4_096)}--b--\r\n`))
    assert.deepEqual(
      reader.end().fields.map(({ value }) => value.length),
      [4_096],
      String(length),
    )
  }
  const reader = new MultipartReader('b', new Set(['model']))
  reader.write(Buffer.from(`${field(4_097)}--b--\r\n`))
  assert.match(reader.end().problem ?? '', /not a short text/)
})

const RULE = { required: [], objects: { a: 'file', b: 'response' } }

/** The words of a text, as one regular expression finds them. */
function wordsOf(bytes: Buffer): Set<string> {
  const text = bytes
    .toString('latin1')
    .replaceAll('\0', '')
    .replace(/\\u([\da-f]{4})/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
  return new Set([...text.matchAll(/[\w.~-]{6,}/g)].map(([word]) => word))
}

test('every word that a lenient server could take for a key is reported once', () => {
  const unit = fc.constantFrom(
    'resp_1',
    'file-abc',
    'a',
    '-',
    ' ',
    '"',
    '\\',
    '\\u',
    '\\u005f',
    '\\U0041',
    '\\u00e9',
    '\\u12',
    '\\\\u0041',
    '\0',
    'é',
    'word\0s',
    '\n',
  )
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 20 }), cuts, (units, at) => {
      const bytes = Buffer.from(units.join(''), 'latin1')
      const places = compilePaths(RULE)
      const findings = new Findings(places, false, undefined)
      const reader = new WordBodyScanner(places.kinds, findings)
      for (const piece of cutAt(bytes, at)) reader.write(piece)
      assert.equal(reader.end(), null)
      findings.settle(Infinity)
      assert.deepEqual(
        findings.objects.map(({ kind, id }) => ({ kind, id })),
        [...wordsOf(bytes)].flatMap((id) => [
          { kind: 'file', id },
          { kind: 'response', id },
        ]),
      )
    }),
    { numRuns: 5_000 },
  )
})

const { ids } = createProviderTable({}).byId('openai')!

/**
 * What the words of a text name, and the names of several parts that they make, as regular
 * expressions find them.
 */
function namedIn(bytes: Buffer): Set<string> {
  const text = bytes
    .toString('latin1')
    .replaceAll('\0', '')
    .replace(/\\(?:\/|u([\da-f]{4}))/gi, (_, code?: string) =>
      code === undefined ? '/' : String.fromCharCode(Number.parseInt(code, 16)),
    )
  const findings = new Findings(compilePaths(RULE), false, ids)
  for (const alphabet of [/[\w.~-]{6,}/g, /[\w.~:/%-]{6,}/g]) {
    for (const [word] of text.matchAll(alphabet)) if (word.length <= 2_048) findings.text(word)
  }
  return namesOf(findings)
}

const namesOf = ({ mentioned }: Findings): Set<string> =>
  new Set(mentioned.map(({ kind, id }) => `${kind} ${id}`))

test('every word of a non-JSON body that could be an id is checked', () => {
  const id = fc.constantFrom(
    'file-abc',
    'resp_0123456789abcdef',
    'ft:gpt-4o:acme::abc',
    'v1/files/file-x%2dy',
    'https://api.openai.com/v1/files/file-z',
    '6f1c2b3a-0000-4000-8000-000000000001',
    'fi\\u006ce-def',
    'vs_1\\/files',
  )
  const mark = fc.constantFrom(
    ' ',
    '"',
    ',',
    '\\',
    '\\n',
    '\0',
    'é',
    ':',
    '/',
    '%',
    '\\u',
    '[[[[',
    '\n',
  )
  const filler = fc
    .tuple(
      fc.constantFrom('x', 'a b ', 'word ', 'lengthy, ', 'a:', 'abcdefgh/', ']'),
      fc.nat(2_100),
    )
    .map(([unit, length]) => unit.repeat(Math.ceil(length / unit.length)))
  const unit = fc.oneof(
    { weight: 3, arbitrary: id },
    { weight: 4, arbitrary: mark },
    { weight: 1, arbitrary: filler },
  )
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 30 }), cuts, (units, at) => {
      const bytes = Buffer.from(units.join(''), 'latin1')
      const findings = new Findings(compilePaths(RULE), false, ids)
      const reader = new WordBodyScanner([], findings)
      // Another one is in the middle of a word meanwhile.
      const other = new WordBodyScanner([], new Findings(compilePaths(RULE), false, ids))
      for (const piece of cutAt(bytes, at)) {
        reader.write(piece)
        other.write(Buffer.from('file-other'))
      }
      assert.equal(reader.end(), null)
      assert.equal(findings.settle(Infinity), true)
      assert.deepEqual(namesOf(findings), namedIn(bytes))
    }),
    { numRuns: 2_000 },
  )
})

test('a word names objects of every kind it could be, and item references count', () => {
  const findings = new Findings(compilePaths(RULE), false, ids)
  const reader = new WordBodyScanner(['file', 'item'], findings)
  reader.write(Buffer.from('{file-abc msg_0123456789 vs_0123456789abcdef01 item_reference'))
  assert.equal(reader.end(), null)
  assert.equal(findings.settle(3), false)
  assert.equal(findings.settle(Infinity), true)
  const words = ['file-abc', 'msg_0123456789', 'vs_0123456789abcdef01', 'item_reference']
  assert.deepEqual(
    namesOf(findings),
    new Set([
      ...words.flatMap((id) => [`file ${id}`, `item ${id}`]),
      'vector_store vs_0123456789abcdef01',
    ]),
  )
  assert.equal(findings.refers, true)
})

test('a non-JSON body may have 10,000 words that could be ids; other words do not count', () => {
  const refused = (kinds: readonly string[], count: number): boolean => {
    const reader = new WordBodyScanner(kinds, new Findings(compilePaths(RULE), false, ids))
    for (let i = 0; i < count; i++) reader.write(Buffer.from(`word${100_000 + i},`))
    return reader.end() !== null
  }
  assert.equal(refused(['file'], 10_000), false)
  assert.equal(refused(['file'], 10_001), true)
  assert.equal(refused([], 20_000), false)
})

test('10,000 fields of a form are read, and a longer form is refused, unless it is JSON', () => {
  const read = (body: string): boolean => {
    const findings = new Findings(compilePaths(RULE), false, ids)
    const headers = ['Content-Type', 'application/x-www-form-urlencoded']
    const reader = scannerFor(RULE, compilePaths(RULE), headers, false, findings)
    assert.ok('write' in reader)
    reader.write(Buffer.from(body))
    reader.end()
    return !findings.unclear
  }
  assert.equal(read('a=b&'.repeat(9_999)), true)
  assert.equal(read('a=b&'.repeat(10_001)), false)
  assert.equal(read(JSON.stringify({ text: '&'.repeat(20_000) })), true)
})

/** What a source gives in all; null where it breaks. */
async function drain(
  pieces: readonly Buffer[],
  coding: string,
  limit = 1_000_000,
): Promise<Buffer | null> {
  const source = decodedSource(pieces, coding, limit)
  if (source === null) return null
  const parts: Buffer[] = []
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const next = source.next(resolve, STEP_BYTES)
    if (next === 'waiting') await promise
    else if (next === 'end') return Buffer.concat(parts)
    else if (next === 'broken') return null
    else parts.push(Buffer.from(next))
  }
}

for (const [coding, encode] of Object.entries({
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
})) {
  test(`${coding} is decoded at every split, and only as one complete stream`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 2_000 }),
        fc.nat(40),
        cuts,
        fc.nat(1_000),
        async (bytes, times, at, lost) => {
          const plain = Buffer.concat(Array<Uint8Array>(times).fill(bytes))
          const packed = encode(plain)
          assert.ok((await drain(cutAt(packed, at), coding))?.equals(plain))
          assert.equal(
            await drain(cutAt(packed.subarray(0, -1 - (lost % packed.length)), at), coding),
            null,
            'cut off',
          )
          assert.equal(
            await drain(cutAt(Buffer.concat([packed, Buffer.from('x')]), at), coding),
            null,
            'something behind it',
          )
          assert.equal(
            await drain(cutAt(Buffer.concat([packed, packed]), [...at, packed.length]), coding),
            null,
            'twice',
          )
          if (plain.length > 0)
            assert.equal(
              await drain(cutAt(packed, at), coding, plain.length - 1),
              null,
              'too large',
            )
        },
      ),
      { numRuns: 40 },
    )
  })
}
