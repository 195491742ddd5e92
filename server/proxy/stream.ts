// Steps 8 and 9: the stream both ways, and the ledger's row when it is over.
import type { Clock } from '../clock.ts'
import { valueOf } from '../http/fields.ts'
import type { Admission, Ledger } from '../ledger/admit.ts'
import type { Log } from '../log.ts'
import { corsHeaders } from './cors.ts'
import { retryAfter, type Credential, type CredentialPool } from './credentials.ts'
import { responseHeaders } from './headers.ts'
import { createMeter, type Meter, type Usage } from './meter.ts'
import type { ModelObserver } from './model.ts'
import type { Objects } from './objects.ts'
import type { Match } from './providers/endpoint.ts'
import type { Upstream as Named } from './providers/provider.ts'
import type { ProviderTable } from './providers/table.ts'
import type { RefusalCode } from './refusal.ts'
import { relay, type Relayed } from './relay.ts'
import { logLine, Refused, type Trip } from './trip.ts'
import type { Outgoing, Upstream } from './upstream.ts'

interface Parts {
  ledger: Ledger
  credentials: CredentialPool
  objects: Objects
  upstream: Upstream
  clock: Clock
  log: Log
}

const UNKNOWN: Usage = { input: null, output: null, cached: null, reasoning: null }

type Admitted = Extract<Admission, { admitted: true }>

export interface Streaming {
  named: Named
  table: ProviderTable
  match: Match
  pathAndQuery: string
  outgoing: Outgoing
  credential: Credential
  admission: Admitted
  observer: ModelObserver | null
}

/** Step 8, and 9 when it is over. */
export async function stream(parts: Parts, trip: Trip, { named, table, match, pathAndQuery, outgoing, credential, admission, observer }: Streaming): Promise<void> {
  const { caller } = trip
  const { clock } = parts
  const cors = valueOf(caller.headers, 'origin') !== undefined
  let meter: Meter | null = null
  let firstByte: number | null = null
  const relayed = await relay(parts.upstream, outgoing, caller, {
    head(status, raw) {
      firstByte = clock.mono() - trip.started
      parts.credentials.note(credential, status, status >= 400 ? retryAfter(raw, clock.now()) : null)
      meter = createMeter(named.provider, match, raw)
      const headers = responseHeaders(raw, { upstream: named, table, pathAndQuery, cors })
      if (valueOf(headers, 'x-request-id') === undefined) headers.push('X-Request-Id', trip.id)
      return cors ? headers.concat(corsHeaders(headers)) : headers
    },
    body: (chunk) => meter?.write(chunk),
    trailers: (raw) => responseHeaders(raw, { upstream: named, table, pathAndQuery }),
  })
  if (observer !== null) trip.model = observer.model

  // 9. The ledger.
  const ending = (meter as Meter | null)?.end() ?? null
  const metered = ending instanceof Promise ? await ending : ending
  if (metered?.created) parts.objects.created(named.provider.id, metered.created, trip.key!.id, credential.id, clock.now())
  const code = relayed.error === null ? null : relayed.error.code === 'timeout' ? ('upstream_timeout' as const) : ('upstream_unreachable' as const)
  settle(parts, trip, match, admission, credential, { ...relayed, firstByte, error: code }, metered?.usage ?? null)
  if (relayed.outcome === 'failed') {
    throw new Refused(code!, code === 'upstream_timeout' ? `${named.provider.name} did not answer in time.` : `${named.provider.name} could not be reached, or did not answer.`)
  }
  const { bytesIn, bytesOut, outcome } = relayed
  logLine(parts, trip, relayed.status ?? 0, code ?? undefined, { bytesIn, bytesOut, outcome, endpoint: match.pattern, firstByte, usage: metered?.usage ?? null })
}

type Ended = { outcome: Relayed['outcome']; error: RefusalCode | null; status?: number | null; bytesIn?: number; bytesOut?: number; firstByte?: number | null }

/** Step 9: completes the ledger's row. */
export function settle(parts: Parts, trip: Trip, match: Match, { seq, created_at }: Admitted, credential: Credential | null, ended: Ended, usage: Usage | null): void {
  const { key, provider, model } = trip
  const { input, output, cached, reasoning } = usage ?? UNKNOWN
  parts.ledger.settle({
    seq, account_id: key!.accountId, key_id: key!.id, provider: provider!.id, created_at,
    state: ended.outcome === 'aborted' ? 'aborted' : 'settled',
    model: model ?? match.model,
    status: ended.status ?? null,
    error: ended.error,
    credential_id: credential?.id ?? null,
    first_byte_ms: ended.firstByte == null ? null : Math.round(ended.firstByte),
    total_ms: Math.round(parts.clock.mono() - trip.started),
    bytes_in: ended.bytesIn ?? 0,
    bytes_out: ended.bytesOut ?? 0,
    tokens_in: input, tokens_out: output, tokens_cached: cached, tokens_reasoning: reasoning,
  })
}
