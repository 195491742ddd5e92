import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { DatabaseClock, TOLERANCE_MS } from '../../../server/ledger/admission/database-clock.ts'

/** Responses over two ways of different length each, some time apart. */
const exchanges = fc.array(
  fc.record({
    pause: fc.double({ min: 0, max: 10_000, noNaN: true }),
    there: fc.double({ min: 0, max: 500, noNaN: true }),
    back: fc.double({ min: 0, max: 500, noNaN: true }),
  }),
  {
    minLength: 1,
    maxLength: 50,
  },
)

test('a clock that runs like ours never contradicts it and stays within the bounds', () => {
  fc.assert(
    fc.property(exchanges, fc.double({ min: -1e9, max: 1e9, noNaN: true }), (all, offset) => {
      const timeline = new DatabaseClock()
      assert.deepEqual(timeline.at(5), [-Infinity, Infinity])
      let now = 1_000
      for (const { pause, there, back } of all) {
        const sent = (now += pause)
        now += there
        const time = now + offset
        now += back
        assert.ok(timeline.observe(sent, now, time))
        const [earliest, latest] = timeline.at(now)
        assert.ok(earliest <= now + offset + 1e-3 && now + offset <= latest + 1e-3)
        assert.ok(latest - earliest <= there + back + 1 + pause * 0.001)
      }
    }),
  )
})

test('a clock set by more than the round trip contradicts ours and is ignored', () => {
  fc.assert(
    fc.property(
      exchanges,
      fc.boolean(),
      fc.double({ min: 1, max: 1e9, noNaN: true }),
      (all, forward, by) => {
        const timeline = new DatabaseClock()
        let now = 1_000
        for (const { pause, there, back } of all) {
          const sent = (now += pause)
          now += there + back
          assert.ok(timeline.observe(sent, now, sent + there))
        }
        const before = timeline.at(now)
        const step = TOLERANCE_MS + 1_000 + 50 * 10_000 * 0.001 + by
        assert.equal(timeline.observe(now, now + 1, now + (forward ? step : -step)), false)
        assert.deepEqual(timeline.at(now), before)
      },
    ),
  )
})
