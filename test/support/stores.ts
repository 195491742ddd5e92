// TABLE of stores: contract tests run on each.
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { openStore } from '../../server/store/open.ts'
import type { Store } from '../../server/store/store.ts'
import { closeDatabases, freshDatabase, usedDatabase } from './postgres.ts'
import type { Place } from './place.ts'
import { processEnds } from './process-ends.ts'
import { usedFolder } from './templates.ts'
import { temporaryFolder } from './temporary.ts'

type Places = Readonly<Record<Store['dialect'], (t: TestContext) => Promise<Place>>>

/** A migrated place without data on each store. */
export const placeOn: Places = {
  sqlite: async (t) => ({ data: usedFolder(t), databaseUrl: null }),
  postgres: async (t) => ({ data: temporaryFolder(t), databaseUrl: await usedDatabase() }),
}

/** An empty place on each store, which the first server migrates. */
export const emptyPlaceOn: Places = {
  sqlite: async (t) => ({ data: temporaryFolder(t), databaseUrl: null }),
  postgres: async (t) => ({ data: temporaryFolder(t), databaseUrl: await freshDatabase() }),
}

processEnds.after(closeDatabases)

type Body = (t: TestContext, place: Place) => Promise<void>

/** Declares a test for every store, migrated and without data. */
export function onEveryStore(name: string, body: Body): void {
  declare(placeOn, name, body)
}

/** The same for tests of migrations, with an empty place. */
export function onEveryEmptyPlace(name: string, body: Body): void {
  declare(emptyPlaceOn, name, body)
}

function declare(places: Places, name: string, body: Body): void {
  for (const [store, place] of Object.entries(places))
    test(`${store}: ${name}`, async (t) => body(t, await place(t)))
}

/** Opens a store until the test ends. */
export async function openAt(t: TestContext, place: Place, now = 0): Promise<Store> {
  const store = await openStore({ ...place, now })
  t.after(() => store.close())
  return store
}
