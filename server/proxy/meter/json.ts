// Reads a JSON answer: one object, Gemini's list of chunks, or lines of JSON. Fifty megabytes pass in the memory of one usage object.
import { type WantedPaths, wantPaths } from '../json-paths.ts'
import { JsonScanner, type JsonSink } from '../json-scanner.ts'
import { parseJson, type Reader } from './reader.ts'
import { type Finding, isObject, PLACES } from './usage.ts'

const wantedBy = new WeakMap<readonly string[], WantedPaths>()

/** Usage places and object names, at the root and in a list at the root. */
function wanted(creates: readonly string[]): WantedPaths {
  let paths = wantedBy.get(creates)
  if (!paths) {
    paths = wantPaths([...PLACES, ...creates].flatMap((path) => [path, `[].${path}`]))
    wantedBy.set(creates, paths)
  }
  return paths
}

const ONE = { many: false }
const MANY = { many: true }
const NOTHING: readonly Finding[] = []

/** An answer that names more objects than this is a list, or broken. */
const MOST_CREATED = 100

export class JsonReader implements Reader, JsonSink {
  readonly created: string[] = []
  readonly #creates: readonly string[]
  /** The last usage object of each place, unparsed. */
  #found: Map<string, string> | null = null
  readonly #scanner: JsonScanner

  /** @param creates paths of the answer at which a created object's name may stand */
  constructor(creates: readonly string[], many = false) {
    this.#creates = creates
    this.#scanner = new JsonScanner(wanted(creates), this, many ? MANY : ONE)
  }

  value(path: string, raw: Buffer | null): void {
    if (raw === null) return
    const place = path.startsWith('[].') ? path.slice('[].'.length) : path
    if (this.#creates.includes(place)) {
      const name = parseJson(raw.toString('utf8'))
      if (typeof name === 'string' && this.created.length < MOST_CREATED) this.created.push(name)
    } else if (raw[0] === 0x7b) (this.#found ??= new Map()).set(place, raw.toString('utf8'))
  }

  write(chunk: Buffer): void {
    this.#scanner.write(chunk)
  }

  end(): void {
    this.#scanner.end()
  }

  findings(): readonly Finding[] {
    if (this.#found === null) return NOTHING
    for (const place of PLACES) {
      const raw = this.#found.get(place)
      const usage = raw === undefined ? undefined : parseJson(raw)
      if (isObject(usage)) return [{ place, usage }]
    }
    return NOTHING
  }
}
