// Queues requests that wait for admission, taking turns by account and within an account by key, so
// that one key's burst does not delay the others.

/** A first-in, first-out queue; both ends take constant time. */
class Deque<T> {
  #items: T[] = []
  #first = 0

  get size(): number {
    return this.#items.length - this.#first
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    if (this.#first === this.#items.length) return undefined
    const item = this.#items[this.#first++]
    if (this.#first === this.#items.length) {
      this.#items.length = 0
      this.#first = 0
    } else if (this.#first >= 1024 && 2 * this.#first > this.#items.length) {
      this.#items = this.#items.slice(this.#first)
      this.#first = 0
    }
    return item
  }

  /** The oldest item, which stays in the queue. */
  peek(): T | undefined {
    return this.#items[this.#first]
  }

  /** Takes all items, the oldest first. */
  clear(): T[] {
    const all = this.#items.slice(this.#first)
    this.#items = []
    this.#first = 0
    return all
  }

  *[Symbol.iterator](): Generator<T> {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- an index below the length; items may be undefined themselves
    for (let at = this.#first; at < this.#items.length; at++) yield this.#items[at]!
  }

  /** Takes the newest item. */
  pop(): T | undefined {
    return this.size === 0 ? undefined : this.#items.pop()
  }
}

/** The account and key that own an item. */
export interface Owner {
  readonly account_id: string
  readonly key_id: string
}

interface AccountQueue<T> {
  size: number
  /** Its keys with waiting items, the next one first. */
  readonly ready: Deque<KeyQueue<T>>
  /** Whether it is among the ready accounts. */
  queued: boolean
}

interface KeyQueue<T> {
  readonly account: AccountQueue<T>
  readonly items: Deque<T>
  queued: boolean
}

/**
 * A queue of at most `limit` items, fair to accounts and keys. When it is full, a new item replaces
 * the newest item of the account, and of its key, with the most items, unless that would be the new
 * item itself.
 */
export class AccountKeyQueue<T> {
  readonly #most: number
  readonly #ownerOf: (item: T) => Owner
  // Kept when they are empty: adding and removing an entry for every request would cost more than
  // the rest of the request's turn.
  readonly #accounts = new Map<string, AccountQueue<T>>()
  readonly #keys = new Map<string, KeyQueue<T>>()
  /** Accounts with waiting items, the next one first. */
  readonly #ready = new Deque<AccountQueue<T>>()
  #size = 0

  constructor(limit: number, ownerOf: (item: T) => Owner) {
    this.#most = limit
    this.#ownerOf = ownerOf
  }

  get size(): number {
    return this.#size
  }

  /** Adds an item. Returns the item that was rejected, if any: this one or another. */
  push(item: T): T | null {
    const keyQueue = this.#queueOf(this.#ownerOf(item))
    let dropped: T | null = null
    if (this.#size >= this.#most) {
      const largest = this.#largest()
      if (largest === undefined) return item
      const sameAccount = largest.account === keyQueue.account
      if (
        sameAccount
          ? largest.items.size <= keyQueue.items.size + 1
          : largest.account.size <= keyQueue.account.size + 1
      )
        return item
      dropped = largest.items.pop() ?? null
      this.#count(largest, -1)
    }
    keyQueue.items.push(item)
    this.#count(keyQueue, 1)
    this.#queue(keyQueue)
    return dropped
  }

  /**
   * Takes up to `limit` items, in turns. If `fits` rejects a key's next item, that key is skipped
   * until the next call.
   */
  take(limit: number, fits: (item: T) => boolean = () => true): T[] {
    const taken: T[] = []
    const deferred: KeyQueue<T>[] = []
    while (taken.length < limit) {
      const account = this.#ready.shift()
      if (account === undefined) break
      account.queued = false
      const keyQueue = account.ready.shift()
      if (keyQueue !== undefined) {
        keyQueue.queued = false
        const item = keyQueue.items.peek()
        if (item !== undefined && !fits(item)) deferred.push(keyQueue)
        else if (item !== undefined) {
          keyQueue.items.shift()
          this.#count(keyQueue, -1)
          taken.push(item)
          if (keyQueue.items.size > 0) this.#queue(keyQueue)
        }
      }
      if (account.ready.size > 0) this.#queueAccount(account)
    }
    for (const keyQueue of deferred) this.#queue(keyQueue)
    return taken
  }

  /** Takes all items of a key. */
  takeKey(key: string): T[] {
    const keyQueue = this.#keys.get(key)
    if (keyQueue === undefined || keyQueue.items.size === 0) return []
    const taken = keyQueue.items.clear()
    this.#count(keyQueue, -taken.length)
    return taken
  }

  /** Takes all items. */
  clear(): T[] {
    return this.take(Infinity)
  }

  /** Removes keys and accounts without items. */
  tidy(): void {
    for (const [key, { queued, items }] of this.#keys)
      if (!queued && items.size === 0) this.#keys.delete(key)
    const used = new Set([...this.#keys.values()].map(({ account }) => account))
    for (const [id, account] of this.#accounts)
      if (!used.has(account) && !account.queued) this.#accounts.delete(id)
  }

  #queueOf({ account_id, key_id }: Owner): KeyQueue<T> {
    let keyQueue = this.#keys.get(key_id)
    if (keyQueue !== undefined) return keyQueue
    let account = this.#accounts.get(account_id)
    if (account === undefined)
      this.#accounts.set(account_id, (account = { size: 0, ready: new Deque(), queued: false }))
    this.#keys.set(key_id, (keyQueue = { account, items: new Deque(), queued: false }))
    return keyQueue
  }

  #count(keyQueue: KeyQueue<T>, by: number): void {
    keyQueue.account.size += by
    this.#size += by
  }

  #queue(keyQueue: KeyQueue<T>): void {
    if (!keyQueue.queued) keyQueue.account.ready.push(keyQueue)
    keyQueue.queued = true
    this.#queueAccount(keyQueue.account)
  }

  #queueAccount(account: AccountQueue<T>): void {
    if (!account.queued) this.#ready.push(account)
    account.queued = true
  }

  /** The longest queue of the account with the most items; undefined if nothing waits. */
  #largest(): KeyQueue<T> | undefined {
    const account = largestOf(this.#ready, ({ size }) => size)
    return account && largestOf(account.ready, ({ items }) => items.size)
  }
}

function largestOf<T>(deque: Deque<T>, sizeOf: (item: T) => number): T | undefined {
  let largest: T | undefined
  for (const item of deque)
    if (largest === undefined || sizeOf(item) > sizeOf(largest)) largest = item
  return largest
}

/** Creates a queue without a bound, of items that say whose they are. */
export const unboundedQueue = <T extends { readonly owner: Owner }>(): AccountKeyQueue<T> =>
  new AccountKeyQueue<T>(Infinity, ({ owner }) => owner)
