import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  encodeRows,
  toJson,
  decodeRows,
  fromJson,
  RESERVATION_CODEC,
  SETTLEMENT_CODEC,
} from '../../../server/ledger/settlement/row-codec.ts'

const columns = {
  common: ['key', 'model', 'at'],
  own: ['id', 'tokens'],
  values: ({ key, model, at, id, tokens }: Row) => [key, model, at, id, tokens],
} as const
type Row = { key: string; model: string | null; at: number; id: string; tokens: number | null }

// Few values of each, so that rows share all of them, some or none.
const row: fc.Arbitrary<Row> = fc.record(
  {
    key: fc.constantFrom('a', 'b', 'null', ''),
    model: fc.constantFrom('gpt', null, 'null'),
    at: fc.nat(12),
    id: fc.string({ unit: 'binary' }),
    tokens: fc.option(fc.nat()),
  },
  { noNullPrototype: true },
)

test('encoded rows decode whole and in order, through the text between threads', () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 60 }), (rows) => {
      const back = decodeRows<Pick<Row, (typeof columns.common)[number]>>(
        columns,
        fromJson(toJson(encodeRows<Row>(columns, rows))),
      )
      assert.deepEqual(
        back.map(({ common, own: [id, tokens] }) => ({ ...common.row, id, tokens })),
        rows,
      )
      assert.deepEqual(
        back.map(({ common }) => common.values),
        rows.map(({ key, model, at }) => [key, model, at]),
      )
    }),
  )
})

test('values shared by neighbouring rows are sent once and decoded to one object', () => {
  const rows = Array.from({ length: 100 }, (_, i) => ({
    key: 'a',
    model: i % 2 ? 'gpt' : null,
    at: 1,
    id: String(i),
    tokens: i,
  }))
  const folded = encodeRows<Row>(columns, rows)
  assert.equal(folded.common.length, 2)
  assert.equal(
    new Set(
      decodeRows<Pick<Row, (typeof columns.common)[number]>>(columns, folded).map(
        ({ common }) => common,
      ),
    ).size,
    2,
  )
})

test('rows of the ledger are read in the order of their columns', () => {
  for (const { common, own, values } of [RESERVATION_CODEC, SETTLEMENT_CODEC]) {
    const names: string[] = [...common, ...own]
    // Each value is the name of its column.
    assert.deepEqual(
      (values as (row: unknown) => unknown[])(
        Object.fromEntries(names.map((name) => [name, name])),
      ),
      names,
    )
  }
})

test('rows of an older version have null in common columns that it lacked', () => {
  const { common, rows } = encodeRows<Row>(columns, [
    { key: 'a', model: 'gpt', at: 1, id: 'x', tokens: null },
  ])
  const older = { common: common.map((values) => values.slice(0, -1)), rows }
  const [back] = decodeRows<Pick<Row, (typeof columns.common)[number]>>(columns, older)
  assert.deepEqual(back, {
    common: { values: ['a', 'gpt', null], row: { key: 'a', model: 'gpt', at: null } },
    own: ['x', null],
  })
})
