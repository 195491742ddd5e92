// The limit of a key or a child key, in SQLite's admission.
import type { PendingAdmission } from './backend.ts'
import type { LimitOwner, RequestLimit } from './request-limits.ts'
import { Window, type Verdict } from './sliding-window.ts'

/**
 * TABLE of the states of a limiter:
 *
 * - `loading`: its window is being read from the ledger; requests wait.
 * - `ready`: its window decides.
 */
export type LimiterState = 'loading' | 'ready'

/** One key, or child key, under one limit. It is replaced when the limit changes. */
export class KeyLimiter {
  readonly id: string
  readonly owner: LimitOwner
  /** The key's id; for a child key, its parent's. */
  readonly key: string
  /** Requests in any 60 seconds. */
  readonly limit: number
  readonly window = new Window()
  state: LimiterState = 'loading'
  /** The newest admission that was read from the ledger; Infinity while it is loading. */
  loadedTo = Infinity
  /** Requests that wait for the window, or for the result of a batch. */
  waiting: PendingAdmission[]
  /** Requests that are a few milliseconds early; one timer retries all of them. */
  readonly held: PendingAdmission[] = []
  isTimerSet = false

  constructor({ id, owner, rpm }: RequestLimit, key: string, waiting: PendingAdmission[]) {
    this.id = id
    this.owner = owner
    this.key = key
    this.limit = rpm
    this.waiting = waiting
  }

  /** Whether a request has to wait before it can be decided. */
  get isBusy(): boolean {
    return this.state === 'loading' || this.waiting.length > 0
  }

  /** Whether it can be dropped, because a new one would be the same. */
  isIdle(now: number): boolean {
    return (
      this.state === 'ready' &&
      this.waiting.length === 0 &&
      this.held.length === 0 &&
      this.window.idle(now)
    )
  }
}

/** A refusal, and the limiter that it depends on. */
type Refusal = Extract<Verdict, { pass: false }> & { readonly limiter: KeyLimiter }

/**
 * Reserves a place under each limiter. Either all of them have a pending place, or none has; then
 * the refusal is that of the limiter with the longest wait, or of one that cannot tell yet.
 */
export function askAll(limiters: readonly KeyLimiter[], now: number): { pass: true } | Refusal {
  if (limiters.length === 0) return PASS
  let refusal: Refusal | null = null
  const asked: KeyLimiter[] = []
  for (const limiter of limiters) {
    const verdict = limiter.window.ask(limiter.limit, now, limiter.held.length)
    if (verdict.pass) asked.push(limiter)
    else if (refusal === null || isLater(verdict.wait, refusal.wait))
      refusal = { ...verdict, limiter }
  }
  if (refusal === null) return PASS
  for (const { window } of asked) window.withdraw()
  return refusal
}

const PASS = { pass: true } as const

function isLater(wait: number | null, than: number | null): boolean {
  return than !== null && (wait === null || wait > than)
}
