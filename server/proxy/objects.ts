// Objects that providers store for us (files, batches, responses, operations): which credential reaches one, and whose it is.
import type { Store } from '../store/open.ts'
import { first, procedure, run, type Steps } from '../store/procedure.ts'
import type { ObjectRow } from '../store/schema.ts'
import { passingTrouble } from '../store/trouble.ts'
import type { ObjectRef } from './providers/endpoint.ts'

export interface Objects {
  /** Remembers what an answer created. The next request finds it, even before it is durable, or while the store does not answer. */
  created(provider: string, object: ObjectRef, key: string, credential: string, now: number): void
  /** Has `look` wait for an answer that has passed and is still being decoded; `created` follows at once. */
  expect(reading: Promise<unknown>): void
  /**
   * What is known of the objects that a request names. `foreign`: one belongs to another key. `credential`: the one that reaches them, null where
   * none of them is known.
   */
  look(provider: string, objects: readonly ObjectRef[], key: string): Promise<{ foreign: boolean; credential: string | null }>
  /** Whether any object of the provider belongs to another key; with `kind`, any of these. */
  anyForeign(provider: string, key: string, kind?: string): Promise<boolean>
}

/** How many of the newest are also kept in memory, and of those that are not written yet. */
const REMEMBERED = 10_000
/** When those that could not be written are tried again. */
const RETRY_MS = 1_000
/**
 * The kind that is nobody's, and remembered in memory only: items of stored responses. Each answer has several, and a request names those of a whole
 * conversation; what they are named for is the credential. Callers give items such names too.
 */
const ITEM = 'item'
/** Names that are looked for at once. */
const AT_ONCE = 1_000

/** @param onError told when an object cannot be written; it is tried again */
export function openObjects(store: Store, onError: (error: unknown) => void): Objects {
  const fresh = new Map<string, ObjectRow>()
  /** Credentials of items. */
  const items = new Map<string, string>()
  const expected: Promise<unknown>[] = []
  const owed: ObjectRow[] = []
  let timer: NodeJS.Timeout | null = null

  /** Who has it by now. */
  const keep = (row: ObjectRow): void => {
    const name = nameOf(row.provider, row.kind, row.object_id)
    if (fresh.has(name)) fresh.set(name, row)
  }

  const write = (row: ObjectRow): void => {
    store.run(insertObject, row).then(keep, (error: unknown) => {
      if (timer === null) onError(error)
      if (passingTrouble(error) === undefined || owed.length === REMEMBERED) return
      owed.push(row)
      timer ??= setTimeout(writeOwed, RETRY_MS).unref()
    })
  }

  function writeOwed(): void {
    timer = null
    for (const row of owed.splice(0)) write(row)
  }

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
      const name = nameOf(provider, kind, id)
      if (kind === ITEM) return remember(items, name, credential_id)
      // Answers name it again and again.
      if (fresh.has(name)) return
      remember(fresh, name, row)
      write(row)
    },
    expect(reading) {
      expected.push(reading)
      void reading.then(() => expected.splice(expected.indexOf(reading), 1))
    },
    async look(provider, objects, key) {
      if (expected.length > 0) await Promise.all(expected)
      let credential: string | null = null
      const remembered = ({ kind, id }: ObjectRef) => fresh.get(nameOf(provider, kind, id))
      const others = objects.filter((object) => object.kind !== ITEM && remembered(object) === undefined)
      const stored = await find(provider, others)
      for (const object of objects) {
        const row = remembered(object) ?? stored.get(`${object.kind} ${object.id}`)
        if (row === undefined) continue
        if (row.key_id !== key) return { foreign: true, credential: null }
        credential ??= row.credential_id
      }
      for (let i = objects.length - 1; credential === null && i >= 0; i--) credential = items.get(nameOf(provider, objects[i]!.kind, objects[i]!.id)) ?? null
      return { foreign: false, credential }
    },
    async anyForeign(provider, key, kind) {
      for (const row of fresh.values()) if (row.provider === provider && row.key_id !== key && (kind ?? row.kind) === row.kind) return true
      const rows = store.db.selectFrom('objects').select('key_id').where('provider', '=', provider).where('key_id', '<>', key)
      const row = await (kind === undefined ? rows : rows.where('kind', '=', kind)).limit(1).executeTakeFirst()
      return row !== undefined
    },
  }
}

/** Adds one, in the place of the oldest where there are too many. */
function remember<T>(known: Map<string, T>, name: string, value: T): void {
  known.set(name, value)
  if (known.size > REMEMBERED) known.delete(known.keys().next().value!)
}

const nameOf = (provider: string, kind: string, id: string): string => `${provider} ${kind} ${id}`

/** Keeps the first owner, and gives it: a provider that gave one id twice must not hand an object over. */
export const insertObject = procedure(import.meta.url, 'insertObject', function* (db, row: ObjectRow): Steps<ObjectRow> {
  const { provider, kind, object_id } = row
  const isNew = yield* run(db.insertInto('objects').values(row).onConflict((conflict) => conflict.columns(['provider', 'kind', 'object_id']).doNothing()))
  if (isNew > 0) return row
  return (yield* first(db.selectFrom('objects').selectAll().where('provider', '=', provider).where('kind', '=', kind).where('object_id', '=', object_id))) ?? row
})
