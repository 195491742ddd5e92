// A signal that the launcher forwards late on a busy machine is no second signal: it does not cut a
// drain short.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { handleStopSignals } from '../../server/app/signals.ts'

test('a late copy of a signal does not count, but a second signal does', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
  const before = new Set(signals.flatMap((signal) => process.listeners(signal)))
  const { first, second } = handleStopSignals()
  t.after(() => {
    for (const signal of signals)
      for (const listener of process.listeners(signal))
        if (!before.has(listener)) process.off(signal, listener)
  })
  process.emit('SIGHUP')
  assert.equal(await first, 'SIGHUP')
  // The process stood still for ten seconds: its timer is late, and fires once.
  const later = performance.now() + 10_000
  t.mock.method(performance, 'now', () => later)
  t.mock.timers.tick(150)
  process.emit('SIGHUP')
  assert.equal(second.aborted, false)
  t.mock.timers.tick(300)
  process.emit('SIGHUP')
  assert.equal(second.aborted, true)
  assert.equal(second.reason, 'SIGHUP')
})
