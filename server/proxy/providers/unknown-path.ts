// Finds the possible meanings of a path without a row, read as the most lenient server would.
import type { Match } from './match.ts'
import { bodyRuleOf, type Resembled } from './endpoint-table.ts'
import { ANY_KIND } from './ids.ts'
import { decodedFully, withoutFormat, type ObjectRef } from './object-ref.ts'
import type { Provider } from './provider.ts'
import { piecesOf } from './spelled.ts'
import { namesObject, OF_UNKNOWN_KIND } from './unknown-ids.ts'

/** No stored objects. */
export const NO_OBJECTS: readonly ObjectRef[] = []

/** The places where servers return the id of a new object. */
const MADE_SOMEWHERE = { id: OF_UNKNOWN_KIND, 'data.id': OF_UNKNOWN_KIND } as const

/** Maximum number of segments of an unknown path; no provider's path has as many. */
const MOST_SEGMENTS = 24

/** The match of a path without a row. */
export function unknownMatch(path: string, loose: Loose): Match {
  const hasDots = path.split('/').some((segment) => segment === '.' || segment === '..')
  return {
    class: 'unknown',
    endpoint: null,
    body: null,
    pattern: '',
    model: null,
    objects: NO_OBJECTS,
    spelling: hasDots ? 'dots' : loose.plain ? 'plain' : 'odd',
    ...(isProcedure(loose) ? { procedure: true } : {}),
  }
}

/**
 * Matches a path without a row. An upstream may still read it as a row's path: its body then counts
 * as that row's, and everything in the path that could be the name of a stored object counts as
 * one.
 */
export function resembling(
  unknown: Match,
  method: string,
  { segments }: Loose,
  resembled: readonly Resembled[],
  { endpoints, ids, chosenNames }: Provider,
): Match {
  const names = new Set(
    segments
      .flatMap((segment) => [segment, ...segment.split(':'), ...piecesOf(segment)])
      .flatMap((name) => (name.includes('.') ? [name, withoutFormat(name)] : name)),
  )
  if (names.size > MOST_SEGMENTS) return { ...unknown, spelling: 'long' }
  const stored = chosenNames === true ? namesInCollections(segments) : NO_NAMES
  const isPerhaps = (name: string): boolean =>
    !stored.has(name) && (ids === undefined || !namesObject(name, ids))
  const asked = method === 'HEAD' ? 'GET' : method
  const endpoint = resembled.find(({ methods }) => methods.includes(asked))?.row ?? null
  return {
    ...unknown,
    endpoint,
    body: endpoint && bodyRuleOf(endpoint),
    objects: [...names]
      .filter((name) => !endpoints.words.has(name))
      .map((name) => ({
        kind: ANY_KIND,
        id: ids?.refOf(name)?.id ?? name,
        mayBeUnknown: isPerhaps(name),
      })),
    ...(method === 'POST' ? { creates: MADE_SOMEWHERE } : {}),
    spelling: resembled.length === 0 ? unknown.spelling : 'odd',
  }
}

/** A segment before the name of a stored object: a word in the plural, or one of these. */
const COLLECTION = /(?:[^s]s|corpora|guardrail)$/i
/** Collections of locations or models, which have no owner. */
const OPEN_COLLECTIONS: ReadonlySet<string> = new Set([
  'projects',
  'locations',
  'publishers',
  'regions',
  'accounts',
  'models',
  'engines',
  'deployments',
])
const NO_NAMES: ReadonlySet<string> = new Set()

/** The name after a collection, without the method after its colon. */
function namesInCollections(segments: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>()
  let collection: string | null = null
  for (const segment of segments) {
    const isPlace: boolean = collection !== null && OPEN_COLLECTIONS.has(collection)
    if (collection !== null && !isPlace) names.add(segment.replace(/:.*$/s, ''))
    // `us` is a location, not a collection.
    collection = !isPlace && COLLECTION.test(segment) ? segment.toLowerCase() : null
  }
  return names
}

/**
 * A path as the most lenient server could read it. `plain`: it was already in this form, except for
 * case.
 */
export interface Loose {
  /** In lower case. */
  readonly path: string
  /** In the path's own case. */
  readonly segments: readonly string[]
  readonly plain: boolean
}

/**
 * Reads a path leniently: decoded until nothing changes, without `;parameters`, empty and dot
 * segments, and final slashes.
 */
export function loosen(path: string): Loose {
  // Wide and ligated letters count as their plain ones: `client_ſecrets`.
  const text = decodedFully(path).normalize('NFKC')
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
/**
 * A last segment that means a list, read or deletion: `ListFiles`, `files.list`, `files:batchGet`,
 * `delete`.
 */
const READS = /(?:^|[.:])(?:[Bb]atch)?(?:[Ll]ist|[Gg]et|[Dd]elete|[Pp]urge|[Ee]xport)(?:$|[A-Z_-])/

const isProcedure = ({ path, segments }: Loose): boolean =>
  GRPC.test(path) || READS.test(segments.at(-1) ?? '')
