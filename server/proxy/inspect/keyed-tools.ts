// Tools that are named by a member instead of a type, as at Google (`tools: [{"googleSearch":
// {}}]`). A tool that no row knows may run a model of its own, so a proxy key that is limited to
// models may not use it.
import { parseJson, wantPaths, type WantedPaths } from '../json/paths.ts'
import { JsonScanner } from '../json/scanner.ts'
import type { KeyedTools } from '../providers/tool-types.ts'
import { unknownModel, type InspectionError } from './inspection-error.ts'

/** Longest tool that is read, in bytes: 1 ms. Google accepts at most 512 functions. */
const LONGEST_TOOL = 256 * 1024

const compiled = new WeakMap<KeyedTools, WantedPaths>()

/** Reads the tools of one body while it is inspected. */
export class KeyedToolReader {
  /** Why the tools cannot be decided; null if they can. */
  problem: InspectionError | null = null
  readonly #tools: KeyedTools
  readonly #scanner: JsonScanner

  constructor(tools: KeyedTools) {
    this.#tools = tools
    let wanted = compiled.get(tools)
    if (wanted === undefined) compiled.set(tools, (wanted = wantPaths(tools.at)))
    this.#scanner = new JsonScanner(
      wanted,
      { value: (_, raw) => this.#take(raw) },
      { longestValue: LONGEST_TOOL },
    )
  }

  write(piece: Buffer): void {
    if (this.problem === null) this.#scanner.write(piece)
  }

  #take(raw: Buffer | null): void {
    if (this.problem !== null) return
    if (raw === null)
      this.problem = unknownModel('A tool of the body is too long to see what it runs.')
    else this.#look(parseJson(raw.toString('utf8')), this.#tools.keys)
  }

  #look(tool: unknown, keys: KeyedTools['keys']): void {
    if (tool === null) return
    if (typeof tool !== 'object' || Array.isArray(tool)) {
      this.problem ??= unknownModel('A tool of the body is not an object.')
      return
    }
    const { others } = this.#tools
    if (others?.some((key) => Object.hasOwn(tool, key)) === true) return
    for (const [key, value] of Object.entries(tool)) {
      if (value === null) continue
      const within = keys.get(key)
      if (within === undefined)
        this.problem ??= unknownModel(
          `The proxy does not know the tool ${JSON.stringify(key.slice(0, 100))}, which may run a model that this request does not name.`,
        )
      else if (within !== null) this.#look(value, within)
    }
  }
}
