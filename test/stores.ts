// TABLE of stores: a test of the contract runs on each of them.
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { openStore } from '../server/store/open.ts'
import type { Store } from '../server/store/open.ts'
import { freshDatabase } from './postgres.ts'
import { temporaryFolder } from './temporary.ts'

/** Where a store is: everything that a process must know to open it. */
export interface Place {
  data: string
  databaseUrl: URL | null
}

export const STORES: { name: Store['dialect']; place: (t: TestContext) => Promise<Place> }[] = [
  { name: 'sqlite', place: async (t) => ({ data: temporaryFolder(t), databaseUrl: null }) },
  { name: 'postgres', place: async (t) => ({ data: temporaryFolder(t), databaseUrl: await freshDatabase(t) }) },
]

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

/** A place as the settings of a server or a command. */
export function settingsOf({ data, databaseUrl }: Place): Record<string, string> {
  return { TOLLMARK_DATA: data, ...(databaseUrl ? { DATABASE_URL: databaseUrl.href } : {}) }
}

/** A place as the arguments of one of our test programs; see `placeFrom`. */
export function argumentsOf({ data, databaseUrl }: Place): string[] {
  return [data, databaseUrl?.href ?? '']
}

/** The place in a test program's first two arguments. */
export function placeFrom([data = '', url = '']: string[]): Place {
  return { data, databaseUrl: url === '' ? null : new URL(url) }
}
