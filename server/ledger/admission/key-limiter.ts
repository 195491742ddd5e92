// A key with a limit, as SQLite's admission knows it.
import type { PendingAdmission } from './backend.ts'
import { Window } from './sliding-window.ts'

/**
 * TABLE of the states of a limiter:
 *
 * - `loading`: its window is being read from the ledger; requests wait.
 * - `ready`: its window decides.
 */
export type LimiterState = 'loading' | 'ready'

/** One key under one limit. It is replaced when the limit changes. */
export class KeyLimiter {
  readonly key: string
  /** Requests in any 60 seconds. */
  readonly limit: number
  readonly window = new Window()
  state: LimiterState = 'loading'
  /** The newest admission that was read from the ledger; Infinity while it is loading. */
  loadedTo = Infinity
  /** Requests that wait for the window, or for what becomes of a batch. */
  waiting: PendingAdmission[]
  /** Requests that are a few milliseconds early; one timer asks for all of them again. */
  readonly held: PendingAdmission[] = []
  isTimerSet = false

  constructor(key: string, limit: number, waiting: PendingAdmission[]) {
    this.key = key
    this.limit = limit
    this.waiting = waiting
  }

  /** Whether it can be forgotten: nothing in it differs from a new one. */
  isIdle(now: number): boolean {
    return (
      this.state === 'ready' &&
      this.waiting.length === 0 &&
      this.held.length === 0 &&
      this.window.idle(now)
    )
  }
}
