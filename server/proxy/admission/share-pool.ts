// A shared resource (open requests, bytes of bodies), divided into shares: decides how much each
// key and account may use, and whose claims are evicted.
//
// Each account, and each key of an account, has the same share. Beyond it, a key may use what is
// free. When a key within its share finds nothing free, unfinished bodies are evicted, newest
// first: those of the account that uses most, unless it is its own, and there of the key that uses
// most. A key is never evicted for one that would then use more, so two keys never evict each other
// in turns.

/**
 * In the resource's unit. `free` ≤ `key` ≤ `account`: total usage may reach this much by claims of
 * …
 */
export interface SharePoolLimits {
  /** The share of a key or an account. */
  readonly share: number
  /** … anybody. */
  readonly free: number
  /** … keys within their share, though their account is not. */
  readonly key: number
  /** … accounts within their share. Total usage never exceeds this. */
  readonly account: number
}

/** One account's part of a pool. */
export class AccountUse implements Ranked {
  used = 0
  index = -1
  /** Its keys that have unfinished bodies. */
  readonly keys = new MaxHeap<KeyUse>()
}

/** One key's part of a pool. */
export class KeyUse implements Ranked {
  used = 0
  index = -1
  /** The newest of its evictable claims, linked to the next older one. */
  newest: Claim | null = null
  readonly account: AccountUse

  constructor(account: AccountUse) {
    this.account = account
  }
}

/** One request's part of a pool. */
export class Claim {
  amount = 0
  readonly key: KeyUse
  /**
   * Ends the request, which releases everything before it returns; null: not evictable. Set by the
   * pool.
   */
  evict: (() => void) | null = null
  /** Neighbours among the evictable claims of its key. */
  older: Claim | null = null
  newer: Claim | null = null
  linked = false

  constructor(key: KeyUse) {
    this.key = key
  }
}

/** A resource that all requests share: bytes, or slots. */
export class SharePool {
  /** The sum of all claims. */
  used = 0
  /** Number of requests evicted to make room. */
  evicted = 0
  readonly limits: SharePoolLimits
  /** Accounts that have unfinished bodies. */
  readonly #accounts = new MaxHeap<AccountUse>()

  constructor(limits: SharePoolLimits) {
    this.limits = limits
  }

  /**
   * Increases a claim, if necessary by evicting others. False: there is no room. O(log n) for each
   * evicted claim.
   */
  claim(claim: Claim, amount: number): boolean {
    if (this.used + amount > this.limits.free && !this.#makeRoom(claim, amount)) return false
    this.claimAnyway(claim, amount)
    return true
  }

  /** The same without checking limits. */
  claimAnyway(claim: Claim, amount: number): void {
    claim.amount += amount
    this.#count(claim.key, amount)
    // Evicting an empty claim would make no room.
    if (claim.evict !== null && !claim.linked && claim.amount > 0) this.#link(claim)
  }

  /** Decreases a claim. */
  giveBack(claim: Claim, amount: number): void {
    claim.amount -= amount
    this.#count(claim.key, -amount)
    if (claim.amount === 0) this.#unlink(claim)
  }

  /** Makes the claim evictable; null: not evictable. */
  setEvictable(claim: Claim, drop: (() => void) | null): void {
    claim.evict = drop
    if (drop === null) this.#unlink(claim)
    else if (claim.amount > 0) this.#link(claim)
  }

  #makeRoom(claim: Claim, amount: number): boolean {
    const { key } = claim
    const { share, free } = this.limits
    const isWithin = key.used + amount <= share
    while (this.used + amount > free) {
      const victim = (isWithin ? this.#furthestOver(claim, amount) : null)?.newest
      if (victim == null) {
        if (isWithin && this.used + amount <= this.#ceiling(key.account, amount)) return true
        // Otherwise, evict its own newest bodies, so that the older ones are completed.
        if (!claim.linked || key.newest === null || claim === key.newest) return false
        this.#drop(key.newest)
      } else this.#drop(victim)
    }
    return true
  }

  #ceiling(account: AccountUse, amount: number): number {
    return account.used + amount <= this.limits.share ? this.limits.account : this.limits.key
  }

  /** The key to evict from for a claim; null: none. */
  #furthestOver({ key }: Claim, amount: number): KeyUse | null {
    const { account } = key
    const largest = this.#accounts.top
    if (largest !== null && largest !== account && largest.used > account.used + amount)
      return largest.keys.top
    const sibling = account.keys.top
    return sibling !== null && sibling !== key && sibling.used > key.used + amount ? sibling : null
  }

  #drop(claim: Claim): void {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- only what can be evicted is linked
    const drop = claim.evict!
    this.setEvictable(claim, null)
    this.evicted++
    drop()
  }

  #count(key: KeyUse, amount: number): void {
    const { account } = key
    this.used += amount
    key.used += amount
    account.used += amount
    account.keys.moved(key)
    this.#accounts.moved(account)
  }

  #link(claim: Claim): void {
    if (claim.linked) return
    claim.linked = true
    const { key } = claim
    claim.older = key.newest
    if (key.newest !== null) key.newest.newer = claim
    key.newest = claim
    key.account.keys.add(key)
    this.#accounts.add(key.account)
  }

  #unlink(claim: Claim): void {
    if (!claim.linked) return
    claim.linked = false
    const { key, older, newer } = claim
    if (older !== null) older.newer = newer
    if (newer === null) key.newest = older
    else newer.older = older
    claim.older = claim.newer = null
    if (key.newest !== null) return
    key.account.keys.remove(key)
    if (key.account.keys.top === null) this.#accounts.remove(key.account)
  }
}

/** Something that a heap orders by `used`. It can be in one heap at a time. */
interface Ranked {
  used: number
  /** Its index in the heap's array; -1: in no heap. Only the heap writes it. */
  index: number
}

/**
 * A binary max-heap of items by usage; each knows its index, so that one whose usage has changed is
 * moved in O(log n).
 */
class MaxHeap<T extends Ranked> {
  readonly #items: T[] = []

  /** An item with the highest usage; null if the heap is empty. */
  get top(): T | null {
    return this.#items[0] ?? null
  }

  add(item: T): void {
    if (item.index >= 0) return
    item.index = this.#items.push(item) - 1
    this.#rise(item)
  }

  remove(item: T): void {
    const { index } = item
    if (index < 0) return
    item.index = -1
    const last = this.#items.pop()
    if (last === undefined || last === item) return
    this.#put(last, index)
    this.moved(last)
  }

  /** Call it when `used` of an item has changed; items of no heap are ignored. */
  moved(item: T): void {
    if (item.index < 0) return
    this.#rise(item)
    this.#sink(item)
  }

  #rise(item: T): void {
    let { index } = item
    while (index > 0) {
      // oxlint-disable-next-line typescript/no-non-null-assertion -- a parent stands before its children
      const parent = this.#items[(index - 1) >> 1]!
      if (parent.used >= item.used) break
      this.#put(parent, index)
      index = (index - 1) >> 1
    }
    this.#put(item, index)
  }

  #sink(item: T): void {
    let { index } = item
    for (;;) {
      const left = this.#items[2 * index + 1]
      if (left === undefined) break
      const right = this.#items[2 * index + 2]
      const child = right !== undefined && right.used > left.used ? right : left
      if (child.used <= item.used) break
      const next = child.index
      this.#put(child, index)
      index = next
    }
    this.#put(item, index)
  }

  #put(item: T, index: number): void {
    this.#items[index] = item
    item.index = index
  }
}
