// Prometheus metrics at /metrics. Requests are counted from the logged lines, so the two always
// agree; everything else is read on a scrape. The cost of a scrape does not depend on the number of
// connections, keys and rows, and expensive metrics are rendered at most once a second.
import { stat } from 'node:fs/promises'
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { LEDGER_COLUMNS } from '../common/ledger-columns.ts'
import { TOKEN_COLUMNS } from '../common/token-kinds.ts'
import type { RequestLine } from '../common/log.ts'
import { HistogramSeries, CounterSeries } from './series.ts'

/** A number that is read on a scrape. */
export interface Reading {
  readonly help: string
  readonly read: () => number
  /** Whether it is a counter, which only grows. */
  readonly counts?: boolean
}

/** Counts requests and renders Prometheus metrics. One per process. */
export interface Metrics {
  /** Adds gauges and counters, named without `tollmark_`. */
  add(readings: Readonly<Record<string, Reading>>): void
  /** Counts a finished request. */
  request(line: RequestLine): void
  /**
   * All metrics in Prometheus' text format, as text and as bytes that scrapes share, and the
   * content type.
   */
  text(): Promise<{ type: string; body: string; bytes: Uint8Array<ArrayBuffer> }>
}

/** Histogram buckets in seconds: from a response served from memory to a long stream. */
const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** TABLE of prom-client's metrics that enumerate every connection or open file. */
const EXPENSIVE_METRICS = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
  'nodejs_active_resources',
  'nodejs_active_resources_total',
  'process_open_fds',
]

/** Milliseconds for which the rendered text is cached; gauges are always read. */
const CACHE_MS = 1_000

/**
 * Opens metrics. No label holds a caller's text (a model, a path), or the series would be
 * unbounded; keys and models are in the ledger.
 */
export function openMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of EXPENSIVE_METRICS) registry.removeSingleMetric(name)
  return new PrometheusMetrics(registry)
}

/** Metrics of proxied requests. */
class ProxyMetrics {
  readonly #refused: Counter
  readonly #aborted: Counter
  readonly #durations = new HistogramSeries(
    {
      name: 'tollmark_proxy_request_duration_seconds',
      help: 'Duration of proxied requests, in seconds.',
      labels: ['provider', 'status'],
    },
    SECONDS,
  )
  readonly #firstBytes = new HistogramSeries(
    {
      name: 'tollmark_proxy_first_byte_seconds',
      help: 'Time to the first byte of proxied responses, in seconds.',
      labels: ['provider'],
    },
    SECONDS,
  )
  readonly #tokens = new CounterSeries({
    name: 'tollmark_proxy_tokens_total',
    help: 'Tokens used, as reported by providers.',
    labels: ['provider', 'kind'],
  })
  readonly #bytes = new CounterSeries({
    name: 'tollmark_proxy_bytes_total',
    help: 'Bytes of bodies sent to and received from providers.',
    labels: ['provider', 'direction'],
  })
  /** Metrics that are rendered here, not by the registry. */
  readonly series = [this.#durations, this.#firstBytes, this.#tokens, this.#bytes]

  constructor(registry: Registry) {
    const registers = [registry]
    this.#refused = new Counter({
      name: 'tollmark_proxy_refused_total',
      help: 'Requests refused by the proxy, by code.',
      labelNames: ['code'],
      registers,
    })
    this.#aborted = new Counter({
      name: 'tollmark_proxy_aborted_total',
      help: 'Proxied requests whose client disconnected.',
      labelNames: ['provider'],
      registers,
    })
  }

  count(line: RequestLine): void {
    const provider = line.provider ?? 'none'
    if (line.code !== undefined) this.#refused.inc({ code: line.code })
    if (line.aborted) this.#aborted.inc({ provider })
    this.#durations.observe(line.duration_ms / 1000, provider, line.status)
    if (line.first_byte_ms !== undefined)
      this.#firstBytes.observe(line.first_byte_ms / 1000, provider)
    for (const name of TOKEN_COLUMNS) {
      const tokens = line[name]
      if (tokens) this.#tokens.add(provider, LEDGER_COLUMNS[name].tokens, tokens)
    }
    if (line.bytes_in) this.#bytes.add(provider, 'up', line.bytes_in)
    if (line.bytes_out) this.#bytes.add(provider, 'down', line.bytes_out)
  }
}

class PrometheusMetrics implements Metrics {
  readonly #registry: Registry
  readonly #openFiles: Gauge
  readonly #api: Histogram
  readonly #proxy: ProxyMetrics
  readonly #readings: [name: string, reading: Reading][] = []
  #rendered: { at: number; text: Promise<string> } | null = null
  /** Settles when all earlier scrapes have had their turn. */
  #turn = Promise.resolve()
  /** The last text and its source: in a flood of scrapes, it is mostly the same. */
  #whole = { now: '', rest: '', body: '', bytes: new Uint8Array() }

  constructor(registry: Registry) {
    const registers = [registry]
    this.#registry = registry
    this.#openFiles = new Gauge({
      name: 'process_open_fds',
      help: 'Number of open file descriptors.',
      registers,
    })
    this.#api = new Histogram({
      name: 'tollmark_http_request_duration_seconds',
      help: 'Duration of API and dashboard requests, in seconds.',
      labelNames: ['route', 'method', 'status'],
      buckets: SECONDS,
      registers,
    })
    this.#proxy = new ProxyMetrics(registry)
  }

  add(readings: Readonly<Record<string, Reading>>): void {
    for (const [name, reading] of Object.entries(readings))
      this.#readings.push([`tollmark_${name}`, reading])
  }

  request(line: RequestLine): void {
    if (line.route === '/proxy') this.#proxy.count(line)
    else
      this.#api.observe(
        { route: line.route ?? 'none', method: methodLabel(line), status: String(line.status) },
        line.duration_ms / 1000,
      )
  }

  async text(): ReturnType<Metrics['text']> {
    // One scrape per turn of the event loop: two hundred at once would block everything else.
    await (this.#turn = this.#turn.then(() => new Promise(setImmediate)))
    const at = performance.now()
    if (this.#rendered === null || at - this.#rendered.at > CACHE_MS)
      this.#rendered = { at, text: this.#render() }
    const rest = await this.#rendered.text
    const now = this.#readings.map(renderMetric).join('\n')
    if (this.#whole.now !== now || this.#whole.rest !== rest) {
      const body = `${now}\n${rest}`
      this.#whole = { now, rest, body, bytes: new TextEncoder().encode(body) }
    }
    const { body, bytes } = this.#whole
    return { type: this.#registry.contentType, body, bytes }
  }

  /** Renders one metric per turn of the event loop, so that nothing waits for all of them. */
  async #render(): Promise<string> {
    const open = await countOpenFiles()
    if (open !== null) this.#openFiles.set(open)
    const texts: string[] = []
    for (const { name } of this.#registry.getMetricsAsArray()) {
      texts.push(await this.#registry.getSingleMetricAsString(name))
      await new Promise(setImmediate)
    }
    for (const metric of this.#proxy.series) {
      texts.push(metric.text().trimEnd())
      await new Promise(setImmediate)
    }
    return `${texts.join('\n\n')}\n`
  }
}

function renderMetric([name, { help, read, counts = false }]: readonly [
  name: string,
  reading: Reading,
]): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${counts ? 'counter' : 'gauge'}\n${name} ${read()}\n`
}

/**
 * The number of open files, which Linux reports since 6.2 without listing them (proc_pid_fd(5));
 * null elsewhere.
 */
async function countOpenFiles(): Promise<number | null> {
  const { size } = await stat('/proc/self/fd').catch(() => ({ size: 0 }))
  return size > 0 ? size : null
}

/**
 * A method that some route handles; callers can make up others, which would be unbounded labels.
 */
function methodLabel({ method, route }: RequestLine): string {
  return route === null ? 'any' : method
}
