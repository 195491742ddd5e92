// Whose conversion runs next: at most two of one account at once, and the accounts take turns. Jobs have a queue of their own, in the store (jobs.ts).
import { Problem } from '../errors.ts'
import { FairShares, type Place } from '../fair-shares.ts'

/** Conversions of one account that run at once. */
export const MAX_RUNNING = 2
/** Seconds after which a refused caller should try again. */
const RETRY_AFTER = 5

export interface ConversionQueueLimits {
  /** Conversions that run at once. */
  readonly atOnce: number
  /** Conversions that may wait. */
  readonly queue: number
}

export interface ConversionQueue {
  /** Conversions that wait for their turn. */
  readonly waiting: number
  /**
   * Waits for the turn of one conversion; disposing of what it gives ends the turn.
   *
   * @throws Problem `too_many_uploads`: 429 where too many of this account wait, 503 where too many of all do; what `signal` was aborted with
   */
  enter(account: string, signal: AbortSignal): Promise<Disposable>
}

/** One account that has conversions, or had some lately. */
interface Lane {
  running: number
  /** When its next one may begin, among those of the others: see `nextTurn` of jobs.ts. */
  turn: number
  readonly waiting: Set<() => void>
}

/** Accounts without a conversion are forgotten when there are this many lanes. */
const MAX_LANES = 1_024

export function openConversionQueue({ atOnce, queue }: ConversionQueueLimits): ConversionQueue {
  const places = new FairShares({ places: queue, always: true })
  const lanes = new Map<string, Lane>()
  let running = 0
  /** The turn of the last one that was begun. */
  let present = 0

  const laneOf = (account: string): Lane => {
    if (lanes.size >= MAX_LANES) for (const [id, { running, waiting, turn }] of lanes) if (running + waiting.size === 0 && turn <= present) lanes.delete(id)
    const lane = lanes.get(account) ?? { running: 0, turn: present, waiting: new Set() }
    lanes.set(account, lane)
    return lane
  }
  const begin = (lane: Lane): Disposable => {
    running++
    lane.running++
    present = Math.max(present, lane.turn)
    lane.turn = Math.max(present, lane.turn) + 1
    let over = false
    return {
      [Symbol.dispose]: () => {
        if (over) return
        over = true
        running--
        lane.running--
        next()
      },
    }
  }
  const next = (): void => {
    for (;;) {
      if (running >= atOnce) return
      const ready = [...lanes.values()].filter((lane) => lane.waiting.size > 0 && lane.running < MAX_RUNNING)
      const [first] = ready.sort((a, b) => a.turn - b.turn)
      const [start] = first?.waiting ?? []
      if (!start) return
      start()
    }
  }
  const wait = (lane: Lane, place: Place, signal: AbortSignal): Promise<Disposable> => {
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>()
    const leave = (): void => {
      lane.waiting.delete(start)
      place.leave()
      signal.removeEventListener('abort', abort)
    }
    const start = (): void => {
      leave()
      resolve(begin(lane))
    }
    const abort = (): void => {
      leave()
      reject(signal.reason)
    }
    if (lane.waiting.size === 0) lane.turn = Math.max(lane.turn, present)
    lane.waiting.add(start)
    signal.addEventListener('abort', abort)
    return promise
  }

  return {
    get waiting() {
      return places.used
    },
    enter: async (account, signal) => {
      signal.throwIfAborted()
      const lane = laneOf(account)
      if (running < atOnce && lane.running < MAX_RUNNING && lane.waiting.size === 0) return begin(lane)
      const place = places.enter(account)
      if (typeof place !== 'string') return wait(lane, place, signal)
      throw tooMany(place === 'share' ? 'Too many of your conversions are waiting.' : 'Too many conversions are waiting.', place)
    },
  }
}

/** What is answered where there is no place: 429 where it is the caller's own that take it, 503 where it is everybody's. */
export function tooMany(sentence: string, why: 'share' | 'full'): Problem {
  return new Problem('too_many_uploads', `${sentence} Try again in a moment.`, { retryAfter: RETRY_AFTER, ...(why === 'full' ? { status: 503 } : {}) })
}
