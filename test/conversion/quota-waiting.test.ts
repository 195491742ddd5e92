// A request that finds the rest of the quota reserved waits, and is told when that is decided: it
// does not ask the store again and again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cancelAdmission } from '../../server/conversion/admission.ts'
import { admit } from '../../server/conversion/admit.ts'
import type { JobNotifications } from '../../server/conversion/jobs/notifications.ts'
import { openLog } from '../../server/common/log.ts'
import { enterInstance } from '../../server/store/instance.ts'
import type { Store } from '../../server/store/store.ts'
import { openStore } from '../../server/store/open.ts'
import { usedFolder } from '../support/templates.ts'

const NOW = Date.UTC(2026, 10, 3, 12)

/** Changes of which nobody tells but the test. */
function changesOfTest(): JobNotifications {
  const listeners = new Set<() => void>()
  return {
    notify: () => listeners.forEach((listener) => listener()),
    subscribe: (listener) => (listeners.add(listener), () => listeners.delete(listener)),
  }
}

test('a waiting request is woken when its quota is decided', async (t) => {
  await using store = await openStore({ data: usedFolder(t), databaseUrl: null, now: NOW })
  await store.db
    .insertInto('accounts')
    .values({
      id: 'acc',
      name: 'a',
      email: null,
      plan: 'free',
      role: 'member',
      created_at: 0,
      disabled: 0,
    })
    .execute()
  await using instance = await enterInstance(
    store,
    () => NOW,
    (error) => assert.fail(String(error)),
  )
  const [log, decided, { signal }] = [openLog('silent'), changesOfTest(), new AbortController()]
  let asked = 0
  const counted: Store = {
    ...store,
    run: (...given: Parameters<Store['run']>) => (asked++, store.run(...given)),
  } as Store
  const request = {
    account: 'acc',
    plan: { name: 'free', conversionsPerDay: 1 },
    key: undefined,
    fingerprint: '',
    instance: instance.id,
  }
  const first = await admit(store, request, () => NOW, signal, decided, log)
  assert.ok('reservation' in first)
  const second = admit(counted, request, () => NOW, signal, decided, log)
  await new Promise((resolve) => setTimeout(resolve, 250))
  assert.equal(asked, 1)
  await cancelAdmission(store, first, false, log)
  decided.notify()
  assert.ok('reservation' in (await second))
  assert.equal(asked, 2)
})
