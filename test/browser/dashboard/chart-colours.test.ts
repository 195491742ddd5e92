// Series of a chart are told apart in both themes, whatever cones somebody has.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SIGHTS, contrast, distance, type Sight } from './colour.ts'

const css = readFileSync(join(import.meta.dirname, '../../../dashboard/src/ui/base.css'), 'utf8')

/** TABLE of themes, and the surface behind a chart. */
const THEMES = { light: '#ffffff', dark: '#161a18' } as const

test('neighbours in a chart differ by 15, any two by 10, and all stand out from the surface', () => {
  for (const [theme, surface] of Object.entries(THEMES)) {
    const block = css.slice(css.indexOf(`color-scheme='${theme}'`))
    const colours = [1, 2, 3, 4, 5, 6].map(
      (n) => new RegExp(`--series-${n}: (#[0-9a-f]{6})`).exec(block)?.[1] ?? '',
    )
    for (const [at, colour] of colours.entries()) {
      assert.ok(contrast(colour, surface) >= 3, `${theme}: ${colour} on ${surface}`)
      for (const sight of Object.keys(SIGHTS) as Sight[]) {
        for (const [other, second] of colours.slice(at + 1).entries()) {
          const apart = distance(colour, second, sight)
          assert.ok(
            apart >= (other === 0 ? 15 : 10),
            `${theme}, ${sight}: ${colour} and ${second} are ${apart.toFixed(1)} apart`,
          )
        }
      }
    }
  }
})
