import assert from 'node:assert/strict'
import { listRequests } from '../../server/ledger/requests.ts'
import { onEveryStore } from '../stores.ts'
import { asking, openFor } from './opened.ts'

const HOUR = 3_600_000

onEveryStore('a span of time gives its rows, newest first, also where the clock was set back', async (t, place) => {
  const { store, ledger, clock } = await openFor(t, place)
  const made: { id: string; at: number }[] = []
  for (const hours of [0, 1, 5, 5, 4.5, 6, 9, 8.5, 20, 21]) {
    clock.wallBy = hours * HOUR
    const one = asking('k', null)
    const admission = await ledger.admit(one)
    assert.ok(admission.admitted)
    made.unshift({ id: one.id, at: admission.created_at })
  }
  const start = made.at(-1)!.at
  for (const [from, to] of [[-1, 30], [4.4, 6.5], [4.8, 5.5], [8.4, 8.9], [7, 8], [20.5, 40], [30, 40], [-9, -1], [undefined, 5.5], [5.5, undefined]]) {
    const span = { from: from === undefined ? undefined : start + from * HOUR, to: to === undefined ? undefined : start + to * HOUR }
    const shown = await listRequests(store, { account: null, ...span }, 100, undefined)
    const expected = made.filter(({ at }) => at >= (span.from ?? -Infinity) && at < (span.to ?? Infinity))
    assert.deepEqual(shown.map(({ id }) => id), expected.map(({ id }) => id), `${from} to ${to}`)
  }
})
