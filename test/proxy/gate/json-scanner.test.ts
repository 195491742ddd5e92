import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { wantPaths } from '../../../server/proxy/json-paths.ts'
import { JsonScanner, type ScanOptions } from '../../../server/proxy/json-scanner.ts'
import { heldBytes } from './memory.ts'

const wanted = wantPaths(['a', 'b.c', 'd[].e', '[].f', 'g[]', 'h', 'h.i', 'h.j[].k', 'l.*.m', 'l.*'])

/** What a scan of these pieces tells. */
function scan(pieces: readonly Buffer[], options: ScanOptions = { strict: true }): { ok: boolean; events: string[] } {
  const events: string[] = []
  const scanner = new JsonScanner(
    wanted,
    { value: (path, raw) => events.push(`${path}=${raw === null ? 'too long' : raw.toString()}`), oddity: (kind, path) => events.push(`${kind} ${path}`) },
    options,
  )
  for (const piece of pieces) scanner.write(piece)
  scanner.end()
  return { ok: scanner.ok, events }
}

const bytes = (text: string) => Buffer.from(text)
const single = (buffer: Buffer) => [...buffer].map((byte) => Buffer.from([byte]))

const cases: [text: string, ok: boolean, events: string[]][] = [
  ['{"a":1}', true, ['a=1']],
  ['{"a":"x\\"y","b":{"c":[1,{"a":2}]}}', true, ['a="x\\"y"', 'b.c=[1,{"a":2}]']],
  ['{"d":[{"e":1},{"x":{"e":9},"e":2}]}', true, ['d[].e=1', 'd[].e=2']],
  ['[{"f":null},{"f":true}]', true, ['[].f=null', '[].f=true']],
  ['{"g":[1,"x",[2]]}', true, ['g[]=1', 'g[]="x"', 'g[]=[2]']],
  ['{"x":{"a":1},"a":2}', true, ['a=2']],
  ['{"h":"x"}', true, ['h="x"']],
  ['{"h":[{"i":1}]}', true, ['h=[{"i":1}]']],
  ['{"l":{"x":{"m":1},"":{"m":{"m":2}},"\\u0061":{"n":3},"m":"4","y":[{"m":5}],"x":null}}', true, ['l.*.m=1', 'l.*.m={"m":2}', 'l.*="4"', 'l.*=[{"m":5}]', 'l.*=null']],
  ['{"l":[{"m":1}],"a":2}', true, ['mismatch l', 'a=2']],
  ['{"h":{"x":2,"i":1,"j":[{"k":3}]}}', true, ['h.i=1', 'h.j[].k=3']],
  ['{"a":1,"a":2}', true, ['a=1', 'duplicate a', 'a=2']],
  ['{"\\u0061":1}', true, ['escaped a', 'a=1']],
  ['{"A":1}', true, ['lookalike a']],
  ['{"b":1,"d":{},"g":"x"}', true, ['mismatch b', 'mismatch d', 'text g']],
  ['{"b":null,"d":null}', true, []],
  ['1', true, ['mismatch ']],
  [' {"a" : -1.5e+10 } ', true, ['a=-1.5e+10']],
  ['{"a":1}}', false, ['a=1']],
  ['{"a":1', false, []],
  ['', false, []],
  [`{"x":"${'\\\\'.repeat(100)}","a":1}`, true, ['a=1']],
  [`{"x":"${'é"'.repeat(0)}${'long '.repeat(50)}\\"${'more '.repeat(50)}\\\\","a":1}`, true, ['a=1']],
  [`{"a":"${'x'.repeat(100_000)}","g":[1]}`, true, ['a=too long', 'g[]=1']],
]

for (const [text, ok, events] of cases) {
  test(`scan: ${text.slice(0, 60)}`, () => {
    assert.deepEqual(scan([bytes(text)]), { ok, events })
    assert.deepEqual(scan(single(bytes(text))), { ok, events })
  })
}

test('valid JSON is accepted, and every split tells the same', () => {
  fc.assert(
    fc.property(fc.json(), fc.array(fc.nat(200), { maxLength: 8 }), (text, cuts) => {
      const buffer = bytes(text)
      const whole = scan([buffer])
      assert.ok(whole.ok)
      const edges = [0, ...cuts.filter((cut) => cut < buffer.length).sort((one, other) => one - other), buffer.length]
      assert.deepEqual(scan(edges.slice(1).map((edge, i) => buffer.subarray(edges[i], edge))), whole)
      assert.deepEqual(scan(single(buffer)), whole)
    }),
  )
})

test('with the inside of strings out of sight, exactly what JSON.parse accepts is accepted', () => {
  const token = fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '"x"', '1', '-0.5e3', '01', 'true', 'null', 'nul', ' ', '\n', '\f', '+', '.', "'", 'x')
  fc.assert(
    fc.property(fc.array(token, { maxLength: 12 }), (tokens) => {
      const text = tokens.join('')
      let valid = true
      try {
        JSON.parse(text)
      } catch {
        valid = false
      }
      assert.equal(scan([bytes(text)]).ok, valid, text)
    }),
    { numRuns: 20_000 },
  )
})

test('lines of JSON are read one after another', () => {
  assert.deepEqual(scan([bytes('{"a":1}\n{"a":2}\n\n{"b":{"c":3}}\n')], { many: true }), { ok: true, events: ['a=1', 'a=2', 'b.c=3'] })
})

test('memory is bounded by the longest value, not by the body', () => {
  const scanner = new JsonScanner(wanted, { value() {} })
  const piece = Buffer.alloc(1_000_000, 'x')
  scanner.write(bytes('{"a":"'))
  const before = heldBytes()
  for (let i = 0; i < 64; i++) scanner.write(piece)
  assert.ok(heldBytes() - before < 8_000_000)
  scanner.write(bytes('"}'))
  scanner.end()
  assert.ok(scanner.ok)
})
