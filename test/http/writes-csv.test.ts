// What callers name their keys and models stays text in a spreadsheet.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toCsv } from '../../server/manage/csv.ts'

/** TABLE of values, and the cells that they become. */
const CELLS: [value: string | number | null, cell: string][] = [
  ['plain', 'plain'], [null, ''], [-3, '-3'], ['a=b', 'a=b'], ['a,b', '"a,b"'], ['a "b"', '"a ""b"""'], ['a\nb', '"a\nb"'],
  ['=1+1', "'=1+1"], ['+1', "'+1"], ['-1', "'-1"], ['@SUM(A1)', "'@SUM(A1)"], ['\t=1', "'\t=1"], ['\r=1', '"\'\r=1"'], ['\n=1', '"\'\n=1"'],
  ['＝1+1', "'＝1+1"], ['＋1', "'＋1"], ['－1', "'－1"], ['＠SUM(A1)', "'＠SUM(A1)"], ['=1,"2"', '"\'=1,""2"""'],
]

test('a value is one cell, and never a formula', () => {
  for (const [value, cell] of CELLS) assert.equal(toCsv(['name'], [{ name: value }]), `name\r\n${cell}\r\n`)
})
