// The resources shared by all proxied requests: slots for open requests, and memory for bodies that
// have to be read completely.
import { AccountUse, Allocation, KeyUse, SharePool } from './share-pool.ts'

/** The limits of all requests together. */
export interface SharesLimits {
  /** Maximum number of open requests; twice that with those of keys within their share. */
  readonly open: number
  /** Maximum bytes of buffered bodies. */
  readonly held: number
  /** Bytes of the largest body that is buffered. */
  readonly body: number
}

/** The parts of a key or an account in both resources. */
interface Usage<T> {
  readonly open: T
  readonly held: T
}

/**
 * Keys and accounts without a request are removed when there are this many, and again each time
 * their number has doubled.
 */
const MAX_IDLE = 1_024

/** Slots and memory, shared by account and key. One per process. */
export class RequestShares {
  readonly #open: SharePool
  readonly #held: SharePool
  readonly #keys = new Map<string, Usage<KeyUse>>()
  readonly #accounts = new Map<string, Usage<AccountUse>>()
  #tidyAt = MAX_IDLE

  constructor({ open, held, body }: SharesLimits) {
    const quarter = Math.max(1, Math.floor(open / 4))
    this.#open = new SharePool({
      share: quarter,
      free: open,
      key: Math.floor(open * 1.5),
      account: open * 2,
    })
    const eighth = Math.min(held, Math.max(Math.floor(held / 8), body))
    this.#held = new SharePool({
      share: eighth,
      free: Math.max(eighth, Math.floor(held / 2)),
      key: Math.max(eighth, Math.floor(held * 0.75)),
      account: held,
    })
  }

  /** Requests with a slot. */
  get open(): number {
    return this.#open.used
  }

  /** Bytes of buffered bodies. */
  get held(): number {
    return this.#held.used
  }

  /**
   * Requests that were evicted before they were received completely: for their slot, and for their
   * bytes.
   */
  get dropped(): { readonly open: number; readonly held: number } {
    return { open: this.#open.evicted, held: this.#held.evicted }
  }

  /** Gives a request a slot; null: there is none for this key at the moment. */
  acquire(keyId: string, accountId: string): RequestSlot | null {
    const use = this.#keys.get(keyId) ?? this.#add(keyId, accountId)
    const allocation = new Allocation(use.open)
    if (!this.#open.allocate(allocation, 1)) {
      if (!this.#isFirst(use.open)) return null
      this.#open.allocateAnyway(allocation, 1)
    }
    return new RequestSlot(this.#open, allocation, this.#held, use.held)
  }

  /**
   * Whether a key gets a slot anyway, because it has no open requests: unless its account is over
   * its share and all slots for such accounts are taken.
   */
  #isFirst({ used, account }: KeyUse): boolean {
    const { share, account: most } = this.#open.limits
    return used === 0 && (account.used < share || this.#open.used < most)
  }

  #add(keyId: string, accountId: string): Usage<KeyUse> {
    if (this.#keys.size >= this.#tidyAt) this.#tidy()
    let account = this.#accounts.get(accountId)
    if (account === undefined)
      this.#accounts.set(accountId, (account = { open: new AccountUse(), held: new AccountUse() }))
    const use = { open: new KeyUse(account.open), held: new KeyUse(account.held) }
    this.#keys.set(keyId, use)
    return use
  }

  /**
   * Removes keys and accounts without a request. Amortised: runs again when the number of kept ones
   * has doubled.
   */
  #tidy(): void {
    for (const [id, { open }] of this.#keys) if (open.used === 0) this.#keys.delete(id)
    for (const [id, { open }] of this.#accounts) if (open.used === 0) this.#accounts.delete(id)
    this.#tidyAt = Math.max(MAX_IDLE, this.#keys.size * 2)
  }
}

/** One request's slot, and the buffered bytes of its body. It lives as long as the request. */
export class RequestSlot {
  readonly #open: SharePool
  readonly #held: SharePool
  readonly #allocation: Allocation
  readonly #heldBy: KeyUse
  #bytes: Allocation | null = null
  #released = false
  /** Ends the request; null: not evictable. */
  #evict: (() => void) | null = null

  constructor(open: SharePool, allocation: Allocation, held: SharePool, heldBy: KeyUse) {
    this.#open = open
    this.#allocation = allocation
    this.#held = held
    this.#heldBy = heldBy
  }

  /** Counts arrived bytes as buffered. False: there is no room for them. */
  holdBytes(bytes: number): boolean {
    if (this.#released) return false
    let allocation = this.#bytes
    if (allocation === null) {
      this.#bytes = allocation = new Allocation(this.#heldBy)
      if (this.#evict !== null) this.#held.setEvictable(allocation, this.#end)
    }
    return this.#held.allocate(allocation, bytes)
  }

  /** The body is no longer buffered. */
  releaseBytes(): void {
    if (this.#bytes !== null && this.#bytes.amount > 0)
      this.#held.giveBack(this.#bytes, this.#bytes.amount)
  }

  /**
   * Makes the request evictable while its body is incomplete.
   * @param drop ends it; its slot has been released by then
   */
  allowEviction(drop: () => void): void {
    this.#evict = drop
    this.#open.setEvictable(this.#allocation, this.#end)
    if (this.#bytes !== null) this.#held.setEvictable(this.#bytes, this.#end)
  }

  /** Makes it no longer evictable. */
  forbidEviction(): void {
    if (this.#evict === null) return
    this.#evict = null
    this.#open.setEvictable(this.#allocation, null)
    if (this.#bytes !== null) this.#held.setEvictable(this.#bytes, null)
  }

  /** The request has ended, or was evicted. Idempotent. */
  release(): void {
    if (this.#released) return
    this.#released = true
    this.forbidEviction()
    this.releaseBytes()
    this.#open.giveBack(this.#allocation, 1)
  }

  readonly #end = (): void => {
    const drop = this.#evict
    this.release()
    drop?.()
  }
}
