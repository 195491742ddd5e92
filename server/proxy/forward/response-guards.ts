// Checks responses before their callers see them: lists of models or stored objects, responses of
// unknown endpoints, and responses to uploads that are checked while they stream. The response to
// a call of a model has no guard.
import type { TurnBudget } from '../../common/fairness/turn-budget.ts'
import type { HttpExchange } from '../../http1/exchange.ts'
import type { RawHeaders } from '../../http1/header-fields.ts'
import { GatewayError, serviceUnavailable } from '../gateway-error.ts'
import { GuardedList } from '../objects/checked-list.ts'
import type { FeedGuard } from '../objects/feed-guard.ts'
import type { ObjectOwners } from '../objects/objects.ts'
import { acceptIdentity, checkOwnership, guardList } from '../objects/ownership.ts'
import type { Forwardable, RelayResult } from './forwarded-request.ts'
import {
  FilteredModelList,
  isLimitedList,
  modelListError,
  relayMorePages,
  unconditional,
} from './model-list.ts'
import { SecretGuard, type Withheld } from './secret-guard.ts'
import { UploadGuard } from './upload-guard.ts'

interface GuardDeps {
  readonly objects: ObjectOwners
  readonly turns: TurnBudget
}

/** The guards of one response. They live as long as its request. */
export class ResponseGuards {
  readonly #exchange: HttpExchange
  /** For a list of models, if the key may use only some of them. */
  readonly #models: FilteredModelList | null
  /** For the response of an unknown endpoint, which may contain a credential. */
  readonly #secrets: SecretGuard | null
  /** For a list of stored objects, or events about them, if the key has `objects: own`. */
  readonly #objects: FeedGuard | null
  /** Aborts an upload if one of its parts is refused. */
  readonly #upload: UploadGuard | null

  /** @param sendError sends an error of ours instead of the response */
  constructor(
    { objects, turns }: GuardDeps,
    exchange: HttpExchange,
    { request, slot, inspected: { upload } }: Pick<Forwardable, 'request' | 'slot' | 'inspected'>,
    sendError: (error: unknown) => void,
  ) {
    this.#exchange = exchange
    this.#models = isLimitedList(request)
      ? new FilteredModelList(exchange, {
          ...request,
          slot,
          objects,
          turns,
          sendError: (reason) => sendError(modelListError(reason)),
        })
      : null
    if (upload !== null) {
      const guard = new UploadGuard(exchange, sendError)
      upload.checks = {
        check: (named) => checkOwnership(objects, request, named),
        refuse: (error) => guard.refuse(error),
      }
      this.#secrets = null
      this.#objects = null
      this.#upload = guard
      return
    }
    this.#secrets =
      request.match.class === 'unknown'
        ? new SecretGuard(
            exchange,
            { account_id: request.key.accountId, key_id: request.key.id },
            slot,
            (reason) => sendError(secretError(reason)),
          )
        : null
    const inner = this.#secrets ?? this.#models ?? exchange
    this.#objects = guardList(objects, request, inner, slot, sendError)
    this.#upload = null
  }

  /** Whether the caller got an error of ours instead of the response. */
  get replaced(): boolean {
    return [this.#models, this.#objects, this.#secrets, this.#upload].some(
      (guard) => guard?.replaced === true,
    )
  }

  /** The headers of a request, changed so that its response can be read if necessary. */
  requestHeaders(headers: RawHeaders): RawHeaders {
    const whole = this.#models === null ? headers : unconditional(headers)
    return this.#objects instanceof GuardedList ? acceptIdentity(whole) : whole
  }

  /**
   * Relays the response through the guards; for a filtered list of models, as many pages as needed.
   * @param relayTo relays the response to the request, or to one for another path
   */
  async relay(
    relayTo: (exchange: HttpExchange, path?: string) => Promise<RelayResult>,
  ): Promise<RelayResult> {
    const models = this.#models
    const first = await relayTo(
      this.#upload ?? this.#objects ?? this.#secrets ?? models ?? this.#exchange,
    )
    return models === null
      ? first
      : relayMorePages(models, first, (path) => relayTo(this.#objects ?? models, path))
  }
}

/** The error instead of a response that may contain a credential. */
function secretError(reason: Withheld): GatewayError {
  if (reason === 'busy')
    return serviceUnavailable('The proxy has no room to read the response at the moment.')
  return new GatewayError(
    'endpoint_not_allowed',
    reason === 'secret'
      ? "The provider's response contains a credential, which no proxy key may receive."
      : "The provider's response has a content coding that the proxy cannot read, so it might contain a credential.",
  )
}
