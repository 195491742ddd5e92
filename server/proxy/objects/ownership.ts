// Step 5: stored objects belong to the key that created them. A request that names another key's
// object, or one without an owner here, is refused.
import type { HttpExchange } from '../../http1/exchange.ts'
import { without } from '../../http1/header-fields.ts'
import type { CachedKey } from '../../keys/cache.ts'
import type { BatchLines } from '../inspect/batch-lines.ts'
import { GuardedList } from './checked-list.ts'
import { FeedGuard } from './feed-guard.ts'
import { namesObjects, refsInHead } from '../inspect/header-refs.ts'
import type { Denial } from './denials.ts'
import type { ObjectOwners } from './objects.ts'
import type { Match } from '../providers/match.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import { listPlaces } from '../providers/lists.ts'
import { GatewayError, serviceUnavailable } from '../gateway-error.ts'
import type { RequestSlot } from '../admission/request-shares.ts'

/** The parts of a request that decide the ownership of objects. */
export interface ObjectRequest {
  readonly provider: Provider
  readonly key: CachedKey
  readonly match: Match
  readonly method: string
  readonly headers: readonly string[]
}

/** TABLE of sentences. */
const DENIAL_MESSAGES: Readonly<Record<Denial, string>> = {
  foreign: 'The request names an object that was created with another key.',
  unread:
    'The file was not read when it was uploaded, or a line of it calls something other than a model, so no batch can be started from it. Upload it in one piece, as JSON lines with the purpose "batch".',
  unknown:
    'The request names an object that was not created with this key. An administrator can share it with the key.',
  shared:
    'The object is shared with this key, which may read and use it, but not change or delete it.',
}

/**
 * A stream may contain objects created after it began, and some lists do not show whose their items
 * are.
 */
const UNKNOWN_OWNERS =
  'The response is about all objects of the account, and this key may only reach its own.'

/**
 * Checks that a request names only objects that its key may name.
 *
 * @param named the objects in its path, query and body
 * @param outsideProse `named` without ids that occur only in prose
 * @returns the credential that created these objects; null if none of them is known; synchronous if
 *   the request names none
 * @throws GatewayError `endpoint_not_allowed`
 */
export function checkOwnership(
  objects: ObjectOwners,
  request: ObjectRequest,
  named: readonly ObjectRef[],
  outsideProse?: () => readonly ObjectRef[],
): string | null | Promise<string | null> {
  if (!namesObjects(request, named)) return null
  const inHead = refsInHead(request)
  const besides = outsideProse && (() => outsideProse().concat(inHead))
  return verify(objects, request, inHead.length === 0 ? named : named.concat(inHead), besides)
}

/** Whether the path of a request names an object that its key did not create. */
export const namesForeignObject = (
  objects: ObjectOwners,
  { provider, key, match }: ObjectRequest,
): boolean => {
  const [first] = match.objects
  return first !== undefined && !objects.isOwn(provider.id, key.id, first)
}

/** Whether a batch may be started from a file of these lines: never rejects. */
export async function mayStartBatch(
  objects: ObjectOwners,
  { provider, key, match, method }: ObjectRequest,
  lines: BatchLines,
): Promise<boolean> {
  // This upload is itself expected, so it must not wait for later ones, such as another upload's
  // lines.
  const pending = objects.pendingFor({ provider, key })
  const named = await lines.named()
  if (named === null) return false
  return objects.lookup({ provider, key, match, method, objects: named }, pending).then(
    ({ denied }) => denied === null,
    () => false,
  )
}

/** The headers of a request, changed so that its response can be read if necessary. */
export function acceptIdentity(headers: readonly string[]): string[] {
  return [...without(headers, 'accept-encoding'), 'Accept-Encoding', 'identity']
}

/**
 * Guards the response to a request that names no object, for a key with `objects: own`: a list of
 * stored objects is read first, and any other response must not be an event stream. Null for all
 * other requests.
 *
 * @param sendError sends our error
 */
export function guardList(
  objects: ObjectOwners,
  { provider, key, match, method }: ObjectRequest,
  exchange: HttpExchange,
  slot: RequestSlot,
  sendError: (error: GatewayError) => void,
): FeedGuard | null {
  if (key.objects !== 'own' || method !== 'GET') return null
  const paths = listPlaces(match, provider.endpoints)
  if (paths === null)
    return match.objects.length > 0
      ? null
      : new FeedGuard(exchange, () =>
          sendError(new GatewayError('endpoint_not_allowed', UNKNOWN_OWNERS)),
        )
  return new GuardedList(exchange, {
    paths,
    ids: provider.ids,
    slot,
    allows: async (named) =>
      (await objects.lookup({ provider, key, match, method, objects: named })).denied === null,
    sendError: (reason) =>
      sendError(
        reason === 'busy'
          ? serviceUnavailable(
              'The proxy cannot look up the owners of the listed objects at the moment.',
            )
          : new GatewayError(
              'endpoint_not_allowed',
              'The list names objects that were not created with this key, or is larger than 4 MB.',
            ),
      ),
  })
}

async function verify(
  objects: ObjectOwners,
  { provider, key, match, method }: ObjectRequest,
  all: readonly ObjectRef[],
  outsideProse: (() => readonly ObjectRef[]) | undefined,
): Promise<string | null> {
  const lists = match.endpoint?.lists
  if (
    lists !== undefined &&
    key.objects === 'own' &&
    listPlaces(match, provider.endpoints) === null
  )
    throw new GatewayError('endpoint_not_allowed', UNKNOWN_OWNERS)
  if (lists !== undefined && (await objects.anyOwnedByOther(provider.id, key.id, lists)))
    throw new GatewayError(
      'endpoint_not_allowed',
      'The list contains objects that were created with another key.',
    )
  if (all.length === 0) return null
  const {
    denied,
    credential,
    kind = '',
  } = await objects.lookup({ provider, key, match, method, objects: all, outsideProse })
  if (denied !== null)
    throw new GatewayError(
      'endpoint_not_allowed',
      (denied === 'unknown' ? provider.instead?.[kind] : undefined) ?? DENIAL_MESSAGES[denied],
    )
  return credential
}
