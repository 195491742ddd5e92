// TABLE of stores: a test of the contract runs on each of them.
import { after, test } from 'node:test'
import type { TestContext } from 'node:test'
import { openStore } from '../../server/store/open.ts'
import type { Store } from '../../server/store/open.ts'
import { closeDatabases, freshDatabase, usedDatabase } from './postgres.ts'
import type { Place } from './place.ts'
import { usedFolder } from './templates.ts'
import { temporaryFolder } from './temporary.ts'

/** An empty place on each. */
export const placeOn: Record<Store['dialect'], (t: TestContext) => Promise<Place>> = {
  sqlite: async (t) => ({ data: temporaryFolder(t), databaseUrl: null }),
  postgres: async (t) => ({ data: temporaryFolder(t), databaseUrl: await freshDatabase() }),
}

after(closeDatabases)

type Body = (t: TestContext, place: Place) => Promise<void>

/** Declares a test for every store; each gets one in which nothing is. */
export function onEveryStore(name: string, body: Body): void {
  test(`sqlite: ${name}`, async (t) => body(t, { data: usedFolder(t), databaseUrl: null }))
  test(`postgres: ${name}`, async (t) =>
    body(t, { data: temporaryFolder(t), databaseUrl: await usedDatabase() }))
}

/** The same for tests of migrations: no server has been there before. */
export function onEveryEmptyPlace(name: string, body: Body): void {
  for (const [store, place] of Object.entries(placeOn))
    test(`${store}: ${name}`, async (t) => body(t, await place(t)))
}

/** Opens a store until the test ends. */
export async function openAt(t: TestContext, place: Place, now = 0): Promise<Store> {
  const store = await openStore({ ...place, now })
  t.after(() => store.close())
  return store
}
