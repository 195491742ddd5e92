// The pool, which selects the credential for a request. Step 7 of pipeline.ts.
import { nameAt, valueAt } from '../../http1/header-fields.ts'
import { hash } from 'node:crypto'
import {
  CredentialHealth,
  type FailureCode,
  type RateLimitGroup,
  type LastError,
} from './health.ts'
import type { Upstream } from '../providers/provider.ts'

/** A credential ready for use. */
export interface Credential {
  readonly id: string
  readonly provider: string
  readonly secret: string
  /** The variables of its host name; it is sent only to that host. */
  readonly values: Readonly<Record<string, string>>
  /** Its weight among the credentials; 0 gets no requests. */
  readonly weight: number
}

/** The credentials of a process and their health. One per process. */
export interface CredentialPool {
  /** Replaces the credentials; keeps the health of those that remain. */
  replace(credentials: readonly Credential[]): void
  readonly all: readonly Credential[]
  /**
   * The credential for a request, or null when there is none for this host.
   *
   * @param context shared by related requests, which stay on one credential while it is healthy;
   *   null distributes by weight
   * @param pinned the only credential that reaches the requested object
   */
  pick(
    upstream: Upstream,
    context: string | null,
    pinned: string | null,
    group: RateLimitGroup,
  ): Credential | null
  /** Records the response to a caller's request. */
  record(
    credential: Credential,
    group: RateLimitGroup,
    status: number,
    retryAfterMs: number | null,
  ): void
  /** Records a caller's request that got no response, or an incomplete one. */
  recordNoResponse(credential: Credential, code: FailureCode): void
  /** Records the result of one of our probes. @param status null if there was no response */
  recordProbe(credential: Credential, status: number | null): void
  /**
   * Milliseconds for which another credential is used in its place, even if only for one model or
   * one key; 0 if it is used for all, as one is that has no better substitute.
   */
  coolingFor(id: string): number
  /** Milliseconds for which a credential counts as rejected by the provider; 0 if it does not. */
  rejectedFor(id: string): number
  /** Restores the last failure from an earlier process. */
  restore(id: string, error: LastError): void
  /** See `CredentialHealth`. */
  lastError(id: string): LastError | null
}

/**
 * Creates a pool without credentials.
 *
 * @param mono a monotonic clock in milliseconds
 * @param probe makes a test call with a credential, and reports the result to `recordProbe`
 */
export function createCredentialPool(
  mono: () => number,
  probe: (credential: Credential) => Promise<unknown>,
): CredentialPool {
  let all: readonly Credential[] = []
  let byProvider = new Map<string, Credential[]>()
  const health = new CredentialHealth(mono, async (id) => {
    const credential = all.find((one) => one.id === id)
    if (credential !== undefined) await probe(credential)
  })

  /** The substitutes for a credential that cools down. */
  const peersOf = (credential: Credential): Credential[] => {
    const values = JSON.stringify(credential.values)
    return (byProvider.get(credential.provider) ?? []).filter(
      (one) => one !== credential && one.weight > 0 && JSON.stringify(one.values) === values,
    )
  }

  return {
    replace(credentials) {
      all = credentials
      byProvider = Map.groupBy(credentials, ({ provider }) => provider)
      health.keep(new Set(credentials.map(({ id }) => id)))
    },
    get all() {
      return all
    },
    pick(upstream, context, pinned, group) {
      const mine = byProvider.get(upstream.provider.id) ?? []
      // The usual case, at no cost.
      const only = mine.length === 1 ? mine[0] : undefined
      if (pinned === null && only !== undefined && only.weight > 0 && fits(only, upstream))
        return only
      const fitting = mine.filter((one) => fits(one, upstream))
      if (pinned !== null) return fitting.find(({ id }) => id === pinned) ?? null
      const usable = fitting.filter(({ weight }) => weight > 0)
      if (usable.length === 0) return null
      const accepted = usable.filter(({ id }) => health.rejectedFor(id) === 0)
      // All are rejected: the provider's own error says more than ours could.
      if (accepted.length === 0)
        return (
          usable.toSorted((a, b) => health.rejectedFor(a.id) - health.rejectedFor(b.id))[0] ?? null
        )
      const healthy = accepted.filter(({ id }) => health.coolingFor(id, group) === 0)
      return choose(healthy.length > 0 ? healthy : accepted, context)
    },
    record: (credential, group, status, retryAfterMs) =>
      health.record(credential.id, group, status, retryAfterMs),
    recordNoResponse: (credential, code) => health.recordNoResponse(credential.id, code),
    recordProbe: (credential, status) => health.recordProbe(credential.id, status),
    coolingFor(id) {
      if (health.rejectedFor(id) === 0 && health.coolingGroups(id).length === 0) return 0
      const credential = all.find((one) => one.id === id)
      return credential === undefined ? 0 : coolingBeside(peersOf(credential), id, health)
    },
    rejectedFor: (id) => health.rejectedFor(id),
    restore(id, error) {
      if (all.some((one) => one.id === id)) health.restore(id, error)
    },
    lastError: (id) => health.lastError(id),
  }
}

/** Milliseconds for which one of `peers` is used in place of a credential. */
function coolingBeside(peers: readonly Credential[], id: string, health: CredentialHealth): number {
  const rejected = health.rejectedFor(id)
  // If all are rejected, the one whose time ends first is used.
  if (rejected > 0)
    return peers.some((peer) => health.rejectedFor(peer.id) < rejected) ? rejected : 0
  const passedOver = health
    .coolingGroups(id)
    .filter((group) =>
      peers.some(
        (peer) => health.rejectedFor(peer.id) === 0 && health.coolingFor(peer.id, group) === 0,
      ),
    )
  return Math.max(0, ...passedOver.map((group) => health.coolingFor(id, group)))
}

/** A credential is sent only to its own host. */
export function fits(credential: Credential, upstream: Upstream): boolean {
  for (const name in upstream.instance)
    if (credential.values[name]?.toLowerCase() !== upstream.instance[name]?.toLowerCase())
      return false
  return true
}

/**
 * Weighted rendezvous hashing (Thaler and Ravishankar 1998; weights by Schindelhauer and Schomaker
 * 2005): each credential gets a score from its id and the context, and the highest score wins. When
 * a credential is added or cools down, only its own contexts move.
 */
function choose(credentials: readonly Credential[], context: string | null): Credential {
  // oxlint-disable-next-line typescript/no-non-null-assertion -- callers pass one credential at least
  let best = credentials[0]!
  let bestScore = -Infinity
  for (const credential of credentials) {
    const draw = context === null ? Math.random() : fraction(`${context}\n${credential.id}`)
    const score = -credential.weight / Math.log(draw)
    if (score > bestScore) {
      best = credential
      bestScore = score
    }
  }
  return best
}

/** Hashes a text to a number between 0 and 1 (exclusive). */
function fraction(text: string): number {
  return (hash('sha256', text, 'buffer').readUIntBE(0, 6) + 0.5) / 2 ** 48
}

/**
 * How long a provider asks us to wait, in milliseconds, or null (RFC 9110, section 10.2.3;
 * `retry-after-ms` is OpenAI's).
 *
 * @param raw the response's headers as a raw list
 * @param now milliseconds since 1970
 */
export function retryAfter(raw: readonly string[], now: number): number | null {
  let found: number | null = null
  for (let i = 0; i < raw.length; i += 2) {
    const name = nameAt(raw, i).toLowerCase()
    const value = valueAt(raw, i).trim()
    if (name === 'retry-after-ms' && /^\d+(?:\.\d+)?$/.test(value)) return Number(value)
    if (name !== 'retry-after') continue
    if (/^\d+(?:\.\d+)?$/.test(value)) found = Number(value) * 1000
    else if (!Number.isNaN(Date.parse(value))) found = Math.max(0, Date.parse(value) - now)
  }
  return found
}
