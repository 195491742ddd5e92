// The endpoints that list stored objects, and where their responses name them.
import type { EndpointRow } from './endpoint-row.ts'
import type { EndpointTable } from './endpoint-table.ts'
import type { Match } from './match.ts'
import { CITATION, VERSION } from './object-ref.ts'

/** Members for the items of a list, in addition to one with the collection's name. */
const ITEMS = ['data[]', '[]', 'items[]', 'results[]', 'requests[]', 'asyncInvokeSummaries[]']

/** A parameter of a pattern that names an object; objects inside it were created with it. */
const OF_AN_OBJECT = /\{(?!(?:model|base|version|project|location|publisher|account|any)[:*]?\})/

const placesOf = new WeakMap<EndpointRow, Readonly<Record<string, string>>>()

/**
 * The places of a list's response that contain an id, and its kind; null if the endpoint is not a
 * list of stored objects. Most follow from the row that creates such an object at the same path;
 * others are declared.
 */
export function listPlaces(
  { endpoint, pattern, class: kind }: Match,
  endpoints: EndpointTable,
): Readonly<Record<string, string>> | null {
  if (endpoint === null) return null
  if (endpoint.listed !== undefined) return endpoint.listed
  if (kind !== 'neutral' || OF_AN_OBJECT.test(pattern) || pattern.endsWith('}')) return null
  const made = endpoints.makes(pattern)
  if (made === null) return null
  let places = placesOf.get(endpoint)
  if (places === undefined) placesOf.set(endpoint, (places = derived(pattern, made)))
  return places
}

function derived(
  pattern: string,
  made: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const collection = pattern.slice(pattern.lastIndexOf('/') + 1)
  const [kind = ''] = Object.values(made)
  const named = Object.entries(made).filter(([, of]) => of !== VERSION && of !== CITATION)
  const members = new Map([
    ['id', kind],
    ...named.map(([place, of]): [string, string] => [place.slice(place.lastIndexOf('.') + 1), of]),
  ])
  const lists = new Set([
    ...ITEMS,
    ...[
      collection,
      collection.replaceAll('-', '_'),
      collection.slice(collection.lastIndexOf('-') + 1),
    ].map((name) => `${name}[]`),
  ])
  return Object.fromEntries(
    [...lists].flatMap((list) => [...members].map(([member, of]) => [`${list}.${member}`, of])),
  )
}
