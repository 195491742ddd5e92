// Counts requests from the logged lines, so the log and the metrics always agree. What every
// proxied request changes is kept in plain numbers and written in the text format of Prometheus
// (https://prometheus.io/docs/instrumenting/exposition_formats/): the library looks up a series by
// all its labels for every increment, and for the eight of a request, that was 5 % of its total
// cost. No label holds a caller's text (a model, a path), or the series would be unbounded; keys
// and models are in the ledger.
import { Counter, Histogram, type Registry } from 'prom-client'
import { LEDGER_COLUMNS } from '../common/ledger-columns.ts'
import { TOKEN_COLUMNS } from '../common/token-kinds.ts'
import type { RequestLine, RequestObserver } from '../common/log.ts'

/** Histogram buckets in seconds: from a response served from memory to a long stream. */
const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/**
 * The description of a metric. Its labels are ours (a provider's id, a kind, a status), so no value
 * needs escaping.
 */
interface MetricInfo {
  readonly name: string
  readonly help: string
  readonly labels: readonly [first: string, second?: string]
}

/** Numbers by the values of one or two labels; missing ones are created by `fresh`. */
class Series {
  readonly #fresh: () => number[]
  readonly #series = new Map<string, Map<string | number, number[]>>()

  constructor(fresh: () => number[]) {
    this.#fresh = fresh
  }

  at(first: string, second: string | number): number[] {
    let inner = this.#series.get(first)
    if (inner === undefined) this.#series.set(first, (inner = new Map()))
    let numbers = inner.get(second)
    if (numbers === undefined) inner.set(second, (numbers = this.#fresh()))
    return numbers
  }

  /** Each entry with its labels, as written between the braces. */
  *all([first, second]: MetricInfo['labels']): Generator<[labels: string, numbers: number[]]> {
    for (const [one, inner] of this.#series) {
      for (const [other, numbers] of inner)
        yield [`${first}="${one}"${second === undefined ? '' : `,${second}="${other}"`}`, numbers]
    }
  }
}

const head = ({ name, help }: MetricInfo, type: string): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`

/** A counter with two labels. */
class CounterSeries {
  readonly #about: MetricInfo
  readonly #series = new Series(() => [0])

  constructor(about: MetricInfo) {
    this.#about = about
  }

  add(first: string, second: string, more: number): void {
    const numbers = this.#series.at(first, second)
    numbers[0] = (numbers[0] ?? 0) + more
  }

  text(): string {
    return (
      head(this.#about, 'counter') +
      [...this.#series.all(this.#about.labels)]
        .map(([labels, [sum]]) => `${this.#about.name}{${labels}} ${sum}\n`)
        .join('')
    )
  }
}

/** A histogram with one or two labels. */
class HistogramSeries {
  readonly #about: MetricInfo
  readonly #bounds: readonly number[]
  readonly #series: Series

  /** @param bounds upper bounds of the buckets, in seconds */
  constructor(about: MetricInfo, bounds: readonly number[]) {
    this.#about = about
    this.#bounds = bounds
    // For each bucket, the values that fell into it and no lower one; then the values above all
    // buckets; then the sum.
    this.#series = new Series(() => Array.from({ length: bounds.length + 2 }, () => 0))
  }

  /** @param second the value of the second label, if there is one */
  observe(seconds: number, first: string, second: string | number = ''): void {
    const bounds = this.#bounds
    const numbers = this.#series.at(first, second)
    const above = bounds.findIndex((bound) => seconds <= bound)
    const bucket = above < 0 ? bounds.length : above
    numbers[bucket] = (numbers[bucket] ?? 0) + 1
    numbers[bounds.length + 1] = (numbers[bounds.length + 1] ?? 0) + seconds
  }

  text(): string {
    const { name, labels } = this.#about
    let text = head(this.#about, 'histogram')
    for (const [own, numbers] of this.#series.all(labels)) {
      let count = 0
      for (const [i, bound] of [...this.#bounds, '+Inf'].entries())
        text += `${name}_bucket{le="${bound}",${own}} ${(count += numbers[i] ?? 0)}\n`
      text += `${name}_sum{${own}} ${numbers.at(-1)}\n${name}_count{${own}} ${count}\n`
    }
    return text
  }
}

/** Counts the requests that have ended, from the lines that log them. One per process. */
export class RequestMetrics implements RequestObserver {
  readonly #api: Histogram
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
    this.#api = new Histogram({
      name: 'tollmark_http_request_duration_seconds',
      help: 'Duration of API and dashboard requests, in seconds.',
      labelNames: ['route', 'method', 'status'],
      buckets: SECONDS,
      registers,
    })
    this.#refused = new Counter({
      name: 'tollmark_proxy_refused_total',
      help: 'Requests that the proxy answered with an error of its own, by code.',
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

  request(line: RequestLine): void {
    if (line.route === '/proxy') this.#countProxied(line)
    else
      this.#api.observe(
        { route: line.route ?? 'none', method: methodLabel(line), status: String(line.status) },
        line.duration_ms / 1000,
      )
  }

  #countProxied(line: RequestLine): void {
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

/**
 * A method that some route handles; callers can make up others, which would be unbounded labels.
 */
function methodLabel({ method, route }: RequestLine): string {
  return route === null ? 'any' : method
}
