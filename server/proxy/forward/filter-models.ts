// What lists of models say, and how models are taken out of one: whatever stays keeps its bytes.
import type { TimeSlices } from '../../common/fairness/time-slices.ts'
import { parseJson } from '../json/paths.ts'
import { itemsAt, membersAt, skipSpace, type ArraySpans } from '../json/spans.ts'
import type { Match } from '../providers/endpoint.ts'

/**
 * Endpoints that list models: `/v1/models`, Azure's deployments, `tunedModels`, xAI's lists by
 * kind, and OpenRouter's of what its account may use.
 */
const LISTS_MODELS =
  /\/(?:models|deployments|tunedModels|(?:language|image-generation|video-generation|embedding)-models|models\/user)$/

/** Whether an endpoint's answer is a list of models. */
export function listsModels({ class: kind }: Match, method: string, pathAndQuery: string): boolean {
  return (
    kind === 'neutral' && method === 'GET' && LISTS_MODELS.test(pathAndQuery.replace(/\?.*$/s, ''))
  )
}

/**
 * TABLE of the members that hold the models, where the list is no array itself: OpenAI's dialect
 * and Anthropic; Google, Cohere and xAI; Vertex.
 */
const LISTS: ReadonlySet<string> = new Set(['data', 'models', 'tunedModels', 'publisherModels'])

/** TABLE of the members that name a model; the first one that is there counts. */
const NAMES = ['id', 'name', 'model'] as const

/** The member that holds further names of the same model, at Mistral and xAI. */
const ALIASES = 'aliases'

interface Pages {
  /** The member that says where the list goes on, and the parameter that says so in a query. */
  readonly next: string
  readonly parameter: string
  /** The member that says whether it does, where it is not the former. */
  readonly more?: string
}

/**
 * TABLE: ai.google.dev/api/models, docs.cohere.com/reference/list-models,
 * docs.claude.com/en/api/models-list (which can be read backwards).
 */
const PAGES: readonly Pages[] = [
  { next: 'nextPageToken', parameter: 'pageToken' },
  { next: 'next_page_token', parameter: 'page_token' },
  { next: 'first_id', parameter: 'before_id', more: 'has_more' },
  { next: 'last_id', parameter: 'after_id', more: 'has_more' },
]

export interface FilteredList {
  readonly text: string
  /** How many models are left, and how many were taken out. */
  readonly left: number
  readonly taken: number
  /** Path and query of what the provider lists next; null where that was all. */
  readonly next: string | null
}

/**
 * Takes models out of a list.
 *
 * @param text a whole answer
 * @param allows whether a model of this name may stay
 * @param slices of the request's key
 * @returns null where the text is no list that can be read
 */
export async function filterModels(
  text: string,
  pathAndQuery: string,
  allows: (name: string) => boolean,
  slices: TimeSlices,
): Promise<FilteredList | null> {
  const found = readList(text)
  if (found === null) return null
  let written = ''
  let at = 0
  let [left, taken] = [0, 0]
  for (const { to, items } of found.lists) {
    written += text.slice(at, items[0]?.from ?? to)
    const before = left
    for (const [index, item] of items.entries()) {
      if (slices.isOver()) await slices.next()
      const value = text.slice(item.from, item.to)
      if (!namesOf(parseJson(value)).some(allows)) taken++
      // With an item goes what stands in front of it.
      else
        written += left++ === before ? value : text.slice(items[index - 1]!.to, item.from) + value
    }
    written += text.slice(items.at(-1)?.to ?? to, to)
    at = to
  }
  return {
    text: written + text.slice(at),
    left,
    taken,
    next: nextPage(found.members, pathAndQuery),
  }
}

interface List {
  readonly lists: readonly ArraySpans[]
  /** Members of the whole that are neither lists nor objects. */
  readonly members: ReadonlyMap<string, unknown>
}

function readList(text: string): List | null {
  const start = skipSpace(text, 0)
  const list = itemsAt(text, start)
  if (list !== null)
    return skipSpace(text, list.to + 1) === text.length
      ? { lists: [list], members: new Map() }
      : null
  const whole = membersAt(text, start)
  if (whole === null || skipSpace(text, whole.to) !== text.length) return null
  const lists: ArraySpans[] = []
  const members = new Map<string, unknown>()
  for (const [name, { from, to }] of whole.members) {
    const called = parseJson(text.slice(name.from, name.to))
    if (typeof called !== 'string') return null
    if (text[from] === '[') {
      const items = itemsAt(text, from)
      // A list by another name might be one of models as well.
      if (items === null || (items.items.length > 0 && !LISTS.has(called))) return null
      lists.push(items)
    } else if (text[from] !== '{') members.set(called, parseJson(text.slice(from, to)))
    else if (LISTS.has(called)) return null
  }
  return { lists, members }
}

/** By what names a model can be called that stands in a list. */
function namesOf(item: unknown): string[] {
  if (typeof item === 'string') return [item]
  if (typeof item !== 'object' || item === null) return []
  const names = NAMES.map((name): unknown => Reflect.get(item, name)).filter(
    (name) => typeof name === 'string',
  )
  const aliases: unknown = Reflect.get(item, ALIASES)
  return [
    ...names.slice(0, 1),
    ...(Array.isArray(aliases) ? aliases.filter((alias) => typeof alias === 'string') : []),
  ]
}

/** What to ask for behind a page, which is spelled as the caller asked for that page. */
function nextPage(members: ReadonlyMap<string, unknown>, pathAndQuery: string): string | null {
  const [path = '', query = ''] = pathAndQuery.split(/\?(.*)/s)
  const parameters = new URLSearchParams(query)
  for (const { next, parameter, more } of PAGES) {
    const value = members.get(next)
    if (
      typeof value !== 'string' ||
      value === '' ||
      (more !== undefined && members.get(more) !== true)
    )
      continue
    // Both ends of a page of Anthropic's are named: it goes on the way it was asked for.
    if (parameter === 'before_id' && !parameters.has(parameter)) continue
    parameters.set(parameter, value)
    return `${path}?${parameters.toString()}`
  }
  return null
}
