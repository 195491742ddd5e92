import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Window, WINDOW_MS } from '../../../server/ledger/admission/sliding-window.ts'

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
