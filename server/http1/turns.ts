// What the owner of a server or client gives it, so that costly work is done a little at a time.

/** Who a piece of work is for. Owners take turns. */
export interface Owner {
  readonly account_id: string
  readonly key_id: string
}

/** Calls at most so many pieces of work in one turn of the event loop. */
export interface Turns {
  /** Counts the turns in which as many were done as may be. */
  readonly turn: number
  /** Counts one that was done without asking. @returns whether it was one more than may be */
  spend(): boolean
  /** Calls `work`, at once unless as many as may be were called in this turn of the event loop. */
  schedule(owner: Owner, work: () => void): void
}

/** Makes turns, of `limit` pieces of work each. */
export type CreateTurns = (limit: number) => Turns
