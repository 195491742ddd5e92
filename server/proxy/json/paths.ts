// Paths of wanted values (`model`, `requests[].params.model`, `[].usageMetadata`,
// `variables.*.file_id`) as the tree that scanner.ts walks.
import { type Node, pathTable, type PathTable } from './tables.ts'

/** Paths compiled for scanning, once. */
export class WantedPaths {
  readonly #root: Node
  #table: PathTable | null = null

  constructor(root: Node) {
    this.#root = root
  }

  /** Made when it is needed first. */
  get table(): PathTable {
    return (this.#table ??= pathTable(this.#root))
  }
}

/** Digits of a number that may be no safe integer; those of a string do not count. */
const LONG_NUMBER = /(?:^|[\s:,[-])\d{16}/

/**
 * The value that a text of JSON is, or undefined. An integer that no number holds exactly is a
 * bigint: it may be an id.
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
  // No id is longer.
  const digits = /^(-?\d{1,64})(?:\.0+)?$/.exec(source)?.[1]
  return digits === undefined ? value : BigInt(digits)
}

/**
 * The steps of a path: keys, `[]` for every item of a list, and `*` for every value of an object.
 * `valuesAt` knows `**` as well: whatever lies within.
 */
export const stepsOf = (path: string): readonly string[] => path.match(/\[\]|[^.[\]]+/g) ?? []

/** What stands at a path of a parsed value; nothing where there is no such place. */
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

/** Everything inside of a value, at any depth. */
function nestedIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [value]
  return Object.values(value).flatMap(nestedIn)
}

/**
 * Compiles paths such as `model`, `requests[].params.model` or `[].usageMetadata` (a list at the
 * root). A path may run through another wanted path by a key: what stands there is then the value
 * unless it is an object, which is looked into instead.
 *
 * @param ends those of these paths, and of what lies on their way, where the end of a list or
 *   object is told
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
