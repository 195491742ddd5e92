import assert from 'node:assert/strict'
import { countConversion } from '../../server/conversion/admission.ts'
import { admit } from '../../server/conversion/admit.ts'
import { createJobNotifications } from '../../server/conversion/jobs/notifications.ts'
import { usedToday } from '../../server/accounts/quota.ts'
import { openLog } from '../../server/common/log.ts'
import { enterInstance } from '../../server/store/instance.ts'
import { onEveryStore, openAt } from '../support/stores.ts'

const NOW = Date.UTC(2026, 10, 3, 12)
const PLAN = { name: 'free', conversionsPerDay: 30 }

onEveryStore(
  'a burst on one account over two processes uses exactly its quota and delays nobody else',
  async (t, place) => {
    const stores = [await openAt(t, place, NOW), await openAt(t, place, NOW)]
    for (const id of ['busy', 'calm'])
      await stores[0]!.db
        .insertInto('accounts')
        .values({
          id,
          name: id,
          email: null,
          plan: 'free',
          role: 'member',
          created_at: 0,
          disabled: 0,
        })
        .execute()
    const instances = await Promise.all(
      stores.map((store) =>
        enterInstance(
          store,
          () => NOW,
          (error) => assert.fail(String(error)),
        ),
      ),
    )
    const decided = stores.map((store) => createJobNotifications(store))
    const convertOne = async (account: string, i: number): Promise<string> => {
      const [store, { id: instance }] = [stores[i % 2]!, instances[i % 2]!]
      try {
        const admission = await admit(
          store,
          { account, plan: PLAN, key: undefined, fingerprint: '', instance },
          () => NOW,
          AbortSignal.timeout(60_000),
          decided[i % 2]!,
          openLog('silent'),
        )
        assert.ok(!('stored' in admission))
        await countConversion(store, admission, undefined, 0, NOW)
        decided[i % 2]!.notify()
        return 'done'
      } catch (error) {
        return error instanceof Error && 'code' in error ? String(error.code) : String(error)
      }
    }
    const burst = Promise.all(Array.from({ length: 100 }, (_, i) => convertOne('busy', i)))
    assert.deepEqual(await Promise.all([convertOne('calm', 0), convertOne('calm', 1)]), [
      'done',
      'done',
    ])
    const outcomes = Map.groupBy(await burst, (outcome) => outcome)
    assert.deepEqual(
      [outcomes.get('done')?.length, outcomes.get('quota_exceeded')?.length],
      [30, 70],
    )
    assert.deepEqual(
      [await usedToday(stores[0]!, 'busy', NOW), await usedToday(stores[1]!, 'calm', NOW)],
      [30, 2],
    )
    for (const instance of instances) await instance[Symbol.asyncDispose]()
  },
)
