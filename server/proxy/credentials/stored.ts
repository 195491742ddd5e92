// Stored credentials: their secrets are written once, used, and never shown again.
import { isoTime } from '../../common/clock.ts'
import { Problem } from '../../common/errors.ts'
import { newId } from '../../common/ids.ts'
import type { Store } from '../../store/store.ts'
import { first, procedure, run, type Steps } from '../../store/procedure.ts'
import type { CredentialRow } from '../../store/schema.ts'
import type { Partly, QueryBuilder } from '../../store/statement.ts'
import type { Credential } from './pool.ts'
import { seal, unseal } from './encryption.ts'

/** A credential as the API shows it: everything but the secret. */
export interface ShownCredential {
  id: string
  object: 'credential'
  provider: string
  name: string
  /** Azure's `resource`, Bedrock's `region`. */
  values: Record<string, string>
  weight: number
  status: 'active' | 'paused'
  created_at: string
}

/** A new credential as entered by an administrator, with its secret in plain text. */
export interface NewCredential {
  provider: string
  name: string
  secret: string
  values: Record<string, string>
  weight: number
}

/**
 * Stores a credential, sealed.
 *
 * @param ofStored whether its provider is a stored one, which another process may delete meanwhile;
 *   then this returns undefined
 */
export async function createCredential(
  store: Store,
  master: Buffer,
  added: NewCredential,
  ofStored: boolean,
  now: number,
): Promise<ShownCredential | undefined> {
  const id = newId('cred', now)
  const { provider, name, secret, values, weight } = added
  const sealed = seal(master, secret, recordOf(id, provider))
  const row = await store.run(insertCredential, {
    row: {
      id,
      provider,
      name,
      sealed,
      host_values: JSON.stringify(values),
      weight,
      paused: 0,
      created_at: now,
    },
    ofStored,
  })
  return row && showCredential(row)
}

/** All stored credentials, oldest first: there are never many. */
export async function listCredentials(store: Store): Promise<ShownCredential[]> {
  return (await rows(store)).map(showCredential)
}

/** @throws Problem `credential_not_found` */
async function getCredential(store: Store, id: string): Promise<ShownCredential> {
  const row = (await rows(store)).find((one) => one.id === id)
  if (!row) throw noSuchCredential()
  return showCredential(row)
}

/** The error for an unknown credential id. */
export function noSuchCredential(): Problem {
  return new Problem(
    'credential_not_found',
    'No stored credential has this id. GET /api/v1/credentials lists them; those of the environment are changed there.',
  )
}

/**
 * Changes the name, the weight or whether it is used; undefined keeps a field. @throws Problem
 * `credential_not_found`
 */
export async function changeCredential(
  store: Store,
  id: string,
  { paused, ...plain }: Partly<{ name: string; weight: number; paused: boolean }>,
): Promise<ShownCredential> {
  await getCredential(store, id)
  await store.run(updateCredential, {
    id,
    change: { ...plain, paused: paused === undefined ? undefined : Number(paused) },
  })
  return getCredential(store, id)
}

/** Deletes a credential permanently. @throws Problem `credential_not_found` */
export async function deleteCredential(store: Store, id: string): Promise<void> {
  await getCredential(store, id)
  await store.write(
    store.db.deleteFrom('credentials').where('id', '=', id),
    store.db.deleteFrom('credential_tests').where('credential_id', '=', id),
  )
}

/** Stored credentials ready for use, and the ids of those that the master key cannot decrypt. */
export async function openCredentials(
  store: Store,
  master: Buffer,
): Promise<{ usable: Credential[]; unreadable: string[] }> {
  const usable: Credential[] = []
  const unreadable: string[] = []
  for (const row of await rows(store)) {
    const secret = unseal(master, row.sealed, recordOf(row.id, row.provider))
    if (secret === null) unreadable.push(row.id)
    else
      usable.push({
        id: row.id,
        provider: row.provider,
        secret,
        values: valuesOf(row),
        weight: row.paused === 1 ? 0 : row.weight,
      })
  }
  return { usable, unreadable }
}

/** A version that changes with every change to a stored credential. */
export async function credentialsVersion(store: Store): Promise<string> {
  const found = await store.db
    .selectFrom('credentials')
    .select((e) => [
      e.fn.countAll<number>().as('count'),
      e.fn.max('revision').as('revision'),
      e.fn.max('id').as('id'),
    ])
    .executeTakeFirstOrThrow()
  // Also the newest id, because a revision is reused when its row is deleted.
  return `${found.count}.${found.revision}.${found.id}`
}

/** Inserts a credential, if its provider exists. */
export const insertCredential = procedure(
  import.meta.url,
  'insertCredential',
  function* (
    db,
    { row, ofStored }: { row: Omit<CredentialRow, 'revision'>; ofStored: boolean },
  ): Steps<CredentialRow | undefined> {
    if (
      ofStored &&
      !(yield* first(db.selectFrom('providers').select('id').where('id', '=', row.provider)))
    )
      return undefined
    const whole = { ...row, revision: yield* nextRevision(db) }
    yield* run(db.insertInto('credentials').values(whole))
    return whole
  },
)

/** Changes a credential; undefined fields stay. */
export const updateCredential = procedure(
  import.meta.url,
  'updateCredential',
  function* (db, { id, change }: { id: string; change: Partly<CredentialRow> }): Steps<void> {
    yield* run(
      db
        .updateTable('credentials')
        .set({ ...change, revision: yield* nextRevision(db) })
        .where('id', '=', id),
    )
  },
)

function* nextRevision(db: QueryBuilder): Steps<number> {
  const last = yield* first(
    db.selectFrom('credentials').select('revision').orderBy('revision', 'desc').limit(1),
  )
  return (last?.revision ?? 0) + 1
}

function rows(store: Store): Promise<CredentialRow[]> {
  return store.db.selectFrom('credentials').selectAll().orderBy('id').execute()
}

/** The associated data of a sealed secret. */
function recordOf(id: string, provider: string): string {
  return `${id} ${provider}`
}

function valuesOf(row: CredentialRow): Record<string, string> {
  return JSON.parse(row.host_values) as Record<string, string> // written by createCredential only
}

function showCredential(row: CredentialRow): ShownCredential {
  const { id, provider, name, weight, paused, created_at } = row
  return {
    id,
    object: 'credential',
    provider,
    name,
    values: valuesOf(row),
    weight,
    status: paused === 1 ? 'paused' : 'active',
    created_at: isoTime(created_at),
  }
}
