// The rows of a provider, compiled: how a method and a path find theirs.
import type { EndpointRow } from './endpoint-row.ts'
import { ANY_KIND } from './ids.ts'
import { OF_UNKNOWN_KIND } from './unknown-ids.ts'
import { plainKind, VERSION } from './object-ref.ts'

/** Parameters of patterns that name a location, not an object. */
export const PLACES = new Set([
  'base',
  'version',
  'project',
  'location',
  'publisher',
  'account',
  'any',
  'path',
])

/** A row whose pattern a path fits. */
export interface FoundRow {
  readonly row: EndpointRow
  /** The one of its patterns. */
  readonly pattern: string
  /** The values of the path's parameters, still encoded. */
  readonly params: Readonly<Record<string, string>>
}

/** A row whose pattern a loosened path fits. */
export interface Resembled {
  readonly methods: readonly string[]
  readonly row: EndpointRow
  /** The row's own pattern. */
  readonly exact: RegExp
}

/** The compiled rows of one provider; immutable, shared by all requests. */
export interface EndpointTable {
  /** The row whose pattern is this very path. */
  literal(method: string, path: string): EndpointRow | null
  /** The first row whose pattern a path fits, case and all. */
  match(method: string, path: string): FoundRow | null
  /** The rows whose pattern a loosened path fits, case aside, and their methods. */
  resembled(path: string): readonly Resembled[]
  /** The objects that a POST to exactly this pattern creates, or null. */
  makes(pattern: string): Readonly<Record<string, string>> | null
  /** The kinds of stored objects that its paths name, or its responses create. */
  readonly kinds: readonly string[]
  /**
   * The segments that its patterns spell out: no name of an object, even where callers choose
   * names.
   */
  readonly words: ReadonlySet<string>
}

interface Compiled {
  readonly row: EndpointRow
  readonly pattern: string
  readonly regexp: RegExp
  readonly names: readonly string[]
}

// One flat class each: nested quantifiers would backtrack without end on a long path.
const CHARACTERS = "A-Za-z0-9._~!$&'()*+,=@%-"

/** The kinds of objects that a row names anywhere. */
function kindsIn({ creates, createsInHeaders, names, asks, model }: EndpointRow): string[] {
  const inBody = model !== undefined && 'body' in model ? model.body.objects : undefined
  return [creates, createsInHeaders, names, asks, inBody].flatMap((places) =>
    Object.values(places ?? {}).map(plainKind),
  )
}

/** Special values in the place of a kind. */
const NO_KINDS = new Set(['model', ANY_KIND, VERSION, 'batch_input', 'batch_dataset'])

/**
 * Compiles rows: literal paths are one look-up, patterns are tried in the order of the rows. @param
 * further kinds that names of models name
 */
export function compileEndpoints(
  rows: readonly EndpointRow[],
  further: readonly string[] = [],
): EndpointTable {
  const literal = new Map<string, EndpointRow>()
  const patterns = new Map<string, Compiled[]>()
  const loose: (Resembled & { readonly regexp: RegExp })[] = []
  const kinds = new Set<string>([OF_UNKNOWN_KIND, ...further])
  const fixed = new Set<string>()
  const makes = new Map<string, Readonly<Record<string, string>>>()
  for (const row of rows) {
    const words = row.on.split(' ')
    const pattern = words.pop() ?? ''
    for (const segment of pattern.split(/[/:]/)) fixed.add(segment)
    const names: string[] = []
    const source = pattern.replace(
      /\{(\w+)([:*]?)\}|[^{]+/g,
      (text, name?: string, form?: string) => {
        if (name === undefined) return text.replace(/[.+*?^$()[\]\\|]/g, String.raw`\$&`)
        names.push(name)
        if (form === '*') return `([:/${CHARACTERS}]+?)`
        return form === ':' ? `([:${CHARACTERS}]+)` : `([${CHARACTERS}]+)`
      },
    )
    const compiled: Compiled = { row, pattern, regexp: new RegExp(`^${source}$`), names }
    loose.push({
      regexp: new RegExp(compiled.regexp, 'i'),
      exact: compiled.regexp,
      methods: words,
      row,
    })
    for (const kind of [...names, ...kindsIn(row)])
      if (!NO_KINDS.has(kind) && !PLACES.has(kind)) kinds.add(kind)
    if (words.includes('POST') && row.creates !== undefined && !makes.has(pattern))
      makes.set(pattern, row.creates)
    for (const method of words) {
      if (names.length === 0) literal.set(`${method} ${pattern}`, row)
      else patterns.set(method, [...(patterns.get(method) ?? []), compiled])
    }
  }
  return {
    literal: (method, path) => literal.get(`${method === 'HEAD' ? 'GET' : method} ${path}`) ?? null,
    match(method, path) {
      const asked = method === 'HEAD' ? 'GET' : method
      for (const compiled of patterns.get(asked) ?? []) {
        const found = compiled.regexp.exec(path)
        if (!found) continue
        return {
          row: compiled.row,
          pattern: compiled.pattern,
          params: Object.fromEntries(compiled.names.map((name, i) => [name, found[i + 1] ?? ''])),
        }
      }
      return null
    },
    resembled: (path) => loose.filter(({ regexp }) => regexp.test(path)),
    makes: (pattern) => makes.get(pattern) ?? null,
    kinds: [...kinds],
    words: fixed,
  }
}
