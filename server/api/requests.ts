// /api/v1/requests: the ledger.
import { z } from '@hono/zod-openapi'
import { PageQuery, listOf, type Api } from './api.ts'
import { isoTime } from '../common/clock.ts'
import { Problem } from '../common/errors.ts'
import { getRequest, listRequests, requestLines } from '../ledger/reports/requests.ts'
import { isIndexed, type RequestFilter } from '../ledger/reports/request-filter.ts'
import { flushBeforeReading } from '../ledger/settlement/journal.ts'
import { OUTCOMES } from '../ledger/outcome.ts'
import { getRefusal } from '../ledger/refusals/refusal-list.ts'
import type { RefusalLog } from '../ledger/refusals/refusal-log.ts'
import { ok, route, routes, table } from './route.ts'
import type { Store } from '../store/store.ts'
import { AccountScopeParams, resolveAccountScope } from './account-scope.ts'
import { csvHead, csvHeaders, newestLast, streamText } from './csv.ts'
import { MAX_END_USER } from './child-keys.ts'
import { DETAIL_SCHEMAS, LISTED_SCHEMAS } from './ledger-schemas.ts'
import { Moment } from './schemas.ts'
import { RefusalSchema, flushWithTimeout, withName, withNames } from './refusals.ts'

const { id, created_at: _, state: State, ...COLUMNS } = LISTED_SCHEMAS
const Outcome = z.enum(OUTCOMES).openapi({
  description:
    '`failed`: status 400 or above, or the response was cut off. `aborted`: the caller disconnected. `unknown`: the process that served it died.',
})

const RequestSchema = z
  .object({
    id,
    object: z.literal('request'),
    created_at: z.iso.datetime(),
    key_name: z.string().nullable().openapi({ description: 'The current name of the key.' }),
    account_name: z
      .string()
      .nullable()
      .openapi({ description: 'The current name of the account.' }),
    state: State,
    outcome: Outcome,
    ...COLUMNS,
  })
  .openapi('Request')

const RequestDetailSchema = RequestSchema.extend({
  ...DETAIL_SCHEMAS,
  upstream_error: z
    .string()
    .nullable()
    .openapi({ description: "The first 2 KB of the provider's error, without our credential." }),
}).openapi('RequestDetail')

const CSV_COLUMNS = newestLast(
  [
    'id',
    'created_at',
    'key_id',
    'key_name',
    'account_id',
    'provider',
    'model',
    'endpoint',
    'method',
    'state',
    'outcome',
    'status',
    'error',
    'first_byte_ms',
    'total_ms',
    'bytes_in',
    'bytes_out',
    'tokens_in',
    'tokens_out',
    'tokens_cached',
    'tokens_reasoning',
    'credential_id',
    'context',
    'account_name',
    'child_id',
    'end_user',
  ],
  RequestSchema.keyof().exclude(['object']).options,
)

/** Lines of a CSV generated per chunk. */
const LINES = 1_000

const Query = PageQuery.extend({
  ...AccountScopeParams.shape,
  key: z.string().max(100).optional(),
  child: z.string().max(100).optional().openapi({ description: 'A child key.' }),
  end_user: z
    .string()
    .max(MAX_END_USER)
    .optional()
    .openapi({ description: 'The person the child key was created for.' }),
  model: z.string().max(300).optional(),
  provider: z.string().max(100).optional(),
  state: State.optional(),
  outcome: Outcome.optional(),
  status: z
    .string()
    .regex(/^[1-5](?:\d\d|xx)$/, 'Must be a status such as 429, or a class such as 4xx.')
    .optional(),
  from: Moment.optional(),
  to: Moment.optional().openapi({ description: 'Not included.' }),
  format: z
    .enum(['json', 'csv'])
    .default('json')
    .openapi({ description: 'CSV returns every row that matches, and takes no `limit`.' }),
})

const ListSchema = listOf(RequestSchema).extend({
  searched_to: z.iso.datetime().nullable().openapi({
    description:
      'How far back this page was searched, if it ends before it has `limit` rows and more pages follow.',
  }),
})

/** Names every possible reason, because we cannot tell which one applies. */
const NOT_FOUND =
  'No request of this account has this id. Use the X-Proxy-Request-Id of a response. Old requests may have been deleted, and only samples are kept if many are refused.'

/** The routes of the ledger. */
export function requestRoutes(
  store: Store,
  refusals: Pick<RefusalLog, 'flush'>,
  clock: () => number,
): Api {
  return routes(store, clock, [
    route({
      method: 'get',
      path: '/api/v1/requests',
      summary: 'List proxied requests, newest first',
      description:
        'A page ends after about 150 ms of searching, so it may have fewer rows than `limit`, or none, if few match. There are more pages as long as it has a `next_cursor`.',
      access: 'manage',
      query: Query,
      response: table('A page of requests', ListSchema),
      act: async ({
        query: { limit, cursor, from, to, format, account, ...filter },
        caller,
        context: c,
      }) => {
        const question = {
          ...filter,
          account: resolveAccountScope(caller, account),
          from: at(from),
          to: at(to),
        }
        if (format === 'csv')
          return c.body(
            await csvOf(store.readingFor(caller.account.id), question, cursor),
            200,
            csvHeaders('requests.csv'),
          )
        // An indexed look-up does not queue behind reports of the same account.
        const reading = isIndexed(question)
          ? store.lookingUpFor(caller.account.id)
          : store.readingFor(caller.account.id)
        const page = await listRequests(reading, question, limit, cursor)
        return {
          object: 'list' as const,
          data: await withNames(store, page.rows),
          next_cursor: page.next,
          searched_to: page.searchedTo === null ? null : isoTime(page.searchedTo),
        }
      },
    }),
    route({
      method: 'get',
      path: '/api/v1/requests/{id}',
      summary: 'Read one proxied request, or refusal',
      description: '`object` is `request` (a row of the ledger) or `refusal`.',
      access: 'manage',
      query: AccountScopeParams,
      response: ok('The request, or the refusal', z.union([RequestDetailSchema, RefusalSchema])),
      problems: ['request_not_found'],
      act: async ({ params: { id }, query, caller }) => {
        const account = resolveAccountScope(caller, query.account)
        const found = await getRequest(store, id, account)
        if (found) return withName(store, found)
        await flushWithTimeout(refusals)
        const refused = await getRefusal(store, id, account)
        if (!refused) throw new Problem('request_not_found', NOT_FOUND)
        return withName(store, refused)
      },
    }),
  ])
}

/**
 * All rows from a cursor on, as CSV. Reads the first rows before responding, so that a failure can
 * still become a problem.
 */
async function csvOf(
  store: Store,
  filter: RequestFilter,
  from: string | undefined,
): Promise<ReadableStream> {
  await flushBeforeReading(store)
  const page = (cursor: string | undefined) =>
    store.read(requestLines, { filter, limit: LINES, cursor, columns: CSV_COLUMNS })
  let ready: Awaited<ReturnType<typeof page>> | null = await page(from)
  return streamText(csvHead(CSV_COLUMNS), async () => {
    if (ready === null) return null
    const { text, next } = ready
    ready = next === null ? null : await page(next)
    return text
  })
}

function at(moment: string | undefined): number | undefined {
  return moment === undefined ? undefined : Date.parse(moment)
}
