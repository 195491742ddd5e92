// The table of open sockets: each process writes its own sockets, so that any process can list and
// end all of them.
import type { Store } from '../../store/store.ts'
import type { OpenSocketRow } from '../../store/schema.ts'
import type { OpenSocket } from './open-sockets.ts'

/** A socket's row. */
export type SocketEntry = Omit<OpenSocketRow, 'instance' | 'ending'>

/** The fields that change while a socket is open. */
type SocketProgress = Pick<
  SocketEntry,
  'model' | 'requests' | 'tokens_in' | 'tokens_out' | 'bytes_in' | 'bytes_out'
>

const COLUMNS = [
  'id',
  'account_id',
  'key_id',
  'child_id',
  'end_user',
  'provider',
  'endpoint',
  'opened_at',
  'model',
  'requests',
  'tokens_in',
  'tokens_out',
  'bytes_in',
  'bytes_out',
] as const satisfies readonly (keyof SocketEntry)[]

/** The progress of a socket of this process. */
export function progressOf({ session }: OpenSocket): SocketProgress {
  const { model, bytes, usage, requests } = session
  return {
    model,
    requests,
    tokens_in: usage.tokens_in,
    tokens_out: usage.tokens_out,
    bytes_in: bytes.up,
    bytes_out: bytes.down,
  }
}

const entryOf = (socket: OpenSocket): SocketEntry => ({
  id: socket.id,
  account_id: socket.key.accountId,
  key_id: socket.key.id,
  child_id: socket.key.child?.id ?? null,
  end_user: socket.key.child?.endUser ?? null,
  provider: socket.provider,
  endpoint: socket.endpoint,
  opened_at: socket.openedAt,
  ...progressOf(socket),
})

/** Writes sockets of one process: new ones, and the progress of others. @throws StoreError */
export async function writeSockets(
  store: Store,
  instance: string,
  sockets: readonly OpenSocket[],
): Promise<void> {
  await store.db
    .insertInto('open_sockets')
    .values(sockets.map((socket) => ({ ...entryOf(socket), instance })))
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((e) => ({
        model: e.ref('excluded.model'),
        requests: e.ref('excluded.requests'),
        tokens_in: e.ref('excluded.tokens_in'),
        tokens_out: e.ref('excluded.tokens_out'),
        bytes_in: e.ref('excluded.bytes_in'),
        bytes_out: e.ref('excluded.bytes_out'),
      })),
    )
    .execute()
}

/** @throws StoreError */
export async function deleteSockets(store: Store, ids: readonly string[]): Promise<void> {
  await store.db.deleteFrom('open_sockets').where('id', 'in', ids).execute()
}

/** Deletes all rows of one process. @throws StoreError */
export async function deleteAll(store: Store, instance: string): Promise<void> {
  await store.db.deleteFrom('open_sockets').where('instance', '=', instance).execute()
}

/** The number of written sockets of one process. @throws StoreError */
export async function countWritten(store: Store, instance: string): Promise<number> {
  return countOf(store.db.selectFrom('open_sockets').where('instance', '=', instance))
}

/** The sockets of one process that an operator has asked to end. @throws StoreError */
export async function endingSockets(store: Store, instance: string): Promise<string[]> {
  const rows = await store.db
    .selectFrom('open_sockets')
    .select('id')
    .where('instance', '=', instance)
    .where('ending', '=', 1)
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Open sockets of all processes, the oldest first.
 *
 * @param account null for all
 * @param after id of the last socket of the page before
 * @throws StoreError
 */
export function listSockets(
  store: Store,
  account: string | null,
  limit: number,
  after: string | undefined,
): Promise<SocketEntry[]> {
  let query = ofAccount(store, account).select(COLUMNS).orderBy('id').limit(limit)
  if (after !== undefined) query = query.where('id', '>', after)
  return query.execute()
}

/** The number of open sockets. @throws StoreError */
export const countSockets = (store: Store, account: string | null): Promise<number> =>
  countOf(ofAccount(store, account))

/**
 * Asks the process of a socket to end it, which it does within a second.
 *
 * @returns false if there is no such socket, or it belongs to another account
 * @throws StoreError
 */
export async function endSocket(
  store: Store,
  id: string,
  account: string | null,
): Promise<boolean> {
  let query = store.db.updateTable('open_sockets').set({ ending: 1 }).where('id', '=', id)
  if (account !== null) query = query.where('account_id', '=', account)
  const { numUpdatedRows } = await query.executeTakeFirst()
  return numUpdatedRows > 0n
}

function ofAccount({ db }: Store, account: string | null) {
  const query = db.selectFrom('open_sockets')
  return account === null ? query : query.where('account_id', '=', account)
}

async function countOf(query: ReturnType<typeof ofAccount>): Promise<number> {
  const { open } = await query
    .select((e) => e.fn.countAll<number>().as('open'))
    .executeTakeFirstOrThrow()
  return Number(open)
}
