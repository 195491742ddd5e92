import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Mask, MaskedStream } from '../../../server/proxy/masking/mask.ts'

const SECRET = 'sk-A+b/c=&"<d>\'%\\upstream-0123'

const hexOf = (one: string) => one.charCodeAt(0).toString(16).padStart(2, '0')

/** TABLE of ways in which an error can spell the credential. */
const SPELLINGS: [name: string, spelling: string][] = [
  ['as it is', SECRET],
  ['JSON', JSON.stringify(SECRET).slice(1, -1)],
  ['JSON with escaped slashes', JSON.stringify(SECRET).slice(1, -1).replaceAll('/', '\\/')],
  [
    'JSON as Go writes it',
    JSON.stringify(SECRET)
      .slice(1, -1)
      .replaceAll('&', '\\u0026')
      .replaceAll('<', '\\u003c')
      .replaceAll('>', '\\u003e'),
  ],
  ['percent-encoded', encodeURIComponent(SECRET)],
  [
    'percent-encoded in small letters',
    encodeURIComponent(SECRET).replaceAll(/%../g, (code) => code.toLowerCase()),
  ],
  ['JSON, every character', [...SECRET].map((one) => `\\u00${hexOf(one)}`).join('')],
  [
    'JSON, every character in capitals',
    [...SECRET].map((one) => `\\u00${hexOf(one).toUpperCase()}`).join(''),
  ],
  [
    'JSON inside of JSON',
    JSON.stringify(JSON.stringify(SECRET).slice(1, -1).replaceAll('&', '\\u0026')).slice(1, -1),
  ],
  ['source code', [...SECRET].map((one) => `\\x${hexOf(one)}`).join('')],
  ['percent-encoded, every character', [...SECRET].map((one) => `%${hexOf(one)}`).join('')],
  ['percent-encoded, also what needs not be', encodeURIComponent(SECRET).replaceAll('-', '%2D')],
  ['percent-encoded twice', encodeURIComponent(encodeURIComponent(SECRET))],
  ['HTML, by numbers', [...SECRET].map((one) => `&#${one.charCodeAt(0)};`).join('')],
  ['HTML, by hexadecimal numbers', [...SECRET].map((one) => `&#x${hexOf(one)};`).join('')],
  ['HTML, by numbers with zeros', [...SECRET].map((one) => `&#X00${hexOf(one)};`).join('')],
  [
    'HTML, by names',
    SECRET.replaceAll('&', '&amp;')
      .replaceAll('+', '&plus;')
      .replaceAll('=', '&equals;')
      .replaceAll('%', '&percnt;')
      .replaceAll('\\', '&bsol;'),
  ],
  [
    'HTML twice',
    SECRET.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('&', '&amp;'),
  ],
  ...['', ' ', ':', '-'].flatMap((between): [string, string][] => {
    const hex = [...SECRET].map(hexOf).join(between)
    return [
      [`hexadecimal with "${between}"`, hex],
      [`hexadecimal in capitals with "${between}"`, hex.toUpperCase()],
    ]
  }),
  [
    'HTML',
    SECRET.replaceAll('&', '&amp;')
      .replaceAll('"', '&quot;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;'),
  ],
]

test('the credential is masked in place, at the same length, in every encoding', () => {
  const mask = new Mask(SECRET)
  for (const [name, spelling] of SPELLINGS) {
    const stars = '*'.repeat(spelling.length)
    assert.equal(
      mask.search(Buffer.from(`a ${spelling} b ${spelling}${spelling}`)).masked.toString(),
      `a ${stars} b ${stars}${stars}`,
      name,
    )
    assert.deepEqual(
      mask.headers([`X-${spelling}`, 'a', `x-${SECRET.toLowerCase()}-b`, 'c', 'X-B', 'c']),
      ['X-B', 'c'],
      name,
    )
    assert.deepEqual(
      mask.headers(['X-A', `Bearer ${spelling}`, 'X-B', 'c']),
      ['X-A', `Bearer ${stars}`, 'X-B', 'c'],
      name,
    )
  }
})

test('in base64 only the digits at the ends remain, at any offset', () => {
  for (const secret of [SECRET, 'sk-openai-upstream', 'k'.repeat(8)]) {
    const mask = new Mask(secret)
    for (const encoding of ['base64', 'base64url'] as const) {
      for (const before of ['', ':', 'ab', 'user:', 'user7:']) {
        for (const after of ['', ':', '::', 'x-y-z']) {
          const text = Buffer.from(`${before}${secret}${after}`).toString(encoding)
          const masked = mask.search(Buffer.from(`Basic ${text}"`)).masked.toString()
          assert.equal(masked.length, text.length + 7)
          assert.ok(
            masked.includes('*'.repeat(Math.floor((secret.length * 8) / 6) - 2)),
            `${before} ${after}: ${masked}`,
          )
        }
      }
    }
  }
})

/** TABLE of encodings that write zeros beside each character. */
const WIDE: [name: string, encode: (text: string) => Buffer][] = [
  ['UTF-16LE', (text) => Buffer.from(text, 'utf16le')],
  ['UTF-16BE', (text) => Buffer.from(text, 'utf16le').swap16()],
  ['UTF-16LE with a mark', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['UTF-16BE with a mark', (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ['UTF-32LE', (text) => Buffer.from([...text].flatMap((one) => [one.charCodeAt(0), 0, 0, 0]))],
  ['UTF-32BE', (text) => Buffer.from([...text].flatMap((one) => [0, 0, 0, one.charCodeAt(0)]))],
]

test('UTF-16 and UTF-32 are masked like UTF-8, and zero bytes stay', () => {
  const mask = new Mask(SECRET)
  for (const [name, encode] of WIDE) {
    for (const [spelled, spelling] of SPELLINGS) {
      const text = `{"error":"${spelling}"} ${spelling} more`
      const stars = '*'.repeat(spelling.length)
      assert.deepEqual(
        mask.search(encode(text)).masked,
        encode(`{"error":"${stars}"} ${stars} more`),
        `${name} ${spelled}`,
      )
    }
    const other = encode(`nearly: ${SECRET.slice(0, 15)}, ${SECRET.slice(-15)}`)
    assert.equal(mask.search(other).masked, other)
  }
})

test('a long prefix of the credential at the very end is masked; a short one, or one in the middle, is not', () => {
  const mask = new Mask(SECRET)
  for (const [name, spelling] of SPELLINGS) {
    const cut = spelling.slice(0, -1)
    assert.equal(
      mask.whole(Buffer.from(`a ${cut}`)).toString(),
      `a ${'*'.repeat(cut.length)}`,
      name,
    )
    assert.equal(mask.text(`a ${cut}`), `a ${'*'.repeat(cut.length)}`, name)
  }
  for (const [name, encode] of WIDE)
    assert.deepEqual(
      mask.whole(encode(`a ${SECRET.slice(0, 9)}`)),
      encode(`a ${'*'.repeat(9)}`),
      name,
    )
  for (const text of [
    `a ${SECRET.slice(0, 7)}`,
    `a ${SECRET.slice(0, 9)} b`,
    `a ${SECRET.slice(1, 12)}`,
    '100%',
    'a \\',
    '&nbsp12345678',
  ]) {
    const bytes = Buffer.from(text)
    assert.equal(mask.whole(bytes), bytes, text)
  }
})

test('any sixteen consecutive characters of the credential are masked, in any case', () => {
  const mask = new Mask(SECRET)
  for (let from = 0; from < SECRET.length; from++) {
    for (let to = from + 1; to <= SECRET.length; to++) {
      const part = SECRET.slice(from, to)
      for (const spelled of [part, part.toUpperCase(), part.toLowerCase()]) {
        const isLong = part.length >= 16
        const left = isLong ? '*'.repeat(part.length) : spelled
        assert.equal(mask.text(`a !${spelled}! b`), `a !${left}! b`)
        if (from > 0) assert.equal(mask.text(`a !${spelled}`), `a !${left}`)
      }
    }
  }
  for (const [name, spelling] of SPELLINGS.filter(([, one]) => !/^[0-9a-f :-]*$/i.test(one)))
    for (const spelled of [spelling.toUpperCase(), spelling.toLowerCase()])
      // Names and escapes of other letters are other ones.
      if (!/[\\&]/.test(spelling))
        assert.equal(mask.text(`(${spelled})`), `(${'*'.repeat(spelled.length)})`, name)
  const middle = JSON.stringify(SECRET.slice(3, 25)).slice(1, -1)
  assert.equal(mask.text(`"${middle}?"`), `"${'*'.repeat(middle.length)}?"`)
  // A credential as long as a fragment, and a shorter one, are masked as a whole.
  for (const secret of ['0123456789abcdef', '0123456789abcde', '0123456789']) {
    const short = new Mask(secret)
    assert.equal(short.text(`(${secret.toUpperCase()})`), `(${'*'.repeat(secret.length)})`)
    assert.equal(short.text(`(${secret.slice(1)})`), `(${secret.slice(1)})`)
    assert.equal(short.text(`(${secret.slice(0, -1)})`), `(${secret.slice(0, -1)})`)
  }
})

test('base64 is found however it is escaped', () => {
  const text = Buffer.from(`u:${SECRET}`).toString('base64')
  const mask = new Mask(SECRET)
  for (const spelled of [
    encodeURIComponent(text),
    text.replaceAll('+', '\\u002b').replaceAll('/', '\\/'),
    [...text].map((one) => `&#${one.charCodeAt(0)};`).join(''),
  ]) {
    const masked = mask.text(`Basic ${spelled}`)
    assert.equal(masked.length, spelled.length + 6)
    assert.ok(masked.includes('*'.repeat(Math.floor((SECRET.length * 8) / 6) - 2)), masked)
  }
})

test('a text without the credential is unchanged, byte for byte', () => {
  const mask = new Mask(SECRET)
  const bytes = Buffer.from(`nearly: ${SECRET.slice(0, 15)}, ${SECRET.slice(-15)}`)
  assert.equal(mask.search(bytes).masked, bytes)
  // Shorter ones are words that stand in any error.
  for (const short of ['', 'x', '123', 'EMPTY', 'none', 'test'])
    assert.equal(new Mask(short).text(`EMPTY x 123 none ${short}`), `EMPTY x 123 none ${short}`)
})

test('masking in pieces of any size gives the same result and holds back no more than a possible credential', () => {
  const texts = [
    SECRET,
    ...SPELLINGS.map(([, spelling]) => spelling),
    SECRET.slice(0, 9),
    's',
    'sk-',
    'sk-sk-A+b',
    Buffer.from(`u:${SECRET}`).toString('base64'),
    'other',
    '\0\0\0\0\0',
  ]
  const words = [...texts, ...WIDE.map(([, encode]) => encode(SECRET).toString('latin1'))]
  const longest = Math.max(...words.map((word) => word.length)) * 4
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...words), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      (parts, sizes) => {
        const mask = new Mask(SECRET)
        const whole = Buffer.from(parts.join(' '), 'latin1')
        const stream = new MaskedStream(mask)
        const out: Buffer[] = []
        let sent = 0
        for (let at = 0, i = 0; at < whole.length; i++) {
          const size = sizes[i % sizes.length]!
          // The memory of a piece is lent: it is something else as soon as the call is over.
          const piece = Buffer.from(whole.subarray(at, at + size))
          const ready = Buffer.from(stream.write(piece))
          piece.fill(0)
          out.push(ready)
          at += size
          sent += ready.length
          const held = Math.min(at, whole.length) - sent
          assert.ok(held < longest)
          if (held > 0) assert.ok(mask.search(whole.subarray(0, at)).begun >= held)
        }
        out.push(stream.end())
        assert.equal(Buffer.concat(out).toString('latin1'), mask.whole(whole).toString('latin1'))
      },
    ),
  )
  const stream = new MaskedStream(new Mask(SECRET))
  assert.equal(stream.write(Buffer.from('nothing of it')).toString(), 'nothing of it')
  assert.equal(stream.write(Buffer.from('a s')).toString(), 'a ')
  assert.equal(stream.write(Buffer.from('o')).toString(), 'so')
  assert.equal(stream.write(Buffer.from(SECRET.slice(0, -1))).toString(), '')
  assert.equal(stream.write(Buffer.from(SECRET.slice(-1))).toString(), '*'.repeat(SECRET.length))
})

test('a credential of four to seven characters is masked as a whole word', () => {
  const mask = new Mask('sk-good')
  for (const [text, masked] of [
    ['{"error":"Incorrect API key: sk-good"}', '{"error":"Incorrect API key: *******"}'],
    ['Bearer sk-good', 'Bearer *******'],
    ['sk-good', '*******'],
    ['key=sk-good&sk\\u002dgood.', 'key=*******&************.'],
    ['sk-goodness, task-good, sk-good-2', 'sk-goodness, task-good, sk-good-2'],
    ['sk-goo', 'sk-goo'],
  ] as const) {
    assert.equal(mask.text(text), masked)
    for (let at = 0; at <= text.length; at++) {
      const stream = new MaskedStream(mask)
      const pieces = [text.slice(0, at), text.slice(at)].map((piece) =>
        stream.write(Buffer.from(piece)).toString('latin1'),
      )
      const whole = pieces.join('') + stream.end().toString('latin1')
      assert.ok(!/\bsk-good\b(?!-)/.test(whole.replaceAll('task-good', '')), whole)
      if (masked !== text) assert.equal(whole, masked, `in two at ${at}`)
    }
  }
  assert.deepEqual(
    mask.headers(['WWW-Authenticate', 'Bearer token="sk-good"', 'X-Sk-Goods', '1']),
    ['WWW-Authenticate', 'Bearer token="*******"', 'X-Sk-Goods', '1'],
  )
})
