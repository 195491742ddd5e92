// OpenTelemetry: one span for each request, proxied ones with the conventions for generative AI
// (opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans). Spans are made from the logged lines
// when a request is over, so no request waits for a collector, and no prompt or response is ever
// part of a span.
import {
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  ROOT_CONTEXT,
  trace,
  type Attributes,
  type Context,
  type Tracer,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node'
import type { Log, RequestLine } from '../common/log.ts'

/** Where to send spans, and the share of requests to sample. */
export interface TracesOptions {
  /** The collector's address, without `/v1/traces`. */
  endpoint: string
  /** Headers of every POST. */
  headers: Readonly<Record<string, string>> | null
  serviceName: string
  /** Share of the traces that are kept, 0 to 1, unless the caller has already decided. */
  ratio: number
}

/** Records a span for each logged request. One per process. */
export interface Traces extends AsyncDisposable {
  /** Records the span of a finished request. */
  request(line: RequestLine): void
}

/** TABLE of providers that have another name in the conventions. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  mistral: 'mistral_ai',
  xai: 'x_ai',
}

/**
 * TABLE of patterns of endpoints and their operations in the conventions; the first match counts.
 */
const OPERATIONS: readonly [RegExp, string][] = [
  [/embed/i, 'embeddings'],
  [/generateContent/i, 'generate_content'],
  [/(?:^|[/ ])(?:chat|messages|responses|converse)/i, 'chat'],
  [/completions/i, 'text_completion'],
]

/**
 * How long a POST to the collector may take, with all retries (milliseconds). The shutdown of the
 * server waits at most this long for a collector that is gone.
 */
const EXPORT_TIMEOUT_MS = 3_000

/**
 * Opens the exporter to a collector. Disposing of it sends the spans that wait.
 *
 * @param clock milliseconds since 1970
 * @param log records when traces begin to be lost, and when that ends
 */
export function openTraces(
  { endpoint, headers, serviceName, ratio }: TracesOptions,
  clock: () => number,
  log: Pick<Log, 'info' | 'warn'>,
): Traces {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: { ...headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  })
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor(reportingExporter(exporter, log), { scheduledDelayMillis: 1000 }),
    ],
  })
  const tracer = provider.getTracer('tollmark')
  return {
    request: (line) => record(tracer, line, clock()),
    // A collector that is gone must not keep the server from stopping.
    [Symbol.asyncDispose]: () => provider.shutdown().catch(() => {}),
  }
}

/** Wraps an exporter to report whether spans are delivered. */
function reportingExporter(exporter: SpanExporter, log: Pick<Log, 'info' | 'warn'>): SpanExporter {
  let lost = false
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined
        if (failed && !lost) log.warn('traces cannot be delivered and are lost')
        if (!failed && lost) log.info('traces are delivered again')
        lost = failed
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}

function record(tracer: Tracer, line: RequestLine, end: number): void {
  const proxied = line.route === '/proxy' && line.provider !== undefined
  const span = tracer.startSpan(
    proxied
      ? `${operationName(line)} ${line.model ?? ''}`.trim()
      : `${line.method} ${line.route ?? ''}`.trim(),
    {
      kind: proxied ? SpanKind.CLIENT : SpanKind.SERVER,
      startTime: end - line.duration_ms,
      attributes: proxied ? proxyAttributes(line) : httpAttributes(line),
    },
    parseTraceparent(line.traceparent),
  )
  if (line.status >= 500 || line.status === 0) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end(end)
}

function httpAttributes({ method, route, status, request_id, code }: RequestLine): Attributes {
  return {
    'http.request.method': method,
    'http.response.status_code': status,
    'tollmark.request_id': request_id,
    ...(route === null ? {} : { 'http.route': route }),
    ...(code === undefined ? {} : { 'error.type': code }),
  }
}

function proxyAttributes(line: RequestLine): Attributes {
  const {
    provider = '',
    model,
    token_id,
    tokens_in,
    tokens_out,
    tokens_cached,
    tokens_cache_write,
    first_byte_ms,
  } = line
  return {
    ...httpAttributes(line),
    'gen_ai.operation.name': operationName(line),
    'gen_ai.provider.name': PROVIDER_NAMES[provider] ?? provider,
    ...(model === undefined ? {} : { 'gen_ai.request.model': model }),
    ...(tokens_in == null ? {} : { 'gen_ai.usage.input_tokens': tokens_in }),
    ...(tokens_out == null ? {} : { 'gen_ai.usage.output_tokens': tokens_out }),
    ...(tokens_cached == null ? {} : { 'gen_ai.usage.cache_read.input_tokens': tokens_cached }),
    ...(tokens_cache_write == null
      ? {}
      : { 'gen_ai.usage.cache_creation.input_tokens': tokens_cache_write }),
    ...(first_byte_ms === undefined ? {} : { 'tollmark.first_byte_ms': first_byte_ms }),
    ...(token_id === undefined ? {} : { 'tollmark.key_id': token_id }),
    ...(line.aborted ? { 'error.type': 'aborted' } : {}),
  }
}

function operationName({ endpoint = '' }: RequestLine): string {
  return OPERATIONS.find(([pattern]) => pattern.test(endpoint))?.[1] ?? 'request'
}

/**
 * The caller's span, from W3C Trace Context (www.w3.org/TR/trace-context):
 * `00-<trace>-<span>-<flags>`.
 */
function parseTraceparent(traceparent: string | undefined): Context {
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? '') ?? []
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId))
    return ROOT_CONTEXT
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
  })
}
