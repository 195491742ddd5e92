// How the dashboard writes lengths of time: no unit is full.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { duration } from '../../../dashboard/src/format.ts'

/** TABLE of milliseconds as they are written. */
const DURATIONS: readonly [milliseconds: number | null, written: string][] = [
  [null, '–'],
  [0, '0 ms'],
  [999.4, '999 ms'],
  [999.6, '1.00 s'],
  [1234, '1.23 s'],
  [9994, '9.99 s'],
  [9996, '10.0 s'],
  [59_940, '59.9 s'],
  [59_960, '1 min 0 s'],
  [60_400, '1 min 0 s'],
  [119_400, '1 min 59 s'],
  [119_600, '2 min 0 s'],
  [3_599_700, '60 min 0 s'],
]

test('a length of time is written in the unit that it has after it is rounded', () => {
  assert.deepEqual(DURATIONS.map(([milliseconds]) => duration(milliseconds)), DURATIONS.map(([, written]) => written))
})
