// Reads a JSON answer: one object, Gemini's list of chunks, or lines of JSON. Fifty megabytes pass in the memory of one usage object.
import { type WantedPaths, wantPaths } from '../json-paths.ts'
import { JsonScanner } from '../json-scanner.ts'
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

export class JsonReader implements Reader {
  created: string | null = null
  /** The last usage object of each place, unparsed. */
  readonly #found = new Map<string, Buffer>()
  readonly #scanner: JsonScanner

  /** @param creates paths of the answer at which a created object's name may stand */
  constructor(creates: readonly string[], many = false) {
    this.#scanner = new JsonScanner(
      wanted(creates),
      {
        value: (path, raw) => {
          if (raw === null) return
          const place = path.startsWith('[].') ? path.slice('[].'.length) : path
          if (creates.includes(place)) {
            const name = parseJson(raw.toString('utf8'))
            if (typeof name === 'string') this.created ??= name
          } else if (raw[0] === 0x7b) this.#found.set(place, Buffer.from(raw))
        },
      },
      { many },
    )
  }

  write(chunk: Buffer): void {
    this.#scanner.write(chunk)
  }

  end(): void {
    this.#scanner.end()
  }

  findings(): readonly Finding[] {
    for (const place of PLACES) {
      const raw = this.#found.get(place)
      const usage = raw && parseJson(raw.toString('utf8'))
      if (isObject(usage)) return [{ place, usage }]
    }
    return []
  }
}
