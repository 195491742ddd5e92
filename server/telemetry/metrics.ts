// Prometheus metrics at /metrics. Requests are counted as they end (request-metrics.ts); everything
// else is read on a scrape. The cost of a scrape does not depend on the number of connections, keys
// and rows, and expensive metrics are rendered at most once a second.
import { stat } from 'node:fs/promises'
import { Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import { RequestMetrics } from './request-metrics.ts'

/** A number that is read on a scrape. */
export interface Reading {
  readonly help: string
  readonly read: () => number
  /** Whether it is a counter, which only grows. */
  readonly counts?: boolean
}

/** Counts requests and renders Prometheus metrics. One per process. */
export interface Metrics {
  /**
   * Adds gauges and counters, named without `tollmark_`.
   *
   * @param refresh what must be done before they are read, at most once a second. Scrapes wait for
   *   it, so it must end soon, and it must not reject.
   */
  add(readings: Readonly<Record<string, Reading>>, refresh?: () => Promise<void>): void
  /** Counts requests that have ended. */
  readonly requests: RequestMetrics
  /**
   * All metrics in Prometheus' text format, as text and as bytes that scrapes share, and the
   * content type.
   */
  text(): Promise<{ type: string; body: string; bytes: Uint8Array<ArrayBuffer> }>
}

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

/** Opens metrics. */
export function openMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of EXPENSIVE_METRICS) registry.removeSingleMetric(name)
  return new PrometheusMetrics(registry)
}

class PrometheusMetrics implements Metrics {
  readonly #registry: Registry
  readonly #openFiles: Gauge
  readonly requests: RequestMetrics
  readonly #readings: [name: string, reading: Reading][] = []
  readonly #refreshes: (() => Promise<void>)[] = []
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
    this.requests = new RequestMetrics(registry)
  }

  add(readings: Readonly<Record<string, Reading>>, refresh?: () => Promise<void>): void {
    if (refresh) this.#refreshes.push(refresh)
    for (const [name, reading] of Object.entries(readings))
      this.#readings.push([`tollmark_${name}`, reading])
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
    const [open] = await Promise.all([countOpenFiles(), ...this.#refreshes.map((one) => one())])
    if (open !== null) this.#openFiles.set(open)
    const texts: string[] = []
    for (const { name } of this.#registry.getMetricsAsArray()) {
      texts.push(await this.#registry.getSingleMetricAsString(name))
      await new Promise(setImmediate)
    }
    for (const metric of this.requests.series) {
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
