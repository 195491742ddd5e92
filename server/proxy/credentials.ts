// The pool: which credential a request goes out with. Step 7 of the contract.
import { hash } from 'node:crypto'
import { HOUR } from '../clock.ts'
import type { Upstream } from './providers/provider.ts'

/** A credential ready for use. */
export interface Credential {
  readonly id: string
  readonly provider: string
  readonly secret: string
  /** The values of the host that it is for: sent to that host only. */
  readonly values: Readonly<Record<string, string>>
  /** Its share of the requests; 0 takes none. */
  readonly weight: number
}

/** TABLE of answers that send a credential to rest: status → milliseconds, where the provider does not say. */
const REST_MS: Readonly<Record<number, number>> = { 401: 60_000, 403: 10_000, 429: 10_000, 500: 1_000, 502: 1_000, 503: 2_000, 504: 1_000, 529: 2_000 }
/** However long a provider asks for. */
const LONGEST_REST_MS = HOUR

export interface CredentialPool {
  /** Replaces the credentials; the health of those that stay is kept. */
  use(credentials: readonly Credential[]): void
  readonly all: readonly Credential[]
  /**
   * The credential for a request, or null when there is none for this host.
   *
   * @param context what related requests have in common: they stay on one credential while it is healthy; null spreads by weight
   * @param pinned the only one that reaches the object that is asked for
   */
  pick(upstream: Upstream, context: string | null, pinned: string | null): Credential | null
  /** Takes note of an answer. */
  note(credential: Credential, status: number, retryAfterMs: number | null): void
  /** Milliseconds for which a credential still rests; 0 when it is healthy. */
  resting(id: string): number
  /** The last answer that sent a credential to rest, and how many milliseconds ago; null where none did since it last worked. */
  lastError(id: string): { status: number; ago: number } | null
}

/** @param mono a monotonic clock in milliseconds */
export function createPool(mono: () => number): CredentialPool {
  let all: readonly Credential[] = []
  let byProvider = new Map<string, Credential[]>()
  const until = new Map<string, number>()
  const errors = new Map<string, { status: number; at: number }>()

  const resting = (id: string): number => {
    const end = until.get(id)
    if (end === undefined) return 0
    const left = end - mono()
    if (left <= 0) until.delete(id)
    return Math.max(0, left)
  }

  return {
    use(credentials) {
      all = credentials
      byProvider = Map.groupBy(credentials, ({ provider }) => provider)
      for (const noted of [until, errors]) for (const id of noted.keys()) if (!credentials.some((one) => one.id === id)) noted.delete(id)
    },
    get all() {
      return all
    },
    pick(upstream, context, pinned) {
      const mine = byProvider.get(upstream.provider.id) ?? []
      // The usual case, at no cost.
      if (pinned === null && mine.length === 1 && mine[0]!.weight > 0 && fits(mine[0]!, upstream)) return mine[0]!
      const fitting = mine.filter((one) => fits(one, upstream))
      if (pinned !== null) return fitting.find(({ id }) => id === pinned) ?? null
      const usable = fitting.filter(({ weight }) => weight > 0)
      if (usable.length === 0) return null
      const healthy = usable.filter(({ id }) => resting(id) === 0)
      // All of them rest: the provider's own refusal says more than ours could.
      if (healthy.length === 0) return usable.toSorted((a, b) => resting(a.id) - resting(b.id))[0]!
      return choose(healthy, context)
    },
    note(credential, status, retryAfterMs) {
      if (status < 400 && errors.size > 0) errors.delete(credential.id)
      const rest = REST_MS[status]
      if (rest === undefined) return
      errors.set(credential.id, { status, at: mono() })
      until.set(credential.id, mono() + Math.min(retryAfterMs ?? rest, LONGEST_REST_MS))
    },
    resting,
    lastError(id) {
      const error = errors.get(id)
      return error === undefined ? null : { status: error.status, ago: mono() - error.at }
    },
  }
}

/** A credential goes to the very host that it is for, and nowhere else. */
export function fits(credential: Credential, upstream: Upstream): boolean {
  for (const name in upstream.instance) if (credential.values[name]?.toLowerCase() !== upstream.instance[name]!.toLowerCase()) return false
  return true
}

/**
 * Weighted rendezvous hashing (Thaler and Ravishankar 1998; weights by Schindelhauer and Schomaker 2005): each credential draws a lot from
 * its id and the context, and the best one has it. When one is added or rests, only its own contexts move.
 */
function choose(credentials: readonly Credential[], context: string | null): Credential {
  let best = credentials[0]!
  let bestLot = -Infinity
  for (const credential of credentials) {
    const draw = context === null ? Math.random() : fraction(`${context}\n${credential.id}`)
    const lot = -credential.weight / Math.log(draw)
    if (lot > bestLot) {
      best = credential
      bestLot = lot
    }
  }
  return best
}

/** A text as a number between 0 and 1, neither included. */
function fraction(text: string): number {
  return (hash('sha256', text, 'buffer').readUIntBE(0, 6) + 0.5) / 2 ** 48
}

/**
 * How long a provider asks us to wait, in milliseconds, or null (RFC 9110, section 10.2.3; `retry-after-ms` is OpenAI's).
 *
 * @param raw the answer's headers as a raw list
 * @param now milliseconds since 1970
 */
export function retryAfter(raw: readonly string[], now: number): number | null {
  let found: number | null = null
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase()
    const value = raw[i + 1]!.trim()
    if (name === 'retry-after-ms' && /^\d+(?:\.\d+)?$/.test(value)) return Number(value)
    if (name !== 'retry-after') continue
    if (/^\d+(?:\.\d+)?$/.test(value)) found = Number(value) * 1000
    else if (!Number.isNaN(Date.parse(value))) found = Math.max(0, Date.parse(value) - now)
  }
  return found
}
