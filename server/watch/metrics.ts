// What Prometheus reads at /metrics. Requests are counted from the same lines that are logged, so the two cannot disagree; everything else
// is read when somebody asks.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { RequestLine } from '../log.ts'
import { Durations, Sums } from './series.ts'

/** A number that is read when somebody asks for it. */
export interface Reading {
  readonly help: string
  readonly read: () => number
  /** Whether it only ever grows: then it is a counter. */
  readonly counts?: boolean
}

export interface Metrics {
  /** Adds gauges and counters, by their names without `tollmark_`. */
  add(readings: Readonly<Record<string, Reading>>): void
  /** Counts a request that is over. */
  request(line: RequestLine): void
  /** Everything in the text format of Prometheus, and the content type that says so. */
  text(): Promise<{ type: string; body: string }>
}

/** Upper bounds in seconds: from an answer out of memory to a long stream. */
const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** No label holds what a caller made up (a model's name, a path), or the series would never end; keys and models are in the ledger. */
export function openMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const api = new Histogram({
    name: 'tollmark_http_request_duration_seconds', help: 'Time to the end of each answer of the API and the dashboard.',
    labelNames: ['route', 'method', 'status'], buckets: SECONDS, registers,
  })
  const proxied = new Durations({ name: 'tollmark_proxy_request_duration_seconds', help: 'Time to the end of each proxied answer.', labels: ['provider', 'status'] }, SECONDS)
  const firstByte = new Durations({ name: 'tollmark_proxy_first_byte_seconds', help: 'Time to the head of a proxied answer.', labels: ['provider'] }, SECONDS)
  const tokens = new Sums({ name: 'tollmark_proxy_tokens_total', help: 'Tokens that providers counted.', labels: ['provider', 'kind'] })
  const bytes = new Sums({ name: 'tollmark_proxy_bytes_total', help: 'Bytes of bodies, to and from providers.', labels: ['provider', 'direction'] })
  const refused = new Counter({ name: 'tollmark_proxy_refused_total', help: 'Requests that the proxy answered itself, by code.', labelNames: ['code'], registers })
  const aborted = new Counter({ name: 'tollmark_proxy_aborted_total', help: 'Proxied requests whose caller left.', labelNames: ['provider'], registers })

  function countProxied(line: RequestLine): void {
    const provider = line.provider ?? 'none'
    if (line.code !== undefined) refused.inc({ code: line.code })
    if (line.aborted) aborted.inc({ provider })
    proxied.observe(line.duration_ms / 1000, provider, line.status)
    if (line.first_byte_ms !== undefined) firstByte.observe(line.first_byte_ms / 1000, provider)
    if (line.tokens_in) tokens.add(provider, 'input', line.tokens_in)
    if (line.tokens_out) tokens.add(provider, 'output', line.tokens_out)
    if (line.tokens_cached) tokens.add(provider, 'cached', line.tokens_cached)
    if (line.tokens_reasoning) tokens.add(provider, 'reasoning', line.tokens_reasoning)
    if (line.bytes_in) bytes.add(provider, 'up', line.bytes_in)
    if (line.bytes_out) bytes.add(provider, 'down', line.bytes_out)
  }

  return {
    add(readings) {
      for (const [name, { help, read, counts }] of Object.entries(readings)) registry.registerMetric((counts === true ? counter : gauge)(`tollmark_${name}`, help, read))
    },
    request(line) {
      if (line.route === '/proxy') countProxied(line)
      else api.observe({ route: line.route ?? 'none', method: methodOf(line), status: String(line.status) }, line.duration_ms / 1000)
    },
    text: async () => ({ type: registry.contentType, body: [await registry.metrics(), ...[proxied, firstByte, tokens, bytes].map((metric) => metric.text())].join('\n') }),
  }
}

function gauge(name: string, help: string, read: () => number): Gauge {
  return new Gauge({
    name, help, registers: [],
    collect() {
      this.set(read())
    },
  })
}

function counter(name: string, help: string, read: () => number): Counter {
  return new Counter({
    name, help, registers: [],
    collect() {
      this.reset()
      this.inc(read())
    },
  })
}

/** A method that some route answers to; a caller can make up any other. */
function methodOf({ method, route }: RequestLine): string {
  return route === null ? 'any' : method
}
