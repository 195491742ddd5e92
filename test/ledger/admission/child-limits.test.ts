// A request of a child key passes only if the child's own limit and its parent's both have room.
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { Admission } from '../../../server/ledger/ledger.ts'
import { verifyWindows } from '../../../server/ledger/reports/verify.ts'
import { WINDOW_MS } from '../../../server/ledger/admission/sliding-window.ts'
import type { Place } from '../../support/place.ts'
import { onEveryStore } from '../../support/stores.ts'
import {
  admissionRequest,
  movedClock,
  openFor,
  openOn,
  pass,
  type Opened,
} from '../support/opened.ts'

/** One request of a child, or (`child` null) of the key itself. */
function ask(
  { ledger }: Pick<Opened, 'ledger'>,
  rpm: number | null,
  child: string | null,
  childRpm: number | null = null,
  key = 'k',
): Promise<Admission> {
  return ledger.admit(admissionRequest(key, rpm, { child_id: child, child_rpm: childRpm }))
}

async function passing(asked: Promise<Admission>[]): Promise<number> {
  return (await Promise.all(asked)).filter(({ admitted }) => admitted).length
}

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

onEveryStore(
  '50 concurrent children of a key of 20 a minute: exactly 20 pass, and none after a restart',
  async (t, place) => {
    const one = await openOn(place)
    const other = await openOn(place, one.clock)
    const all = (servers: readonly Opened[]) =>
      times(1000, (i) =>
        ask(servers[i % servers.length]!, 20, `c${i % 50}`, i % 2 === 0 ? 3 : null),
      )
    assert.equal(await passing(all([one, other])), 20)
    await one.close()
    await other.close()
    const again = await openFor(t, place, one.clock)
    assert.equal(await passing(all([again])), 0)
    await pass(place, WINDOW_MS + 100, again.clock)
    assert.equal(await passing(all([again])), 20)
    const proof = await verifyWindows(again.store)
    assert.deepEqual([proof.keys, proof.requests, proof.violations], [1, 40, []])
  },
)

onEveryStore('a refusal by one limit does not count under the other', async (t, place) => {
  const opened = await openFor(t, place)
  assert.equal(await passing(times(50, () => ask(opened, 10, 'a', 2))), 2)
  assert.equal(await passing(times(50, () => ask(opened, 10, null))), 8)
  assert.equal(await passing(times(50, () => ask(opened, 10, 'b', 5))), 0)
  // Under a wider limit of the parent, the child has all of its own.
  assert.equal(await passing(times(50, () => ask(opened, 100, 'b', 5))), 5)
  assert.equal(await passing(times(50, () => ask(opened, null, 'b', 6))), 1)
  assert.equal(await passing(times(50, () => ask(opened, 17, null))), 1)
})

onEveryStore(
  "the wait is the longer of both limits', and a caller that waits that long passes",
  async (t, place) => {
    const opened = await openFor(t, place)
    const later = (milliseconds: number) => pass(place, milliseconds, opened.clock)
    assert.ok((await ask(opened, 2, null)).admitted)
    await later(20_000)
    assert.ok((await ask(opened, 2, 'a', 1)).admitted)
    await later(10_000)
    // The key has room in 30 s, the child in 50 s.
    const refused = await ask(opened, 2, 'a', 1)
    assert.ok(
      !refused.admitted && refused.wait > 45_000 && refused.wait <= 51_000,
      JSON.stringify(refused),
    )
    const sibling = await ask(opened, 2, 'b', 1)
    assert.ok(
      !sibling.admitted && sibling.wait > 25_000 && sibling.wait <= 31_000,
      JSON.stringify(sibling),
    )
    await later(sibling.wait)
    assert.ok((await ask(opened, 2, 'b', 1)).admitted)
    await later(refused.wait - sibling.wait)
    assert.ok((await ask(opened, 2, 'a', 1)).admitted)
  },
)

/** What happens next: requests that come together, at two servers; or time passes; or a restart. */
type Event =
  | { kind: 'ask'; rpm: number | null; by: { server: number; child: number; count: number }[] }
  | { kind: 'pass'; seconds: number }
  | { kind: 'restart'; server: number }

const CHILDREN = [null, 1, 3, null] as const

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      rpm: fc.constantFrom(4, 4, 7, null),
      by: fc.array(
        fc.record({ server: fc.nat(1), child: fc.nat(4), count: fc.integer({ min: 1, max: 5 }) }),
        { minLength: 1, maxLength: 4 },
      ),
    }),
  },
  // No sum of these is close to a minute: the window on PostgreSQL is a little longer.
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      seconds: fc.constantFrom(7, 14, 35),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), server: fc.nat(1) }) },
)

/** The whole truth: when which child was let through (seconds). */
class Model {
  #now = 0
  readonly #admitted: { at: number; child: number | null }[] = []

  pass(seconds: number): void {
    this.#now += seconds
  }

  note(child: number | null): void {
    this.#admitted.push({ at: this.#now, child })
  }

  /** How many more would pass under a limit of the key or (`child`) of a child. */
  room(rpm: number | null, child?: number): number {
    if (rpm === null) return Infinity
    const counted = this.#admitted.filter(
      (one) => one.at > this.#now - 60 && (child === undefined || one.child === child),
    )
    return rpm - counted.length
  }
}

let run = 0

async function follow(place: Place, servers: Opened[], events: readonly Event[]): Promise<void> {
  const model = new Model()
  const key = `k${++run}`
  for (const one of events) {
    if (one.kind === 'pass') {
      model.pass(one.seconds)
      await pass(place, one.seconds * 1000, servers[0]!.clock)
    } else if (one.kind === 'restart') {
      await servers[one.server]!.close()
      servers[one.server] = await openOn(place, servers[0]!.clock)
    } else {
      const asked = one.by.flatMap(({ server, child, count }) =>
        times(count, async () => {
          // The last one is the key itself.
          const limit = CHILDREN[child] ?? null
          const id = child < CHILDREN.length ? `${key}c${child}` : null
          const { admitted } = await ask(servers[server]!, one.rpm, id, limit, key)
          return { child, limit, admitted }
        }),
      )
      const responses = await Promise.all(asked)
      for (const { child, admitted } of responses) if (admitted) model.note(child)
      assert.ok(model.room(one.rpm) >= 0 || responses.every(({ admitted }) => !admitted))
      for (const { child, limit, admitted } of responses) {
        assert.ok(model.room(limit, child) >= 0, 'a child passed too often')
        if (!admitted)
          assert.ok(
            model.room(one.rpm) <= 0 || model.room(limit, child) <= 0,
            'what could pass was refused',
          )
      }
    }
  }
}

onEveryStore(
  'in any order, both limits hold and nothing that fits both is refused',
  async (t, place) => {
    const clock = movedClock()
    const servers = [await openOn(place, clock), await openOn(place, clock)]
    t.after(() => Promise.all(servers.map(({ close }) => close())))
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 3, maxLength: 14 }), (events) =>
        follow(place, servers, events),
      ),
      { numRuns: 15 },
    )
    assert.deepEqual((await verifyWindows(servers[0]!.store)).violations, [])
  },
)
