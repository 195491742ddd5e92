// Shares of open requests and held bytes, held to a model that looks at every request anew for each
// decision.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestShares, type RequestSlot } from '../../../server/proxy/admission/request-shares.ts'
import { seeded } from '../../support/random.ts'

const LIMITS = { open: 8, held: 800, body: 100 }

interface Request {
  readonly key: string
  readonly account: string
  open: number
  held: number
  canDrop: boolean
  /** When it began to be droppable, and to hold bytes that can be dropped; 0: neither. */
  openSince: number
  heldSince: number
}

type Resource = 'open' | 'held'
const SINCE = { open: 'openSince', held: 'heldSince' } as const
/** share; what may be in use by: whoever, keys within their share, accounts within theirs */
const BOUNDS: Record<Resource, [share: number, free: number, key: number, account: number]> = {
  open: [2, 8, 12, 16],
  held: [100, 400, 600, 800],
}

/** The rules as they are written down, by looking through all requests. */
class Model {
  readonly requests: Request[] = []
  #time = 0

  used(resource: Resource, of: (one: Request) => boolean = () => true): number {
    return this.requests.reduce((sum, one) => (of(one) ? sum + one[resource] : sum), 0)
  }

  /**
   * @param dropped what was dropped for it, in that order: of equals anybody may have been chosen
   */
  take(resource: Resource, mine: Request, amount: number, dropped: Request[]): boolean {
    const [share, free, byKey, byAccount] = BOUNDS[resource]
    const since = SINCE[resource]
    const ofKey = ({ key }: Request) => this.used(resource, (one) => one.key === key)
    const ofAccount = ({ account }: Request) =>
      this.used(resource, (one) => one.account === account)
    const isWithin = ofKey(mine) + amount <= share
    while (this.used(resource) + amount > free) {
      const all = this.requests.filter((one) => one[since] > 0)
      const newest = (one: Request) =>
        all.every((other) => other.key !== one.key || other[since] <= one[since])
      let victims: Request[] = []
      if (isWithin) {
        victims = largest(all, ofAccount).filter(
          (one) => one.account !== mine.account && ofAccount(one) > ofAccount(mine) + amount,
        )
        if (victims.length === 0) victims = all.filter((one) => one.account === mine.account)
        const ofThem = victims.filter(({ account }) => account === victims[0]!.account)
        const others = victims.filter((one) => !ofThem.includes(one))
        victims = [...largest(ofThem, ofKey), ...largest(others, ofKey)].filter(
          (one) =>
            newest(one) &&
            (one.account !== mine.account || ofKey(one) > ofKey(mine) + amount) &&
            one.key !== mine.key,
        )
      }
      if (victims.length === 0) {
        if (
          isWithin &&
          this.used(resource) + amount <= (ofAccount(mine) + amount <= share ? byAccount : byKey)
        )
          break
        if (mine[since] === 0 || newest(mine)) return false
        victims = all.filter((one) => one.key === mine.key && newest(one))
      }
      const victim = dropped.shift()
      assert.ok(
        victim !== undefined && victims.includes(victim),
        'somebody else should have been dropped',
      )
      this.leave(victim)
    }
    this.give(resource, mine, amount)
    return true
  }

  give(resource: Resource, mine: Request, amount: number): void {
    mine[resource] += amount
    if (mine.canDrop && mine[resource] > 0) mine[SINCE[resource]] ||= ++this.#time
    if (mine[resource] === 0) mine[SINCE[resource]] = 0
  }

  offer(mine: Request): void {
    mine.canDrop = true
    mine.openSince = ++this.#time
    if (mine.held > 0) mine.heldSince = ++this.#time
  }

  keep(mine: Request): void {
    mine.canDrop = false
    mine.openSince = mine.heldSince = 0
  }

  leave(mine: Request): void {
    this.keep(mine)
    mine.open = mine.held = 0
    const at = this.requests.indexOf(mine)
    if (at >= 0) this.requests.splice(at, 1)
  }
}

function largest(requests: Request[], size: (one: Request) => number): Request[] {
  const most = Math.max(...requests.map(size))
  return requests.filter((one) => size(one) === most)
}

/** One key to an account, and accounts of several keys. */
const KEYS = [
  ['a1', 'a'],
  ['b1', 'b'],
  ['b2', 'b'],
  ['c1', 'c'],
  ['c2', 'c'],
  ['c3', 'c'],
  ['c4', 'c'],
] as const

/** Who is dropped by the step that runs. */
let current: Request[] = []

test('shares match a simple model for random operations', () => {
  let [drops, refusals] = [0, 0]
  for (let seed = 1; seed <= 300; seed++) {
    const next = seeded(seed)
    const below = (most: number) => Math.floor(next() * most)
    const shares = new RequestShares(LIMITS)
    const model = new Model()
    const places = new Map<Request, RequestSlot>()
    for (let step = 0; step < 150; step++) {
      const one = model.requests[below(model.requests.length)]
      const dropped: Request[] = []
      const what = below(10)
      if (what < 4 || one === undefined) {
        const [key, account] = KEYS[below(KEYS.length)]!
        const mine: Request = {
          key,
          account,
          open: 0,
          held: 0,
          canDrop: false,
          openSince: 0,
          heldSince: 0,
        }
        const isFirst =
          model.used('open', (other) => other.key === key) === 0 &&
          (model.used('open', (other) => other.account === account) < 2 || model.used('open') < 16)
        current = dropped
        const place = shares.acquire(key, account)
        const taken = model.take('open', mine, 1, dropped)
        if (!taken && isFirst) model.give('open', mine, 1)
        assert.equal(place !== null, taken || isFirst, `seed ${seed}, step ${step}`)
        if (place === null) refusals++
        else {
          model.requests.push(mine)
          places.set(mine, place)
        }
      } else if (what < 7) {
        const amount = 1 + below(60)
        current = dropped
        const held = places.get(one)!.holdBytes(amount)
        assert.equal(held, model.take('held', one, amount, dropped), `seed ${seed}, step ${step}`)
        if (!held) refusals++
      } else if (what < 8) {
        if (!one.canDrop) places.get(one)!.allowEviction(() => drops++ >= 0 && current.push(one))
        if (!one.canDrop) model.offer(one)
      } else if (what < 9) {
        model.keep(one)
        places.get(one)!.forbidEviction()
      } else {
        model.leave(one)
        places.get(one)!.release()
      }
      assert.equal(
        dropped.length,
        0,
        `seed ${seed}, step ${step}: more were dropped than had to be`,
      )
      assert.deepEqual(
        [shares.open, shares.held],
        [model.used('open'), model.used('held')],
        `seed ${seed}, step ${step}`,
      )
      assert.ok(shares.held <= LIMITS.held)
    }
    for (const place of places.values()) place.release()
    assert.deepEqual([shares.open, shares.held], [0, 0])
  }
  assert.ok(
    drops > 1_000 && refusals > 1_000,
    `${drops} dropped, ${refusals} refused: the test tries both`,
  )
})
