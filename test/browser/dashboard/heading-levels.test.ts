// A document that skips a level of headings has none skipped for a reader of the screen.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headingLevels } from '../../../dashboard/src/preview/heading-levels.ts'

test('a heading that skips a level is exposed one level below the previous heading', () => {
  const levels = [4, 1, 3, 2, 3, 6]
  const headings = levels.map((level) => ({
    type: 'element',
    tagName: `h${level}`,
    properties: {} as Record<string, unknown>,
  }))
  const root = { type: 'root', children: [{ type: 'element', children: headings }] }
  headingLevels()(root)
  assert.deepEqual(
    headings.map(({ properties }) => properties['ariaLevel']),
    [3, undefined, 2, undefined, undefined, 4],
  )
})
