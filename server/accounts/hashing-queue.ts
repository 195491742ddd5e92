// The order in which passwords are hashed. Hashing is slow on purpose, so without an order anyone
// who sends many attempts would keep all others from signing in.
//
// Callers who have hashed least in the last minutes come first. Strangers are counted by address,
// not by the account they name, because anyone can name any account; a network also counts, as much
// as sixteen of its addresses. Callers who have proved more are counted by account, as a tenth, and
// come before strangers with the same count. Among strangers with the same count, the newest comes
// first: when hundreds of addresses send their first attempt at once, in order of arrival everyone
// would wait for longer than people and browsers do.

/** The caller who needs a hash. */
export interface Hashing {
  /** The client's address; for IPv6 its /64 network. */
  readonly address: string
  /**
   * The account or link, if the caller has a session or link of it, or it was signed in to from
   * this address before. Null for a stranger.
   */
  readonly owner: string | null
}

/** Limits of the queue. */
export interface HashingLimits {
  readonly concurrency: number
  /** Maximum number of callers that wait. */
  readonly waiting: number
  /** Creates the error for the last caller in the order, if too many wait. */
  readonly refusal: (hasHashedBefore: boolean) => Error
}

interface Waiting {
  /** What the caller has hashed before. */
  readonly before: number
  readonly owner: string | null
  start(): void
  refuse(): void
}

/** This many hashes of a network's addresses count as one of an address. */
const PER_NETWORK = 16
/** This many hashes of an account, one after the other, count as one of an address. */
const PER_OWNER = 10

/** A queue for password hashes. It belongs to the process. */
export class HashingQueue {
  readonly #limits: HashingLimits
  readonly #counts = new RecentCounts()
  /** In order of arrival. */
  readonly #waiting: Waiting[] = []
  #running = 0

  constructor(limits: HashingLimits) {
    this.#limits = limits
  }

  /** Runs `work` when it is the caller's turn. @throws the refusal */
  async run<R>(caller: Hashing, work: () => Promise<R>): Promise<R> {
    await this.#turn(caller)
    try {
      return await work()
    } finally {
      this.#running--
      this.#startNext()
    }
  }

  #turn(caller: Hashing): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const { owner } = caller
    const before = owner === null ? this.#countAttempt(caller) : this.#hashesOf(owner)
    this.#waiting.push({
      before,
      owner,
      start: () => {
        if (owner !== null) this.#counts.add(ownerName(owner))
        resolve()
      },
      refuse: () => reject(this.#limits.refusal(before > 0)),
    })
    this.#startNext()
    if (this.#waiting.length > this.#limits.waiting) this.#take(-1)?.refuse()
    return promise
  }

  #startNext(): void {
    if (this.#running >= this.#limits.concurrency) return
    const next = this.#take(0)
    if (next === undefined) return
    this.#running++
    next.start()
  }

  /** Takes the first caller in the order, or the last one (-1). */
  #take(place: 0 | -1): Waiting | undefined {
    const [index] = [...this.#waiting.entries()].sort(compare).at(place) ?? []
    return index === undefined ? undefined : this.#waiting.splice(index, 1)[0]
  }

  /** What an owner has hashed, and waits for. What was refused does not count. */
  #hashesOf(owner: string): number {
    const waiting = this.#waiting.filter((one) => one.owner === owner).length
    return Math.floor(this.#counts.of(ownerName(owner)) / PER_OWNER) + waiting
  }

  /**
   * Counts an attempt of a stranger, even if it will be refused: otherwise strangers who try again
   * at once would be the newest again. @returns the attempts before it
   */
  #countAttempt({ address }: Hashing): number {
    const inNetwork = this.#counts.add(`network ${widerNetwork(address)}`)
    return this.#counts.add(address) + Math.floor(inNetwork / PER_NETWORK)
  }
}

const ownerName = (owner: string): string => `owner ${owner}`

type Arrival = [index: number, waiting: Waiting]

function compare([index, a]: Arrival, [otherIndex, b]: Arrival): number {
  if (a.before !== b.before) return a.before - b.before
  if ((a.owner === null) !== (b.owner === null)) return a.owner === null ? 1 : -1
  return a.owner === null ? otherIndex - index : index - otherIndex
}

/** The /24 network of an IPv4 address, the /48 network of an IPv6 /64 network. */
function widerNetwork(address: string): string {
  return address.replace(/\.\d+$|:[^:]+::\/64$/, '')
}

const COUNTED_MS = 600_000
/** With more names in that time, counts are forgotten sooner. */
const MAX_NAMES = 20_000

/** Counts by name that last for ten to twenty minutes. */
class RecentCounts {
  #current = new Map<string, number>()
  #previous: ReadonlyMap<string, number> = new Map()
  #since = performance.now()

  /** Counts one more. @returns how many there were before */
  add(name: string): number {
    if (this.#current.size >= MAX_NAMES || performance.now() - this.#since > COUNTED_MS) {
      this.#previous = this.#current
      this.#current = new Map()
      this.#since = performance.now()
    }
    const before = this.of(name)
    this.#current.set(name, (this.#current.get(name) ?? 0) + 1)
    return before
  }

  of(name: string): number {
    return (this.#current.get(name) ?? 0) + (this.#previous.get(name) ?? 0)
  }
}
