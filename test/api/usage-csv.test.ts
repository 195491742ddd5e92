// What callers name their keys and models stays text in a spreadsheet.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { streamText } from '../../server/api/csv.ts'
import { written } from '../../server/ledger/reports/report-text.ts'

/** TABLE of values, and the cells that they become. */
const CELLS: [value: string | number | null, cell: string][] = [
  ['plain', 'plain'],
  [null, ''],
  [-3, '-3'],
  ['a=b', 'a=b'],
  ['a,b', '"a,b"'],
  ['a "b"', '"a ""b"""'],
  ['a\nb', '"a\nb"'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
  ['\n=1', '"\'\n=1"'],
  ['＝1+1', "'＝1+1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠SUM(A1)', "'＠SUM(A1)"],
  ['=1,"2"', '"\'=1,""2"""'],
]

test('a value is one CSV cell and never a formula', () => {
  for (const [value, cell] of CELLS)
    assert.equal(written('csv', ['name'], [{ name: value }]), `${cell}\r\n`)
})

test('a long CSV is produced as it is read, and a failure resets it', async () => {
  let made = 0
  const body = streamText('head', async () => {
    if (made === 3) throw new Error('the store is gone')
    made++
    return new Uint8Array(200_000)
  })
  const reader = body.getReader()
  assert.equal((await reader.read()).value!.length, 4)
  assert.equal(made, 0)
  const pieces: number[] = []
  for (let i = 0; i < 4; i++) pieces.push((await reader.read()).value!.length)
  assert.deepEqual([pieces, made], [[65_536, 65_536, 65_536, 3_392], 1])
  await assert.rejects(async () => {
    while (!(await reader.read()).done);
  }, /the store is gone/)
  assert.equal(made, 3)
})
