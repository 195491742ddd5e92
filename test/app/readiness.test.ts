// What /readyz says of a store that fails: a full disk is mended in another way than a lost store,
// and a process that admits requests without its store is ready.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HealthState } from '../../server/api/health.ts'
import { Readiness } from '../../server/app/readiness.ts'
import { kyselyOn } from '../../server/store/dialect.ts'
import { openStore } from '../../server/store/open.ts'
import type { Store } from '../../server/store/store.ts'
import { StoreError, type StoreErrorCode } from '../../server/store/store-error.ts'
import { usedFolder } from '../support/templates.ts'

const ALONE = 'proxied requests are admitted without it for TOLLMARK_STORE_GRACE'

/**
 * TABLE of what fails: the heartbeat, the blobs; whether requests are admitted without the store;
 * and what is said of it.
 */
const FAILURES: [
  beat: StoreErrorCode | null,
  stored: StoreErrorCode | null,
  alone: boolean,
  HealthState,
][] = [
  [null, null, true, { status: 'ok', troubles: [] }],
  ['unavailable', null, false, unavailable('the database does not answer')],
  ['busy', null, false, unavailable('the database does not answer')],
  ['full', null, false, unavailable('the disk of the database is full')],
  [null, 'blobs', true, { status: 'degraded', troubles: ['files cannot be stored'] }],
  [
    null,
    'full',
    false,
    { status: 'degraded', troubles: ['the disk is full: files cannot be stored'] },
  ],
  [
    'full',
    'full',
    false,
    unavailable('the disk of the database is full', 'the disk is full: files cannot be stored'),
  ],
  [
    'unavailable',
    null,
    true,
    { status: 'degraded', troubles: [`the database does not answer; ${ALONE}`] },
  ],
  [
    'full',
    null,
    true,
    { status: 'degraded', troubles: [`the disk of the database is full; ${ALONE}`] },
  ],
  [
    'unavailable',
    'blobs',
    true,
    {
      status: 'degraded',
      troubles: [`the database does not answer; ${ALONE}`, 'files cannot be stored'],
    },
  ],
]

function unavailable(...troubles: string[]): HealthState {
  return { status: 'unavailable', troubles }
}

test('a full disk is distinguished from a store that does not respond', async (t) => {
  await using store = await openStore({ data: usedFolder(t), databaseUrl: null, now: 0 })
  for (const [beat, stored, alone, state] of FAILURES) {
    const readiness = new Readiness()
    readiness.opened(
      {
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
      },
      // Only the ledger has noticed so far: the heartbeat that is asked for says why.
      {
        failing: () => beat !== null,
        admitsAlone: () => alone,
        canAdmitAlone: () => Promise.resolve(alone),
      },
    )
    assert.deepEqual(await readiness.check(), state)
    assert.equal(readiness.isReady(), beat === null || alone)
    assert.equal(readiness.isStoreFailing(), beat !== null)
  }
})

/** What Caddy waits for, in deploy/Caddyfile. */
const BALANCER_TIMEOUT_MS = 2_000

test("if nothing responds, the health check ends before a balancer's timeout", async (t) => {
  const never = new Promise<never>(() => {})
  await using store = await openStore({ data: usedFolder(t), databaseUrl: null, now: 0 })
  const readiness = new Readiness()
  readiness.opened(
    {
      store: Object.create(store, {
        db: { value: kyselyOn({ read: () => never, write: () => never }, 'postgres') },
      }) as Store,
      instance: {
        id: 'ins',
        failure: () => null,
        beat: () => never,
        [Symbol.asyncDispose]: () => Promise.resolve(),
      },
      blobs: {
        put: () => never,
        open: () => never,
        size: () => never,
        file: () => never,
        remove: () => never,
        check: () => never,
      },
    },
    { failing: () => true, admitsAlone: () => true, canAdmitAlone: () => Promise.resolve(true) },
  )
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const check = readiness.check()
  t.mock.timers.tick(BALANCER_TIMEOUT_MS / 2)
  assert.equal((await check).status, 'degraded')
})
