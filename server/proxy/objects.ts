// Objects that providers store for us (files, batches, responses, operations): which credential reaches one, and whose it is.
import type { Store } from '../store/open.ts'
import { procedure, run, type Steps } from '../store/procedure.ts'
import type { ObjectRow } from '../store/schema.ts'
import type { ObjectRef } from './providers/endpoint.ts'

export interface Objects {
  /** Remembers what an answer created. The next request finds it, even before it is durable. */
  created(provider: string, object: ObjectRef, key: string, credential: string, now: number): void
  /** Has `look` wait for an answer that has passed and is still being decoded; `created` follows at once. */
  expect(reading: Promise<unknown>): void
  /**
   * What is known of the objects that a request names. `foreign`: one belongs to another key. `credential`: the one that reaches them, null where
   * none of them is known.
   */
  look(provider: string, objects: readonly ObjectRef[], key: string): Promise<{ foreign: boolean; credential: string | null }>
  /** Whether any object of the provider belongs to another key. */
  anyForeign(provider: string, key: string): Promise<boolean>
}

/** How many of the newest are also kept in memory. */
const REMEMBERED = 10_000
/** Names that are looked for at once. */
const AT_ONCE = 1_000

export function openObjects(store: Store, onError: (error: unknown) => void): Objects {
  const fresh = new Map<string, ObjectRow>()
  const expected: Promise<unknown>[] = []

  /** Those that are known, by kind and id. */
  const find = async (provider: string, objects: readonly ObjectRef[]): Promise<Map<string, ObjectRow>> => {
    const kinds = [...new Set(objects.map(({ kind }) => kind))]
    const ids = [...new Set(objects.map(({ id }) => id))]
    const found = new Map<string, ObjectRow>()
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const rows = await store.db.selectFrom('objects').selectAll().where('provider', '=', provider).where('kind', 'in', kinds).where('object_id', 'in', ids.slice(at, at + AT_ONCE)).execute()
      for (const row of rows) found.set(`${row.kind} ${row.object_id}`, row)
    }
    return found
  }

  return {
    created(provider, { kind, id }, key_id, credential_id, created_at) {
      const row = { provider, kind, object_id: id, key_id, credential_id, created_at }
      const name = `${provider} ${kind} ${id}`
      // Answers name it again and again.
      if (fresh.has(name)) return
      fresh.set(name, row)
      if (fresh.size > REMEMBERED) fresh.delete(fresh.keys().next().value!)
      store.run(insertObject, row).catch(onError)
    },
    expect(reading) {
      expected.push(reading)
      void reading.then(() => expected.splice(expected.indexOf(reading), 1))
    },
    async look(provider, objects, key) {
      if (expected.length > 0) await Promise.all(expected)
      let credential: string | null = null
      const stored = await find(provider, objects)
      for (const { kind, id } of objects) {
        const row = stored.get(`${kind} ${id}`) ?? fresh.get(`${provider} ${kind} ${id}`)
        if (row === undefined) continue
        if (row.key_id !== key) return { foreign: true, credential: null }
        credential ??= row.credential_id
      }
      return { foreign: false, credential }
    },
    async anyForeign(provider, key) {
      for (const row of fresh.values()) if (row.provider === provider && row.key_id !== key) return true
      const row = await store.db.selectFrom('objects').select('key_id').where('provider', '=', provider).where('key_id', '<>', key).limit(1).executeTakeFirst()
      return row !== undefined
    },
  }
}

/** Keeps the first owner: a provider that gave one id twice must not hand an object over. */
export const insertObject = procedure(import.meta.url, 'insertObject', function* (db, row: ObjectRow): Steps<void> {
  yield* run(db.insertInto('objects').values(row).onConflict((conflict) => conflict.columns(['provider', 'kind', 'object_id']).doNothing()))
})
