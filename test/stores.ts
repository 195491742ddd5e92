// TABLE of stores: a test of the contract runs on each of them.
import { after, test } from 'node:test'
import type { TestContext } from 'node:test'
import { openStore } from '../server/store/open.ts'
import type { Store } from '../server/store/open.ts'
import { closeDatabases, freshDatabase } from './postgres.ts'
import type { Place } from './place.ts'
import { temporaryFolder } from './temporary.ts'

export const STORES: { name: Store['dialect']; place: (t: TestContext) => Promise<Place> }[] = [
  { name: 'sqlite', place: async (t) => ({ data: temporaryFolder(t), databaseUrl: null }) },
  { name: 'postgres', place: async (t) => ({ data: temporaryFolder(t), databaseUrl: await freshDatabase() }) },
]

after(closeDatabases)

/** Declares a test for every store; each gets an empty one. */
export function onEveryStore(name: string, body: (t: TestContext, place: Place) => Promise<void>): void {
  for (const store of STORES) test(`${store.name}: ${name}`, async (t) => body(t, await store.place(t)))
}

/** Opens a store until the test ends. */
export async function openAt(t: TestContext, place: Place, now = 0): Promise<Store> {
  const store = await openStore({ ...place, now })
  t.after(() => store.close())
  return store
}
