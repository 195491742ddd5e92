// What is done a few at a time: a burst of one key does not stand in front of another key's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnBudget } from '../../../server/common/fairness/turn-budget.ts'
import { until } from '../../support/until.ts'

test('a few pieces of work run in each turn of the event loop, by account and key in turns', async () => {
  const turns = new TurnBudget(8)
  const dialled: { key: string; turn: number }[] = []
  let turn = 0
  const count = (): void => {
    turn++
    if (dialled.length < 303) setImmediate(count)
  }
  const dial = (account_id: string, key_id: string) =>
    turns.schedule({ account_id, key_id }, () => void dialled.push({ key: key_id, turn }))
  setImmediate(count)
  dial('a', 'a1')
  assert.equal(dialled.length, 1, 'one alone does not wait')
  for (let i = 0; i < 300; i++) dial('a', 'a1')
  dial('a', 'a2')
  dial('b', 'b1')
  await until(() => dialled.length === 303)
  const inTurn = Map.groupBy(dialled, (one) => one.turn)
  assert.ok(
    [...inTurn.values()].every((all) => all.length <= 8),
    'at most 8 in a turn',
  )
  for (const key of ['a2', 'b1'])
    assert.ok(
      dialled.findIndex((one) => one.key === key) < 16,
      `${key} is among the first that waited`,
    )
})
