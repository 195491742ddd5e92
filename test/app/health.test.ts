// What /readyz says of a store that fails: a full disk is mended in another way than a lost store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Readiness } from '../../server/app/health.ts'
import { openStore } from '../../server/store/open.ts'
import { StoreError, type StoreErrorCode } from '../../server/store/store-error.ts'
import { temporaryFolder } from '../support/temporary.ts'

/** TABLE of what fails: the heartbeat, the blobs, and the sentences for it. */
const FAILURES: [StoreErrorCode | null, StoreErrorCode | null, string[]][] = [
  [null, null, []],
  ['unavailable', null, ['the store does not answer']],
  ['busy', null, ['the store does not answer']],
  ['full', null, ['the disk of the store is full']],
  [null, 'blobs', ['files cannot be stored']],
  [null, 'full', ['the disk is full: files cannot be stored']],
  ['full', 'full', ['the disk of the store is full', 'the disk is full: files cannot be stored']],
]

test('a full disk is told apart from a store that does not answer', async (t) => {
  await using store = await openStore({ data: temporaryFolder(t), databaseUrl: null, now: 0 })
  for (const [beat, stored, troubles] of FAILURES) {
    const readiness = new Readiness()
    // Only the ledger has noticed so far: the heartbeat that is asked for says why.
    readiness.watch(() => beat !== null)
    readiness.opened({
      store,
      instance: {
        id: 'ins',
        failure: () => null,
        beat: () => Promise.resolve(beat),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      },
      blobs: {
        put: () => Promise.resolve(),
        open: () => Promise.reject(new Error('nothing is read here')),
        size: () => Promise.resolve(0),
        file: () => Promise.reject(new Error('nothing is read here')),
        remove: () => Promise.resolve(),
        check: () =>
          stored === null ? Promise.resolve() : Promise.reject(new StoreError(stored, 'no')),
      },
    })
    assert.deepEqual(await readiness.troubles(), troubles)
    assert.equal(readiness.isReady(), beat === null)
  }
})
