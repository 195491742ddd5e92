// The rows of one socket: one ahead, one for each response or minute, and none lost.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Admission } from '../../../server/ledger/ledger.ts'
import { RowWriter, type Reserved } from '../../../server/proxy/socket/row-writer.ts'
import { UNKNOWN } from '../../../server/proxy/usage/usage.ts'
import { SocketRows, type RowRefusal } from '../../../server/proxy/socket/socket-rows.ts'

const USAGE = { ...UNKNOWN, tokens_in: 5, tokens_out: 3, tokens_cached: 1 }

/** A ledger that lets through as many as it is told, when it is told. */
function rowsOf(counts: 'responses' | 'minutes', most: number) {
  const log: string[] = []
  const refused: [RowRefusal, boolean][] = []
  const decisions: (() => void)[] = []
  let seq = 1
  let now = 0
  const writer = new (class extends RowWriter {
    override left(): number {
      return most - seq
    }
    override now(): number {
      return now
    }
    override reserve(): Promise<Admission | null> {
      return new Promise((resolve) =>
        decisions.push(() => {
          if (seq >= most) return resolve({ admitted: false, wait: 1_000 })
          log.push(`reserve ${++seq}`)
          resolve({ admitted: true, seq, created_at: 0 })
        }),
      )
    }
    override force(): Promise<Reserved> {
      log.push(`force ${++seq}`)
      return Promise.resolve({ admitted: true, seq, created_at: 0 })
    }
    override settle(row: Reserved, end: Parameters<RowWriter['settle']>[1]): void {
      log.push(`${end.state} ${row.seq} ${end.usage.tokens_in ?? '-'}`)
    }
  })({} as never)
  const rows = new SocketRows(
    writer,
    counts,
    { admitted: true, seq: 1, created_at: 0 },
    (refusal, isUnpaid) => refused.push([refusal, isUnpaid]),
  )
  const decide = async (): Promise<void> => {
    decisions.shift()!()
    for (let i = 0; i < 5; i++) await Promise.resolve()
  }
  return { rows, log, refused, decide, pending: decisions, pass: (ms: number) => (now += ms) }
}

test('each response uses the row ahead, and reserves the next as it begins', async () => {
  const { rows, log, decide, pending } = rowsOf('responses', 9)
  assert.equal(rows.ready(), true)
  assert.equal(rows.begin('a'), true)
  assert.ok(rows.ready() instanceof Promise)
  await decide()
  assert.equal(rows.ready(), true)
  rows.end('a', USAGE, false)
  assert.equal(rows.begin('b'), true)
  await decide()
  rows.close('settled', null)
  assert.equal(pending.length, 0)
  assert.deepEqual(log, ['reserve 2', 'settled 1 5', 'reserve 3', 'settled 2 -', 'aborted 3 -'])
  assert.deepEqual(rows.total, USAGE)
})

test('a response that begins and ends while its row is being reserved still gets it', async () => {
  const { rows, log, decide } = rowsOf('responses', 9)
  rows.begin('a')
  assert.equal(rows.begin('b'), true)
  rows.end('b', USAGE, false)
  rows.end('a', USAGE, false)
  await decide()
  await decide()
  rows.close('aborted', null)
  assert.deepEqual(log, ['settled 1 5', 'reserve 2', 'settled 2 5', 'reserve 3', 'aborted 3 -'])
})

test('a response that ends while its row is being reserved gets it even if the socket ends first', async () => {
  const { rows, log, decide } = rowsOf('responses', 9)
  rows.begin('a')
  rows.begin('b')
  rows.close('aborted', null)
  await decide()
  await decide()
  assert.deepEqual(log, ['aborted 1 -', 'reserve 2', 'settled 2 -', 'reserve 3', 'aborted 3 -'])
})

test('a full window refuses when no response is in progress, or immediately if one has no row', async () => {
  const full = { code: 'rate_limit_exceeded', wait: 1_000 } as const
  const ends = rowsOf('responses', 1)
  ends.rows.begin('a')
  await ends.decide()
  assert.deepEqual(ends.refused, [])
  assert.equal(ends.rows.ready(), false)
  ends.rows.end('a', USAGE, false)
  assert.deepEqual(ends.refused, [[full, false]])

  const unpaid = rowsOf('responses', 1)
  unpaid.rows.begin('a')
  unpaid.rows.begin('b')
  await unpaid.decide()
  assert.deepEqual(unpaid.refused, [[full, true]])
  unpaid.rows.close('aborted', null)
  await Promise.resolve()
  assert.deepEqual(unpaid.log, ['force 2', 'aborted 1 -', 'aborted 2 -'])
})

test('a last response that never ends is cut off after five minutes', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { rows, refused, decide } = rowsOf('responses', 1)
  rows.begin('a')
  await decide()
  t.mock.timers.tick(299_000)
  assert.ok(rows.isFinishing)
  assert.equal(refused.length, 0)
  t.mock.timers.tick(1_000)
  assert.equal(refused.length, 1)
  rows.close('settled', null)
  assert.ok(!rows.isFinishing)
})

test('a request for a response waits until the previous response has begun', async () => {
  const { rows, decide } = rowsOf('responses', 9)
  rows.awaitResponse()
  const waiting = rows.ready()
  assert.ok(waiting instanceof Promise)
  rows.begin('a')
  await decide()
  await waiting
  assert.equal(rows.ready(), true)
})

test('after an error the next request is forwarded, and a response that still begins has its row', async () => {
  const { rows, log, decide } = rowsOf('responses', 9)
  rows.awaitResponse()
  rows.fail()
  await decide()
  assert.equal(rows.ready(), true)
  rows.awaitResponse()
  assert.equal(rows.begin('a'), true)
  assert.ok(rows.ready() instanceof Promise, 'the second has not begun')
  assert.equal(rows.begin('b'), true)
  await decide()
  rows.end('a', USAGE, false)
  rows.end('b', USAGE, false)
  rows.close('aborted', null)
  assert.deepEqual(log, ['reserve 2', 'reserve 3', 'settled 1 5', 'settled 2 5', 'aborted 3 -'])
})

test('endless errors hold at most four rows until these are known to be free', async () => {
  const { rows, log, decide, pass } = rowsOf('responses', 99)
  for (let i = 0; i < 4; i++) {
    rows.awaitResponse()
    rows.fail()
    await decide()
  }
  rows.awaitResponse()
  rows.fail()
  assert.ok(rows.ready() instanceof Promise)
  pass(31_000)
  rows.fail()
  assert.equal(rows.ready(), true)
  assert.equal(log.length, 4)
  rows.close('aborted', null)
  assert.equal(log.filter((line) => line.startsWith('aborted')).length, 5)
})

test('usage that arrives after the end is counted', () => {
  const { rows, log } = rowsOf('responses', 9)
  rows.begin('1')
  rows.end('1', null, true)
  rows.note(USAGE)
  assert.deepEqual(log, ['settled 1 5'])
})

test('each minute of a transcription is a row', async (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { rows, log, refused, decide } = rowsOf('minutes', 2)
  rows.add(USAGE)
  rows.add(USAGE)
  assert.equal(rows.begin('a'), false, 'a response has no place there')
  t.mock.timers.tick(59_999)
  assert.equal(rows.ready(), true)
  t.mock.timers.tick(1)
  const waiting = rows.ready()
  assert.ok(waiting instanceof Promise)
  await decide()
  await waiting
  rows.add(USAGE)
  assert.deepEqual(log, ['reserve 2', 'settled 1 10'])
  t.mock.timers.tick(60_000)
  await decide()
  assert.deepEqual(refused, [[{ code: 'rate_limit_exceeded', wait: 1_000 }, false]])
  assert.equal(rows.ready(), false)
  rows.close('aborted', null)
  assert.deepEqual(log.at(-1), 'settled 2 5')
})
