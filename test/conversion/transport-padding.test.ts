import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { withoutPadding } from '../../server/conversion/upload/transport-padding.ts'

/** What remains of a form that arrives in these pieces. */
async function remains(type: string, pieces: readonly string[]): Promise<string> {
  const source = Readable.from(pieces.map((piece) => Buffer.from(piece)))
  return Buffer.concat(await source.pipe(withoutPadding(type)).toArray()).toString()
}

const FORM =
  '--b \t\r\nA: 1 \r\n\r\n one \r\n-- b \r\n--a \r\n--b\t\r\nB: 2\r\n\r\n--bis text \r\n--b-- \r\n'
const REMAINS =
  '--b\r\nA: 1 \r\n\r\n one \r\n-- b \r\n--a \r\n--b\r\nB: 2\r\n\r\n--bis text \r\n--b-- \r\n'

test('only spaces and tabs after a boundary are removed, however a form is cut into pieces', async () => {
  const type = 'multipart/form-data; boundary=b'
  for (let size = 1; size <= FORM.length; size++) {
    const pieces = FORM.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
    assert.equal(await remains(type, pieces), REMAINS, `pieces of ${size}`)
  }
})

/** TABLE of content types, and whether their boundary is known. */
const TYPES: readonly [type: string, isKnown: boolean][] = [
  ['multipart/form-data; charset=utf-8; Boundary="b"', true],
  ['multipart/form-data; boundary = b', true],
  ['multipart/form-data; boundary=""', false],
  ['multipart/form-data; boundary="\\b"', false],
  ['multipart/form-data', false],
]

for (const [type, isKnown] of TYPES)
  test(`${type}: ${isKnown ? 'padding is removed' : 'nothing is removed'}`, async () => {
    assert.equal(await remains(type, [FORM]), isKnown ? REMAINS : FORM)
  })
