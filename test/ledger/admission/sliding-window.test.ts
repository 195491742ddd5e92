import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  askAll,
  KeyLimiter,
  wholeWait,
  Window,
  WINDOW_MS,
} from '../../../server/ledger/admission/sliding-window.ts'

/**
 * The rule itself, as slow as it is plain: one more may pass where fewer than N lie in the 60 s up
 * to now.
 */
function mayPass(admitted: number[], limit: number, now: number): boolean {
  return admitted.filter((at) => now - at <= WINDOW_MS).length < limit
}

/** Steps of time that fall on, just before and just after the edges of the window. */
const gap = fc.oneof(
  fc.integer({ min: 0, max: 70_000 }),
  fc.constantFrom(0, 0.001, 1, 59_999, 59_999.999, 60_000, 60_000.001),
  fc.double({ min: 0, max: 100, noNaN: true }),
)

test('no interval of 60 s has more than N admissions, and no request that could pass is refused', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.array(gap, { maxLength: 300 }),
      (limit, gaps) => {
        const window = new Window()
        const admitted: number[] = []
        let now = 1_000_000
        for (const step of gaps) {
          now += step
          const verdict = window.ask(limit, now)
          assert.equal(verdict.pass, mayPass(admitted, limit, now))
          if (verdict.pass) {
            window.confirm(now)
            admitted.push(now)
          }
        }
        for (let i = limit; i < admitted.length; i++)
          assert.ok(admitted[i]! - admitted[i - limit]! > WINDOW_MS)
      },
    ),
  )
})

test('the wait is the true time until the next admission', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 }),
      fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 60 }),
      (limit, gaps) => {
        const window = new Window()
        const admitted: number[] = []
        let now = 0
        for (const step of gaps) {
          now += step
          const verdict = window.ask(limit, now)
          if (verdict.pass) {
            window.confirm(now)
            admitted.push(now)
            continue
          }
          assert.ok(verdict.wait !== null && verdict.wait >= 0 && verdict.wait <= WINDOW_MS)
          assert.equal(mayPass(admitted, limit, now + verdict.wait), false)
          assert.equal(mayPass(admitted, limit, now + verdict.wait + 0.001), true)
        }
      },
    ),
  )
})

test('a pending admission counts, cannot expire, and frees its room when withdrawn', () => {
  const window = new Window()
  assert.deepEqual(window.ask(2, 0), { pass: true })
  assert.deepEqual(window.ask(2, 0), { pass: true })
  assert.deepEqual(window.ask(2, 100_000), { pass: false, wait: null })
  window.withdraw()
  assert.deepEqual(window.ask(2, 100_000), { pass: true })
  window.confirm(100_000)
  window.confirm(100_010)
  assert.deepEqual(window.ask(2, 100_020), { pass: false, wait: WINDOW_MS - 20 })
  assert.equal(window.room(2, 200_000), 2)
  assert.deepEqual(window.ask(2, 200_000), { pass: true })
  assert.equal(window.isIdle(200_000), false)
  assert.equal(window.room(2, 200_000), 1)
})

test('admissions by other processes may arrive out of order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 60_000 }), { maxLength: 100, size: 'max' }),
      fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 5 }),
      (times, steps) => {
        const window = new Window()
        for (const time of times) window.add(time)
        let now = 60_000
        for (const step of steps) {
          now += step
          const left = times.filter((time) => now - time <= WINDOW_MS).length
          assert.equal(window.isIdle(now), left === 0)
          assert.equal(window.room(1000, now), 1000 - left)
        }
      },
    ),
  )
})

test('a window of 300,000 admissions is loaded newest first, as the ledger returns them', () => {
  const window = new Window()
  window.add(60_000.5)
  window.addAll(Float64Array.from({ length: 300_000 }, (_, i) => 60_000 - i / 5))
  assert.equal(window.room(1_000_000, 60_000.1), 1_000_000 - 300_001)
  assert.equal(window.fullFor(300_001, 60_000.1), WINDOW_MS - (60_000.1 - (60_000 - 299_999 / 5)))
})

test('admissions added in bulk or singly, before or after existing ones, give the same window', () => {
  const time = fc.integer({ min: 0, max: 120_000 })
  fc.assert(
    fc.property(
      fc.array(fc.oneof(time, fc.array(time, { maxLength: 60 })), { maxLength: 30 }),
      fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 6 }),
      (steps, later) => {
        const window = new Window()
        const all: number[] = []
        for (const step of steps) {
          const times = [step].flat()
          if (typeof step === 'number') window.add(step)
          else window.addAll(Float64Array.from(step))
          all.push(...times)
        }
        all.sort((a, b) => a - b)
        let now = 120_000
        for (const by of later) {
          now += by
          const left = all.filter((at) => now - at <= WINDOW_MS)
          assert.equal(window.room(1000, now), 1000 - left.length)
          assert.deepEqual(window.left(5, now), {
            requests: Math.max(0, 5 - left.length),
            reset: left.length === 0 ? 0 : WINDOW_MS - (now - left[0]!),
          })
          for (const limit of [1, 2, left.length]) {
            if (limit < 1 || left.length < limit) continue
            assert.equal(window.fullFor(limit, now), WINDOW_MS - (now - left[left.length - limit]!))
          }
        }
      },
    ),
  )
})

test('requests that wait ahead, and pending admissions, lengthen the wait by what they take', () => {
  const window = new Window()
  for (const time of [0, 10_000, 20_000]) window.add(time)
  assert.deepEqual(window.ask(3, 30_000, 1), { pass: false, wait: 40_000 })
  assert.deepEqual(window.ask(5, 30_000, 2), { pass: false, wait: 30_000 })
  assert.deepEqual(window.ask(5, 30_000, 1), { pass: true })
  assert.equal(window.fullFor(3, 30_000), 40_000)
  assert.equal(window.fullFor(4, 30_000), null)
  window.withdraw()
  assert.equal(window.fullFor(3, 30_000), 30_000)
})

test('a wait is whole milliseconds, after the minute has passed, and less than a minute', () => {
  const cases: [wait: number, whole: number][] = [
    [0, 1],
    [0.5, 1],
    [1, 2],
    [4_999.999, 5_000],
    [59_997.2, 59_998],
    [59_998, 59_999],
    [59_999, 59_999],
    [60_000, 59_999],
  ]
  for (const [wait, whole] of cases) assert.equal(wholeWait(wait), whole, String(wait))
})

test('a request passes under all of its limits or takes a place under none', () => {
  const limiter = fc.record({
    limit: fc.integer({ min: 1, max: 4 }),
    times: fc.array(fc.integer({ min: 0, max: 59_999 }), { maxLength: 4 }),
    pending: fc.integer({ min: 0, max: 3 }),
    held: fc.integer({ min: 0, max: 2 }),
  })
  fc.assert(
    fc.property(fc.array(limiter, { maxLength: 3 }), (states) => {
      const now = 60_000
      const limiters = states.map(({ limit, times, pending, held }, i) => {
        const one = new KeyLimiter({ id: `key_${i}`, owner: 'key_id', rpm: limit }, `key_${i}`, [])
        one.window.addAll(Float64Array.from(times))
        one.window.pending = pending
        one.held.push(...(Array(held) as never[]))
        return one
      })
      const taken = states.map(({ times, pending, held }) => times.length + pending + held)
      const hasRoom = states.map(({ limit }, i) => taken[i]! < limit)
      const result = askAll(limiters, now)
      assert.equal(result.pass, hasRoom.every(Boolean))
      limiters.forEach(({ window }, i) =>
        assert.equal(window.pending, states[i]!.pending + (result.pass ? 1 : 0)),
      )
      if (result.pass) return
      const waits = states.flatMap(({ limit, times, pending, held }, i) => {
        const surplus = times.length + pending + held - limit
        const sorted = times.toSorted((a, b) => a - b)
        return hasRoom[i]
          ? []
          : [surplus < sorted.length ? WINDOW_MS - (now - sorted[surplus]!) : null]
      })
      const longest = waits.includes(null) ? null : Math.max(...waits.map(Number))
      assert.equal(result.wait, longest)
      assert.equal(waits[limiters.filter((_, i) => !hasRoom[i]).indexOf(result.limiter)], longest)
    }),
  )
})

test('a limiter is idle when a new one would decide the same', () => {
  const limiter = new KeyLimiter({ id: 'key_1', owner: 'key_id', rpm: 1 }, 'key_1', [])
  assert.deepEqual([limiter.isBusy, limiter.isIdle(0)], [true, false])
  limiter.state = 'ready'
  assert.deepEqual([limiter.isBusy, limiter.isIdle(0)], [false, true])
  limiter.window.add(0)
  assert.deepEqual([limiter.isIdle(60_000), limiter.isIdle(60_001)], [false, true])
  const request = undefined as never
  limiter.held.push(request)
  assert.deepEqual([limiter.isBusy, limiter.isIdle(60_001)], [false, false])
  limiter.held.pop()
  limiter.waiting.push(request)
  assert.deepEqual([limiter.isBusy, limiter.isIdle(60_001)], [true, false])
})

test('the ring grows while it is wrapped around its end', () => {
  const window = new Window()
  const times = Array.from({ length: 100 }, (_, i) => 1_000 * i)
  times.forEach((time, i) => {
    // Half of the first sixteen expire, so the next eight are at the beginning of the ring.
    if (i === 16) assert.equal(window.room(16, WINDOW_MS + 7_001), 8)
    window.add(time)
  })
  const left = times.slice(8)
  left.forEach((time, i) =>
    assert.equal(window.fullFor(left.length - i, 67_001), WINDOW_MS - (67_001 - time)),
  )
})

test('of thousands of admissions, those of exactly a minute ago count', () => {
  for (const [older, equal] of [
    [0, 3],
    [1, 1_000],
    [999, 1],
    [1_000, 1_000],
  ] as const) {
    const window = new Window()
    window.addAll(new Float64Array(older + equal).fill(5).fill(4, 0, older))
    assert.equal(window.room(5_000, WINDOW_MS + 5), 5_000 - equal)
  }
})
