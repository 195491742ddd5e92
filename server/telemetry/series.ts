// Metrics that every proxied request changes, kept in plain numbers and written in the text format
// of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/). The library looks
// up a series by all its labels for every increment: for the eight of a request, that was 5 % of
// its total cost.

/**
 * The description of a metric. Its labels are ours (a provider's id, a kind, a status), so no value
 * needs escaping.
 */
export interface MetricInfo {
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
export class CounterSeries {
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
export class HistogramSeries {
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
