// Recognises the messages of a socket, by the signs in its row.
import { parseJson, wantPaths, type WantedPaths } from '../json/paths.ts'
import { JsonScanner, type JsonSink, type Oddity } from '../json/scanner.ts'
import type { Sign, SocketRow } from '../providers/socket-row.ts'

/** Signs of several kinds, and further places, compiled once for each row. */
export class SignTable<Kind extends string> {
  readonly wanted: WantedPaths
  /** By path: the kind of sign for each value, or for any value (null). */
  readonly byPath = new Map<string, Map<string | null, Kind>>()
  /** The words that a message must contain to be parsed. */
  readonly markers: readonly Buffer[]

  constructor(signs: Readonly<Record<Kind, readonly Sign[]>>, places: readonly string[] = []) {
    const markers = new Set<string>()
    for (const kind in signs) for (const sign of signs[kind]) markers.add(this.#add(kind, sign))
    for (const place of places) markers.add(lastName(place))
    this.wanted = wantPaths([...this.byPath.keys(), ...places])
    this.markers = [...markers].map((marker) => Buffer.from(`"${marker}"`))
  }

  /** Whether bytes can contain any of the signs or places, if these are spelled plainly. */
  isMarked(bytes: Buffer): boolean {
    for (const marker of this.markers) if (bytes.includes(marker)) return true
    return false
  }

  /** @returns the quoted text that every message with the sign contains */
  #add(kind: Kind, sign: Sign): string {
    const [path = '', value] = sign.split('=')
    let kinds = this.byPath.get(path)
    if (kinds === undefined) this.byPath.set(path, (kinds = new Map()))
    kinds.set(value ?? null, kind)
    return value === undefined || /^(?:true|false)$/.test(value) ? lastName(path) : value
  }
}

/** The last name of a path: `response.id` ends in `id`. */
const lastName = (path: string): string => path.slice(path.lastIndexOf('.') + 1)

/** Caches what `make` compiles from a row. */
export function oncePerRow<Made extends object>(
  make: (row: SocketRow) => Made,
): (row: SocketRow) => Made {
  const known = new WeakMap<SocketRow, Made>()
  return (row) => {
    const before = known.get(row)
    if (before !== undefined) return before
    const made = make(row)
    known.set(row, made)
    return made
  }
}

/** Longest value that is compared. */
const MAX_VALUE_BYTES = 16 * 1024

/** Reads one message as its bytes arrive. */
export class SignScan<Kind extends string> implements JsonSink {
  readonly found = new Set<Kind>()
  /**
   * Whether a place is spelled so that parsers may disagree on it: twice, with escapes, or in
   * another case.
   */
  isOdd = false
  /** The last value at each place. */
  readonly values = new Map<string, unknown>()
  readonly #table: SignTable<Kind>
  readonly #scanner: JsonScanner

  constructor(table: SignTable<Kind>) {
    this.#table = table
    this.#scanner = new JsonScanner(table.wanted, this, { longestValue: MAX_VALUE_BYTES })
  }

  write(bytes: Buffer): void {
    this.#scanner.write(bytes)
  }

  end(): void {
    this.#scanner.end()
  }

  value(path: string, raw: Buffer | null): void {
    const value = raw === null ? undefined : parseJson(raw.toString('utf8'))
    if (value === null) return
    this.values.set(path, value)
    const kinds = this.#table.byPath.get(path)
    const kind = kinds?.get(String(value)) ?? kinds?.get(null)
    if (kind !== undefined) this.found.add(kind)
  }

  oddity(kind: Oddity): void {
    if (kind !== 'mismatch' && kind !== 'text') this.isOdd = true
  }

  /** The text at a place; null if there is none. */
  text(path: string | undefined): string | null {
    const value = path === undefined ? undefined : this.values.get(path)
    return typeof value === 'string' ? value : null
  }
}
