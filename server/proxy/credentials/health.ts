// The health of credentials, judged by the responses to requests and to our own probes. One
// caller's responses never block a credential for others for long, because they may concern only
// that caller's model or request.

/**
 * TABLE of responses after which a credential cools down: status → milliseconds, unless the
 * provider specifies it. After a 401, which may concern one request alone, a probe decides. A 403
 * has no effect.
 */
const COOLDOWN_MS: Readonly<Record<number, number>> = {
  429: 10_000,
  500: 1_000,
  502: 1_000,
  503: 2_000,
  504: 1_000,
  529: 2_000,
}
/** The longest cool-down, however long a provider asks for. */
const MAX_COOLDOWN_MS = 60_000
/** How long a credential cools down after one of our probes was rejected. */
const REJECTED_COOLDOWN_MS = 60_000
/**
 * Minimum time between the starts of two probes of one credential, so that a flood of 401s causes
 * no flood of probes.
 */
const PROBE_INTERVAL_MS = 30_000
/**
 * Maximum number of groups of a credential that cool down at the same time; beyond that, the oldest
 * is dropped.
 */
const MAX_GROUPS = 1_000

/** The requests that share one credential's limit at a provider. */
export interface RateLimitGroup {
  /** The model known when the credential is selected. */
  readonly model: string | null
  /** The key of the request: if the model is not known, its responses count only for that key. */
  readonly key: string
}

const groupName = ({ model, key }: RateLimitGroup): string =>
  model === null ? `key ${key}` : `model ${model}`

/** Whether an error can concern the credential; others concern the request. */
export const isAboutCredential = (status: number): boolean =>
  status === 401 || status === 403 || COOLDOWN_MS[status] !== undefined

/** Why a request got no complete response from a provider. */
export type FailureCode = 'upstream_unreachable' | 'upstream_timeout'

/** The last failure: the provider's status, or why there was none. */
export interface LastError {
  status: number | null
  code: FailureCode | null
  /** Milliseconds since the failure. */
  ago: number
}

interface HealthState {
  /** Monotonic milliseconds until which the whole credential cools down. */
  rejectedUntil: number
  /** Until when each group cools down, by its name. */
  readonly coolingUntil: Map<string, number>
  error: (Omit<LastError, 'ago'> & { at: number }) | null
  /** When the last probe began (monotonic milliseconds). */
  probedAt: number
  probing: boolean
}

/** The state of all credentials of a process, in memory. */
export class CredentialHealth {
  readonly #mono: () => number
  readonly #probe: (id: string) => Promise<unknown>
  readonly #states = new Map<string, HealthState>()

  /**
   * @param mono a monotonic clock in milliseconds
   * @param probe tests a credential and reports the result to `recordProbe`
   */
  constructor(mono: () => number, probe: (id: string) => Promise<unknown>) {
    this.#mono = mono
    this.#probe = probe
  }

  /** Forgets all credentials but these. */
  keep(ids: ReadonlySet<string>): void {
    for (const id of this.#states.keys()) if (!ids.has(id)) this.#states.delete(id)
  }

  /** Records the response to a caller's request. */
  record(id: string, group: RateLimitGroup, status: number, retryAfterMs: number | null): void {
    if (status < 400) return this.#recover(id, group)
    if (!isAboutCredential(status)) return
    const cooldown = COOLDOWN_MS[status]
    const state = this.#stateOf(id)
    const now = this.#mono()
    state.error = { status, code: null, at: now }
    if (cooldown !== undefined)
      coolDown(
        state.coolingUntil,
        groupName(group),
        now + Math.min(retryAfterMs ?? cooldown, MAX_COOLDOWN_MS),
      )
    else if (status === 401) this.#verify(id, state, now)
  }

  /** Restores the last failure from an earlier process: it is shown, but causes no cool-down. */
  restore(id: string, { status, code, ago }: LastError): void {
    this.#stateOf(id).error = { status, code, at: this.#mono() - ago }
  }

  /**
   * Records a request without a complete response. The credential stays in use, because another one
   * would reach the same server.
   */
  recordNoResponse(id: string, code: FailureCode): void {
    this.#stateOf(id).error = { status: null, code, at: this.#mono() }
  }

  /** Records the result of a probe. @param status null if there was no response */
  recordProbe(id: string, status: number | null): void {
    if (status === null) return
    const state = this.#stateOf(id)
    const now = this.#mono()
    if (status < 300) {
      state.rejectedUntil = 0
      state.error = null
    } else if (isAboutCredential(status)) {
      // A 403 alone may concern only this request; after a 401, the credential is rejected.
      if (status === 401 || (status === 403 && state.error?.status === 401))
        state.rejectedUntil = now + REJECTED_COOLDOWN_MS
      state.error = { status, code: null, at: now }
    }
  }

  /**
   * Milliseconds for which a credential cools down because the provider rejects it; 0 if it does
   * not.
   */
  rejectedFor(id: string): number {
    const state = this.#states.get(id)
    return state === undefined ? 0 : Math.max(0, state.rejectedUntil - this.#mono())
  }

  /**
   * Milliseconds for which requests of a group should use another credential; 0 if they need not.
   */
  coolingFor(id: string, group: string | RateLimitGroup): number {
    const until = this.#states
      .get(id)
      ?.coolingUntil.get(typeof group === 'string' ? group : groupName(group))
    return until === undefined ? 0 : Math.max(0, until - this.#mono())
  }

  /** The groups of a credential that cool down. */
  coolingGroups(id: string): string[] {
    return [...(this.#states.get(id)?.coolingUntil.keys() ?? [])].filter(
      (group) => this.coolingFor(id, group) > 0,
    )
  }

  /** The last failure; null if the credential has worked since. */
  lastError(id: string): LastError | null {
    const error = this.#states.get(id)?.error
    return error ? { status: error.status, code: error.code, ago: this.#mono() - error.at } : null
  }

  /** Ends the cool-downs that the response disproves. */
  #recover(id: string, group: RateLimitGroup): void {
    const state = this.#states.get(id)
    if (state === undefined) return
    state.rejectedUntil = 0
    state.error = null
    if (state.coolingUntil.size > 0) state.coolingUntil.delete(groupName(group))
  }

  /**
   * A 401 may concern the model or another part of one caller's request. A probe shows whether it
   * concerns the credential.
   */
  #verify(id: string, state: HealthState, now: number): void {
    if (state.probing || state.rejectedUntil > now || now - state.probedAt < PROBE_INTERVAL_MS)
      return
    state.probing = true
    state.probedAt = now
    const over = (): void => {
      state.probing = false
    }
    this.#probe(id).then(over, over)
  }

  #stateOf(id: string): HealthState {
    let state = this.#states.get(id)
    if (state === undefined)
      this.#states.set(
        id,
        (state = {
          rejectedUntil: 0,
          coolingUntil: new Map(),
          error: null,
          probedAt: -Infinity,
          probing: false,
        }),
      )
    return state
  }
}

/**
 * Of a group's cool-downs, the one that ends last counts. Of too many groups, the one with the
 * oldest error is dropped.
 */
function coolDown(coolingUntil: Map<string, number>, group: string, until: number): void {
  const latest = Math.max(coolingUntil.get(group) ?? 0, until)
  coolingUntil.delete(group)
  coolingUntil.set(group, latest)
  const [oldest] = coolingUntil.keys()
  if (coolingUntil.size > MAX_GROUPS && oldest !== undefined) coolingUntil.delete(oldest)
}
