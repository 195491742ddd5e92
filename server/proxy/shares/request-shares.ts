// Shares of what all proxied requests use together: places among the open requests, and memory for
// bodies that have to be read whole.
import { AccountUse, Claim, KeyUse, Pool } from './pool.ts'

export interface SharesLimits {
  /**
   * Requests that may be under way at once, whoever sends them; twice as many with those of keys
   * within their share.
   */
  readonly open: number
  /** Bytes of bodies that are held at once at most. */
  readonly held: number
  /** Bytes of the largest body that is read whole. */
  readonly body: number
}

/** What a key, or an account, has of both. */
interface Use<T> {
  readonly open: T
  readonly held: T
}

/**
 * Keys and accounts without a request are forgotten when there are this many, and again when those
 * that are left have doubled.
 */
const MAX_IDLE = 1_024

export class Shares {
  readonly #open: Pool
  readonly #held: Pool
  readonly #keys = new Map<string, Use<KeyUse>>()
  readonly #accounts = new Map<string, Use<AccountUse>>()
  #tidyAt = MAX_IDLE

  constructor({ open, held, body }: SharesLimits) {
    const quarter = Math.max(1, Math.floor(open / 4))
    this.#open = new Pool({
      share: quarter,
      free: open,
      key: Math.floor(open * 1.5),
      account: open * 2,
    })
    const eighth = Math.min(held, Math.max(Math.floor(held / 8), body))
    this.#held = new Pool({
      share: eighth,
      free: Math.max(eighth, Math.floor(held / 2)),
      key: Math.max(eighth, Math.floor(held * 0.75)),
      account: held,
    })
  }

  /** Requests that have a place. */
  get open(): number {
    return this.#open.used
  }

  /** Bytes of bodies that are held. */
  get held(): number {
    return this.#held.used
  }

  /**
   * Requests that were ended, half received, to make room for others: for their place, and for
   * their bytes.
   */
  get dropped(): { readonly open: number; readonly held: number } {
    return { open: this.#open.dropped, held: this.#held.dropped }
  }

  /** Gives a request a place; null: there is none for this key at the moment. */
  enter(keyId: string, accountId: string): Place | null {
    const use = this.#keys.get(keyId) ?? this.#add(keyId, accountId)
    const claim = new Claim(use.open)
    if (!this.#open.take(claim, 1)) {
      if (!this.#isFirst(use.open)) return null
      this.#open.force(claim, 1)
    }
    return new Place(this.#open, claim, this.#held, use.held)
  }

  /**
   * A key with nothing open always gets a place, unless its account has more than its share and all
   * that there is for such accounts is taken.
   */
  #isFirst({ used, account }: KeyUse): boolean {
    const { share, account: most } = this.#open.limits
    return used === 0 && (account.used < share || this.#open.used < most)
  }

  #add(keyId: string, accountId: string): Use<KeyUse> {
    if (this.#keys.size >= this.#tidyAt) this.#tidy()
    let account = this.#accounts.get(accountId)
    if (account === undefined)
      this.#accounts.set(accountId, (account = { open: new AccountUse(), held: new AccountUse() }))
    const use = { open: new KeyUse(account.open), held: new KeyUse(account.held) }
    this.#keys.set(keyId, use)
    return use
  }

  /**
   * Forgets who has no request. Amortised: the next time comes when the number of those that are
   * kept has doubled.
   */
  #tidy(): void {
    for (const [id, { open }] of this.#keys) if (open.used === 0) this.#keys.delete(id)
    for (const [id, { open }] of this.#accounts) if (open.used === 0) this.#accounts.delete(id)
    this.#tidyAt = Math.max(MAX_IDLE, this.#keys.size * 2)
  }
}

/**
 * What one request has: its place, and the bytes of its body that are held. It lives as long as the
 * request.
 */
export class Place {
  readonly #open: Pool
  readonly #held: Pool
  readonly #claim: Claim
  readonly #heldBy: KeyUse
  #bytes: Claim | null = null
  #left = false
  /** Ends the request; null: it cannot be dropped. */
  #drop: (() => void) | null = null

  constructor(open: Pool, claim: Claim, held: Pool, heldBy: KeyUse) {
    this.#open = open
    this.#claim = claim
    this.#held = held
    this.#heldBy = heldBy
  }

  /** Counts bytes that have come as held. False: there is no room for them. */
  hold(bytes: number): boolean {
    if (this.#left) return false
    let claim = this.#bytes
    if (claim === null) {
      this.#bytes = claim = new Claim(this.#heldBy)
      if (this.#drop !== null) this.#held.offer(claim, this.#end)
    }
    return this.#held.take(claim, bytes)
  }

  /** Nothing of the body is held any more. */
  release(): void {
    if (this.#bytes !== null && this.#bytes.amount > 0)
      this.#held.give(this.#bytes, this.#bytes.amount)
  }

  /**
   * As long as the body has not come to its end the request may be ended, to make room for others.
   * @param drop ends it; the place has been left by then
   */
  offer(drop: () => void): void {
    this.#drop = drop
    this.#open.offer(this.#claim, this.#end)
    if (this.#bytes !== null) this.#held.offer(this.#bytes, this.#end)
  }

  /** From now on it is not ended for others. */
  keep(): void {
    if (this.#drop === null) return
    this.#drop = null
    this.#open.offer(this.#claim, null)
    if (this.#bytes !== null) this.#held.offer(this.#bytes, null)
  }

  /** The request is over, or has been dropped. May be called again. */
  leave(): void {
    if (this.#left) return
    this.#left = true
    this.keep()
    this.release()
    this.#open.give(this.#claim, 1)
  }

  readonly #end = (): void => {
    const drop = this.#drop
    this.leave()
    drop?.()
  }
}
