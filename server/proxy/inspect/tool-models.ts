// Finds the models that the tools, plugins and options of one body make the provider run, from the
// events of a scan.
import { runsOf, type Runs, type ToolPlace } from '../providers/tool-types.ts'

/** A tool of a request that names no model. */
export interface ToolRun {
  /** Its type, or its place if it has none. */
  readonly tool: string
  readonly runs: Exclude<Runs, { readonly runs: 'nothing' }>
}

/** The index of a place in the list of places, and the path within the tool. */
interface Within {
  readonly at: number
  readonly name: string
}

/**
 * The places of one rule, compiled once: paths of types, of models within tools, and of the ends of
 * tools.
 */
export interface ToolPaths {
  readonly places: readonly ToolPlace[]
  readonly types: ReadonlyMap<string, number>
  readonly models: ReadonlyMap<string, Within>
  readonly ends: ReadonlyMap<string, number>
}

const DEFAULT_NAMED = ['model'] as const
const namedIn = (runs: Runs): readonly string[] =>
  runs.runs === 'nothing' ? [] : (runs.named ?? DEFAULT_NAMED)

/** Compiles the places of tools into the paths that a scan looks for. */
export function toolPaths(places: readonly ToolPlace[]): ToolPaths {
  const types = new Map<string, number>()
  const models = new Map<string, Within>()
  for (const [at, place] of places.entries()) {
    if (place.by !== undefined) types.set(`${place.at}.${place.by}`, at)
    for (const runs of [...Object.values(place.tools.types), place.tools.others]) {
      for (const name of namedIn(runs)) models.set(`${place.at}.${name}`, { at, name })
    }
  }
  return { places, types, models, ends: new Map(places.map((place, at) => [place.at, at])) }
}

/** Whether a tool has named its models at these places. */
function isNamed(runs: Runs, named: ReadonlySet<string>): boolean {
  const places = namedIn(runs)
  return 'each' in runs
    ? places.every((name) => named.has(name))
    : places.some((name) => named.has(name))
}

/** Longest type that an error repeats. */
const LONGEST_SHOWN = 100

/** Follows the tools of one body. */
export class ToolModels {
  readonly #paths: ToolPaths
  /** For the open tool at each place: its type, and the model names so far. */
  readonly #type: (string | undefined)[] = []
  readonly #named: (Set<string> | undefined)[] = []
  /**
   * The type of the tool that ended last at each place without naming a model; null if it had none.
   */
  readonly #closed: (string | null | undefined)[] = []
  /** By place and type, so that a long list of tools costs no memory. */
  readonly #runs = new Map<string, ToolRun>()
  /** Paths of types that the body has had. */
  readonly #seen = new Set<string>()

  constructor(paths: ToolPaths) {
    this.#paths = paths
  }

  /** A tool's type. */
  type(path: string, type: string): void {
    const at = this.#paths.types.get(path)
    if (at === undefined) return
    this.#type[at] = type
    this.#seen.add(path)
  }

  /** The name of a model at a place where a tool may name one. */
  model(path: string): void {
    const found = this.#paths.models.get(path)
    if (found !== undefined) (this.#named[found.at] ??= new Set()).add(found.name)
  }

  /** An object or list has ended, after all of its events. */
  closed(path: string): void {
    const at = this.#paths.ends.get(path)
    const place = at === undefined ? undefined : this.#paths.places[at]
    if (at === undefined || place === undefined) return
    const { by, tools } = place
    const type = this.#type[at]
    const named = this.#named[at]
    this.#type[at] = this.#named[at] = undefined
    // Tools of the same type are often consecutive.
    if (named === undefined && this.#closed[at] === (type ?? null)) return
    this.#closed[at] = named === undefined ? (type ?? null) : undefined
    const runs = by === undefined ? tools.others : runsOf(tools, type ?? null)
    if (runs.runs === 'nothing' || (named !== undefined && isNamed(runs, named))) return
    this.#runs.set(`${path} ${(type ?? '').slice(0, LONGEST_SHOWN)}`, { tool: type ?? path, runs })
  }

  /**
   * The tools that run a model without naming it, once the body has ended. @param header whether a
   * header names a model
   */
  unnamed(header: boolean): readonly ToolRun[] {
    return [...this.#runs.values()].filter(({ runs }) => {
      if (!('allow' in runs)) return true
      return (
        !(runs.header === true && header) &&
        !(runs.unless !== undefined && this.#seen.has(runs.unless))
      )
    })
  }
}
