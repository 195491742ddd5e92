// What Prometheus reads at /metrics. Requests are counted from the same lines that are logged, so the two cannot disagree; everything else
// is read when somebody asks.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { RequestLine } from '../log.ts'

/** A number that is read when somebody asks for it. */
export interface Reading {
  readonly help: string
  readonly read: () => number
}

export interface Metrics {
  /** Adds gauges, by their names without `tollmark_`. */
  add(readings: Readonly<Record<string, Reading>>): void
  /** Counts a request that is over. */
  request(line: RequestLine): void
  /** Everything in the text format of Prometheus, and the content type that says so. */
  text(): Promise<{ type: string; body: string }>
}

/** Upper bounds in seconds: from an answer out of memory to a long stream. */
const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** TABLE of the kinds of tokens, and of the directions of bytes: the label's value → the field of a request's line. */
const TOKENS = { input: 'tokens_in', output: 'tokens_out', cached: 'tokens_cached', reasoning: 'tokens_reasoning' } as const
const BYTES = { up: 'bytes_in', down: 'bytes_out' } as const

type Summed = (typeof TOKENS)[keyof typeof TOKENS] | (typeof BYTES)[keyof typeof BYTES]

/** No label holds what a caller made up (a model's name, a path), or the series would never end; keys and models are in the ledger. */
export function openMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const api = new Histogram({
    name: 'tollmark_http_request_duration_seconds', help: 'Time to the end of each answer of the API and the dashboard.',
    labelNames: ['route', 'method', 'status'], buckets: SECONDS, registers,
  })
  const proxied = new Histogram({
    name: 'tollmark_proxy_request_duration_seconds', help: 'Time to the end of each proxied answer.', labelNames: ['provider', 'status'], buckets: SECONDS, registers,
  })
  const firstByte = new Histogram({
    name: 'tollmark_proxy_first_byte_seconds', help: 'Time to the head of a proxied answer.', labelNames: ['provider'], buckets: SECONDS, registers,
  })
  const refused = new Counter({ name: 'tollmark_proxy_refused_total', help: 'Requests that the proxy answered itself, by code.', labelNames: ['code'], registers })
  const aborted = new Counter({ name: 'tollmark_proxy_aborted_total', help: 'Proxied requests whose caller left.', labelNames: ['provider'], registers })
  const addTokens = sumsOf({ name: 'tollmark_proxy_tokens_total', help: 'Tokens that providers counted.', registry }, 'kind', TOKENS)
  const addBytes = sumsOf({ name: 'tollmark_proxy_bytes_total', help: 'Bytes of bodies, to and from providers.', registry }, 'direction', BYTES)

  function countProxied(line: RequestLine): void {
    const provider = line.provider ?? 'none'
    if (line.code !== undefined) refused.inc({ code: line.code })
    if (line.aborted) aborted.inc({ provider })
    proxied.observe({ provider, status: String(line.status) }, line.duration_ms / 1000)
    if (line.first_byte_ms !== undefined) firstByte.observe({ provider }, line.first_byte_ms / 1000)
    addTokens(provider, line)
    addBytes(provider, line)
  }

  return {
    add(readings) {
      for (const [name, { help, read }] of Object.entries(readings)) registry.registerMetric(gauge(`tollmark_${name}`, help, read))
    },
    request(line) {
      if (line.route === '/proxy') countProxied(line)
      else api.observe({ route: line.route ?? 'none', method: methodOf(line), status: String(line.status) }, line.duration_ms / 1000)
    },
    text: async () => ({ type: registry.contentType, body: await registry.metrics() }),
  }
}

/**
 * A counter of what the fields of lines add up to, by provider and field; gives what takes a line. Sums wait in plain numbers until somebody reads
 * them, because the library looks a series up anew for whatever is added to it: for six of them, that is 3 % of a request's whole cost.
 */
function sumsOf(
  { name, help, registry }: { name: string; help: string; registry: Registry },
  label: string,
  fields: Readonly<Record<string, Summed>>,
): (provider: string, line: RequestLine) => void {
  const columns = Object.entries(fields)
  const waiting = new Map<string, number[]>()
  const counter = new Counter({
    name, help, labelNames: ['provider', label], registers: [],
    collect() {
      for (const [provider, sums] of waiting) columns.forEach(([kind], i) => sums[i]! > 0 && this.inc({ provider, [label]: kind }, sums[i]))
      waiting.clear()
    },
  })
  registry.registerMetric(counter)
  return (provider, line) => {
    let sums = waiting.get(provider)
    if (sums === undefined) waiting.set(provider, (sums = columns.map(() => 0)))
    for (let i = 0; i < columns.length; i++) sums[i]! += line[columns[i]![1]] ?? 0
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

/** A method that some route answers to; a caller can make up any other. */
function methodOf({ method, route }: RequestLine): string {
  return route === null ? 'any' : method
}
