import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { FOLDING_LETTERS, wantPaths } from '../../../server/proxy/json/paths.ts'
import {
  JsonScanner,
  type ScanOptions,
  type StringWatch,
} from '../../../server/proxy/json/scanner.ts'
import { heldBytes } from '../inspect/memory.ts'

const PATHS = ['a', 'b.c', 'd[].e', '[].f', 'g[]', 'h', 'h.i', 'h.j[].k', 'l.*.m', 'l.*']
const wanted = wantPaths(PATHS)

/** What a scan of these pieces tells. */
function scan(
  pieces: readonly Buffer[],
  options: ScanOptions = { strict: true },
): { ok: boolean; events: string[] } {
  const events: string[] = []
  const scanner = new JsonScanner(
    wanted,
    {
      value: (path, raw) => events.push(`${path}=${raw === null ? 'too long' : raw.toString()}`),
      oddity: (kind, path) => events.push(`${kind} ${path}`),
    },
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
  [
    '{"l":{"x":{"m":1},"":{"m":{"m":2}},"\\u0061":{"n":3},"m":"4","y":[{"m":5}],"x":null}}',
    true,
    ['l.*.m=1', 'l.*.m={"m":2}', 'l.*="4"', 'l.*=[{"m":5}]', 'l.*=null'],
  ],
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
  [
    `{"x":"${'é"'.repeat(0)}${'long '.repeat(50)}\\"${'more '.repeat(50)}\\\\","a":1}`,
    true,
    ['a=1'],
  ],
  [`{"a":"${'x'.repeat(100_000)}","g":[1]}`, true, ['a=too long', 'g[]=1']],
]

for (const [text, ok, events] of cases) {
  test(`scan: ${text.slice(0, 60)}`, () => {
    assert.deepEqual(scan([bytes(text)]), { ok, events })
    assert.deepEqual(scan(single(bytes(text))), { ok, events })
  })
}

test('valid JSON is accepted with the same events at every split', () => {
  fc.assert(
    fc.property(fc.json(), fc.array(fc.nat(200), { maxLength: 8 }), (text, cuts) => {
      const buffer = bytes(text)
      const whole = scan([buffer])
      assert.ok(whole.ok)
      const edges = [
        0,
        ...cuts.filter((cut) => cut < buffer.length).sort((one, other) => one - other),
        buffer.length,
      ]
      assert.deepEqual(
        scan(edges.slice(1).map((edge, i) => buffer.subarray(edges[i], edge))),
        whole,
      )
      assert.deepEqual(scan(single(buffer)), whole)
    }),
  )
})

test('apart from the contents of strings, the scanner accepts exactly what JSON.parse does', () => {
  const token = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"x"',
    '1',
    '-0.5e3',
    '01',
    'true',
    'null',
    'nul',
    ' ',
    '\n',
    '\f',
    '+',
    '.',
    "'",
    'x',
  )
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

/**
 * A watch for strings that begin with `f` or `r` and have 3 to 6 letters, and what it was handed:
 * text, and `\` where it was escaped.
 */
function watching(): { strings: StringWatch; seen: string[] } {
  const seen: string[] = []
  const firsts = Uint8Array.from({ length: 256 }, (_, byte) =>
    'fr\\'.includes(String.fromCharCode(byte)) ? 1 : 0,
  )
  return {
    strings: {
      filter: { firsts, shortest: 3, longest: 6 },
      each: (raw, from, to, escaped) =>
        seen.push(`${raw.toString('utf8', from, to)}${escaped ? ' escaped' : ''}`),
    },
    seen,
  }
}

const WATCHED: [text: string, seen: string[]][] = [
  ['["fox","of","f","fo","foxtro","foxtrot"]', ['fox', 'foxtro']],
  ['{"fox":1,"x":{"red":[["rot"]]}}', ['fox', 'red', 'rot']],
  ['"fox"', ['fox']],
  ['{"a":{"fox":"red"},"h":"fox","h":{"i":["rot"]},"g":["red"]}', ['fox', 'red', 'rot']],
  [
    '["\\u0066ox","f\\u006fx","b\\u006fx","fo\\"xtrot","\\u0072\\u006f\\u0074xxxxxxxxxxxxxxxx"]',
    [
      '\\u0066ox escaped',
      'f\\u006fx escaped',
      'fo\\"xtrot escaped',
      '\\u0072\\u006f\\u0074xxxxxxxxxxxxxxxx escaped',
    ],
  ],
  [
    `["${'f'.repeat(36)}","f\\n${'f'.repeat(33)}","f\\n${'f'.repeat(34)}"]`,
    [`f\\n${'f'.repeat(33)} escaped`],
  ],
  ['["été","fété","f\u0000x"]', ['fété', 'f\u0000x']],
  ['{"\\u0061":"fox","\\u0066ox":2}', ['\\u0061 escaped', 'fox', '\\u0066ox escaped']],
  ['["f x","fo x"," fox ","fox  ","f\\u0020x"]', ['fox  ', 'f\\u0020x escaped']],
  ['["fox', []],
]

for (const [text, seen] of WATCHED) {
  test(`reported strings: ${text.slice(0, 60)}`, () => {
    for (const pieces of [
      [bytes(text)],
      single(bytes(text)),
      [bytes(text).subarray(0, 7), bytes(text).subarray(7)],
    ]) {
      for (const strict of [true, false]) {
        const watch = watching()
        scan(pieces, { strict, strings: watch.strings })
        assert.deepEqual(watch.seen, seen)
      }
    }
  })
}

test('every string of a body is seen at every split', () => {
  const text = fc.json({ maxDepth: 6 })
  fc.assert(
    fc.property(text, fc.array(fc.nat(200), { maxLength: 6 }), (json, cuts) => {
      const expected: string[] = []
      const collect = (value: unknown): void => {
        if (typeof value === 'string') expected.push(value)
        else if (typeof value === 'object' && value !== null)
          for (const [key, one] of Object.entries(value))
            collect(Array.isArray(value) ? one : (expected.push(key), one))
      }
      collect(JSON.parse(json))
      const seen: string[] = []
      const strings = {
        filter: { firsts: new Uint8Array(256).fill(1), shortest: 1, longest: 1_000, prose: true },
        each: (raw: Buffer, from: number, to: number) =>
          seen.push(JSON.parse(`"${raw.toString('utf8', from, to)}"`) as string),
      }
      const buffer = bytes(json)
      const edges = [
        0,
        ...cuts.filter((cut) => cut < buffer.length).sort((one, other) => one - other),
        buffer.length,
      ]
      scan(
        edges.slice(1).map((edge, i) => buffer.subarray(edges[i], edge)),
        { strict: true, strings },
      )
      // An empty string has no first byte.
      assert.deepEqual(new Set(seen), new Set(expected.filter((one) => one !== '')))
    }),
  )
})

test('the end of each list and object around a wanted value is reported after its contents', () => {
  const told = (text: string, pieces: (whole: Buffer) => Buffer[]): string[] => {
    const events: string[] = []
    const ending = wantPaths(
      PATHS,
      new Set(['', '[]', 'd', 'd[]', 'g', 'h', 'h.j', 'h.j[]', 'l', 'l.*']),
    )
    const scanner = new JsonScanner(
      ending,
      {
        value: (path, raw) => events.push(`${path}=${raw?.toString()}`),
        closed: (path) => events.push(`/${path}`),
      },
      { strict: true },
    )
    for (const piece of pieces(bytes(text))) scanner.write(piece)
    return events
  }
  for (const [text, events] of [
    ['{"d":[{"e":1,"x":[{}]},{},5],"a":1}', ['d[].e=1', '/d[]', '/d[]', '/d', 'a=1', '/']],
    [
      '{"h":{"i":[1,{}],"j":[{"k":1}]},"g":[[]],"x":{}}',
      ['h.i=[1,{}]', 'h.j[].k=1', '/h.j[]', '/h.j', '/h', 'g[]=[]', '/g', '/'],
    ],
    ['[{"f":1},[]]', ['[].f=1', '/[]', '/[]', '/']],
    ['{"l":{"x":{"m":1}}}', ['l.*.m=1', '/l.*', '/l', '/']],
  ] as const) {
    assert.deepEqual(
      told(text, (whole) => [whole]),
      events,
      text,
    )
    assert.deepEqual(told(text, single), events, text)
  }
})

test('a repeated mismatch is reported once', () => {
  assert.deepEqual(scan([bytes(`{"d":[${'1,"x",'.repeat(1_000)}2],"b":1}`)]).events, [
    'mismatch d[]',
    'text d[]',
    'mismatch b',
  ])
})

/**
 * TABLE of bodies whose tokens are longer than what is looked at together, or than what is kept of
 * one.
 */
const DENSE: [what: string, unit: string][] = [
  ['short messages', `{"role":"user","content":"${'x'.repeat(70)}"},`],
  [
    'messages with one escape',
    `{"role":"user","content":"${'x'.repeat(70)}\\n${'x'.repeat(70)}"},`,
  ],
  ['escaped quotes', `"${'\\"'.repeat(500)}",`],
  ['escaped quotes far apart', `"${`${'x'.repeat(30)}\\"`.repeat(500)}",`],
  ['runs of backslashes', `"${'\\\\'.repeat(2_000)}",`],
  ['runs of backslashes before a quote', `"${`${'\\'.repeat(129)}"`.repeat(50)}",`],
  ['long keys', `{"${'k'.repeat(10_000)}":1},`],
  ['long numbers', `${'9'.repeat(1_000)},-${'1'.repeat(500)}.${'2'.repeat(500)},`],
  ['lists of numbers', `[${'0,10,7,123456789012,'.repeat(100)}1],`],
  ['white space', `1${' \n\t\r'.repeat(1_000)},`],
]

for (const [what, unit] of DENSE) {
  test(`pieces of any length are read the same: ${what}`, () => {
    const body = bytes(`[${unit.repeat(Math.ceil(300_000 / unit.length))}{"f":"last"}]`)
    for (const size of [body.length, 100_000, 4_096, 61]) {
      const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, i) =>
        body.subarray(i * size, (i + 1) * size),
      )
      const { ok, events } = scan(pieces)
      assert.ok(ok)
      assert.equal(events.at(-1), '[].f="last"')
    }
  })
}

test('an immediate repetition is reported by `again` to a sink that has it', () => {
  const told = (text: string): string[] => {
    const events: string[] = []
    const sink = {
      value: (path: string, raw: Buffer | null) => events.push(`${path}=${raw}`),
      again: (path: string) => events.push(`${path} again`),
      closed: (path: string) => events.push(`/${path}`),
    }
    new JsonScanner(wantPaths(PATHS, new Set(['d[]'])), sink).write(bytes(text))
    return events
  }
  assert.deepEqual(told('{"g":[1,1,1,2,2,1],"a":1,"b":{"c":1}}'), [
    'g[]=1',
    'g[]=2',
    'g[]=1',
    'a=1',
    'b.c=1',
  ])
  assert.deepEqual(told(`{"d":[${'{"e":"x"},'.repeat(50)}{"e":"y"},{"e":"x"},{},{"e":"x"}]}`), [
    'd[].e="x"',
    '/d[]',
    'd[].e="y"',
    '/d[]',
    'd[].e="x"',
    '/d[]',
    '/d[]',
    'd[].e again',
    '/d[]',
  ])
  assert.deepEqual(told('{"h":{"i":1},"a":2,"h":{"i":1},"a":2}'), [
    'h.i=1',
    'a=2',
    'h.i again',
    'a again',
  ])
  assert.deepEqual(told(`{"g":["${'x'.repeat(60)}","${'x'.repeat(60)}"]}`), [
    `g[]="${'x'.repeat(60)}"`,
    `g[]="${'x'.repeat(60)}"`,
  ])
})

test('leaving out repetitions does not change the result', () => {
  const tools = fc.array(
    fc.oneof(
      fc.constantFrom(
        '{"e":1}',
        '{"e":2}',
        '{}',
        '{"e":1,"m":3}',
        '{"m":3,"e":1}',
        '{"m":3}',
        '[]',
        '5',
      ),
      fc.json(),
    ),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(tools, fc.array(fc.nat(300), { maxLength: 4 }), (list, cuts) => {
      const buffer = bytes(`{"d":[${list.join(',')}],"a":1}`)
      const edges = [
        0,
        ...cuts.filter((cut) => cut < buffer.length).sort((one, other) => one - other),
        buffer.length,
      ]
      // Each list or object with the values that it was told to hold, once; and the last value of
      // all.
      const folded = (knows: boolean) => {
        let open: string[] = []
        let last = ''
        const values = new Map<string, string>()
        const ended = new Set<string>()
        const take = (path: string): void => void open.push((last = `${path}=${values.get(path)}`))
        const sink = {
          value: (path: string, raw: Buffer | null) => take((values.set(path, String(raw)), path)),
          closed: (path: string) => {
            ended.add(`${path}: ${[...new Set(open)].join()}`)
            open = []
          },
        }
        const scanner = new JsonScanner(
          wantPaths(['d[].e', 'd[].m', 'a'], new Set(['d[]'])),
          knows ? { ...sink, again: take } : sink,
        )
        for (const [i, edge] of edges.slice(1).entries())
          scanner.write(buffer.subarray(edges[i], edge))
        return { ended, last }
      }
      assert.deepEqual(folded(true), folded(false))
    }),
    { numRuns: 2_000 },
  )
})

test('interleaved scans do not disturb each other', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.json(), fc.constantFrom(true, false)), { minLength: 2, maxLength: 4 }),
      fc.nat(40),
      (texts, size) => {
        const scans = texts.map(([text, strict]) => {
          const buffer = bytes(`{"a":${text},"h":{"j":[{"k":${text}}]}}`)
          const events: string[] = []
          const { strings, seen } = watching()
          const sink = {
            value: (path: string, raw: Buffer | null) => events.push(`${path}=${raw}`),
            oddity: (kind: string, path: string) => events.push(`${kind} ${path}`),
          }
          return {
            buffer,
            events,
            seen,
            strict,
            scanner: new JsonScanner(wanted, sink, { strict, strings }),
            at: 0,
          }
        })
        while (scans.some(({ at, buffer }) => at < buffer.length)) {
          for (const one of scans)
            one.scanner.write(one.buffer.subarray(one.at, (one.at += size + 1)))
        }
        for (const { buffer, events, seen, strict, scanner } of scans) {
          scanner.end()
          const alone = watching()
          const { ok, events: expected } = scan([buffer], { strict, strings: alone.strings })
          assert.equal(scanner.ok, ok)
          assert.deepEqual(
            events.filter((event) => event.includes('=')),
            expected.filter((event) => event.includes('=')),
          )
          assert.deepEqual(new Set(events), new Set(expected))
          assert.deepEqual(new Set(seen), new Set(alone.seen))
        }
      },
    ),
    { numRuns: 300 },
  )
})

test("a scan can start inside another's callback", () => {
  const events: string[] = []
  const scanner = new JsonScanner(wanted, {
    value: (path, raw) => {
      events.push(`${path}=${raw}`, ...scan([bytes(`{"h":[${raw}`), bytes('],"a":9}')]).events)
    },
  })
  scanner.write(bytes('{"a":1,"g":[2,3'))
  scanner.write(bytes('4]}'))
  assert.deepEqual(events, [
    'a=1',
    'h=[1]',
    'a=9',
    'g[]=2',
    'h=[2]',
    'a=9',
    'g[]=34',
    'h=[34]',
    'a=9',
  ])
})

test('one piece can have more events than the buffer holds', () => {
  const { ok, events } = scan([bytes(`{"g":[${'1,"x",'.repeat(5_000)}2]}`)])
  assert.ok(ok)
  assert.equal(events.length, 10_001)
})

test('every letter that folds to ASCII makes a lookalike key', () => {
  const found: string[] = []
  for (let code = 0x80; code <= 0x10ffff; code++) {
    const letter = String.fromCodePoint(code)
    const folded = letter.toUpperCase().toLowerCase()
    if (folded.charCodeAt(0) < 0x80 && Buffer.byteLength(folded) === folded.length)
      found.push(letter)
  }
  assert.deepEqual(found, FOLDING_LETTERS)
  for (const letter of found) {
    const path = `x${letter.toUpperCase().toLowerCase()}y`
    const events: string[] = []
    const scanner = new JsonScanner(
      wantPaths([path]),
      { value() {}, oddity: (kind, at) => events.push(`${kind} ${at}`) },
      { strict: true },
    )
    scanner.write(bytes(`{"é":1,"x${letter}y":1}`))
    assert.deepEqual(events, [`lookalike ${path}`])
  }
})

test('lines of JSON are read one after another', () => {
  assert.deepEqual(scan([bytes('{"a":1}\n{"a":2}\n\n{"b":{"c":3}}\n')], { many: true }), {
    ok: true,
    events: ['a=1', 'a=2', 'b.c=3'],
  })
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
