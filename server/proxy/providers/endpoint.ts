// The endpoints of a provider: what a row says, and how a request's method and path find their row. Steps 4 and 5 of the contract.
import { closedEverywhere } from './closed.ts'
import type { Auth, Provider, UsageKind } from './provider.ts'
import type { ToolPlace } from './tools.ts'

export type EndpointClass =
  /** Runs a model. */
  | 'model'
  /** Lists, files, polling: reaches no model. */
  | 'neutral'
  /** Returns upstream access (client secrets, tokens, sessions). */
  | 'minting'
  /** Runs the account. */
  | 'admin'

/** What a request body may say about models, as paths of json-scanner.ts. In multipart bodies `required` and `also` are field names. */
export interface BodyRule {
  /** At least one of these must name a model, unless the path does, or there is none of them. */
  readonly required: readonly string[]
  /** Further places that name a model when they are there. */
  readonly also?: readonly string[]
  /** Places that point to something stored which chooses the model: no scoped key passes when one is there. */
  readonly stored?: readonly string[]
  /** Lists on the way to these places in whose stead a text may stand, which names nothing. */
  readonly texts?: readonly string[]
  /** Where tools stand that may run models of their own. */
  readonly tools?: readonly ToolPlace[]
  /** Places that name a stored object, and its kind. */
  readonly objects?: Readonly<Record<string, string>>
  /** The place that says that the provider keeps the answer, and the values that say so. */
  readonly keeps?: { readonly at: string; readonly by: readonly unknown[] }
  /** Whether multipart/form-data is spoken here too. */
  readonly multipart?: true
}

/**
 * Where the model stands. `path`: the pattern's `{model}`, and the body may not name another. `body`: JSON or multipart.
 * `query`: `?model=`. `stored`: nowhere in the request, so that no scoped key passes.
 */
export type ModelPlace =
  | { readonly at: 'path' | 'body'; readonly body: BodyRule; readonly headers?: readonly string[] }
  | { readonly at: 'query' }
  | { readonly at: 'stored' }

/** Query parameters, and the kind of stored object that each of them names. */
export type Asks = Readonly<Record<string, string>>

export interface EndpointRow {
  /**
   * `POST GET …` and a path pattern: `{name}` is one segment without a colon, `{name:}` one segment, `{name*}` one or more; `{path*}` is a
   * path that callers make up.
   */
  readonly on: string
  readonly class: EndpointClass
  readonly model?: ModelPlace
  readonly usage?: UsageKind
  /** Places of the body that name a stored object, and its kind, where the endpoint has no rule for the body's models. */
  readonly names?: Readonly<Record<string, string>>
  /** What its query names; also that of the address where an upload that was begun goes on. */
  readonly asks?: Asks
  /** Places of the answer that name an object that came into being, and its kind. */
  readonly creates?: Readonly<Record<string, string>>
  /** The kind among them that is only there where the body's rule `keeps` the answer. */
  readonly kept?: string
  /** What of its body is a file, which is content and names nothing: a part of a form, or all of it. */
  readonly uploads?: 'form' | 'body'
  /** The kind of stored objects that the answer lists with all that they hold, whoever made them. */
  readonly lists?: string
  /** Places of a GET's answer that name stored objects, whoever made them, where lists.ts cannot tell by the other rows. */
  readonly listed?: Readonly<Record<string, string>>
  /** The kind of stored object that the path's model must be: base models are changed for nobody. */
  readonly modelObject?: string
  /** Whether a POST is there to make or change something stored, where changes.ts cannot tell by the rest of the row. */
  readonly changes?: boolean
  readonly auth?: Auth
  /** How the path's parameters make the model's name, where it is more than `{model}`. */
  readonly modelName?: string
}

/** A stored object of the provider's: which credential made it, and to which key it belongs, is the ledger's business. */
export interface ObjectRef {
  readonly kind: string
  /** The last segment of the provider's name for it (`files/abc` and `abc` are one file). */
  readonly id: string
  /** Whether a key with objects of its own may name it where nobody here has made it. Left out: only if it is an item, or public. */
  readonly mayBeUnknown?: boolean
}

/** Scheme and authority of an address (RFC 3986), also without a scheme; or of data that stands in one. */
const AUTHORITY = /^(?:(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)|data:)/i
/** The APIs that name objects by their address as well: https://ai.google.dev/api/files, https://docs.x.ai/docs/api-reference. */
const ADDRESSED = /(?:^|[.@-])(?:generativelanguage\.googleapis\.com|api\.x\.ai)\.?(?::\d*)?$/i

/**
 * The object that a provider calls by this name or address: its kind and the name's last segment, decoded, without a verb (`:download`), a
 * query, or slashes at its end. The id is `''` where it names none: an address of something else.
 */
export function objectRef(kind: string, name: string): ObjectRef {
  const text = (name.includes('%') ? decodedFully(name) : name).trim()
  const address = AUTHORITY.exec(text)
  if (address !== null && !ADDRESSED.test(address[1] ?? '')) return { kind, id: '' }
  const path = address === null ? text : text.slice(address[0].length)
  const plain = path.replace(address === null ? /[?#].*$/s : /[:?#].*$/s, '').replace(/\/+$/, '').replace(/\/content$/, '')
  return { kind, id: plain.slice(plain.lastIndexOf('/') + 1) }
}

/** A text decoded until nothing changes, as far as it can be: some servers decode twice. */
export function decodedFully(text: string): string {
  for (let round = 0; round < 4 && text.includes('%'); round++) {
    try {
      text = decodeURIComponent(text)
    } catch {
      break
    }
  }
  return text
}

/** What is known of a request from its method and path alone. */
export interface Match {
  readonly class: EndpointClass | 'unknown'
  readonly endpoint: EndpointRow | null
  /** The row's pattern, for the ledger; `''` for an unknown endpoint. */
  readonly pattern: string
  /** The model that the path names, decoded. */
  readonly model: string | null
  /** Stored objects that the path names; of an unknown endpoint whatever might be one. */
  readonly objects: readonly ObjectRef[]
  /**
   * How the path departs from plain spelling. `dots`: it would be rewritten by a URL parser, so it is sent for nobody; nor is `long`, which has
   * more segments than are looked at. `odd`: encoded, doubled, cased or parametrised in a way that could reach a known endpoint.
   */
  readonly spelling: 'plain' | 'odd' | 'dots' | 'long'
  /** Of an unknown endpoint: whether it is one that calls a method by its name, which may list or read whatever is stored. */
  readonly procedure?: true
}

interface Resembled {
  readonly methods: readonly string[]
  readonly row: EndpointRow
  /** The row's own pattern. */
  readonly exact: RegExp
}

export interface EndpointTable {
  /** The row whose pattern is this very path. */
  literal(method: string, path: string): EndpointRow | null
  match(method: string, path: string): { row: EndpointRow; pattern: string; params: Record<string, string> } | null
  /** The rows whose pattern a loosened path fits, case aside, and their methods. */
  resembled(path: string): readonly Resembled[]
  /** What a POST to this very pattern creates, or null. */
  makes(pattern: string): Readonly<Record<string, string>> | null
  /** The kinds of stored objects that its paths name, or its answers create. */
  readonly kinds: readonly string[]
  /** The segments that its patterns spell out: no name of an object, even where callers choose names. */
  readonly words: ReadonlySet<string>
}

/** What the body of an endpoint's requests says, or null where nothing in it is of interest. */
export function bodyRuleOf({ endpoint }: Match): BodyRule | null {
  if (endpoint?.model !== undefined && 'body' in endpoint.model) return endpoint.model.body
  return endpoint?.names === undefined ? null : namesRule(endpoint.names)
}

const namesRules = new WeakMap<object, BodyRule>()
/** One rule for one table of names, so that its paths are compiled once. */
function namesRule(objects: Readonly<Record<string, string>>): BodyRule {
  let rule = namesRules.get(objects)
  if (!rule) namesRules.set(objects, (rule = { required: [], objects }))
  return rule
}

interface Compiled {
  readonly row: EndpointRow
  readonly pattern: string
  readonly regexp: RegExp
  readonly names: readonly string[]
}

// One flat class each: nested quantifiers would backtrack without end on a long path.
const CHARACTERS = "A-Za-z0-9._~!$&'()*+,=@%-"

/** Compiles rows: literal paths are one look-up, patterns are tried in the order of the rows. */
export function compileEndpoints(rows: readonly EndpointRow[]): EndpointTable {
  const literal = new Map<string, EndpointRow>()
  const patterns = new Map<string, Compiled[]>()
  const loose: (Resembled & { readonly regexp: RegExp })[] = []
  const kinds = new Set<string>()
  const fixed = new Set<string>()
  const makes = new Map<string, Readonly<Record<string, string>>>()
  for (const row of rows) {
    const words = row.on.split(' ')
    const pattern = words.pop() ?? ''
    for (const segment of pattern.split(/[/:]/)) fixed.add(segment)
    const names: string[] = []
    const source = pattern.replace(/\{(\w+)([:*]?)\}|[^{]+/g, (text, name?: string, form?: string) => {
      if (name === undefined) return text.replace(/[.+*?^$()[\]\\|]/g, String.raw`\$&`)
      names.push(name)
      if (form === '*') return `([:/${CHARACTERS}]+?)`
      return form === ':' ? `([:${CHARACTERS}]+)` : `([${CHARACTERS}]+)`
    })
    const compiled: Compiled = { row, pattern, regexp: new RegExp(`^${source}$`), names }
    loose.push({ regexp: new RegExp(compiled.regexp, 'i'), exact: compiled.regexp, methods: words, row })
    for (const kind of [...names, ...Object.values(row.creates ?? {})]) if (kind !== 'model' && !PLACES.has(kind)) kinds.add(kind)
    if (words.includes('POST') && row.creates !== undefined && !makes.has(pattern)) makes.set(pattern, row.creates)
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
        return { row: compiled.row, pattern: compiled.pattern, params: Object.fromEntries(compiled.names.map((name, i) => [name, found[i + 1] ?? ''])) }
      }
      return null
    },
    resembled: (path) => loose.filter(({ regexp }) => regexp.test(path)),
    makes: (pattern) => makes.get(pattern) ?? null,
    kinds: [...kinds],
    words: fixed,
  }
}

/**
 * Finds the endpoint of a request.
 * @param pathAndQuery as the target step accepted it: valid percent-encoding, no decoded dot segments
 */
export function classify(provider: Provider, method: string, pathAndQuery: string): Match {
  const question = pathAndQuery.indexOf('?')
  if (question < 0) return classifyPath(provider, method, pathAndQuery)
  const match = classifyPath(provider, method, pathAndQuery.slice(0, question))
  const query = new URLSearchParams(pathAndQuery.slice(question))
  const asked = match.endpoint?.asks === undefined ? [] : askedFor(match.endpoint.asks, query)
  const spelled = [...query.values()].flatMap((value) => provider.ids?.refOf(value) ?? [])
  const others = spelled.filter((ref) => !asked.some(({ kind, id }) => kind === ref.kind && id === ref.id))
  return asked.length + others.length === 0 ? match : { ...match, objects: [...match.objects, ...asked, ...others] }
}

/** The stored objects that a query names, by the parameters in which a row expects them. */
export function askedFor(asks: Asks, query: URLSearchParams): ObjectRef[] {
  return Object.entries(asks).flatMap(([name, kind]) => query.getAll(name).map((id) => ({ kind, id })))
}

function classifyPath(provider: Provider, method: string, path: string): Match {
  // A path that a row spells out is what it seems.
  const exact = provider.endpoints.literal(method, path)
  if (exact) return { class: exact.class, endpoint: exact, pattern: path, model: null, objects: NO_OBJECTS, spelling: 'plain' }
  const loose = loosen(path)
  const spelling = path.split('/').some((segment) => segment === '.' || segment === '..') ? 'dots' : loose.plain ? 'plain' : 'odd'
  const unknown: Match = { class: 'unknown', endpoint: null, pattern: '', model: null, objects: NO_OBJECTS, spelling, ...(isProcedure(loose) ? { procedure: true } : {}) }
  const found = spelling === 'dots' ? null : provider.endpoints.match(method, path)
  const closed = closedEverywhere(found === null ? loose.path : spelledOut(found))
  const isClosed = (pattern: RegExp): boolean => pattern.test(loose.path)
  if (closed === 'minting' || provider.minting.some(isClosed)) return { ...unknown, class: 'minting' }
  // A row says what it runs; what manages an account further up in the path is a gateway's way to name one.
  if ((closed === 'admin' && found?.row.class !== 'model') || provider.admin.some(isClosed)) return { ...unknown, class: 'admin' }
  if (spelling === 'dots') return unknown
  const resembled = () => provider.endpoints.resembled(loose.path)
  // A row of another method is no other spelling of this path.
  if (!found) return odd(unknown, method, loose, resembled().filter(({ exact }) => !exact.test(path)), provider.endpoints)
  let model: string | null = null
  const objects: ObjectRef[] = []
  for (const [name, raw] of Object.entries(found.params)) {
    const value = raw.includes('%') ? decodeURIComponent(raw) : raw
    // An encoded slash or the like belongs in no name but an ARN: the path is then not what it seems.
    if (raw.includes('%') && !provider.encoded?.includes(name) && /[/\\?#%;:]/.test(value)) return odd({ ...unknown, spelling: 'odd' }, method, loose, resembled(), provider.endpoints)
    if (name === 'base') model ??= modelInBase(value)
    if (name === 'model') model = found.row.modelName?.replaceAll(/\{(\w+)\}/g, (_, part: string) => found.params[part] ?? '') ?? value
    else if (!PLACES.has(name)) objects.push(objectRef(name, value))
    // A name that is an id in full is one in any segment: a fine-tuned model's, for example.
    const spelled = provider.ids?.refOf(name === 'model' ? model! : value) ?? null
    if (spelled === null || objects.some(({ kind, id }) => kind === spelled.kind && id === spelled.id)) continue
    // What lies in an object came with it, and need not be written down.
    objects.push(objects.length === 0 ? spelled : { ...spelled, mayBeUnknown: true })
  }
  const { modelObject } = found.row
  if (modelObject !== undefined && model !== null) objects.push(objectRef(modelObject, model))
  return { class: found.row.class, endpoint: found.row, pattern: found.pattern, model, objects, spelling: 'plain' }
}

/** What a row leaves open of a path, in lower case: parameters of several segments may hold an endpoint that no row knows. `''` for none. */
function spelledOut({ pattern, params }: { readonly pattern: string; readonly params: Readonly<Record<string, string>> }): string {
  if (!pattern.includes('*}')) return ''
  const open = (_: string, name: string, form: string): string => (form === '*' && name !== 'path' ? (params[name] ?? '') : 'x')
  return pattern.replaceAll(/\{(\w+)([:*]?)\}/g, open).toLowerCase()
}

/** Segments behind which servers look for a model's name: LiteLLM `/engines/{model}/chat/completions`, TGI `/models/{model}/v1/chat/completions`. */
const NAMING = /^(?:models?|engines?|deployments?)$/i

/** The model that the path of an added provider names in front of an endpoint, which counts there instead of the body's; null for none. */
function modelInBase(base: string): string | null {
  const segments = base.split('/').filter((segment) => segment !== '')
  const naming = segments.findIndex((segment) => NAMING.test(segment))
  if (naming < 0) return null
  const name = segments.slice(naming + 1)
  while (/^(?:v\d+\w*|openai)$/i.test(name.at(-1) ?? '')) name.pop()
  return name.length === 0 ? null : name.join('/')
}

const NO_OBJECTS: readonly ObjectRef[] = []

/** Segments of an unknown path that are looked at; no provider's path has as many. */
const MOST_SEGMENTS = 24

/**
 * A path that is no row's. An upstream may read it as one all the same: then its body counts as that row's, and whatever in the path could be the
 * name of a stored object is taken for one.
 */
function odd(unknown: Match, method: string, { segments }: Loose, resembled: readonly Resembled[], { kinds, words }: EndpointTable): Match {
  const names = new Set(segments.flatMap((segment) => [segment, ...segment.split(':')]))
  if (names.size > MOST_SEGMENTS) return { ...unknown, spelling: 'long' }
  return {
    ...unknown,
    endpoint: resembled.find(({ methods }) => methods.includes(method === 'HEAD' ? 'GET' : method))?.row ?? null,
    objects: kinds.flatMap((kind) => [...names].filter((id) => !words.has(id)).map((id) => ({ kind, id }))),
    spelling: resembled.length === 0 ? unknown.spelling : 'odd',
  }
}

/** Parameters of patterns that name a place, not an object of somebody's. */
const PLACES = new Set(['base', 'version', 'project', 'location', 'publisher', 'account', 'any', 'path'])

/** A path as the most lenient server could read it. `plain` says that it, case aside, was spelled so already. */
interface Loose {
  /** In lower case. */
  readonly path: string
  /** In the path's own case. */
  readonly segments: readonly string[]
  readonly plain: boolean
}

/** Reads a path leniently: decoded until nothing changes, without `;parameters`, empty and dot segments and slashes at the end. */
function loosen(path: string): Loose {
  const text = decodedFully(path)
  const segments: string[] = []
  for (const segment of text.replaceAll('\\', '/').split('/')) {
    const name = segment.replace(/;.*$/s, '').trim()
    if (name === '..') segments.pop()
    else if (name !== '' && name !== '.') segments.push(name)
  }
  const loose = `/${segments.join('/')}`.toLowerCase()
  return { path: loose, segments, plain: loose === path.toLowerCase() }
}

/** A gRPC path, `/package.Service/Method`: grpc.io/docs, PROTOCOL-HTTP2. */
const GRPC = /^\/(?:[\w$-]+\/)*\w+(?:\.[a-z_]\w*)+\/\w+$/
/** A last segment that says that it lists, reads or deletes: `ListFiles`, `files.list`, `files:batchGet`, `delete`. */
const READS = /(?:^|[.:])(?:[Bb]atch)?(?:[Ll]ist|[Gg]et|[Dd]elete|[Pp]urge|[Ee]xport)(?:$|[A-Z_-])/

const isProcedure = ({ path, segments }: Loose): boolean => GRPC.test(path) || READS.test(segments.at(-1) ?? '')

/** Why a key with objects of its own may not call an endpoint that no row knows: what it reads or changes there is not known. Null when it may. */
export function refuseUnknown({ class: kind, procedure }: Match, method: string): string | null {
  if (kind !== 'unknown' || (method === 'POST' && procedure !== true)) return null
  return 'This endpoint is not known to the proxy, and this key may only reach objects of its own.'
}

/** Why a request may not go to this endpoint, or null when it may; `scoped` for a key that is limited to models. */
export function refuseEndpoint(match: Match, scoped: boolean): { code: 'endpoint_not_allowed' | 'model_not_allowed'; message: string } | null {
  if (match.class === 'minting') return { code: 'endpoint_not_allowed', message: 'This endpoint hands out access to the provider, so no proxy key may call it.' }
  if (match.class === 'admin') return { code: 'endpoint_not_allowed', message: 'This endpoint administers the provider account, so no proxy key may call it.' }
  if (match.class !== 'unknown') return null
  if (match.spelling !== 'plain' && scoped) {
    return { code: 'model_not_allowed', message: 'The path is spelled so that the model it reaches cannot be known. This key is limited to certain models.' }
  }
  if (match.spelling === 'long') return { code: 'endpoint_not_allowed', message: 'The path of the upstream address has too many segments.' }
  if (match.spelling === 'dots') return { code: 'endpoint_not_allowed', message: 'The path of the upstream address holds . or .. segments.' }
  if (scoped) return { code: 'endpoint_not_allowed', message: 'This endpoint is not known to the proxy, and this key is limited to certain models.' }
  return null
}
