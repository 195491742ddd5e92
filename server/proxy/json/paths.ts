// Compiles paths of wanted values (`model`, `requests[].params.model`, `[].usageMetadata`,
// `variables.*.file_id`) into the tree that scanner.ts walks.
import { type Node, pathTable, type PathTable } from './tables.ts'

/** Paths compiled for scanning, once. */
export class WantedPaths {
  readonly #root: Node
  #table: PathTable | null = null

  constructor(root: Node) {
    this.#root = root
  }

  /** Built when it is first needed. */
  get table(): PathTable {
    return (this.#table ??= pathTable(this.#root))
  }
}

/** Matches digits of a number that may not be a safe integer; digits in a string do not count. */
const LONG_NUMBER = /(?:^|[\s:,[-])\d{16}/

/**
 * Parses a JSON text; undefined if it is invalid. An integer that a number cannot represent is a
 * bigint, because it may be an id.
 */
export function parseJson(text: string): unknown {
  try {
    return LONG_NUMBER.test(text) ? JSON.parse(text, exactly) : JSON.parse(text)
  } catch {
    return undefined
  }
}

function exactly(_: string, value: unknown, { source = '' }: { source?: string } = {}): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  // The maximum length of an id.
  const digits = /^(-?\d{1,64})(?:\.0+)?$/.exec(source)?.[1]
  return digits === undefined ? value : BigInt(digits)
}

/**
 * The steps of a path: keys, `[]` for every item of a list, and `*` for every value of an object.
 * `valuesAt` also supports `**`: everything inside.
 */
export const stepsOf = (path: string): readonly string[] => path.match(/\[\]|[^.[\]]+/g) ?? []

/** The values at a path of a parsed value; none if there is no such place. */
export function valuesAt(value: unknown, path: string): unknown[] {
  let here = [value]
  for (const step of stepsOf(path)) {
    here = here.flatMap((one): unknown[] => {
      if (step === '[]') return Array.isArray(one) ? one : []
      if (step === '**') return nestedIn(one)
      if (step === '*') return typeof one === 'object' && one !== null ? Object.values(one) : []
      return typeof one === 'object' && one !== null && Object.hasOwn(one, step)
        ? [(one as Record<string, unknown>)[step]]
        : []
    })
  }
  return here
}

/** Everything inside a value, at any depth. */
function nestedIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [value]
  return Object.values(value).flatMap(nestedIn)
}

/**
 * Compiles paths such as `model`, `requests[].params.model` or `[].usageMetadata` (a list at the
 * root). A path may continue another wanted path by a key: the value there is then reported unless
 * it is an object, which is searched instead.
 *
 * @param ends those of these paths, and of their prefixes, where the end of a list or object is
 *   reported
 */
export function wantPaths(
  paths: Iterable<string>,
  ends: ReadonlySet<string> = new Set(),
): WantedPaths {
  const root = node('', ends)
  for (const path of paths) {
    let at = root
    for (const step of stepsOf(path)) {
      if (step === '[]') at = at.items ??= node(`${at.path}[]`, ends)
      else if (step === '*') at = at.any ??= node(`${at.path}.*`, ends)
      else {
        at.props ??= new Map()
        let child = at.props.get(step)
        if (child === undefined)
          at.props.set(step, (child = node(at.path === '' ? step : `${at.path}.${step}`, ends)))
        at = child
      }
    }
    at.wanted = true
  }
  return new WantedPaths(root)
}

const node = (path: string, ends: ReadonlySet<string>): Node => ({
  path,
  wanted: false,
  ends: ends.has(path),
  props: null,
  items: null,
  any: null,
})

/** All letters beyond ASCII that fold into ASCII (Unicode 17). scanner.test.ts looks for others. */
export const FOLDING_LETTERS: readonly string[] = [
  'ß',
  'ı',
  'ſ',
  '\u212a',
  'ﬀ',
  'ﬁ',
  'ﬂ',
  'ﬃ',
  'ﬄ',
  'ﬅ',
  'ﬆ',
]
