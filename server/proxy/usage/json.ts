// Reads a JSON response: one object, Gemini's list of chunks, or lines of JSON. A response of fifty
// megabytes takes the memory of one usage object.
import { parseJson, type WantedPaths, wantPaths } from '../json/paths.ts'
import { JsonScanner, type JsonSink } from '../json/scanner.ts'
import type { CreatedIds, CreatedPaths } from './created-ids.ts'
import type { Reader } from './reader.ts'
import { EMBEDDED_COUNT, type Finding, isObject, PLACES, ROOT_COUNTS } from './usage.ts'

const wantedBy = new WeakMap<CreatedPaths, WantedPaths>()

/** Places of usage and names of objects, at the root and in a list at the root. */
function wanted(creates: CreatedPaths): WantedPaths {
  let paths = wantedBy.get(creates)
  if (!paths) {
    paths = wantPaths(
      [...PLACES, ...ROOT_COUNTS, EMBEDDED_COUNT, ...Object.keys(creates)].flatMap((path) => [
        path,
        `[].${path}`,
      ]),
    )
    wantedBy.set(creates, paths)
  }
  return paths
}

/** Reads several values: servers send JSON lines with any content type. */
const MANY = { many: true }
const NOTHING: readonly Finding[] = []
const COUNTS: ReadonlySet<string> = new Set(ROOT_COUNTS)

/** Reads usage from a JSON response, or from JSON lines. */
export class JsonReader implements Reader, JsonSink {
  readonly #created: CreatedIds
  /** The last usage object of each place, unparsed. */
  #found: Map<string, string> | null = null
  /** The last counts at the root. */
  #counts: Record<string, unknown> | null = null
  /** The sum of the counts of embedded texts. */
  #embedded: number | null = null
  readonly #scanner: JsonScanner

  /** @param created records the objects that the response creates */
  constructor(created: CreatedIds) {
    this.#created = created
    this.#scanner = new JsonScanner(wanted(created.creates), this, MANY)
  }

  value(path: string, raw: Buffer | null): void {
    if (raw === null) return
    const place = path.startsWith('[].') ? path.slice('[].'.length) : path
    if (place in this.#created.creates) this.#created.note(place, parseJson(raw.toString('utf8')))
    else if (place === EMBEDDED_COUNT) this.#embedded = (this.#embedded ?? 0) + Number(raw)
    else if (COUNTS.has(place)) (this.#counts ??= {})[place] = parseJson(raw.toString('utf8'))
    else if (raw[0] === 0x7b) (this.#found ??= new Map()).set(place, raw.toString('utf8'))
  }

  write(chunk: Buffer): void {
    this.#scanner.write(chunk)
  }

  end(): void {
    this.#scanner.end()
  }

  findings(): readonly Finding[] {
    for (const place of this.#found === null ? [] : PLACES) {
      const raw = this.#found?.get(place)
      const usage = raw === undefined ? undefined : parseJson(raw)
      if (isObject(usage)) return [{ place, usage }]
    }
    // Under Vertex's usual name.
    const embedded = this.#embedded === null ? null : { promptTokenCount: this.#embedded }
    const usage = this.#counts ?? embedded
    return usage === null ? NOTHING : [{ place: '', usage }]
  }
}
