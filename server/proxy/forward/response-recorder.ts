// Steps 8 and 9: observes a response in transit, and completes the ledger's row when it is over.
import type { Clock } from '../../common/clock.ts'
import { copyString } from '../../common/copy-string.ts'
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import { valueOf, type RawHeaders } from '../../http1/header-fields.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { AdmittedRequest } from '../admission/admit-request.ts'
import { limitHeaders, hasRateLimitHeaders } from '../admission/key-limits.ts'
import type { InspectedRequest } from '../inspect/inspected-request.ts'
import { corsHeaders } from './cors.ts'
import { isHarmless, withSandbox } from './sandbox.ts'
import { isCacheable, varyHeader } from './vary.ts'
import { retryAfter, type Credential, type CredentialPool } from '../credentials/pool.ts'
import type { FailureCode } from '../credentials/health.ts'
import { responseHeaders } from './apply-header-rules.ts'
import { CreatedObjects } from '../objects/created-objects.ts'
import { Mask } from '../masking/mask.ts'
import { createUsageMeter, UNKNOWN, type UsageMeter, type Usage } from '../usage/meter.ts'
import { inputKindOf } from '../inspect/batch-lines.ts'
import { BATCH_INPUT } from '../inspect/places.ts'
import type { ObjectOrigin, ObjectOwners } from '../objects/objects.ts'
import type { UpstreamErrorRow } from '../../store/schema.ts'
import type { Match } from '../providers/match.ts'
import type { Upstream } from '../providers/provider.ts'
import { GATEWAY_ERRORS, type GatewayErrorCode } from '../error-response.ts'
import type { ResponseFilter } from './forward-request.ts'
import type { RelayResult } from './forwarded-request.ts'
import type { RequestContext, ForwardedStats } from '../request-context.ts'
import { ErrorText } from './upstream-error.ts'
import type { Route } from '../find-route.ts'

/** Dependencies shared by all recorders. */
export interface RecorderDeps {
  readonly ledger: Ledger
  readonly credentials: CredentialPool
  readonly objects: ObjectOwners
  readonly clock: Clock
  /** The origin by which a request reached us, from its headers. */
  originOf(headers: readonly string[]): string
}

/** An admitted request and its destination. */
export interface ForwardPlan {
  readonly context: RequestContext
  readonly route: Route
  readonly upstream: Upstream
  readonly match: Match
  readonly pathAndQuery: string
  readonly inspected: InspectedRequest
  readonly admitted: AdmittedRequest
  /** Whether its path names an object that is not the key's. */
  readonly namesForeignObject: boolean
  /**
   * Whether the key may name the objects in the lines of an uploaded file; called when the provider
   * responds; null without such an upload.
   */
  readonly mayStartBatch: (() => Promise<boolean>) | null
}

/** How a forwarded request ended. */
export interface Settled {
  /** Why there is no complete response; null if it is complete. */
  readonly code: FailureCode | null
  /** Fields for the log line. */
  readonly stats: ForwardedStats
}

/** One masker per credential, created when an upstream first responds to it. */
const masks = new WeakMap<Credential, Mask>()

function maskOf(credential: Credential): Mask {
  let mask = masks.get(credential)
  if (mask === undefined) masks.set(credential, (mask = new Mask(credential.secret)))
  return mask
}

/** Records one response in transit. */
export class ResponseRecorder implements ResponseFilter {
  readonly #deps: RecorderDeps
  readonly #plan: ForwardPlan
  readonly #isCrossOrigin: boolean
  /** Whether a browser may store the response, and open it later without us. */
  readonly #isBrowserCached: boolean
  /** Whether a cache may store responses to the request's method (RFC 9110, section 9.2.3). */
  readonly #isMethodCacheable: boolean
  #meter: UsageMeter | null = null
  /** Milliseconds from the request to the response's head. */
  #firstByteMs: number | null = null
  /** Keeps the text of an error. */
  #errorText: ErrorText | null = null
  /** The upstream's id of the request. */
  #upstreamId: string | null = null
  /** Whether the response may have created something; errors and redirects do not. */
  #isSuccess = false
  #createdObjects: CreatedObjects | null = null
  /** How many of the objects that the response created are recorded. */
  #recorded = 0
  /** Our error that the caller got instead of the response; null if it got the response. */
  replacedBy: GatewayErrorCode | null = null

  constructor(deps: RecorderDeps, plan: ForwardPlan) {
    this.#deps = deps
    this.#plan = plan
    const { method, headers } = plan.context.exchange
    this.#isCrossOrigin = valueOf(headers, 'origin') !== undefined
    this.#isMethodCacheable = method === 'GET' || method === 'HEAD'
    this.#isBrowserCached =
      method === 'GET' && (this.#isCrossOrigin || valueOf(headers, 'sec-fetch-dest') !== undefined)
  }

  get mask(): Mask {
    return maskOf(this.#plan.admitted.credential)
  }

  /** The upstream's id of the request, once its head is known; null if it has none. */
  get upstreamRequestId(): string | null {
    return this.#upstreamId
  }

  get owner(): Owner {
    return this.#plan.admitted.owner
  }

  head(status: number, raw: RawHeaders): RawHeaders {
    const { clock, credentials } = this.#deps
    const { context, upstream, match, inspected, admitted } = this.#plan
    const { credential, limitGroup } = admitted
    this.#firstByteMs = clock.mono() - context.startedAt
    credentials.record(
      credential,
      limitGroup,
      status,
      status >= 400 ? retryAfter(raw, clock.now()) : null,
    )
    if (status >= 400) this.#errorText = new ErrorText()
    this.#upstreamId = upstreamRequestId(raw, this.mask)
    this.#meter = createUsageMeter(
      upstream.provider,
      match,
      raw,
      this.owner,
      inspected.keepsResponse,
    )
    this.#isSuccess = status < 300
    this.#recordCreated(this.#meter)
    const headers = this.#responseHeaders(raw)
    // The caller's key was valid, so the upstream rejects our credential.
    if (status === 401) headers.push('X-Proxy-Error', 'upstream_credential_rejected')
    headers.push('X-Proxy-Request-Id', context.id)
    const limits = limitHeaders(this.#deps.ledger, inspected.key)
    if (limits.length > 0 && !hasRateLimitHeaders(headers)) headers.push(...limits)
    if (valueOf(headers, 'x-request-id') === undefined) headers.push('X-Request-Id', context.id)
    const isSandboxed = context.isKeyInQuery || (this.#isBrowserCached && !isHarmless(headers))
    if (this.#isMethodCacheable && isCacheable(headers))
      headers.push('Vary', varyHeader(upstream.provider, context.exchange.target))
    const safe = isSandboxed ? withSandbox(headers) : headers
    return this.#isCrossOrigin ? safe.concat(corsHeaders(safe)) : safe
  }

  body(chunk: Buffer): void {
    if (this.#meter === null) return
    this.#meter.write(chunk)
    if (this.#meter.created.length > this.#recorded) this.#recordCreated(this.#meter)
  }

  maskedText(bytes: Buffer): void {
    this.#errorText?.write(bytes)
  }

  fields(raw: RawHeaders): RawHeaders {
    return this.mask.headers(this.#responseHeaders(raw))
  }

  /**
   * Step 9: completes the ledger's row, once the response has passed.
   * @param model the model in the ledger
   */
  async settle(result: RelayResult, model: string | null): Promise<Settled> {
    const { credential } = this.#plan.admitted
    const usage = await this.#usage()
    if (this.#meter !== null) this.#recordCreated(this.#meter)
    const code =
      result.error === null
        ? null
        : result.error.code === 'timeout'
          ? 'upstream_timeout'
          : 'upstream_unreachable'
    if (code !== null) this.#deps.credentials.recordNoResponse(credential, code)
    const stopped = result.outcome === 'shutdown' ? 'server_shutdown' : null
    const error = code ?? stopped ?? this.replacedBy
    this.#writeSettlement(result, model, error, usage ?? UNKNOWN)
    const { bytesIn, bytesOut, outcome } = result
    const endpoint = this.#plan.match.pattern
    return {
      code,
      stats: { bytesIn, bytesOut, outcome, endpoint, firstByteMs: this.#firstByteMs, usage },
    }
  }

  /** The usage in the response; synchronous, unless it has to be decoded. */
  #usage(): Usage | null | Promise<Usage> {
    const reading = this.#meter?.end() ?? null
    const { upstream, match, inspected } = this.#plan
    if (reading instanceof Promise && (match.endpoint?.creates ?? match.creates) !== undefined)
      this.#deps.objects.trackPending(upstream.provider.id, inspected.key.id, reading)
    return reading
  }

  /** The text of the upstream's error for the ledger; null if it did not respond with one. */
  #errorRow(): UpstreamErrorRow | null {
    if (this.#errorText === null) return null
    const { context, admitted } = this.#plan
    return {
      request_id: context.id,
      created_at: admitted.admission.created_at,
      upstream_request_id: this.#upstreamId,
      text: this.#errorText.text(),
    }
  }

  #writeSettlement(
    { outcome, status, bytesIn, bytesOut }: RelayResult,
    model: string | null,
    error: GatewayErrorCode | null,
    usage: Usage,
  ): void {
    const { ledger, clock } = this.#deps
    const { context, upstream, inspected, admitted } = this.#plan
    const { key } = inspected
    const hasNoResponse = outcome === 'failed' || (outcome === 'shutdown' && status === null)
    const isOurs = (hasNoResponse || this.replacedBy !== null) && error !== null
    ledger.settle({
      seq: admitted.admission.seq,
      account_id: key.accountId,
      key_id: key.id,
      provider: upstream.provider.id,
      created_at: admitted.admission.created_at,
      state: outcome === 'aborted' ? 'aborted' : 'settled',
      model,
      status: isOurs ? GATEWAY_ERRORS[error].status : status,
      error,
      credential_id: admitted.credential.id,
      first_byte_ms: this.#firstByteMs === null ? null : Math.round(this.#firstByteMs),
      total_ms: Math.round(clock.mono() - context.startedAt),
      bytes_in: bytesIn,
      bytes_out: bytesOut,
      ...usage,
      upstream_request_id: this.#upstreamId,
      failure: this.#errorRow(),
    })
  }

  #recordCreated({ created }: UsageMeter): void {
    const { context, upstream, match, pathAndQuery, inspected, admitted } = this.#plan
    if (this.#recorded === created.length || !this.#isSuccess) return
    const made = (this.#createdObjects ??= new CreatedObjects({
      provider: upstream.provider,
      match,
      pathAndQuery,
      headers: context.exchange.headers,
      objects: inspected.objects,
      isUnread: inspected.isUnread,
      namesForeignObject: this.#plan.namesForeignObject,
    }))
    const by = {
      key: inspected.key.id,
      credential: admitted.credential.id,
      now: this.#deps.clock.now(),
      response: [...created, ...match.objects].find(({ kind }) => kind === 'response')?.id,
    }
    for (; this.#recorded < created.length; this.#recorded++) {
      // oxlint-disable-next-line typescript/no-non-null-assertion -- an index below the length
      const object = made.resolve(created[this.#recorded]!)
      if (object === null) continue
      this.#deps.objects.recordCreated(upstream.provider.id, object, by)
      const { mayStartBatch } = this.#plan
      if (inputKindOf([object.kind]) !== null && mayStartBatch !== null)
        this.#recordBatchInput(object.id, by, mayStartBatch)
    }
  }

  /**
   * Records the file as a batch's input, if the key may name the objects in its lines; requests
   * that look up objects wait for that.
   */
  #recordBatchInput(id: string, by: ObjectOrigin, mayStartBatch: () => Promise<boolean>): void {
    const { objects } = this.#deps
    const { upstream } = this.#plan
    const note = async (): Promise<void> => {
      if (await mayStartBatch())
        objects.recordCreated(upstream.provider.id, { kind: BATCH_INPUT, id }, by)
    }
    objects.trackPending(upstream.provider.id, by.key, note())
  }

  #responseHeaders(raw: RawHeaders): RawHeaders {
    const { context, route, upstream, pathAndQuery } = this.#plan
    const ownOrigin = () => this.#deps.originOf(context.exchange.headers)
    return responseHeaders(raw, {
      upstream: upstream,
      table: route.table,
      pathAndQuery,
      form: route.form,
      ownOrigin,
      mask: this.mask,
      cors: this.#isCrossOrigin,
    })
  }
}

/** Maximum characters of a request's id. */
const MAX_ID = 200

/**
 * TABLE of the headers in which providers send a request's id, the likeliest first (their API
 * references; `cf-ray` is from Cloudflare in front of them).
 */
const ID_HEADERS = [
  'x-request-id',
  'request-id',
  'x-amzn-requestid',
  'apim-request-id',
  'x-ms-request-id',
  'x-goog-request-id',
  'mistral-correlation-id',
  'x-ds-trace-id',
  'x-debug-trace-id',
  'cf-ray',
]

/** The upstream's id of a request, or null if its head has none. */
function upstreamRequestId(headers: RawHeaders, mask: Mask): string | null {
  for (const name of ID_HEADERS) {
    const value = valueOf(headers, name)
    // A socket keeps it for hours, and must not keep the rest of the head with it.
    if (value !== undefined && value !== '') return copyString(mask.text(value).slice(0, MAX_ID))
  }
  return null
}
