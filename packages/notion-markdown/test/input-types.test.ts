import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convertHtml, parsePage } from '@tollmark/notion-markdown'

/** What a program in plain JavaScript may pass, and how the message names it. */
const VALUES: readonly (readonly [unknown, string])[] = [
  [undefined, 'undefined'],
  [null, 'null'],
  [5, 'number'],
  [{}, 'object'],
  [['<p>'], 'an array'],
  [new Uint8Array(2), 'object. Decode bytes with decodeHtml first'],
]

test('input that is not a string is refused with a sentence that says what is needed', () => {
  for (const [value, named] of VALUES) {
    for (const [name, read] of Object.entries({ convertHtml, parsePage })) {
      assert.throws(() => Reflect.apply(read, undefined, [value]), {
        name: 'TypeError',
        message: `${name} needs the HTML as a string; it was given ${named}.`,
      })
    }
  }
})
