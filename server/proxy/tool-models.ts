// Which models the tools, plugins and options of one body make the provider run, from what a scan tells of their places.
import { runsOf, type Runs, type ToolPlace } from './providers/tools.ts'

/** A tool of a request that names no model of its own. */
export interface ToolRun {
  /** Its type, or its place where it has none. */
  readonly tool: string
  readonly runs: Exclude<Runs, { readonly runs: 'nothing' }>
}

interface Open {
  readonly place: ToolPlace
  type: string | null
  readonly named: Set<string>
}

/** The places that `ToolModels` must be told of: types, and names of models within tools. */
export interface ToolPaths {
  readonly types: ReadonlySet<string>
  readonly models: ReadonlySet<string>
  /** The tools and options themselves: of these the ends are told. */
  readonly ends: ReadonlySet<string>
}

const DEFAULT_NAMED = ['model'] as const
const namedIn = (runs: Runs): readonly string[] => (runs.runs === 'nothing' ? [] : (runs.named ?? DEFAULT_NAMED))

export function toolPaths(places: readonly ToolPlace[]): ToolPaths {
  const types = new Set<string>()
  const models = new Set<string>()
  for (const { at, by, tools } of places) {
    if (by !== undefined) types.add(`${at}.${by}`)
    for (const runs of [...Object.values(tools.types), tools.others]) for (const name of namedIn(runs)) models.add(`${at}.${name}`)
  }
  return { types, models, ends: new Set(places.map(({ at }) => at)) }
}

/** Follows the tools of one body. */
export class ToolModels {
  readonly #open: ReadonlyMap<string, Open>
  readonly #byType = new Map<string, Open>()
  readonly #byModel = new Map<string, { readonly open: Open; readonly name: string }>()
  /** By type, so that a long list of tools costs no memory. */
  readonly #runs = new Map<string, ToolRun>()
  readonly #elsewhere = new Set<string>()

  constructor(places: readonly ToolPlace[]) {
    const open = new Map<string, Open>()
    for (const place of places) {
      const one: Open = { place, type: null, named: new Set() }
      open.set(place.at, one)
      if (place.by !== undefined) this.#byType.set(`${place.at}.${place.by}`, one)
      for (const runs of [...Object.values(place.tools.types), place.tools.others]) for (const name of namedIn(runs)) this.#byModel.set(`${place.at}.${name}`, { open: one, name })
    }
    this.#open = open
  }

  /** A tool's type. */
  type(path: string, type: string): void {
    const open = this.#byType.get(path)
    if (open !== undefined) open.type = type
    this.#elsewhere.add(path)
  }

  /** The name of a model at a place where a tool may name one. */
  model(path: string): void {
    const found = this.#byModel.get(path)
    if (found !== undefined) found.open.named.add(found.name)
  }

  /** An object or list has ended, all of which has been told. */
  closed(path: string): void {
    const open = this.#open.get(path)
    if (open === undefined) return
    const { place, type, named } = open
    const runs = runsOf(place.tools, place.by === undefined ? 'option' : type)
    const tool = type ?? (place.by === undefined ? path : '')
    if (runs.runs !== 'nothing' && !namedIn(runs).some((name) => named.has(name))) this.#runs.set(`${path} ${tool.slice(0, 100)}`, { tool: tool === '' ? path : tool, runs })
    clear(open)
  }

  /** The tools that run models which they do not name, once the body has ended. @param header whether a header names a model */
  unnamed(header: boolean): readonly ToolRun[] {
    return [...this.#runs.values()].filter(({ runs }) => {
      if (!('allow' in runs)) return true
      return !(runs.header === true && header) && !(runs.unless !== undefined && this.#elsewhere.has(runs.unless))
    })
  }
}

function clear(open: Open): void {
  open.type = null
  open.named.clear()
}
