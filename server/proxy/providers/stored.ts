// Providers that the operator adds by the API: servers with OpenAI's dialect, or with the API of a
// built-in provider, under their own name.
import { z } from 'zod'
import { Problem, invalidField } from '../../common/errors.ts'
import { OWN_API } from '../../config/providers-file.ts'
import { StoreError } from '../../store/store-error.ts'
import type { Store } from '../../store/store.ts'
import { procedure, run } from '../../store/procedure.ts'
import type { ProviderRow } from '../../store/schema.ts'
import type { Partly } from '../../store/statement.ts'
import type { CustomProvider } from './provider.ts'
import type { Auth } from './wire-format.ts'

/** The settings of a provider; null takes the default. */
export interface ProviderSettings {
  /** The origin for callers: `https://host[:port]`. */
  origin: string
  /** The dialled address instead; required for a private network. */
  dial: string | null
  auth: Auth | null
  /** The built-in provider whose API it has. */
  speaks: string | null
  /** What its API has of its own. */
  api: OwnApi
}

const OwnApi = z.object(OWN_API)
/** Endpoints and closed paths that an added provider has beyond the API that it speaks. */
export type OwnApi = Required<Pick<CustomProvider, 'endpoints' | 'minting' | 'admin'>>

/** All stored providers, oldest first: there are never many. */
export async function storedProviders(store: Store): Promise<CustomProvider[]> {
  const rows = await store.db
    .selectFrom('providers')
    .selectAll()
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ id, origin, dial, speaks, own_api, auth_header, auth_scheme }) => ({
    id,
    origin,
    ...(own_api === null ? {} : OwnApi.parse(JSON.parse(own_api))),
    ...(speaks === null ? {} : { speaks }),
    ...(dial === null ? {} : { dial }),
    ...(auth_header === null
      ? {}
      : {
          auth: { header: auth_header, ...(auth_scheme === null ? {} : { scheme: auth_scheme }) },
        }),
  }))
}

/** Stores a provider. @throws Problem `invalid_field` if the id or the origin is taken */
export async function createProvider(
  store: Store,
  id: string,
  { origin, dial, speaks, auth, api }: ProviderSettings,
  now: number,
): Promise<void> {
  await store.db
    .insertInto('providers')
    .values({
      id,
      origin,
      dial,
      speaks,
      own_api: apiColumn(api),
      ...columnsOf(auth),
      created_at: now,
    })
    .execute()
    .catch(taken)
}

/**
 * Changes a stored provider; undefined keeps a field. @throws Problem `provider_not_found`;
 * `invalid_field` if the origin is taken
 */
export async function changeProvider(
  store: Store,
  id: string,
  { origin, dial, speaks, auth, api }: Partly<ProviderSettings>,
): Promise<void> {
  const [changed] = await store
    .write(
      store.db
        .updateTable('providers')
        .set({
          id,
          origin,
          dial,
          speaks,
          own_api: api && apiColumn(api),
          ...(auth === undefined ? {} : columnsOf(auth)),
        })
        .where('id', '=', id),
    )
    .catch(taken)
  if (changed === undefined || changed.affected === 0) throw noSuchProvider()
}

/**
 * Deletes a stored provider and its credentials permanently. @throws Problem `provider_not_found`
 */
export async function deleteProvider(store: Store, id: string): Promise<void> {
  if (!(await store.run(removeProvider, { id }))) throw noSuchProvider()
}

/** Deletes a stored provider and its credentials; returns whether it existed. */
export const removeProvider = procedure(
  import.meta.url,
  'removeProvider',
  function* (db, { id }: { id: string }) {
    if ((yield* run(db.deleteFrom('providers').where('id', '=', id))) === 0) return false
    yield* run(
      db
        .deleteFrom('credential_tests')
        .where(
          'credential_id',
          'in',
          db.selectFrom('credentials').select('id').where('provider', '=', id),
        ),
    )
    yield* run(db.deleteFrom('credentials').where('provider', '=', id))
    return true
  },
)

function columnsOf(auth: Auth | null): Pick<ProviderRow, 'auth_header' | 'auth_scheme'> {
  return { auth_header: auth?.header ?? null, auth_scheme: auth?.scheme ?? null }
}

const apiColumn = (api: OwnApi): string | null =>
  Object.values(api).every((list) => list.length === 0) ? null : JSON.stringify(api)

function taken(error: unknown): never {
  if (error instanceof StoreError && error.code === 'unique')
    throw invalidField(
      'origin',
      'A provider with this id or origin already exists. Choose another one.',
    )
  throw error
}

/** The error if no provider with that id can be changed. */
export function noSuchProvider(): Problem {
  return new Problem(
    'provider_not_found',
    'No added provider has this id. Built-in ones and those of TOLLMARK_PROVIDERS cannot be changed here.',
  )
}
