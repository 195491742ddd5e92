// How the dashboard writes lengths of time, and how long ago something was: no unit is full.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ago, duration, fullyCounted } from '../../../dashboard/src/format.ts'

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

test('a duration is rounded before its unit is chosen', () => {
  assert.deepEqual(
    DURATIONS.map(([milliseconds]) => duration(milliseconds)),
    DURATIONS.map(([, written]) => written),
  )
})

/** TABLE of hours from now as they are written: a day is 24 hours, wherever midnight is. */
const AGO: readonly [hours: number, written: string][] = [
  [0, 'just now'],
  [-1 / 60, '1 min. ago'],
  [-23.9, '23 hr. ago'],
  [-24, '1 day ago'],
  [-47.9, '1 day ago'],
  [-48, '2 days ago'],
  [47.9, 'in 1 day'],
  [0.01, 'in a moment'],
]

test('almost two days ago is not called yesterday', () => {
  const now = Date.parse('2026-11-23T01:00:00Z')
  assert.deepEqual(
    AGO.map(([hours]) => ago(new Date(now + hours * 3_600_000).toISOString(), now)),
    AGO.map(([, written]) => written),
  )
})

test('what a conversion kept is counted with all digits', () => {
  assert.equal(fullyCounted(12_480, 'word'), '12,480 words')
  assert.equal(fullyCounted(1, 'table'), '1 table')
})
