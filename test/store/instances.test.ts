import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { abandon, admit, countConversion } from '../../server/convert/admission.ts'
import type { Admission } from '../../server/convert/admission.ts'
import { usedToday } from '../../server/accounts/quota.ts'
import { enterInstance } from '../../server/store/instance.ts'
import { openStore } from '../../server/store/open.ts'
import type { Store } from '../../server/store/open.ts'
import { temporaryFolder } from '../temporary.ts'

const NOW = Date.UTC(2026, 10, 3, 12)
const PLAN = { name: 'free', conversionsPerDay: 2 }

async function open(t: TestContext): Promise<Store> {
  const store = await openStore({ data: temporaryFolder(t), databaseUrl: null, now: NOW })
  t.after(() => store.close())
  await store.db.insertInto('accounts').values({ id: 'acc', name: 'a', email: null, plan: 'free', role: 'member', created_at: 0, disabled: 0 }).execute()
  return store
}

const enter = (store: Store, now = NOW) => enterInstance(store, () => now, (error) => assert.fail(String(error)))
/** Lets a request of this instance in. */
async function letIn(store: Store, instance: string): Promise<Admission> {
  const admission = await admit(store, { account: 'acc', plan: PLAN, key: undefined, fingerprint: '', instance }, () => NOW, new AbortController().signal)
  assert.ok('reservation' in admission)
  return admission
}

/** An id that no process has: the kernel's largest is 2²². */
const NO_PROCESS = 2 ** 30

/** TABLE of other instances: what they are, their row, and whether what they hold is given back when another one starts. */
const OTHERS: [what: string, row: { host: string; pid: number; seen_at: number }, gone: boolean][] = [
  ['a process of this machine that runs', { host: hostname(), pid: process.ppid, seen_at: NOW }, false],
  ['a process of this machine that has ended', { host: hostname(), pid: NO_PROCESS, seen_at: NOW }, true],
  ['this process before it was started again in a container', { host: hostname(), pid: process.pid, seen_at: NOW }, true],
  ['a process of another machine, seen lately', { host: 'elsewhere', pid: NO_PROCESS, seen_at: NOW - 20_000 }, false],
  ['a process of another machine, not seen for long', { host: 'elsewhere', pid: NO_PROCESS, seen_at: NOW - 40_000 }, true],
]

for (const [what, row, gone] of OTHERS) {
  test(`what ${what} holds is ${gone ? 'given back' : 'kept'}`, async (t) => {
    const store = await open(t)
    await store.db.insertInto('instances').values({ id: 'ins_other', ...row }).execute()
    await letIn(store, 'ins_other')
    assert.equal(await usedToday(store, 'acc', NOW), 1)
    await using instance = await enter(store)
    assert.ok(instance.id.startsWith('ins_'))
    assert.equal(await usedToday(store, 'acc', NOW), gone ? 0 : 1)
  })
}

test('two instances in one process leave each other alone', async (t) => {
  const store = await open(t)
  await using first = await enter(store)
  await letIn(store, first.id)
  await using _second = await enter(store)
  assert.equal(await usedToday(store, 'acc', NOW), 1)
})

test('an instance that leaves gives back what it holds, and keeps what is counted', async (t) => {
  const store = await open(t)
  {
    await using instance = await enter(store)
    const admission = await letIn(store, instance.id)
    await letIn(store, instance.id)
    await countConversion(store, admission, undefined, 0, NOW)
    await abandon(store, admission)
    assert.equal(await usedToday(store, 'acc', NOW), 2)
  }
  assert.equal(await usedToday(store, 'acc', NOW), 1)
})

test('a process that was taken for dead never counts past the quota', async (t) => {
  const store = await open(t)
  await using lost = await enter(store)
  const [first, second] = [await letIn(store, lost.id), await letIn(store, lost.id)]
  await store.db.deleteFrom('instances').where('id', '=', lost.id).execute()
  await using other = await enter(store)
  await countConversion(store, await letIn(store, other.id), undefined, 0, NOW)
  // One place is left for the two that were lost.
  await countConversion(store, first, undefined, 0, NOW)
  await assert.rejects(countConversion(store, second, undefined, 0, NOW), { code: 'quota_exceeded' })
  assert.equal(await usedToday(store, 'acc', NOW), 2)
})
