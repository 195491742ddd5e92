// Compiles the rows of a provider for lookup by method and path.
import type { EndpointRow } from './endpoint-row.ts'
import type { BodyRule } from './body-rule.ts'
import { ANY_KIND } from './ids.ts'
import { OF_UNKNOWN_KIND } from './unknown-ids.ts'
import { CITATION, plainKind, VERSION } from './object-ref.ts'

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

/** A row whose pattern matches a path. */
export interface FoundRow {
  readonly row: EndpointRow
  /** The matching pattern. */
  readonly pattern: string
  /** The values of the path's parameters, still encoded. */
  readonly params: Readonly<Record<string, string>>
}

/** A row whose pattern matches a loosened path. */
export interface Resembled {
  readonly methods: readonly string[]
  readonly row: EndpointRow
  /** The row's own pattern. */
  readonly exact: RegExp
}

/** The compiled rows of one provider; immutable, shared by all requests. */
export interface EndpointTable {
  /** The row whose pattern is exactly this path. */
  literal(method: string, path: string): EndpointRow | null
  /** The first row whose pattern matches a path, case-sensitively. */
  match(method: string, path: string): FoundRow | null
  /** The rows whose pattern matches a loosened path, case-insensitively, and their methods. */
  resembled(path: string): readonly Resembled[]
  /** The objects that a POST to exactly this pattern creates, or null. */
  makes(pattern: string): Readonly<Record<string, string>> | null
  /** The kinds of stored objects that its paths name, or its responses create. */
  readonly kinds: readonly string[]
  /**
   * The literal segments of its patterns, which never name an object, even if callers choose names.
   */
  readonly words: ReadonlySet<string>
}

/**
 * A row's pattern. Its expressions are compiled when a path is first tried: a provider has
 * hundreds, and most processes use few.
 */
class Pattern {
  readonly row: EndpointRow
  readonly text: string
  /** Its parameters. */
  readonly names: readonly string[]
  #exact: RegExp | undefined
  #loose: RegExp | undefined

  constructor(row: EndpointRow, text: string) {
    this.row = row
    this.text = text
    // `{name}`, `{name:}`, `{name*}`: splitting is three times as fast as a search.
    this.names = text
      .split('{')
      .slice(1)
      .map((rest) => rest.slice(0, rest.search(/\W/)))
  }

  get exact(): RegExp {
    return (this.#exact ??= new RegExp(sourceOf(this.text)))
  }

  /** The same as `exact`, case-insensitive. */
  get loose(): RegExp {
    return (this.#loose ??= new RegExp(sourceOf(this.text), 'i'))
  }
}

function sourceOf(pattern: string): string {
  const source = pattern.replace(/\{\w+([:*]?)\}|[^{]+/g, (text, form?: string) => {
    if (form === undefined) return text.replace(/[.+*?^$()[\]\\|]/g, String.raw`\$&`)
    if (form === '*') return `([:/${CHARACTERS}]+?)`
    return form === ':' ? `([:${CHARACTERS}]+)` : `([${CHARACTERS}]+)`
  })
  return `^${source}$`
}

// One flat class each: nested quantifiers would backtrack catastrophically on a long path.
const CHARACTERS = "A-Za-z0-9._~!$&'()*+,=@%-"

/** The places where a row names kinds of objects. */
function placesIn({ creates, createsInHeaders, names, asks, model }: EndpointRow) {
  const inBody = model !== undefined && 'body' in model ? model.body.objects : undefined
  return [creates, createsInHeaders, names, asks, inBody]
}

/** Special values instead of a kind. */
const NO_KINDS = new Set(['model', ANY_KIND, VERSION, CITATION, 'batch_input', 'batch_dataset'])

/**
 * Compiles rows: literal paths are one lookup, patterns are tried in the order of the rows.
 *
 * @param further kinds that no row names: those of models' names and of the operator's resources
 */
export function compileEndpoints(
  rows: readonly EndpointRow[],
  further: readonly string[] = [],
): EndpointTable {
  const literal = new Map<string, EndpointRow>()
  const patterns = new Map<string, Pattern[]>()
  const all: { readonly methods: readonly string[]; readonly pattern: Pattern }[] = []
  const kinds = new Set<string>([OF_UNKNOWN_KIND, ...further])
  const fixed = new Set<string>()
  const makes = new Map<string, Readonly<Record<string, string>>>()
  const enterKind = (kind: string): void => {
    if (!NO_KINDS.has(kind) && !PLACES.has(kind)) kinds.add(kind)
  }
  for (const row of rows) {
    const methods = row.on.split(' ')
    const text = methods.pop() ?? ''
    const pattern = new Pattern(row, text)
    all.push({ methods, pattern })
    for (const segment of text.split(/[/:]/)) fixed.add(segment)
    for (const name of pattern.names) enterKind(name)
    for (const places of placesIn(row))
      for (const place in places) enterKind(plainKind(places[place] ?? ''))
    if (methods.includes('POST') && row.creates !== undefined && !makes.has(text))
      makes.set(text, row.creates)
    for (const method of methods) {
      if (pattern.names.length === 0) literal.set(`${method} ${text}`, row)
      else if (patterns.get(method)?.push(pattern) === undefined) patterns.set(method, [pattern])
    }
  }
  return {
    literal: (method, path) => literal.get(`${method === 'HEAD' ? 'GET' : method} ${path}`) ?? null,
    match(method, path) {
      const asked = method === 'HEAD' ? 'GET' : method
      for (const { exact, row, text, names } of patterns.get(asked) ?? []) {
        const found = exact.exec(path)
        if (!found) continue
        return {
          row,
          pattern: text,
          params: Object.fromEntries(names.map((name, i) => [name, found[i + 1] ?? ''])),
        }
      }
      return null
    },
    resembled: (path) =>
      all
        .filter(({ pattern }) => pattern.loose.test(path))
        .map(({ methods, pattern: { row, exact } }) => ({ methods, row, exact })),
    makes: (pattern) => makes.get(pattern) ?? null,
    kinds: [...kinds],
    words: fixed,
  }
}

/** The places of interest in an endpoint's request bodies, or null if there are none. */
export function bodyRuleOf({ model, names }: EndpointRow): BodyRule | null {
  if (model !== undefined && 'body' in model) return model.body
  return names === undefined ? null : namesRule(names)
}

const namesRules = new WeakMap<object, BodyRule>()
/** One rule for one table of names, so that its paths are compiled once. */
function namesRule(objects: Readonly<Record<string, string>>): BodyRule {
  let rule = namesRules.get(objects)
  if (!rule) namesRules.set(objects, (rule = { required: [], objects }))
  return rule
}
