// Places of one kind (uploads, waiting conversions, API requests, sign-ins), given out so that the
// many of one owner never keep out the few of another.
//
// What is free is for anybody. Where nothing is free, an owner within its share still gets a place:
// the newest unfinished one of whoever is furthest over its share is dropped, or the limit is
// exceeded, up to twice as many places. An owner beyond its share is refused.

export interface FairSharesLimits {
  /** Places that anybody may take. */
  readonly places: number
  /**
   * Places of one owner that nobody else's can keep it from; a quarter of all where it is left out.
   */
  readonly share?: number
  /**
   * Whether an owner without a place always gets one: only where there are no more owners than
   * somebody has let in.
   */
  readonly always: boolean
}

/** Why there is no place: the owner has its share, or there is none for anybody. */
export type NoPlace = 'share' | 'full'

/** A place that has been given; it belongs to one piece of work. */
export class Place {
  readonly owner: string
  readonly #leave: (place: Place) => void
  /** Ends the work; undefined: it cannot be dropped any more. */
  #drop: (() => void) | undefined

  constructor(owner: string, leave: (place: Place) => void, drop: (() => void) | undefined) {
    this.owner = owner
    this.#leave = leave
    this.#drop = drop
  }

  get isDroppable(): boolean {
    return this.#drop !== undefined
  }

  /** From now on the work is not dropped for others. */
  keep(): void {
    this.#drop = undefined
  }

  /** Gives the place back; a second time does nothing. */
  leave(): void {
    this.keep()
    this.#leave(this)
  }

  /** Gives the place back and ends the work. */
  drop(): void {
    const drop = this.#drop
    this.leave()
    drop?.()
  }
}

export class FairShares {
  readonly #places: number
  readonly #share: number
  readonly #always: boolean
  /** Places of each owner, the oldest first. */
  readonly #owners = new Map<string, Set<Place>>()
  #used = 0

  constructor({ places, share = Math.floor(places / 4), always }: FairSharesLimits) {
    this.#places = places
    this.#share = Math.max(1, share)
    this.#always = always
  }

  /** Places that are taken. */
  get used(): number {
    return this.#used
  }

  /** Places of one owner. */
  usedBy(owner: string): number {
    return this.#owners.get(owner)?.size ?? 0
  }

  /**
   * Gives the owner a place, or says why not. @param drop ends the work where somebody else needs
   * its place; it has been given back by then
   */
  enter(owner: string, drop?: () => void): Place | NoPlace {
    if (this.#used >= this.#places) {
      const mine = this.usedBy(owner)
      if (mine >= this.#share) return 'share'
      const victim = this.#newestOfLargest(mine + 1)
      if (victim) victim.drop()
      else if (this.#used >= this.#places * 2 && !(this.#always && mine === 0)) return 'full'
    }
    return this.#add(owner, drop)
  }

  #add(owner: string, drop: (() => void) | undefined): Place {
    const places = this.#owners.get(owner) ?? new Set()
    this.#owners.set(owner, places)
    const place = new Place(owner, (left) => this.#remove(places, left), drop)
    places.add(place)
    this.#used++
    return place
  }

  #remove(places: Set<Place>, place: Place): void {
    if (!places.delete(place)) return
    this.#used--
    if (places.size === 0) this.#owners.delete(place.owner)
  }

  /** Looks at every owner: only where all places are taken, of which there are few. */
  #newestOfLargest(atLeast: number): Place | undefined {
    let found: Place | undefined
    let most = Math.max(this.#share, atLeast)
    for (const places of this.#owners.values()) {
      const newest =
        places.size > most ? [...places].findLast((place) => place.isDroppable) : undefined
      if (newest) [found, most] = [newest, places.size]
    }
    return found
  }
}
