// Step 5: stored objects belong to the key that made them. A request that names one of another
// key's, or one that nobody here made, is refused.
import { without } from '../../http1/header-fields.ts'
import type { CachedKey } from '../../keys/cache.ts'
import type { BatchLines } from '../inspect/batch-lines.ts'
import { CheckedList } from './checked-list.ts'
import { FeedGuard } from './feed-guard.ts'
import { headerRefs, modelRefs } from '../inspect/header-refs.ts'
import type { Denial, Objects } from './objects.ts'
import type { Match } from '../providers/endpoint.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import { listPlaces } from '../providers/lists.ts'
import { busy, Refused, type Trip } from '../request-context.ts'

interface Request {
  readonly provider: Provider
  readonly key: CachedKey
  readonly match: Match
  readonly method: string
  readonly headers: readonly string[]
}

/** TABLE of sentences. */
const DENIALS: Readonly<Record<Denial, string>> = {
  foreign: 'The request names an object that was made with another key.',
  unread:
    'The file was not read when it was uploaded, so no batch can be started from it. Upload it in one piece, as JSON lines with the purpose "batch".',
  unknown:
    'The request names an object that was not made with this key. An administrator can share it with the key.',
  shared: 'The object is shared with this key to be read and used, not to be changed or deleted.',
}

/**
 * A stream may hold what is made after it began; and of some lists nothing says whose their items
 * are.
 */
const WHOSE =
  'The answer tells of everything that the account holds, and this key may only reach objects of its own.'

/**
 * Whether a request may name what it names, at once where that is nothing.
 *
 * @param named what its path, query and body name
 * @param besideProse the same, where ids that stand in prose only may be nobody's
 * @returns the credential that reaches these objects; null where none of them is known
 * @throws Refused
 */
export function checkOwnership(
  objects: Objects,
  request: Request,
  named: readonly ObjectRef[],
  besideProse?: () => readonly ObjectRef[],
): string | null | Promise<string | null> {
  const { provider, match, headers } = request
  const spelled = headerRefs(provider, headers)
  const inHeaders =
    provider.ids?.models === undefined
      ? spelled
      : spelled.concat(modelRefs(provider, match, headers))
  if (named.length === 0 && inHeaders.length === 0 && match.endpoint?.lists === undefined)
    return null
  const besides = besideProse && (() => besideProse().concat(inHeaders))
  return check(objects, request, inHeaders.length === 0 ? named : named.concat(inHeaders), besides)
}

/** Whether a batch may be started from a file of these lines: never rejects. */
export async function mayStart(
  objects: Objects,
  { provider, key, match, method }: Request,
  lines: BatchLines,
): Promise<boolean> {
  // This is expected itself: it waits for nothing that came later, such as another upload's lines.
  const ready = objects.expected()
  const named = await lines.named()
  if (named === null) return false
  return objects.look({ provider, key, match, method, objects: named }, ready).then(
    ({ denied }) => denied === null,
    () => false,
  )
}

/** The headers of a request, so that its answer can be read where it has to be. */
export function asPlain(headers: readonly string[]): string[] {
  return [...without(headers, 'accept-encoding'), 'Accept-Encoding', 'identity']
}

/**
 * The caller of a request that names nothing, for a key with objects of its own: one whose answer
 * lists what the provider has stored is read first, and any other may be no feed of events. Null
 * for all other requests.
 *
 * @param refuse answers in our own words
 */
export function listChecked(
  objects: Objects,
  { provider, key, match, method }: Request,
  { caller, place }: Pick<Trip, 'caller' | 'place'>,
  refuse: (refusal: Refused) => void,
): FeedGuard | null {
  if (key.objects !== 'own' || method !== 'GET') return null
  const places = listPlaces(match, provider.endpoints)
  if (places === null)
    return match.objects.length > 0
      ? null
      : new FeedGuard(caller, () => refuse(new Refused('endpoint_not_allowed', WHOSE)))
  return new CheckedList(caller, {
    places,
    ids: provider.ids,
    place: place!,
    allows: async (named) =>
      (await objects.look({ provider, key, match, method, objects: named })).denied === null,
    refuse: (reason) =>
      refuse(
        reason === 'busy'
          ? busy('The proxy cannot find out at the moment whose objects are in the list.')
          : new Refused(
              'endpoint_not_allowed',
              'The list names objects that were not made with this key.',
            ),
      ),
  })
}

async function check(
  objects: Objects,
  { provider, key, match, method }: Request,
  all: readonly ObjectRef[],
  besideProse: (() => readonly ObjectRef[]) | undefined,
): Promise<string | null> {
  const lists = match.endpoint?.lists
  if (
    lists !== undefined &&
    key.objects === 'own' &&
    listPlaces(match, provider.endpoints) === null
  )
    throw new Refused('endpoint_not_allowed', WHOSE)
  if (lists !== undefined && (await objects.anyForeign(provider.id, key.id, lists)))
    throw new Refused(
      'endpoint_not_allowed',
      'The list holds objects that were made with another key.',
    )
  if (all.length === 0) return null
  const {
    denied,
    credential,
    kind = '',
  } = await objects.look({ provider, key, match, method, objects: all, besideProse })
  if (denied !== null)
    throw new Refused(
      'endpoint_not_allowed',
      (denied === 'unknown' ? provider.instead?.[kind] : undefined) ?? DENIALS[denied],
    )
  return credential
}
