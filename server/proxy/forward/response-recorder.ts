// Steps 8 and 9: what looks at an answer while it passes, and the ledger's row when it is over.
import type { Clock } from '../../common/clock.ts'
import { valueOf, valuesOf, without, type RawHeaders } from '../../http1/header-fields.ts'
import type { Admission, Ledger } from '../../ledger/ledger.ts'
import { corsHeaders } from './cors.ts'
import { retryAfter, type Credential, type CredentialPool } from '../credentials/pool.ts'
import type { FailureCode, Lane } from '../credentials/health.ts'
import { responseHeaders } from './headers.ts'
import { MadeObjects } from '../objects/created-objects.ts'
import { Mask } from '../masking/mask.ts'
import { createMeter, UNKNOWN, type Meter, type Usage } from '../usage/meter.ts'
import { inputKindOf } from '../inspect/batch-lines.ts'
import { BATCH_INPUT } from '../inspect/places.ts'
import type { Creation, Objects } from '../objects/objects.ts'
import type { UpstreamErrorRow } from '../../store/schema.ts'
import { whatAnswersDependOn } from '../target/presented-key.ts'
import type { Match } from '../providers/endpoint.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { Upstream } from '../providers/provider.ts'
import { tellsLimits } from './rate-limit-headers.ts'
import { REFUSALS, type RefusalCode } from '../error-response.ts'
import type { Passing, Relayed } from './relay.ts'
import { limitLeft, SANDBOX, type Passed, type Trip } from '../request-context.ts'
import { ErrorText, upstreamRequestId } from './upstream-error.ts'
import type { Route } from '../target/route-cache.ts'

export interface PassageParts {
  ledger: Ledger
  credentials: CredentialPool
  objects: Objects
  clock: Clock
  /** The origin under which a request reached us, by its headers. */
  originOf(headers: readonly string[]): string
}

type Admitted = Extract<Admission, { admitted: true }>

/** Where an admitted request goes. */
export interface Bound {
  readonly route: Route
  readonly named: Upstream
  readonly match: Match
  readonly pathAndQuery: string
  readonly credential: Credential
  /** Whose health its answer tells of. */
  readonly lane: Lane
  readonly admission: Admitted
  /** What its path, query and body name. */
  readonly objects: readonly ObjectRef[]
  /**
   * Whether its body goes up unread, and whether its path names something that is not the key's.
   */
  readonly isUnread: boolean
  readonly isOthers: boolean
  /**
   * Whether the key may name what the lines of an uploaded file name, asked when the provider
   * answers; null where it uploads none.
   */
  readonly linesRead: (() => Promise<boolean>) | null
}

/** One for each credential, made when an upstream first answers it with an error. */
const masks = new WeakMap<Credential, Mask>()

function maskOf(credential: Credential): Mask {
  let mask = masks.get(credential)
  if (mask === undefined) masks.set(credential, (mask = new Mask(credential.secret)))
  return mask
}

/** One answer on its way. */
export class Passage implements Passing {
  readonly #parts: PassageParts
  readonly #trip: Trip
  readonly #bound: Bound
  readonly #cors: boolean
  /** Whether a browser may keep the answer, and open it later from there, without us. */
  readonly #isCached: boolean
  /**
   * Whether a cache may hand the answer to somebody else who asks for the same address (RFC 9110,
   * section 9.2.3).
   */
  readonly #isCacheable: boolean
  #meter: Meter | null = null
  /** Milliseconds from the request to the answer's head. */
  #firstByte: number | null = null
  /** Reads what an error says. */
  #errorText: ErrorText | null = null
  #upstreamId: string | null = null
  /** Whether the answer may make something: no error does, and no redirect. */
  #isSuccess = false
  #made: MadeObjects | null = null
  /** How many of the objects that the answer created are written down. */
  #noted = 0

  constructor(parts: PassageParts, trip: Trip, bound: Bound) {
    this.#parts = parts
    this.#trip = trip
    this.#bound = bound
    const { method, headers } = trip.caller
    this.#cors = valueOf(headers, 'origin') !== undefined
    this.#isCacheable = method === 'GET' || method === 'HEAD'
    this.#isCached =
      method === 'GET' && (this.#cors || valueOf(headers, 'sec-fetch-dest') !== undefined)
  }

  get mask(): Mask {
    return maskOf(this.#bound.credential)
  }

  head(status: number, raw: RawHeaders): RawHeaders {
    const { clock, credentials } = this.#parts
    const { named, match, credential, lane } = this.#bound
    this.#firstByte = clock.mono() - this.#trip.started
    credentials.note(credential, lane, status, status >= 400 ? retryAfter(raw, clock.now()) : null)
    if (status >= 400) {
      this.#errorText = new ErrorText(raw, this.mask)
      this.#upstreamId = upstreamRequestId(raw, this.mask)
    }
    this.#meter = createMeter(named.provider, match, raw, this.#trip.kept)
    this.#isSuccess = status < 300
    const headers = this.#downstream(raw)
    // The caller's own key was good: what the upstream refuses is our credential.
    if (status === 401) headers.push('X-Proxy-Error', 'upstream_credential_rejected')
    headers.push('X-Proxy-Request-Id', this.#trip.id)
    if (this.#trip.key!.rpm !== null && !tellsLimits(headers))
      headers.push(...limitLeft(this.#parts, this.#trip))
    if (valueOf(headers, 'x-request-id') === undefined) headers.push('X-Request-Id', this.#trip.id)
    const isSandboxed = this.#trip.keyInQuery || (this.#isCached && !isHarmless(headers))
    if (this.#isCacheable && mayBeKept(headers))
      headers.push('Vary', whatAnswersDependOn(named.provider, this.#trip.caller.target))
    const safe = isSandboxed ? sandboxed(headers) : headers
    return this.#cors ? safe.concat(corsHeaders(safe)) : safe
  }

  body(chunk: Buffer): void {
    if (this.#meter === null) return
    if (this.#errorText !== null) this.#errorText.write(chunk)
    this.#meter.write(chunk)
    if (this.#meter.created.length > this.#noted) this.#note(this.#meter)
  }

  fields(raw: RawHeaders): RawHeaders {
    return this.mask.headers(this.#downstream(raw))
  }

  /** What the answer says that it used; at once, unless it has to be decoded. */
  used(): Usage | null | Promise<Usage> {
    const reading = this.#meter?.end() ?? null
    if (
      reading instanceof Promise &&
      (this.#bound.match.endpoint?.creates ?? this.#bound.match.creates) !== undefined
    )
      this.#parts.objects.expect(reading)
    return reading
  }

  /**
   * What the upstream said where it answered with an error; at once, unless it has to be decoded.
   */
  failure(): UpstreamErrorRow | null | Promise<UpstreamErrorRow> {
    if (this.#errorText === null) return null
    const row = (text: string | null): UpstreamErrorRow => ({
      request_id: this.#trip.id,
      created_at: this.#bound.admission.created_at,
      upstream_request_id: this.#upstreamId,
      text,
    })
    const reading = this.#errorText.end()
    return reading instanceof Promise ? reading.then(row) : row(reading)
  }

  /** Notes how it ended. @returns the code of the error, where it was one */
  settle(
    relayed: Relayed,
    usage: Usage | null,
    failure: UpstreamErrorRow | null,
  ): FailureCode | null {
    const { credential, admission } = this.#bound
    if (this.#meter !== null) this.#note(this.#meter)
    const error =
      relayed.error === null
        ? null
        : relayed.error.code === 'timeout'
          ? 'upstream_timeout'
          : 'upstream_unreachable'
    if (error !== null) this.#parts.credentials.unanswered(credential, error)
    const answered = error ?? this.#trip.refusedAs
    settle(this.#parts, this.#trip, {
      admission,
      credential,
      relayed,
      firstByte: this.#firstByte,
      error: answered,
      usage: usage ?? UNKNOWN,
      failure,
    })
    return error
  }

  /** What is said of it where requests are logged. */
  passed({ bytesIn, bytesOut, outcome }: Relayed, usage: Usage | null): Passed {
    return {
      bytesIn,
      bytesOut,
      outcome,
      endpoint: this.#bound.match.pattern,
      firstByte: this.#firstByte,
      usage,
    }
  }

  #note({ created }: Meter): void {
    const { named, match, credential } = this.#bound
    if (this.#noted === created.length || !this.#isSuccess) return
    const made = (this.#made ??= new MadeObjects({
      ...this.#bound,
      provider: named.provider,
      headers: this.#trip.caller.headers,
    }))
    const by = {
      key: this.#trip.key!.id,
      credential: credential.id,
      now: this.#parts.clock.now(),
      response: [...created, ...match.objects].find(({ kind }) => kind === 'response')?.id,
    }
    for (; this.#noted < created.length; this.#noted++) {
      const object = made.of(created[this.#noted]!)
      if (object === null) continue
      this.#parts.objects.created(named.provider.id, object, by)
      if (inputKindOf([object.kind]) !== null && this.#bound.linesRead !== null)
        this.#noteLines(object.id, by)
    }
  }

  /** The next request finds out whether a batch can be started from the file. */
  #noteLines(id: string, by: Creation): void {
    const { objects } = this.#parts
    const { named, linesRead } = this.#bound
    const note = async (): Promise<void> => {
      if (await linesRead!()) objects.created(named.provider.id, { kind: BATCH_INPUT, id }, by)
    }
    objects.expect(note())
  }

  #downstream(raw: RawHeaders): RawHeaders {
    const { route, named, pathAndQuery, credential } = this.#bound
    const mask = { text: (text: string) => maskOf(credential).text(text) }
    const ownOrigin = () => this.#parts.originOf(this.#trip.caller.headers)
    return responseHeaders(raw, {
      upstream: named,
      table: route.table,
      pathAndQuery,
      form: route.form,
      ownOrigin,
      mask,
      cors: this.#cors,
    })
  }
}

/**
 * Types of which a browser makes no page: data and media, but for what is XML. Any other might be
 * one, and so might none, and two, of which it takes the last.
 */
const HARMLESS_TYPE =
  /^(?:application\/(?:json|jsonl|x-ndjson|octet-stream)|text\/event-stream|(?:audio|video|image)\/(?!svg|[\w.+-]*xml)[\w.+-]+)[ \t]*(?:;[^,]*)?$/i

/**
 * What says that an answer may be kept, or asked for again only where it has changed (RFC 9111,
 * sections 4.2 and 4.3). Most answers of APIs have none of it, and pass as they are.
 */
const KEEPING: ReadonlySet<string> = new Set(['cache-control', 'expires', 'etag', 'last-modified'])

const mayBeKept = (headers: RawHeaders): boolean =>
  headers.some(
    (name, i) =>
      i % 2 === 0 && KEEPING.has(name.toLowerCase()) && !/^no-store$/i.test(headers[i + 1]!.trim()),
  )

function isHarmless(headers: RawHeaders): boolean {
  const types = valuesOf(headers, 'content-type')
  return types.length === 1 && HARMLESS_TYPE.test(types[0]!)
}

/** What a provider says of types gives way: only the first of two words counts. */
const sandboxed = (headers: RawHeaders): RawHeaders => [
  ...without(headers, 'x-content-type-options'),
  ...SANDBOX,
]

interface Ended {
  admission: Admitted
  credential: Credential
  relayed: Relayed
  firstByte: number | null
  /** What the caller was told in place of the provider's answer, or why that broke off. */
  error: RefusalCode | null
  usage: Usage
  failure: UpstreamErrorRow | null
}

/** Completes the ledger's row. */
function settle(
  { ledger, clock }: PassageParts,
  { key, provider, model, started, refusedAs }: Trip,
  ended: Ended,
): void {
  const { relayed, firstByte, usage, admission } = ended
  ledger.settle({
    seq: admission.seq,
    account_id: key!.accountId,
    key_id: key!.id,
    provider: provider!.id,
    created_at: admission.created_at,
    state: relayed.outcome === 'aborted' ? 'aborted' : 'settled',
    model,
    status:
      (relayed.outcome === 'failed' || refusedAs !== null) && ended.error !== null
        ? REFUSALS[ended.error].status
        : relayed.status,
    error: ended.error,
    credential_id: ended.credential.id,
    first_byte_ms: firstByte === null ? null : Math.round(firstByte),
    total_ms: Math.round(clock.mono() - started),
    bytes_in: relayed.bytesIn,
    bytes_out: relayed.bytesOut,
    tokens_in: usage.input,
    tokens_out: usage.output,
    tokens_cached: usage.cached,
    tokens_reasoning: usage.reasoning,
    failure: ended.failure,
  })
}
