// A shared resource (open requests, bytes of bodies), divided into shares: decides how much each
// key and account may use, and whose allocations are evicted.
//
// Each account, and each key of an account, has the same share. Beyond it, a key may use what is
// free. When a key within its share finds nothing free, unfinished bodies are evicted, newest
// first: those of the account that uses most, unless it is its own, and there of the key that uses
// most. A key is never evicted for one that would then use more, so two keys never evict each other
// in turns.

/**
 * In the resource's unit. `free` ≤ `key` ≤ `account`: total usage may reach this much by
 * allocations of …
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
  /** The newest of its evictable allocations, linked to the next older one. */
  newest: Allocation | null = null
  readonly account: AccountUse

  constructor(account: AccountUse) {
    this.account = account
  }
}

/** One request's part of a pool. */
export class Allocation {
  amount = 0
  readonly key: KeyUse
  /**
   * Ends the request, which releases everything before it returns; null: not evictable. Set by the
   * pool.
   */
  evict: (() => void) | null = null
  /** Neighbours among the evictable allocations of its key. */
  older: Allocation | null = null
  newer: Allocation | null = null
  linked = false

  constructor(key: KeyUse) {
    this.key = key
  }
}

/** A resource that all requests share: bytes, or slots. */
export class SharePool {
  /** The sum of all allocations. */
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
   * Increases an allocation, if necessary by evicting others. False: there is no room. O(log n) for
   * each evicted one.
   */
  allocate(allocation: Allocation, amount: number): boolean {
    if (this.used + amount > this.limits.free && !this.#makeRoom(allocation, amount)) return false
    this.allocateAnyway(allocation, amount)
    return true
  }

  /** The same without checking limits. */
  allocateAnyway(allocation: Allocation, amount: number): void {
    allocation.amount += amount
    this.#count(allocation.key, amount)
    // Evicting an empty one would make no room.
    if (allocation.evict !== null && !allocation.linked && allocation.amount > 0)
      this.#link(allocation)
  }

  /** Decreases an allocation. */
  giveBack(allocation: Allocation, amount: number): void {
    allocation.amount -= amount
    this.#count(allocation.key, -amount)
    if (allocation.amount === 0) this.#unlink(allocation)
  }

  /** Makes an allocation evictable; null: not evictable. */
  setEvictable(allocation: Allocation, drop: (() => void) | null): void {
    allocation.evict = drop
    if (drop === null) this.#unlink(allocation)
    else if (allocation.amount > 0) this.#link(allocation)
  }

  #makeRoom(allocation: Allocation, amount: number): boolean {
    const { key } = allocation
    const { share, free } = this.limits
    const isWithin = key.used + amount <= share
    while (this.used + amount > free) {
      const victim = (isWithin ? this.#furthestOver(allocation, amount) : null)?.newest
      if (victim == null) {
        if (isWithin && this.used + amount <= this.#ceiling(key.account, amount)) return true
        // Otherwise, evict its own newest bodies, so that the older ones are completed.
        if (!allocation.linked || key.newest === null || allocation === key.newest) return false
        this.#drop(key.newest)
      } else this.#drop(victim)
    }
    return true
  }

  #ceiling(account: AccountUse, amount: number): number {
    return account.used + amount <= this.limits.share ? this.limits.account : this.limits.key
  }

  /** The key to evict from for an allocation; null: none. */
  #furthestOver({ key }: Allocation, amount: number): KeyUse | null {
    const { account } = key
    const largest = this.#accounts.top
    if (largest !== null && largest !== account && largest.used > account.used + amount)
      return largest.keys.top
    const sibling = account.keys.top
    return sibling !== null && sibling !== key && sibling.used > key.used + amount ? sibling : null
  }

  #drop(allocation: Allocation): void {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- only what can be evicted is linked
    const drop = allocation.evict!
    this.setEvictable(allocation, null)
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

  #link(allocation: Allocation): void {
    if (allocation.linked) return
    allocation.linked = true
    const { key } = allocation
    allocation.older = key.newest
    if (key.newest !== null) key.newest.newer = allocation
    key.newest = allocation
    key.account.keys.add(key)
    this.#accounts.add(key.account)
  }

  #unlink(allocation: Allocation): void {
    if (!allocation.linked) return
    allocation.linked = false
    const { key, older, newer } = allocation
    if (older !== null) older.newer = newer
    if (newer === null) key.newest = older
    else newer.older = older
    allocation.older = allocation.newer = null
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
