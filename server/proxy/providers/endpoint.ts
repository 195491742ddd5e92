// Finds the endpoint of a request, by its method and path, and decides who may call it. Steps 4 and
// 5 of pipeline.ts.
import { closedEverywhere } from './closed.ts'
import type { Asks, EndpointRow } from './endpoint-row.ts'
import { bodyRuleOf, PLACES, type FoundRow } from './endpoint-table.ts'
import { givesModel } from './id-names.ts'
import { decodedFully, looseName, objectRef, withoutFormat, type ObjectRef } from './object-ref.ts'
import type { Provider } from './provider.ts'
import { piecesOf, refsOf } from './spelled.ts'
import { givenId } from './unknown-ids.ts'
import { loosen, NO_OBJECTS, resembling, unknownMatch, type Loose } from './unknown-path.ts'
import type { Match } from './match.ts'

/**
 * Whether no row gives the place of the model: an unknown endpoint, or an endpoint that runs a
 * stored object.
 */
export const namesModelsAnywhere = (match: Match): boolean =>
  match.class === 'unknown' || match.endpoint?.model?.at === 'stored'

/**
 * Finds the endpoint of a request.
 * @param pathAndQuery as accepted by step 1: valid percent-encoding, no decoded dot segments
 * @param hostParts the parts of the host that its pattern names
 */
export function classify(
  provider: Provider,
  method: string,
  pathAndQuery: string,
  hostParts: HostParts = NO_PARTS,
): Match {
  const question = pathAndQuery.indexOf('?')
  if (question < 0) return classifyPath(provider, method, pathAndQuery, hostParts)
  const match = classifyPath(provider, method, pathAndQuery.slice(0, question), hostParts)
  const query = parametersOf(pathAndQuery.slice(question + 1))
  const asked = askedFor({ ...provider.asks, ...match.endpoint?.asks }, query)
  const ids = match.class === 'unknown' ? provider.unknownIds : provider.ids
  const spelled =
    ids === undefined
      ? []
      : query
          .flatMap(([name, value]) => (PARAMETER.test(name) ? [value] : [name, value]))
          .flatMap((text) => refsOf(text, ids))
  const given = query.flatMap(([name, value]) => givenUnder(provider, ids, name, value))
  const named = ids?.models
  const models =
    named === undefined
      ? []
      : query.flatMap(([name, value]) =>
          givesModel(decodedFully(name)) ? named.refsOf(decodedFully(value)) : [],
        )
  const others = [...given, ...spelled, ...models].filter(
    (ref) => !asked.some(({ kind, id }) => kind === ref.kind && id === ref.id),
  )
  return asked.length + others.length === 0
    ? match
    : { ...match, objects: [...match.objects, ...asked, ...others] }
}

/** The stored objects in a parameter with such a name, alone or in a list: `?file_ids=a,b`. */
function givenUnder(
  { idNames, publicObjects }: Provider,
  ids: Provider['ids'],
  name: string,
  value: string,
): ObjectRef[] {
  const kind = idNames?.kindOf(decodedFully(name)) ?? null
  if (kind === null) return []
  return [value, ...piecesOf(decodedFully(value))].flatMap(
    (one) => givenId(one, ids, publicObjects?.[kind]) ?? [],
  )
}

/** The stored objects that a query names, in the parameters where a row expects them. */
export function askedFor(asks: Asks, query: readonly Parameter[]): ObjectRef[] {
  return Object.entries(asks).flatMap(([asked, kind]) => {
    const values = query.flatMap(([name, value]) =>
      looseName(decodedFully(name)) === looseName(asked) ? [value] : [],
    )
    return values.flatMap((id): ObjectRef[] => {
      const decoded = decodedFully(id).trim()
      return decoded === id
        ? [{ kind, id }]
        : [
            { kind, id },
            { kind, id: decoded, mayBeUnknown: true },
          ]
    })
  })
}

/** A parameter's name, such as `upload_protocol`; ids have other characters as well. */
const PARAMETER = /^[a-z]+(?:_[a-z]+)*$/

type Parameter = readonly [name: string, value: string]

/**
 * The parameters of a query. Some servers also separate them at a semicolon (HTML 4.01, appendix
 * B.2.2).
 */
export function parametersOf(query: string): Parameter[] {
  return (query.includes(';') ? [query, ...query.split(/[&;]/)] : [query]).flatMap((text) => [
    ...new URLSearchParams(text),
  ])
}

type HostParts = Readonly<Record<string, string>>
const NO_PARTS: HostParts = {}

/** A name that a row forms from parameters and parts of the host. */
const filled = (name: string, params: HostParts, hostParts: HostParts): string =>
  name
    .replaceAll(/\{(\w+)\}/g, (_, part: string) => params[part] ?? '')
    .replaceAll(/<(\w+)>/g, (_, part: string) => hostParts[part] ?? '')

function classifyPath(
  provider: Provider,
  method: string,
  path: string,
  hostParts: HostParts,
): Match {
  // A path that is literal in a row is not ambiguous.
  const exact = provider.endpoints.literal(method, path)
  if (exact) return literalMatch(exact, path, hostParts)
  const loose = loosen(path)
  const unknown = unknownMatch(path, loose)
  const found = unknown.spelling === 'dots' ? null : provider.endpoints.match(method, path)
  const closed = closedClass(provider, loose, found)
  if (closed !== null) return { ...unknown, class: closed }
  if (unknown.spelling === 'dots') return unknown
  const known =
    found &&
    !namesEndpoint(provider, method, loose.path, found) &&
    rowMatch(provider, found, hostParts)
  if (known) return known
  const resembled = provider.endpoints.resembled(loose.path)
  return found
    ? resembling({ ...unknown, spelling: 'odd' }, method, loose, resembled, provider)
    : resembling(
        unknown,
        method,
        loose,
        // A row for another method is not another spelling of this path.
        resembled.filter((one) => !one.exact.test(path)),
        provider,
      )
}

/**
 * Whether a lenient server may find an endpoint's own name where the path has a parameter:
 * `/threads/runs.json`.
 */
function namesEndpoint({ endpoints }: Provider, method: string, path: string, found: FoundRow) {
  const spelled = withoutFormat(path)
  if (endpoints.literal(method, spelled) !== null) return true
  const named = endpoints.match(method, spelled)
  return named !== null && parametersIn(named.pattern) < parametersIn(found.pattern)
}
const parametersIn = (pattern: string): number => pattern.split('{').length

function literalMatch(row: EndpointRow, path: string, hostParts: HostParts): Match {
  return {
    class: row.class,
    endpoint: row,
    body: bodyRuleOf(row),
    pattern: path,
    model: row.modelName === undefined ? null : filled(row.modelName, {}, hostParts),
    objects: NO_OBJECTS,
    spelling: 'plain',
  }
}

/**
 * The class of an endpoint that no key may call, whatever row matches its path; null for others.
 */
function closedClass(
  { minting, admin }: Provider,
  loose: Loose,
  found: FoundRow | null,
): 'minting' | 'admin' | null {
  const closed = closedEverywhere(found === null ? loose.path : spelledOut(found))
  const isClosed = (pattern: RegExp): boolean => pattern.test(loose.path)
  if (closed === 'minting' || minting.some(isClosed)) return 'minting'
  // The row says what it runs; an account segment earlier in the path is a gateway's name of an
  // account.
  if ((closed === 'admin' && found?.row.class !== 'model') || admin.some(isClosed)) return 'admin'
  return null
}

/** The row for a path, or null if the path is ambiguous. */
function rowMatch(
  { encoded, ids }: Provider,
  { row, pattern, params }: FoundRow,
  hostParts: HostParts,
): Match | null {
  const { modelName, modelObject } = row
  const named = modelName === undefined ? null : filled(modelName, params, hostParts)
  let model = named
  const objects: ObjectRef[] = []
  for (const [name, raw] of Object.entries(params)) {
    const value = raw.includes('%') ? decodeURIComponent(raw) : raw
    // An encoded slash is only allowed in an ARN.
    if (raw.includes('%') && !encoded?.includes(name) && /[/\\?#%;:]/.test(value)) return null
    if (name === 'base') model ??= modelInBase(value)
    if (name === 'model') model = named ?? value
    else if (!PLACES.has(name)) objects.push(objectRef(name, value))
    // A name that is a full id is an id in any segment; for example, that of a fine-tuned model.
    const spelled = ids?.refOf(name === 'model' ? (named ?? value) : value) ?? null
    if (
      spelled === null ||
      objects.some(({ kind, id }) => kind === spelled.kind && id === spelled.id)
    )
      continue
    // Objects inside another one were created with it and need not be recorded.
    objects.push(objects.length === 0 ? spelled : { ...spelled, mayBeUnknown: true })
  }
  if (modelObject !== undefined && model !== null) objects.push(objectRef(modelObject, model))
  if (model !== null && ids?.models !== undefined) objects.push(...ids.models.refsOf(model))
  const body = bodyRuleOf(row)
  return { class: row.class, endpoint: row, body, pattern, model, objects, spelling: 'plain' }
}

/**
 * The open part of a row's path, in lower case: parameters of several segments may contain an
 * endpoint that no row knows. `''` for none.
 */
function spelledOut({ pattern, params }: FoundRow): string {
  if (!pattern.includes('*}')) return ''
  const open = (_: string, name: string, form: string): string =>
    form === '*' && name !== 'path' ? (params[name] ?? '') : 'x'
  return pattern.replaceAll(/\{(\w+)([:*]?)\}/g, open).toLowerCase()
}

/**
 * Segments after which servers look for a model's name: LiteLLM
 * `/engines/{model}/chat/completions`, TGI `/models/{model}/v1/chat/completions`.
 */
const NAMING = /^(?:models?|engines?|deployments?)$/i

/**
 * The model that the path of an added provider names before an endpoint, where it counts instead of
 * the body's; null for none.
 */
function modelInBase(base: string): string | null {
  const segments = base.split('/').filter((segment) => segment !== '')
  const naming = segments.findIndex((segment) => NAMING.test(segment))
  if (naming < 0) return null
  const name = segments.slice(naming + 1)
  while (/^(?:v\d+\w*|openai)$/i.test(name.at(-1) ?? '')) name.pop()
  return name.length === 0 ? null : name.join('/')
}
