// Which models can this request reach? Step 5 of the contract: what cannot be known for certain is refused.
//
// A scoped key's body is read to its end before the upstream sees a byte, because a second `model` may come last. An unrestricted
// key's body streams; a ModelObserver (model/observer.ts) beside it notes the model for the ledger.
import { isUtf8 } from 'node:buffer'
import { valuesOf } from '../http/fields.ts'
import type { Scope } from '../keys/scope.ts'
import { parseJson } from './json-paths.ts'
import { JsonScanner, type JsonSink, type Oddity } from './json-scanner.ts'
import { decodeBody } from './model/decode.ts'
import { boundaryOf, readFields } from './model/multipart.ts'
import { fieldRefs, LONGEST_NAME, MOST_NAMED, placesOf, refsIn, type Places } from './model/names.ts'
import { headerModels, isTwofoldType, queryModels } from './outside-body.ts'
import type { BodyRule, Match, ObjectRef } from './providers/endpoint.ts'
import type { Provider } from './providers/provider.ts'
import { ToolModels, type ToolRun } from './tool-models.ts'

/** Names as providers write them (`models/gemini-x`, an ARN, a deployment), in the order in which the request gives them. */
export type Reach =
  | { readonly ok: true; readonly models: readonly string[]; readonly objects: readonly ObjectRef[]; /** Whether it asks the provider to keep the answer. */ readonly kept?: boolean }
  | { readonly ok: false; readonly code: 'ambiguous_body' | 'model_not_allowed'; readonly message: string }

type RefusedReach = Extract<Reach, { ok: false }>
const ambiguous = (message: string): RefusedReach => ({ ok: false, code: 'ambiguous_body', message })
const unknown = (message: string): RefusedReach => ({ ok: false, code: 'model_not_allowed', message: `${message} This key is limited to certain models.` })

/** Whether a scoped key's body has to be read before the model is known. */
export const bodyNeeded = (match: Match): boolean => match.endpoint?.model !== undefined && 'body' in match.endpoint.model

export interface ModelRequest {
  readonly provider: Provider
  readonly match: Match
  readonly pathAndQuery: string
  /** Name, value, name, value, … as Node's rawHeaders. */
  readonly headers: readonly string[]
  /** The whole body; null when there is none. */
  readonly body: Buffer | null
  /** Largest decoded body in bytes. */
  readonly limit: number
}

/**
 * Checks a scoped key: every model that the request can reach is known, and allowed. The answer is there at once unless the body has to be
 * decoded first.
 */
export function checkScope(scope: Scope, request: ModelRequest): Reach | Promise<Reach> {
  const { match, headers, body, limit } = request
  if (match.class === 'neutral') return { ok: true, models: [], objects: match.objects }
  const encodings = bodyNeeded(match) && body !== null ? valuesOf(headers, 'content-encoding') : []
  if (encodings.length > 1) return ambiguous('The request has two content encodings.')
  if (encodings[0] === undefined) return check(scope, request)
  return decodeBody(body!, encodings[0], limit).then((decoded) =>
    decoded === null ? unknown('The body does not decode by its Content-Encoding within the limits of the proxy.') : check(scope, { ...request, body: decoded }),
  )
}

function check(scope: Scope, request: ModelRequest): Reach {
  const reach = reachOf(request)
  const refused = 'models' in reach ? reach.models.find((name) => !scope.allows(request.provider.modelNames(name))) : undefined
  if (refused !== undefined) return { ok: false, code: 'model_not_allowed', message: `This key may not use the model ${printable(refused)}.` }
  if ('hidden' in reach) return ambiguous(reach.hidden)
  return (reach.ok ? refusedTool(scope, request.provider, reach.tools ?? []) : null) ?? reach
}

/** The refusal of the first tool that runs a model which the scope does not allow; null where there is none. */
function refusedTool(scope: Scope, provider: Provider, tools: readonly ToolRun[]): RefusedReach | null {
  for (const { tool, runs } of tools) {
    const name = printable(tool)
    if (!('allow' in runs)) {
      const way = runs.named?.length === 0 ? '' : ' Name an allowed model in it.'
      return { ok: false, code: 'model_not_allowed', message: `The tool ${name} may run a model that this request does not name. ${runs.why}${way} This key is limited to certain models.` }
    }
    const other = runs.runs.find((model) => !scope.allows(provider.modelNames(model)))
    if (other === undefined) continue
    const way = runs.named?.length === 0 ? 'Add' : 'Name an allowed model in it, or add'
    return { ok: false, code: 'model_not_allowed', message: `The tool ${name} may run the model ${printable(other)}, which this key may not use. ${runs.why} ${way} ${runs.allow} to the key's models.` }
  }
  return null
}

/** For a message: at most 120 characters, nothing that could break a line or a terminal. */
const printable = (name: string): string => JSON.stringify(name.slice(0, 120).replaceAll(/[^\u0020-\u007e]/g, '?'))

/** The models of a body that spells a key with `\u…`: which they are is known, but not that the upstream sees them. */
type HiddenReach = { readonly models: readonly string[]; readonly hidden: string }
/** What is known of a body, with the tools that run models which they do not name. */
type KnownReach = Extract<Reach, { ok: true }> & { readonly tools?: readonly ToolRun[] }

function reachOf({ match, pathAndQuery, headers, body }: ModelRequest): KnownReach | RefusedReach | HiddenReach {
  const place = match.endpoint?.model
  if (!place) return unknown('The endpoint is not known to the proxy.')
  if (place.at === 'stored') return unknown('The model that this endpoint runs is stored with the provider and not named in the request.')
  const query = queryModels(pathAndQuery)
  if (query === null) return unknown('The query names the model in an ambiguous way.')
  if (place.at === 'query') return query.length === 1 ? { ok: true, models: query, objects: match.objects } : unknown('The query parameter `model` must stand there once.')

  const found = bodyModels(place.body, headers, body)
  if (!found.ok) return found
  const named = headerModels(place.headers ?? [], headers)
  const models = [...(match.model === null ? [] : [match.model]), ...query, ...named, ...found.models]
  if (found.hidden !== null) return { models, hidden: found.hidden }
  if (match.model === null && !found.named && place.body.required.length > 0) return unknown('The body does not name a model where this endpoint expects it.')
  return { ok: true, models, objects: [...match.objects, ...found.objects], kept: found.kept, tools: found.tools?.unnamed(named.length > 0) ?? [] }
}

type BodyModels =
  | { readonly ok: true; readonly models: string[]; readonly named: boolean; readonly objects: ObjectRef[]; readonly kept: boolean; readonly hidden: string | null; readonly tools?: ToolModels }
  | RefusedReach

function bodyModels(rule: BodyRule, headers: readonly string[], body: Buffer | null): BodyModels {
  if (body === null || body.length === 0) return { ok: true, models: [], named: false, objects: [], kept: false, hidden: null }
  const types = valuesOf(headers, 'content-type')
  if (types.length > 1) return ambiguous('The request has two content types.')
  const type = types[0] ?? ''
  // What nearly everybody says.
  if (type === 'application/json') return jsonModels(rule, body)
  if (isTwofoldType(type)) return ambiguous('The content type names two kinds of body.')
  if (/^multipart\//i.test(type.trim())) {
    const boundary = rule.multipart ? boundaryOf(type) : null
    if (boundary === null) return unknown('The body is multipart in a way in which its model cannot be known.')
    const places = placesOf(rule)
    const found = readFields(body, boundary, places.fields)
    if (!found.ok) return ambiguous(found.message)
    if (new Set(found.fields.map((field) => field.name)).size < found.fields.length) return ambiguous('A field of the multipart body stands there twice.')
    const models = found.fields.flatMap(({ name, value }) => (places.objects.has(name) ? [] : [value]))
    return { ok: true, models, named: found.fields.some((field) => places.required.has(field.name)), objects: fieldRefs(places, found.fields), kept: false, hidden: null }
  }
  if (/^application\/x-www-form-urlencoded/i.test(type.trim())) return unknown('The body is not JSON.')
  const charset = /;[ \t]*charset[ \t]*=[ \t]*"?([^";\s]*)/i.exec(type)?.[1]
  if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset)) return ambiguous('The body is in another charset than UTF-8.')
  return jsonModels(rule, body)
}

/** Reads the models of one JSON body to its end: RFC 8259, UTF-8, no BOM, nothing behind it. */
function jsonModels(rule: BodyRule, body: Buffer): BodyModels {
  if (!isUtf8(body)) return ambiguous('The body is not valid UTF-8.')
  let reader = readers.get(rule)
  if (!reader) readers.set(rule, (reader = new ModelReader(placesOf(rule), new ToolModels(rule.tools ?? []))))
  return reader.read(body)
}

const readers = new WeakMap<BodyRule, ModelReader>()

/** Reads one body after another by one rule. */
class ModelReader implements JsonSink {
  readonly #places: Places
  readonly #tools: ToolModels
  readonly #scanner: JsonScanner
  #models: string[] = []
  #objects: ObjectRef[] = []
  #values = 0
  #named = false
  #kept = false
  #hidden: string | null = null
  #twofold: string | null = null
  #problem: RefusedReach | null = null

  constructor(places: Places, tools: ToolModels) {
    this.#places = places
    this.#tools = tools
    this.#scanner = new JsonScanner(places.wanted, this, { strict: true, longestValue: LONGEST_NAME })
  }

  read(body: Buffer): BodyModels {
    this.#models = []
    this.#objects = []
    this.#values = 0
    this.#named = this.#kept = false
    this.#hidden = this.#twofold = this.#problem = null
    this.#tools.reset()
    this.#scanner.reset()
    this.#scanner.write(body)
    this.#scanner.end()
    if (!this.#scanner.ok) return ambiguous('The body is not exactly one JSON value (RFC 8259, UTF-8 without BOM), or is nested too deeply.')
    if (this.#twofold !== null) return ambiguous(this.#twofold)
    if (this.#problem !== null) return this.#problem
    return { ok: true, models: this.#models, named: this.#named, objects: this.#objects, kept: this.#kept, hidden: this.#hidden, tools: this.#tools }
  }

  value(path: string, raw: Buffer | null): void {
    if (++this.#values > MOST_NAMED) {
      this.#problem ??= ambiguous(`The body names more than ${MOST_NAMED} models and stored objects.`)
      return
    }
    const places = this.#places
    const value = raw && parseJson(raw.toString('utf8'))
    // `null` says that nothing is there.
    if (value === null && raw !== null) return
    if (places.stored.has(path)) {
      this.#problem ??= unknown(`The body points to something stored (\`${path}\`) that may choose another model.`)
      return
    }
    const kind = places.objects.get(path)
    if (kind !== undefined) {
      if (raw === null) this.#problem ??= ambiguous(tooLong(path))
      else this.#objects.push(...refsIn(kind, value))
      // What is stored may stand in a model's place, and is held to the scope like one.
      if (!places.required.has(path)) return
    }
    if (places.tools.types.has(path)) {
      if (typeof value === 'string') this.#tools.type(path, value)
      else this.#problem ??= unknown(`The body's \`${path}\` is not a type of tool.`)
    } else if (path === places.keeps?.at) {
      this.#kept = places.keeps.by.includes(value)
    } else if (typeof value !== 'string' || value === '' || !value.isWellFormed()) {
      this.#problem ??= unknown(`The body's \`${path}\` is not a name.`)
    } else {
      this.#models.push(value)
      this.#named ||= places.required.has(path)
      this.#tools.model(path)
    }
  }

  closed(path: string): void {
    this.#tools.closed(path)
  }

  oddity(kind: Oddity, path: string): void {
    if (kind === 'mismatch' || kind === 'text') {
      if (kind === 'text' && this.#places.texts.has(path)) return
      if (!this.#places.ways.some((way) => way.startsWith(path))) return
      this.#problem ??= unknown(path === '' ? 'The body is not a JSON object.' : `The body's \`${path}\` is not what this endpoint expects.`)
    } else if (kind === 'duplicate') this.#twofold ??= `The body holds \`${path}\` twice.`
    else if (kind === 'lookalike') this.#twofold ??= `The body holds a key that some parsers read as \`${path}\`.`
    else this.#hidden ??= `The body spells the key \`${path}\` with escapes, which some parsers do not read.`
  }
}

const tooLong = (path: string): string => `The body's \`${path}\` is too long to see which stored objects it names.`
