// What a tool of a request may run, and where tools are found. The tables are in tools.ts.

/** The models that a tool runs. */
export type Runs =
  /** No other billed model; `why`, and the source. */
  | { readonly runs: 'nothing'; readonly why: string }
  /**
   * These models, unless the tool names its own: each of them must be allowed. `allow`: what to add
   * to a key's models.
   */
  | {
      readonly runs: readonly string[]
      readonly allow: string
      readonly why: string
      /** Places within the tool that name its model; `model` by default. */
      readonly named?: readonly string[]
      /** A place in the whole body that names it instead. */
      readonly unless?: string
      /** Whether a header of the endpoint's row may name it instead. */
      readonly header?: true
    }
  /** A model that cannot be known from the request, unless the tool names its own. */
  | {
      readonly runs: 'unknown'
      readonly why: string
      readonly named?: readonly string[]
      /** Whether each of these places must name one. */ readonly each?: true
    }

/**
 * The tools of one provider, by type without a date (`web_search_20250305`,
 * `web_search_preview_2025_03_11`); `''` is a tool without a type.
 */
export interface ToolTypes {
  readonly types: Readonly<Record<string, Runs>>
  /** The rule for a type without a row. */
  readonly others: Runs
}

/** The place of tools. */
export interface ToolPlace {
  /** The path of one tool: `tools[]`. */
  readonly at: string
  /** The key of the type; without one the place itself is an option, and `others` applies. */
  readonly by?: string
  readonly tools: ToolTypes
}

/** The meaning of a tool's keys; null: its content runs nothing else. */
export type ToolKeys = ReadonlyMap<string, ToolKeys | null>

/**
 * Tools that are identified by a key instead of a type: any other key may run a model of its own.
 */
export interface KeyedTools {
  /** The paths of one tool. */
  readonly at: readonly string[]
  readonly keys: ToolKeys
  /** Keys of tools of another dialect, which are identified by types. */
  readonly others?: readonly string[]
}

/** A type without the date of its version. */
const undated = (type: string): string => type.replace(/_(?:20\d{6}|20\d\d_\d\d_\d\d)$/, '')

/** The models that a tool of this type runs; null for a tool without a type. */
export function runsOf({ types, others }: ToolTypes, type: string | null): Runs {
  const name = type === null ? '' : undated(type)
  // A text that is not a type must not count as a tool without one.
  if (type === '' || (type !== null && name === '')) return others
  return (Object.hasOwn(types, name) ? types[name] : undefined) ?? others
}
