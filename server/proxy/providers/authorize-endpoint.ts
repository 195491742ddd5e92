// Steps 3 and 4: finds the provider and the endpoint of a request, and checks whether the key may
// call it.
import type { CachedKey } from '../../keys/cache.ts'
import { GatewayError } from '../gateway-error.ts'
import type { Route } from '../find-route.ts'
import type { UpstreamAddress } from '../parse-target.ts'
import { changesStored } from './changes.ts'
import { classify } from './endpoint.ts'
import type { Match } from './match.ts'
import { decodedFully } from './object-ref.ts'
import type { Provider, Upstream } from './provider.ts'

/**
 * Step 3: the provider of an address.
 * @throws GatewayError `upstream_not_allowed`
 */
export function authorizeProvider(
  { upstream }: Route,
  { hostname }: UpstreamAddress,
  key: CachedKey,
): Upstream {
  if (upstream === null)
    throw new GatewayError(
      'upstream_not_allowed',
      `No provider of this proxy has the host ${hostname}. ${adviceFor(hostname)}`,
    )
  checkProvider(key, upstream.provider)
  return upstream
}

/** A name without a dot is the path of a base URL that lacks the host. */
const adviceFor = (hostname: string): string =>
  /[.:]/.test(hostname)
    ? 'Check its spelling, or ask the operator to add it.'
    : "A base URL names the provider's host after /proxy, such as /proxy/api.openai.com/v1."

/** Step 4: the endpoint of an address; the route caches it. */
export function endpointOf(
  route: Route,
  { pathAndQuery }: UpstreamAddress,
  { provider, hostParts }: Upstream,
  method: string,
): Match {
  return (route.match ??= classify(provider, method, pathAndQuery, hostParts))
}

/**
 * Checks whether a key may call an endpoint.
 * @throws GatewayError `endpoint_not_allowed`, `model_not_allowed`, `invalid_upstream_url`
 */
export function authorizeEndpoint(
  match: Match,
  { pathAndQuery }: UpstreamAddress,
  provider: Provider,
  method: string,
  key: CachedKey,
): void {
  const called = nameOf(method, pathAndQuery)
  const refused = refuseEndpoint(match, !key.scope.all, called)
  if (refused !== null) throw new GatewayError(refused.code, refused.message)
  refuseSlashes(match, pathAndQuery)
  checkModelRecord(key, provider, match, pathAndQuery)
  const unknown = key.objects === 'own' ? refuseUnknown(match, method, called) : null
  if (unknown !== null) throw new GatewayError('endpoint_not_allowed', unknown)
  checkReadOnly(key, match, method)
}

const DOUBLED_SLASH = /^[^?]*\/\//
const ENCODED_SLASH = /^[^?]*%2f/i

/**
 * Refuses slashes that servers read in different ways. An encoded slash is allowed in a parameter
 * if the row allows it: Bedrock's ARNs.
 */
function refuseSlashes({ spelling }: Match, pathAndQuery: string): void {
  if (DOUBLED_SLASH.test(pathAndQuery))
    throw new GatewayError(
      'invalid_upstream_url',
      'The path of the upstream address has two slashes in a row.',
    )
  if (spelling !== 'plain' && ENCODED_SLASH.test(pathAndQuery))
    throw new GatewayError(
      'invalid_upstream_url',
      'The path of the upstream address has an encoded slash (%2F) where this provider has none.',
    )
}

/**
 * TABLE of collections whose members are models, before a member's name. OpenRouter's `user` and
 * `count` are not models.
 */
const MODEL_RECORD =
  /\/(models|deployments|tunedModels|(?:language|image-generation|video-generation|embedding)-models)\/(?!(?:user|count)(?:$|\?))([^/?]+)(?=$|\?)/
/** A name with several segments: Vertex and Fireworks; OpenRouter, where more may follow. */
const LONG_NAME = /\/((?:publishers|accounts)\/[^/]+\/models\/[^/?]+)(?=$|\?)/
const OWNED_NAME = /\/(models)\/([^/?]+\/[^/?]+)/

/** A key that is limited to models may read only the records of these, as in lists of models. */
function checkModelRecord(
  { scope }: CachedKey,
  provider: Provider,
  { class: kind, pattern }: Match,
  pathAndQuery: string,
): void {
  if (scope.all || kind !== 'neutral' || !pattern.includes('{')) return
  const long = LONG_NAME.exec(pathAndQuery)?.[1]
  const [, collection, own] =
    (pattern.endsWith('*}') ? OWNED_NAME : MODEL_RECORD).exec(pathAndQuery) ?? []
  if (long === undefined && !pattern.endsWith('}')) return
  const name = decodedFully(long ?? own ?? '')
  if (name === '') return
  const spellings = provider.modelNames(`${collection}/${name}`)
  if (!scope.allows(spellings.includes(name) ? spellings : provider.modelNames(name)))
    throw new GatewayError(
      'model_not_allowed',
      'This key may not use the model that this record describes.',
    )
}

/**
 * The checks of steps 3 and 4 that depend on the key, for a key that may have changed since.
 * @throws GatewayError `upstream_not_allowed`, `endpoint_not_allowed`
 */
export function authorizeAgain(
  key: CachedKey,
  provider: Provider,
  match: Match,
  method: string,
): void {
  checkProvider(key, provider)
  checkReadOnly(key, match, method)
}

function checkProvider({ providers }: CachedKey, { id, name }: Provider): void {
  if (providers !== null && !providers.has(id))
    throw new GatewayError('upstream_not_allowed', `This key may not call ${name}.`)
}

function checkReadOnly({ readOnly }: CachedKey, match: Match, method: string): void {
  if (readOnly && changesStored(match, method))
    throw new GatewayError(
      'endpoint_not_allowed',
      'This key may generate and read, but not change what the provider stores.',
    )
}

/**
 * Why a key with `objects: own` may not call an unknown endpoint, because it is unknown what it
 * would read or change; null if it may.
 */
function refuseUnknown(
  { class: kind, procedure }: Match,
  method: string,
  called: string,
): string | null {
  if (kind !== 'unknown' || (method === 'POST' && procedure !== true)) return null
  return `${called} is not known to the proxy, and this key may only reach objects of its own.`
}

/**
 * An endpoint for a sentence. Without its query and long segments: the ledger keeps the sentence,
 * and these may be secrets.
 */
function nameOf(method: string, pathAndQuery: string): string {
  const path = pathAndQuery.split('?', 1)[0]?.replace(/[^/]{25,}/g, '…') ?? ''
  return `The endpoint ${method} ${path.length > 200 ? `${path.slice(0, 200)}…` : path}`
}

/**
 * Why a request may not call this endpoint, or null if it may; `scoped` for a key that is limited
 * to models, `called` begins the sentence about an unknown one.
 */
export function refuseEndpoint(
  match: Match,
  scoped: boolean,
  called = 'This endpoint',
): {
  code: 'endpoint_not_allowed' | 'model_not_allowed' | 'invalid_upstream_url'
  message: string
} | null {
  if (match.class === 'minting')
    return {
      code: 'endpoint_not_allowed',
      message: 'This endpoint issues credentials for the provider, so no proxy key may call it.',
    }
  if (match.class === 'admin')
    return {
      code: 'endpoint_not_allowed',
      message: 'This endpoint administers the provider account, so no proxy key may call it.',
    }
  if (match.class !== 'unknown') return null
  if (match.spelling !== 'plain' && scoped) {
    return {
      code: 'model_not_allowed',
      message:
        'The spelling of the path makes its model ambiguous. This key is limited to certain models.',
    }
  }
  if (match.spelling === 'long')
    return {
      code: 'endpoint_not_allowed',
      message: 'The path of the upstream address has too many segments.',
    }
  if (match.spelling === 'dots')
    return {
      code: 'invalid_upstream_url',
      message: 'The path of the upstream address has . or .. segments.',
    }
  if (scoped)
    return {
      code: 'endpoint_not_allowed',
      message: `${called} is not known to the proxy, and this key is limited to certain models.`,
    }
  return null
}
