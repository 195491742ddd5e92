// Long reports are sorted in turns: in the same order as at once, and never many lines in a turn.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { sorted } from '../../../server/ledger/reports/sorting.ts'

const NOTHING = { rows: [], affected: 0 }

test('sorting in slices gives the same order as a single sort', () => {
  const lines = fc.array(fc.record({ size: fc.integer({ min: 0, max: 5 }), name: fc.nat() }), {
    maxLength: 60,
  })
  fc.assert(
    fc.property(
      lines,
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 8 }),
      (items, atOnce, mergedAtOnce) => {
        const before = [...items]
        let compared = 0
        const compare = (a: (typeof items)[number], b: (typeof items)[number]) => {
          compared++
          return b.size - a.size
        }
        const steps = sorted(items, compare, atOnce, mergedAtOnce)
        let step = steps.next()
        let most = 0
        for (; step.done !== true; step = steps.next(NOTHING)) {
          most = Math.max(most, compared)
          compared = 0
        }
        assert.deepEqual(
          step.value,
          items.toSorted((a, b) => b.size - a.size),
        )
        assert.deepEqual(items, before)
        assert.ok(most <= atOnce * 4 + mergedAtOnce, `${most} lines were compared in one turn`)
      },
    ),
  )
})

test('a short report takes one turn', () => {
  for (const items of [[], [1], [3, 1, 2]])
    assert.deepEqual(sorted(items, (a, b) => a - b).next(), {
      done: true,
      value: items.toSorted((a, b) => a - b),
    })
})
