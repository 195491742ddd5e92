// Responds for an endpoint that would issue one of the provider's tokens, with a child of the
// caller's key. The provider gets no request.
import { Problem } from '../../common/errors.ts'
import type { HttpExchange } from '../../http1/exchange.ts'
import { valueOf } from '../../http1/header-fields.ts'
import type { CachedKey, KeyCache } from '../../keys/cache.ts'
import { mintChild, type ChildInput, type MintedChild } from '../../keys/children.ts'
import { requireRoomOf } from '../../keys/held-keys.ts'
import { scopeEntryProblem } from '../../keys/scope.ts'
import type { Store } from '../../store/store.ts'
import { GatewayError, serviceUnavailable } from '../gateway-error.ts'
import { bufferBody, discardBody, type BodyTimeouts } from '../inspect/buffer-body.ts'
import { BUFFERS_FULL } from '../inspect/checked-upload.ts'
import type { Provider } from '../providers/provider.ts'
import type { RequestSlot } from '../admission/request-shares.ts'
import { MINT_SHAPES, type MintShape, type TokenRequest } from './mint-shapes.ts'

/** The largest body that is read. */
const MAX_BODY_BYTES = 64 * 1024
/**
 * Maximum number of child keys that one key may be minting at the same time: each is a transaction
 * of the store.
 */
const MAX_WAITING = 200

/** Creates child keys for the proxy, one at a time for each key. One per process. */
export class Minter {
  readonly #store: Store
  readonly #keys: Pick<KeyCache, 'heldBy' | 'refresh'>
  readonly #now: () => number
  /** Keys for which children are being created: their number, and the end of the last one. */
  readonly #lines = new Map<string, { size: number; last: Promise<unknown> }>()

  /** @param keys this process's cache, which reads each new key */
  constructor(store: Store, keys: Pick<KeyCache, 'heldBy' | 'refresh'>, now: () => number) {
    this.#store = store
    this.#keys = keys
    this.#now = now
  }

  now(): number {
    return this.#now()
  }

  /**
   * Creates a child of a key.
   *
   * @param secretId public id of the caller's secret
   * @throws GatewayError `rate_limit_exceeded` if it has the maximum or its account's keys take too
   *   much memory, `model_not_allowed` if its parent has been narrowed meanwhile,
   *   `invalid_api_key` if the parent has ended, `service_unavailable` if too many are being minted
   */
  async mint(parent: CachedKey, secretId: string, input: ChildInput): Promise<MintedChild> {
    const line = this.#lines.get(parent.id) ?? { size: 0, last: Promise.resolve() }
    if (line.size >= MAX_WAITING)
      throw serviceUnavailable('This key has too many requests for child keys in progress.')
    this.#lines.set(parent.id, line)
    line.size++
    const made = line.last.then(() => this.#create(parent, secretId, input))
    line.last = made.catch(() => {})
    try {
      const child = await made
      await this.#keys.refresh()
      return child
    } catch (error) {
      throw error instanceof Problem ? refusalOf(error) : error
    } finally {
      if (--line.size === 0) this.#lines.delete(parent.id)
    }
  }

  async #create(
    { id, accountId }: CachedKey,
    secretId: string,
    input: ChildInput,
  ): Promise<MintedChild> {
    await requireRoomOf(this.#keys, this.#store, accountId)
    return mintChild(this.#store, id, input, this.#now(), secretId)
  }
}

function refusalOf({ code, detail }: Problem): GatewayError {
  if (code === 'too_many_child_keys' || code === 'too_many_keys')
    return new GatewayError('rate_limit_exceeded', detail, ['Retry-After', '60'])
  if (code === 'invalid_field')
    return new GatewayError('model_not_allowed', 'This key may no longer use the model.')
  return new GatewayError(
    'invalid_api_key',
    'The proxy key has expired, or was disabled or revoked.',
  )
}

/** The shape of a minting endpoint that we respond for; null for every other request. */
export function mintShapeOf(
  { mints = {} }: Provider,
  method: string,
  pathAndQuery: string,
): MintShape | null {
  const [path = ''] = pathAndQuery.split('?')
  const on = `${method} ${path}`
  const name = Object.hasOwn(mints, on) ? mints[on] : undefined
  return name === undefined ? null : MINT_SHAPES[name]
}

/** A request for a token. */
export interface MintRequest {
  readonly exchange: HttpExchange
  readonly slot: RequestSlot
  readonly provider: Provider
  readonly shape: MintShape
  /** Public id of the caller's secret. */
  readonly secretId: string
  readonly pace: BodyTimeouts
  /** The current key, after the body has arrived. */
  readonly authenticate: () => CachedKey
}

/**
 * Creates the child key that a client asks for.
 * @returns the response in the provider's shape; null if the caller has left
 * @throws GatewayError
 */
export async function handleMint(minter: Minter, request: MintRequest): Promise<object | null> {
  const { exchange, shape, provider, secretId } = request
  const body = await readJson(exchange, request)
  if (body === null) return null
  const key = request.authenticate()
  // The key may have been narrowed while the body arrived.
  if (key.providers !== null && !key.providers.has(provider.id))
    throw new GatewayError('upstream_not_allowed', `This key may not call ${provider.name}.`)
  if (key.child !== null)
    throw new GatewayError(
      'endpoint_not_allowed',
      'This is a child key, and a child key cannot create other keys.',
    )
  const asked = shape.read(body.json, minter.now())
  if ('code' in asked) throw new GatewayError(asked.code, asked.message)
  const child = {
    ttl: secondsOf(asked, shape),
    models: modelsOf(key, provider, asked),
    rpm: null,
    allowed_origins: null,
    end_user: null,
    providers: [provider.id],
  }
  const minted = await minter.mint(key, secretId, child)
  return shape.response({ ...minted, ttl: child.ttl }, asked)
}

/** @throws GatewayError `malformed_request` if the provider would reject it */
function secondsOf({ ttl }: TokenRequest, { ttl: { usual, min, max } }: MintShape): number {
  if (ttl === null) return usual
  if (ttl >= min && ttl <= max) return Math.floor(ttl)
  throw new GatewayError(
    'malformed_request',
    `A key can be valid for ${min} to ${max} seconds, not for ${Math.floor(ttl)}.`,
  )
}

/** @throws GatewayError `model_not_allowed` if the key may use none of them */
function modelsOf(
  key: CachedKey,
  provider: Provider,
  { models, families }: TokenRequest,
): string[] | null {
  if (models !== null) return models.map((name) => allowedName(key, provider, name))
  if (families === undefined) return null
  const inside = key.scope.inside(families)
  if (inside.length === 0)
    throw new GatewayError(
      'model_not_allowed',
      `This key may use none of the models that the token is for (${families.join(', ')}).`,
    )
  return [...inside]
}

/**
 * The spelling of an allowed model in the key's scope. @throws GatewayError `model_not_allowed`
 */
function allowedName(key: CachedKey, provider: Provider, name: string): string {
  const spelled = provider.modelNames(name).find((spelling) => key.scope.allows([spelling]))
  if (spelled === undefined || spelled.includes('*') || scopeEntryProblem(spelled) !== null)
    throw new GatewayError('model_not_allowed', 'This key may not use the model of this session.')
  return spelled
}

/** The body as JSON; null if the caller has left. @throws GatewayError */
async function readJson(
  exchange: HttpExchange,
  { slot, pace }: Pick<MintRequest, 'slot' | 'pace'>,
): Promise<{ json: unknown } | null> {
  exchange.writeContinue()
  const { body, headers } = exchange
  if (body === null) return { json: {} }
  if (valueOf(headers, 'content-encoding') !== undefined)
    throw new GatewayError('malformed_request', 'Send the body of this request uncompressed.')
  const read = await bufferBody(body, MAX_BODY_BYTES, pace, slot)
  if (read.ok) return parse(Buffer.concat(read.pieces))
  if (read.reason === 'gone') return null
  if (read.reason === 'slow')
    throw new GatewayError('body_too_slow', 'The body arrived too slowly. Send it again.')
  if (read.reason === 'busy') throw serviceUnavailable(BUFFERS_FULL)
  discardBody(body)
  throw new GatewayError('body_too_large', 'The body of this request is larger than 64 KB.')
}

function parse(bytes: Buffer): { json: unknown } {
  if (bytes.length === 0) return { json: {} }
  try {
    return { json: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) }
  } catch {
    throw new GatewayError('malformed_request', 'The body of this request is not JSON.')
  }
}
