// The management API as commands call it: of a running server, or on the local store.
import type { ProblemDetails } from '../common/errors.ts'
import { ApiError } from './failure.ts'
import { Row } from './record.ts'

/** Resources that commands use; the local store serves each of them. */
export type Resource =
  | 'accounts'
  | 'credentials'
  | 'jobs'
  | 'keys'
  | 'providers'
  | 'refusals'
  | 'requests'
  | 'tokens'
  | 'usage'

/** A path of the API, without its `/api/v1/`. */
export type ResourcePath = Resource | `${Resource}/${string}`

type Query = Readonly<Record<string, string | number | undefined>>

/** Sends one request of the API. */
export type Send = (path: string, init: RequestInit) => Promise<Response>

/** Rows of a page, at most. */
const PAGE_SIZE = 100

/** Calls the API and reads its responses. Every call throws `ApiError` for a problem. */
export class ApiClient {
  /** On the local store every call is allowed, and lists show all accounts. */
  readonly isLocal: boolean
  readonly #send: Send

  constructor(isLocal: boolean, send: Send) {
    this.isLocal = isLocal
    this.#send = send
  }

  /** The response, unread. */
  async send(
    method: string,
    path: ResourcePath | 'convert',
    query: Query = {},
    body?: RequestInit,
  ): Promise<Response> {
    const params = new URLSearchParams()
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) params.set(name, String(value))
    const search = params.toString()
    const response = await this.#send(`/api/v1/${path}${search && `?${search}`}`, {
      method,
      ...body,
    })
    // A page is a login in front of the server, or another server.
    if (!response.ok || typeOf(response).startsWith('text/html'))
      throw new ApiError(await readProblem(response))
    return response
  }

  async #call(method: string, path: ResourcePath, query?: Query, body?: object): Promise<Row> {
    const sent = body && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }
    const response = await this.send(method, path, query, sent)
    if (response.status === 204) return new Row({})
    if (!typeOf(response).includes('json')) throw new ApiError(await readProblem(response))
    return new Row(await response.json())
  }

  get(path: ResourcePath, query?: Query): Promise<Row> {
    return this.#call('GET', path, query)
  }

  post(path: ResourcePath, body: object = {}, query?: Query): Promise<Row> {
    return this.#call('POST', path, query, body)
  }

  patch(path: ResourcePath, body: object, query?: Query): Promise<Row> {
    return this.#call('PATCH', path, query, body)
  }

  delete(path: ResourcePath, query?: Query): Promise<Row> {
    return this.#call('DELETE', path, query)
  }

  /** Rows of a list, read page by page, at most `limit`. */
  async list(resource: Resource, query: Query = {}, limit = Infinity): Promise<Row[]> {
    const rows: Row[] = []
    for await (const page of this.pages(resource, query, limit)) rows.push(...page.rows('data'))
    return rows
  }

  /** Pages of a list, until they have `limit` rows or there are no more. */
  async *pages(resource: Resource, query: Query = {}, limit = Infinity): AsyncGenerator<Row> {
    let left = limit
    let cursor: string | undefined
    do {
      const page = await this.get(resource, {
        ...query,
        limit: Math.min(PAGE_SIZE, left),
        ...(cursor !== undefined && { cursor }),
      })
      yield page
      left -= page.rows('data').length
      cursor = page.optional('next_cursor') ?? undefined
    } while (cursor !== undefined && left > 0)
  }

  /**
   * A call about one record of any account that the caller may read. Administrators' own account is
   * tried first.
   */
  async acrossAccounts<Result>(call: (query: Query) => Promise<Result>): Promise<Result> {
    if (this.isLocal) return call({ account: 'all' })
    try {
      return await call({})
    } catch (error) {
      if (!(error instanceof ApiError) || error.problem.status !== 404) throw error
      return call({ account: 'all' }).catch((other: unknown) => {
        throw other instanceof ApiError && other.problem.status === 403 ? error : other
      })
    }
  }
}

const typeOf = (response: Response): string => response.headers.get('content-type') ?? ''

/** Reads a problem. Any other response comes from something in front of the server. */
async function readProblem(response: Response): Promise<ProblemDetails> {
  const { status } = response
  const text = await response.text()
  try {
    const row = new Row(JSON.parse(text))
    if (row.text('detail') !== '') return row.json as ProblemDetails
  } catch {
    // Not JSON.
  }
  const detail = `The response (${status}) is not from a Tollmark server. Check the address in --url.`
  return { type: 'about:blank', title: '', status, detail, code: 'internal_error', request_id: '' }
}
