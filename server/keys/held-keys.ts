// Counts the memory that the keys of each account take: all keys are in the memory of every
// process, so without a bound one account could use up everybody's.
import { Problem } from '../common/errors.ts'
import type { KeyRow } from '../store/schema.ts'
import type { Store } from '../store/store.ts'

/**
 * How much the keys of an account may take, in characters of their lists; about 30,000 keys with a
 * few models each. In memory that is two to three times as many bytes.
 */
export const MAX_HELD = 32 * 2 ** 20

/** What a key takes besides its lists, counted in the same way. */
const PER_KEY = 1_000

/** What each further secret of a key takes. */
const PER_SECRET = 400

/** The sizes of the keys in memory, children included. */
export class HeldKeys {
  readonly #keys = new Map<string, { readonly account: string; readonly size: number }>()
  readonly #totals = new Map<string, number>()

  /** Counts a key instead of its earlier state. */
  set(row: KeyRow, secrets: number): void {
    this.delete(row.id)
    const lists = row.revoked_at === null ? [row.models, row.allowed_origins, row.providers] : []
    const own = PER_KEY + Math.max(0, secrets - 1) * PER_SECRET
    const size = lists.reduce((sum, list) => sum + (list?.length ?? 0), own)
    this.#keys.set(row.id, { account: row.account_id, size })
    this.#totals.set(row.account_id, this.of(row.account_id) + size)
  }

  delete(id: string): void {
    const held = this.#keys.get(id)
    if (held === undefined) return
    this.#keys.delete(id)
    this.#totals.set(held.account, this.of(held.account) - held.size)
  }

  /** What all keys of an account take. */
  of(account: string): number {
    return this.#totals.get(account) ?? 0
  }
}

/** Gives the counts. */
type Held = { heldBy(accountId: string): number }

/**
 * Refuses more keys, or longer lists, for an account whose keys take too much memory. An
 * administrator's account has no bound.
 *
 * @throws Problem `too_many_keys`
 */
export function requireRoom(
  keys: Held,
  account: { readonly id: string; readonly role: 'admin' | 'member' },
): void {
  if (account.role === 'admin' || keys.heldBy(account.id) < MAX_HELD) return
  throw new Problem(
    'too_many_keys',
    'The keys of this account have too many models and origins in total. Give keys fewer models, or remove keys that have ended: POST /api/v1/keys/purge.',
  )
}

/**
 * The same for an account of which only the id is known: it is read if its keys take too much.
 *
 * @throws Problem `too_many_keys`
 */
export async function requireRoomOf(keys: Held, store: Store, accountId: string): Promise<void> {
  if (keys.heldBy(accountId) < MAX_HELD) return
  const account = await store.db
    .selectFrom('accounts')
    .select(['id', 'role'])
    .where('id', '=', accountId)
    .executeTakeFirst()
  if (account !== undefined) requireRoom(keys, account)
}
