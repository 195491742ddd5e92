// Reads lists of models and removes models from them, without changing the other bytes.
import type { TimeSlices } from '../../common/fairness/time-slices.ts'
import { parseJson } from '../json/paths.ts'
import { itemsAt, membersAt, skipSpace, type ArraySpans, type Span } from '../json/spans.ts'
import type { Match } from '../providers/match.ts'

/**
 * Endpoints that list models: `/v1/models`, Azure's deployments, `tunedModels`, xAI's lists by
 * kind, what OpenRouter's account may use, and the gateway's `/v4/ai/config`.
 */
const LISTS_MODELS =
  /\/(?:models|deployments|tunedModels|(?:language|image-generation|video-generation|embedding)-models|models\/user)$|^(?:\/v\d\/ai)?\/config$/

/** Whether an endpoint's response is a list of models. */
export function listsModels({ class: kind }: Match, method: string, pathAndQuery: string): boolean {
  return (
    kind === 'neutral' && method === 'GET' && LISTS_MODELS.test(pathAndQuery.replace(/\?.*$/s, ''))
  )
}

/**
 * TABLE of the members that hold the models if the response is not an array: OpenAI's dialect and
 * Anthropic; Google, Cohere and xAI; Vertex.
 */
const LISTS: ReadonlySet<string> = new Set(['data', 'models', 'tunedModels', 'publisherModels'])

/** TABLE of the members that name a model; the first that exists counts. */
const NAMES = ['id', 'name', 'model'] as const

/** The member with further names of the same model, at Mistral and xAI. */
const ALIASES = 'aliases'

/** The members that name the first and last model of a page, at Anthropic. */
const ENDS: ReadonlySet<string> = new Set(['first_id', 'last_id'])

interface Pages {
  /** The member with the cursor of the next page, and its query parameter. */
  readonly next: string
  readonly parameter: string
  /** The member that says whether there is a next page, if that is another one. */
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

/** A list of models without those that a key may not call. */
export interface FilteredList {
  readonly text: string
  /** Number of models kept, and number removed. */
  readonly left: number
  readonly taken: number
  /** Path and query of the next page; null on the last page. */
  readonly next: string | null
}

/**
 * Removes models from a list.
 *
 * @param text a whole response
 * @param allowed returns for each model, given by its names, whether it may stay
 * @param slices of the request's key
 * @returns null if the text is not a readable list
 */
export async function filterModels(
  text: string,
  pathAndQuery: string,
  allowed: (models: readonly (readonly string[])[]) => Promise<readonly boolean[]>,
  slices: TimeSlices,
): Promise<FilteredList | null> {
  const found = await readList(text, slices)
  if (found === null) return null
  const names: string[][] = []
  for (const { from, to } of found.lists.flatMap(({ items }) => items)) {
    if (slices.isOver()) await slices.next()
    names.push(namesOf(parseJson(text.slice(from, to))))
  }
  const stays = await allowed(names)
  const taken = stays.filter((one) => !one).length
  const left = names.filter((_, i) => stays[i])
  return {
    text: taken === 0 ? text : written(text, found, stays, left),
    left: left.length,
    taken,
    next: nextPage(found.members, pathAndQuery),
  }
}

/**
 * The list without the removed models, and without their names in the members for the first and
 * last model.
 */
function written(
  text: string,
  { lists, ends }: List,
  stays: readonly boolean[],
  left: readonly (readonly string[])[],
): string {
  const edits: Edit[] = ends.map(([end, span]) => ({
    ...span,
    text: JSON.stringify((end === 'first_id' ? left[0] : left.at(-1))?.[0] ?? null),
  }))
  let index = 0
  for (const { to, items } of lists) {
    let before = 0
    const [first] = items
    for (const [i, item] of items.entries()) {
      if (stays[index++] === true) {
        // An item is removed with the separator before it.
        if (before === 0 && i > 0 && first !== undefined)
          edits.push({ from: first.from, to: item.from, text: '' })
        before++
      } else if (before > 0)
        edits.push({ from: items[i - 1]?.to ?? item.from, to: item.to, text: '' })
    }
    if (before === 0 && first !== undefined)
      edits.push({ from: first.from, to: items.at(-1)?.to ?? to, text: '' })
  }
  let at = 0
  let result = ''
  for (const edit of edits.toSorted((one, other) => one.from - other.from)) {
    result += text.slice(at, edit.from) + edit.text
    at = edit.to
  }
  return result + text.slice(at)
}

interface Edit extends Span {
  readonly text: string
}

interface List {
  readonly lists: readonly ArraySpans[]
  /** Scalar members of the response. */
  readonly members: ReadonlyMap<string, unknown>
  /** The members that name the first and last model of the list. */
  readonly ends: readonly (readonly [name: string, value: Span])[]
}

async function readList(text: string, slices: TimeSlices): Promise<List | null> {
  const start = skipSpace(text, 0)
  const list = await itemsAt(text, start, slices)
  if (list !== null)
    return skipSpace(text, list.to + 1) === text.length
      ? { lists: [list], members: new Map(), ends: [] }
      : null
  const whole = await membersAt(text, start, slices)
  if (whole === null || skipSpace(text, whole.to) !== text.length) return null
  const lists: ArraySpans[] = []
  const members = new Map<string, unknown>()
  const ends: [string, Span][] = []
  for (const { name, value, array } of whole.members) {
    const { from, to } = value
    const called = parseJson(text.slice(name.from, name.to))
    if (typeof called !== 'string') return null
    if (text[from] === '[') {
      // A list under another name might also be a list of models.
      if (array === null || (array.items.length > 0 && !LISTS.has(called))) return null
      lists.push(array)
    } else if (text[from] !== '{') {
      members.set(called, parseJson(text.slice(from, to)))
      if (ENDS.has(called)) ends.push([called, { from, to }])
    } else if (LISTS.has(called)) return null
  }
  return { lists, members, ends }
}

/** The names by which a listed model can be called. */
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

/** The request for the next page, in the form of the caller's request for this one. */
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
    // Anthropic names both ends of a page: continue in the requested direction.
    if (parameter === 'before_id' && !parameters.has(parameter)) continue
    parameters.set(parameter, value)
    return `${path}?${parameters.toString()}`
  }
  return null
}
