// Counts what owners have, by key and by account.
import type { Owner } from './account-key-queue.ts'

/** What keys and accounts have. Those that have nothing take no memory. */
export class OwnerCounts {
  readonly #byAccount = new Map<string, number>()
  readonly #byKey = new Map<string, number>()

  add({ account_id, key_id }: Owner, by: number): void {
    add(this.#byAccount, account_id, by)
    add(this.#byKey, key_id, by)
  }

  ofKey({ key_id }: Owner): number {
    return this.#byKey.get(key_id) ?? 0
  }

  ofAccount({ account_id }: Owner): number {
    return this.#byAccount.get(account_id) ?? 0
  }
}

function add(counts: Map<string, number>, id: string, by: number): void {
  const count = (counts.get(id) ?? 0) + by
  if (count === 0) counts.delete(id)
  else counts.set(id, count)
}
