// Filters lists of models for a key that is limited to some models, or must not see other keys'
// stored models. The whole list is read, and models that the key may not use are removed.
import type { ResponseListener, HttpExchange } from '../../http1/exchange.ts'
import { without, type RawHeaders } from '../../http1/header-fields.ts'
import { ForwardingExchange } from '../../http1/forwarding-exchange.ts'
import type { CachedKey } from '../../keys/cache.ts'
import { parseJson } from '../json/paths.ts'
import { codingsOf, decodeWhole } from './content-decoding.ts'
import { filterModels, listsModels } from './filter-models.ts'
import { TimeSlices } from '../../common/fairness/time-slices.ts'
import type { TurnBudget } from '../../common/fairness/turn-budget.ts'
import type { ObjectOwners } from '../objects/objects.ts'
import { acceptIdentity } from '../objects/ownership.ts'
import type { Match } from '../providers/match.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import type { RelayResult } from './forwarded-request.ts'
import type { RequestSlot } from '../admission/request-shares.ts'
import { GatewayError, serviceUnavailable } from '../gateway-error.ts'

/**
 * Largest decoded list that is read: OpenRouter's, the longest that we know, has less than 1 MB.
 */
const MAX_LIST_BYTES = 4 * 1024 * 1024
/**
 * Maximum number of pages read to find a model that the key may use; they have 20 to 1,000 models
 * each.
 */
const MAX_PAGES = 20

/** TABLE of headers that describe a response's exact bytes, or a part of them. */
const BYTE_DEPENDENT_HEADERS = [
  'content-length',
  'content-encoding',
  'etag',
  'last-modified',
  'accept-ranges',
  'content-md5',
  'digest',
  'content-digest',
  'repr-digest',
]
/** TABLE of headers that request less than the whole list, or the list only if it has changed. */
const CONDITIONAL_HEADERS = [
  'if-none-match',
  'if-modified-since',
  'if-match',
  'if-unmodified-since',
  'if-range',
  'range',
]

/** The headers of a request whose complete response we have to read. */
export const unconditional = (headers: RawHeaders): RawHeaders =>
  acceptIdentity(without(headers, ...CONDITIONAL_HEADERS))

interface ModelListRequest {
  readonly provider: Provider
  readonly key: CachedKey
  readonly match: Match
  readonly method: string
  readonly pathAndQuery: string
  readonly slot: RequestSlot
  readonly objects: Pick<ObjectOwners, 'mayName'>
  /** Shared by all requests: reading a long list takes turns with them. */
  readonly turns: TurnBudget
  /** Sends one of our errors. `busy`: there is no room for the list. */
  readonly sendError: (reason: 'unread' | 'busy') => void
}

/** The error instead of a list that cannot be passed on. */
export function modelListError(reason: 'unread' | 'busy'): GatewayError {
  if (reason === 'busy')
    return serviceUnavailable('The proxy has no room to read the list of models at the moment.')
  return new GatewayError(
    'endpoint_not_allowed',
    'The list of models could not be read, or is larger than 4 MB, and this key may not use all of them.',
  )
}

/** Whether the response is a list of models, and the key may not use all of them. */
export const isLimitedList = ({
  key,
  provider,
  match,
  method,
  pathAndQuery,
}: Pick<ModelListRequest, 'key' | 'provider' | 'match' | 'method' | 'pathAndQuery'>): boolean =>
  (!key.scope.all || (key.objects === 'own' && storesModels(provider))) &&
  listsModels(match, method, pathAndQuery)

const TUNED_MODEL = 'tuned_model'

/** Whether a provider has models that can belong to keys. */
const storesModels = ({ ids, endpoints }: Provider): boolean =>
  ids?.models !== undefined || endpoints.kinds.includes(TUNED_MODEL)

/** The stored objects that a model's names refer to, if it belongs to a key. */
const storedRefs = ({ ids }: Provider, names: readonly string[]): ObjectRef[] =>
  names.flatMap((name) => {
    const ref = ids?.refOf(name) ?? null
    const models = ids?.models?.refsOf(name) ?? []
    return ref?.kind === TUNED_MODEL ? [...models, ref] : models
  })

const STRING = /"([^"\\]*(?:\\.[^"\\]*)*)"/gs

/** Whether a response that is not a list of models may name one that belongs to a key. */
const namesStored = (provider: Provider, text: string): boolean =>
  [...text.matchAll(STRING)].some(([whole, inside = '']) => {
    const name = inside.includes('\\') ? parseJson(whole) : inside
    return typeof name !== 'string' || storedRefs(provider, [name]).length > 0
  })

/** Tells for each model, given by its names, whether a key may use it. */
async function allowedModels(
  { provider, key, match, method, objects }: ModelListRequest,
  models: readonly (readonly string[])[],
  slices: TimeSlices,
): Promise<readonly boolean[]> {
  const { scope } = key
  const stays: boolean[] = []
  for (const names of models) {
    stays.push(scope.all || names.some((name) => scope.allows(provider.modelNames(name))))
    // A key may have hundreds of patterns.
    if (slices.isOver()) await slices.next()
  }
  if (key.objects !== 'own') return stays
  const refs = models.flatMap((names, i) =>
    stays[i] === true ? storedRefs(provider, names).map((ref) => [i, ref] as const) : [],
  )
  if (refs.length === 0) return stays
  const named = refs.map(([, ref]) => ref)
  const may = await objects.mayName({ provider, key, match, method, objects: named })
  for (const [n, [i]] of refs.entries()) if (may[n] !== true) stays[i] = false
  return stays
}

/** The exchange of a request for a list of models, which is filtered. */
export class FilteredModelList extends ForwardingExchange {
  readonly #request: ModelListRequest
  #listener: ResponseListener | null = null
  #head: [status: number, reason: string, headers: RawHeaders] | null = null
  #held: Buffer[] = []
  #length = 0
  #isBusy = false
  #pages = 0
  #path: string
  /**
   * The request for the next page if filtering emptied this one; null if the caller has its
   * response.
   */
  next: string | null = null
  /** Whether we have sent our own error. */
  replaced = false

  constructor(caller: HttpExchange, asked: ModelListRequest) {
    super(caller)
    this.#request = asked
    this.#path = asked.pathAndQuery
  }

  override watch(watcher: ResponseListener): void {
    this.#listener = watcher
    super.watch(watcher)
  }

  override writeHead(status: number, reason: string, headers: RawHeaders): void {
    if (status >= 200 && status < 300) this.#head = [status, reason, headers]
    else super.writeHead(status, reason, headers)
  }

  override write(bytes: Buffer): void {
    if (this.#head === null) return super.write(bytes)
    this.#length += bytes.length
    if (this.#length > MAX_LIST_BYTES) this.#held = []
    else if (!this.#request.slot.holdBytes(bytes.length)) this.#isBusy = true
    // The memory is only lent.
    else this.#held.push(Buffer.from(bytes))
  }

  override flush(): boolean {
    return this.#head === null ? super.flush() : true
  }

  override end(trailers?: RawHeaders): void {
    if (this.#head === null) return super.end(trailers)
    void this.#forward(this.#head, trailers).catch(() => this.#sendError('unread'))
  }

  async #forward(
    [status, reason, headers]: [number, string, RawHeaders],
    trailers: RawHeaders | undefined,
  ): Promise<void> {
    if (this.#isBusy) return this.#sendError('busy')
    const sent = Buffer.concat(this.#held)
    const codings = codingsOf(headers)
    const { provider, key, turns } = this.#request
    const owner = { account_id: key.accountId, key_id: key.id }
    const plain =
      sent.length < this.#length || codings === null
        ? null
        : await decodeWhole(codings, sent, MAX_LIST_BYTES, owner)
    const slices = new TimeSlices(turns, owner)
    const list =
      plain === null
        ? null
        : await filterModels(
            plain.toString(),
            this.#path,
            (models) => allowedModels(this.#request, models, slices),
            slices,
          )
    if (list === null) {
      const isHarmless = key.scope.all && plain !== null && !namesStored(provider, plain.toString())
      return isHarmless
        ? this.#pass(status, reason, headers, sent, trailers)
        : this.#sendError('unread')
    }
    // Clients treat an empty page as the end of the list, even if it has a cursor.
    if (list.left === 0 && list.taken > 0 && list.next !== null && ++this.#pages < MAX_PAGES)
      return this.#requestNextPage(list.next)
    if (list.taken === 0) return this.#pass(status, reason, headers, sent, trailers)
    const left = Buffer.from(list.text)
    const framed = [...without(headers, ...BYTE_DEPENDENT_HEADERS), 'Content-Length']
    this.#pass(status, reason, [...framed, String(left.length)], left)
  }

  #pass(
    status: number,
    reason: string,
    headers: RawHeaders,
    body: Buffer,
    trailers?: RawHeaders,
  ): void {
    if (this.closed) return
    super.writeHead(status, reason, headers)
    super.write(body)
    super.end(trailers)
    super.flush()
  }

  /** Ends the relay of this page, of which the caller has seen nothing. */
  #requestNextPage(next: string): void {
    this.#head = null
    this.#held = []
    this.#length = 0
    this.#request.slot.releaseBytes()
    this.next = this.#path = next
    this.#listener?.onFinish()
  }

  #sendError(reason: 'unread' | 'busy'): void {
    this.replaced = true
    if (!this.closed) this.#request.sendError(reason)
  }
}

/**
 * Relays the pages after the first, as long as filtering empties them. @param relayPage sends one
 * request and relays its response
 */
export async function relayMorePages(
  list: FilteredModelList,
  first: RelayResult,
  relayPage: (path: string) => Promise<RelayResult>,
): Promise<RelayResult> {
  let result = first
  let bytesOut = first.bytesOut
  while (list.next !== null) {
    const { next } = list
    list.next = null
    result = await relayPage(next)
    bytesOut += result.bytesOut
  }
  return { ...result, bytesOut }
}
