// Work that waits for one of a few places, by owner: owners take turns, however much each of them
// has waiting.
import { FairShares, type FairSharesLimits, type NoPlace, type Place } from './shares.ts'

export interface FairQueueLimits {
  /** Pieces of work at once. */
  readonly atOnce: number
  /** Of one owner. */
  readonly each: number
  /** Those that wait. */
  readonly waiting: FairSharesLimits
  /** What somebody is told for whom there is no place, or who had to give it up while it waited. */
  readonly refusal: (why: NoPlace) => Error
}

/** One owner that has work, or had some lately. */
interface Lane {
  running: number
  /** When its next piece may begin, among those of the others. */
  turn: number
  readonly waiting: Set<() => void>
}

/** Owners without work are forgotten when there are this many lanes. */
const MAX_LANES = 1_024

/**
 * The next piece of an owner's work has a turn one behind its last one, and not before the last one
 * of all that was begun (start-time fair queuing: Goyal, Vin and Cheng, 1996). So nobody gains by
 * coming in small pieces, or again and again.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits
  readonly #places: FairShares
  readonly #lanes = new Map<string, Lane>()
  #running = 0
  /** The turn of the last piece that was begun. */
  #present = 0

  constructor(limits: FairQueueLimits) {
    this.#limits = limits
    this.#places = new FairShares(limits.waiting)
  }

  /** Pieces of work that wait. */
  get waiting(): number {
    return this.#places.used
  }

  /**
   * Waits for the turn of one piece of work; disposing of what it gives ends the turn.
   *
   * @param isDroppable whether it may be ended while it waits, where somebody else needs its place
   * @throws the refusal; what `signal` was aborted with
   */
  async enter(owner: string, signal: AbortSignal, isDroppable: boolean): Promise<Disposable> {
    signal.throwIfAborted()
    const lane = this.#laneOf(owner)
    if (
      this.#running < this.#limits.atOnce &&
      lane.running < this.#limits.each &&
      lane.waiting.size === 0
    )
      return this.#begin(lane)
    const dropped = new AbortController()
    const drop = (): void => dropped.abort(this.#limits.refusal('full'))
    const place = this.#places.enter(owner, isDroppable ? drop : undefined)
    if (typeof place === 'string') throw this.#limits.refusal(place)
    return this.#wait(lane, place, AbortSignal.any([signal, dropped.signal]))
  }

  /**
   * Counts a piece of an owner's work that needs no place of this queue, until what it gives is
   * disposed of; null where as many run as may.
   */
  occupy(owner: string): Disposable | null {
    const lane = this.#laneOf(owner)
    if (lane.running >= this.#limits.each) return null
    lane.running++
    let isOver = false
    return {
      [Symbol.dispose]: () => {
        if (isOver) return
        isOver = true
        lane.running--
        this.#next()
      },
    }
  }

  /** How many pieces of each owner's work run, where any does. */
  running(): [owner: string, pieces: number][] {
    return [...this.#lanes].flatMap(([owner, { running }]) =>
      running > 0 ? [[owner, running] as [string, number]] : [],
    )
  }

  #wait(lane: Lane, place: Place, signal: AbortSignal): Promise<Disposable> {
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>()
    const leave = (): void => {
      lane.waiting.delete(start)
      place.leave()
      signal.removeEventListener('abort', abort)
    }
    const start = (): void => {
      leave()
      resolve(this.#begin(lane))
    }
    const abort = (): void => {
      leave()
      reject(signal.reason)
    }
    if (lane.waiting.size === 0) lane.turn = Math.max(lane.turn, this.#present)
    lane.waiting.add(start)
    signal.addEventListener('abort', abort)
    return promise
  }

  #begin(lane: Lane): Disposable {
    this.#running++
    lane.running++
    this.#present = Math.max(this.#present, lane.turn)
    lane.turn = this.#present + 1
    let over = false
    return {
      [Symbol.dispose]: () => {
        if (over) return
        over = true
        this.#running--
        lane.running--
        this.#next()
      },
    }
  }

  #next(): void {
    while (this.#running < this.#limits.atOnce) {
      const ready = [...this.#lanes.values()].filter(
        (lane) => lane.waiting.size > 0 && lane.running < this.#limits.each,
      )
      const [first] = ready.sort((a, b) => a.turn - b.turn)
      const [start] = first?.waiting ?? []
      if (!start) return
      start()
    }
  }

  #laneOf(owner: string): Lane {
    if (this.#lanes.size >= MAX_LANES) this.#forget()
    const lane = this.#lanes.get(owner) ?? { running: 0, turn: this.#present, waiting: new Set() }
    this.#lanes.set(owner, lane)
    return lane
  }

  #forget(): void {
    for (const [owner, { running, waiting, turn }] of this.#lanes)
      if (running + waiting.size === 0 && turn <= this.#present) this.#lanes.delete(owner)
  }
}
