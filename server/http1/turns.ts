// Schedules costly work in small portions; implemented by the owner of a server or client.

/** The owner of a piece of work. Owners take turns. */
export interface Owner {
  readonly account_id: string
  readonly key_id: string
}

/** Runs a bounded number of pieces of work in one turn of the event loop. */
export interface Turns {
  /**
   * How often the bound has been renewed: not after turns in which pieces were only counted with
   * `spend` and stayed below it.
   */
  readonly turn: number
  /** Whether more pieces have to wait for a later turn. */
  readonly isBusy: boolean
  /**
   * Counts a piece that was done without asking. @returns whether the bound had already been
   * reached, so that it should have waited
   */
  spend(cost?: number): boolean
  /** Calls `work`, synchronously unless this turn of the event loop has reached the bound. */
  schedule(owner: Owner, work: () => void, cost?: number): void
  /**
   * Calls `work` in a later turn of the event loop, when it is the owner's turn.
   * @param cost pieces; 0 for work that counts itself
   */
  defer(owner: Owner, work: () => void, cost?: number): void
}

/** Creates turns of `limit` pieces of work each. */
export type CreateTurns = (limit: number) => Turns

/** Work that is limited per turn of the event loop; shared by all listening sockets. */
export interface RouterTurns {
  /** Large pieces of bodies are read. */
  readonly reads: Turns
  /** Connections are handed to Node's server. */
  readonly handOvers: Turns
  /** Connections are rejected. */
  readonly rejections: Turns
  /** Heads of requests are parsed. */
  readonly heads: Turns
  /** Requests whose callers have left are ended. */
  readonly ends: Turns
  /** Connections that their callers have reset are closed. */
  readonly closes: Turns
}
