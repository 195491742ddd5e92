// Masking in turns of the event loop: the same result, a bounded part of it in each turn, and none
// of it before an earlier one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import * as fc from 'fast-check'
import { Mask } from '../../../server/proxy/masking/mask.ts'
import { maskWhole, PacedMask } from '../../../server/proxy/masking/paced-mask.ts'

const SECRET = 'sk-proj-A1b2C3d4E5f6'
const mask = new Mask(SECRET)
const owner = { account_id: 'acc', key_id: 'key' }
const STARS = '*'.repeat(SECRET.length)

/** A masked body so far. */
function begin(by = owner) {
  const seen = { text: '', isOver: false, turns: 0 }
  const paced = new PacedMask(mask, by, {
    write: (bytes) => void (seen.text += bytes.toString('latin1')),
    onTurn: () => void seen.turns++,
    end: () => void (seen.isOver = true),
  })
  return { seen, paced }
}

// TABLE of bodies of 64 KB, and how much of them is searched in one turn at most.
for (const [name, text, most] of [
  ['percent signs', '%73%6b%2d', 300],
  ['character references', '&#x73;', 600],
  ['escapes of JSON', '\\u0073', 600],
  ['text', 'Incorrect API key. ', 8200],
] as const)
  test(`one turn searches only a slice of 64 KB of ${name}`, async () => {
    const body = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)) + SECRET)
    await setImmediate()
    const { seen, paced } = begin()
    paced.write(body)
    paced.end()
    for (let before = 0; !seen.isOver; await setImmediate()) {
      assert.ok(seen.text.length - before <= most, `${seen.text.length - before} bytes`)
      before = seen.text.length
      assert.ok(!paced.isIdle)
    }
    assert.equal(seen.text, body.toString().replace(SECRET, STARS))
    assert.ok(seen.turns > 0)
  })

test('a key whose text is short does not wait for the long text of another', async () => {
  const long = begin()
  long.paced.write(Buffer.from('%73'.repeat(50_000)))
  const short = begin({ account_id: 'acc', key_id: 'other' })
  short.paced.write(Buffer.from(`no such key: ${SECRET}.`))
  short.paced.end()
  while (!short.seen.isOver) await setImmediate()
  assert.equal(short.seen.text, `no such key: ${STARS}.`)
  assert.ok(long.seen.text.length < 10_000, `${long.seen.text.length} bytes`)
  long.paced.stop()
  const { length } = long.seen.text
  for (let turn = 0; turn < 5; turn++) await setImmediate()
  assert.equal(long.seen.text.length, length)
})

test('masking a text in pieces gives the same as masking the whole', async () => {
  const words = [SECRET, SECRET.slice(0, 9), '%73%6b', '&#115;k-proj', 'text '.repeat(3000)]
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...words), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1 }),
      async (parts, sizes) => {
        const body = Buffer.from(parts.join(' '))
        const { seen, paced } = begin()
        for (let at = 0, i = 0; at < body.length; i++) {
          const piece = Buffer.from(body.subarray(at, (at += sizes[i % sizes.length]!)))
          paced.write(piece)
          piece.fill(0)
          if (i % 3 === 0) await setImmediate()
        }
        paced.end()
        while (!seen.isOver) await setImmediate()
        const whole = mask.whole(body).toString('latin1')
        assert.equal(seen.text, whole)
        assert.equal((await maskWhole(mask, owner, body)).toString('latin1'), whole)
      },
    ),
    { numRuns: 30 },
  )
})
