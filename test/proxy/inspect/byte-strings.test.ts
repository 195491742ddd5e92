// Strings that are collected as bytes: each once, in order, and as many as may be.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { ByteStrings } from '../../../server/proxy/inspect/byte-strings.ts'

function told(strings: ByteStrings): string[] {
  const seen: string[] = []
  for (let i = 0; i < strings.size; i++)
    strings.tell(i, (bytes, from, to) => seen.push(bytes.toString('latin1', from, to)))
  return seen
}

test('each string is reported once, in order, even with equal hashes', () => {
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 6 }),
    fc.nat(1_000).map((length) => 'x'.repeat(length)),
  )
  fc.assert(
    fc.property(
      fc.array(text, { maxLength: 40 }),
      fc.integer({ min: 8, max: 0x7fffffff }),
      (texts, hashes) => {
        const strings = new ByteStrings(1_000)
        for (const text of texts) {
          const bytes = Buffer.from(`<${text}>`)
          const [first = 0] = bytes.subarray(1)
          assert.equal(
            strings.add(bytes, 1, bytes.length - 1, (first * 31 + text.length) % hashes),
            true,
          )
        }
        assert.deepEqual(new Set(told(strings)), new Set(texts))
        if (texts.length <= 16) assert.deepEqual(told(strings), [...new Set(texts)])
      },
    ),
  )
})

test('many strings are kept, even with equal hashes, and none beyond the limit', () => {
  for (const hashOf of [(i: number) => Math.imul(i, 0x9e3779b1), () => 7]) {
    const strings = new ByteStrings(10_000)
    const add = (i: number): boolean => {
      const bytes = Buffer.from(`string ${i}`)
      return strings.add(bytes, 0, bytes.length, hashOf(i))
    }
    for (let i = 0; i < 10_000; i++) assert.equal(add(i), true)
    assert.equal(add(10_000), false)
    assert.equal(add(0), true, 'one that is known')
    assert.deepEqual(
      told(strings),
      Array.from({ length: 10_000 }, (_, i) => `string ${i}`),
    )
  }
})
