// /api/v1/usage: usage by key, model, provider, minute, hour or day.
import { z } from '@hono/zod-openapi'
import type { Api } from './api.ts'
import { DAY, HOUR } from '../common/clock.ts'
import { fieldError, invalidField, type FieldError } from '../common/errors.ts'
import { MOST_LINES } from '../ledger/rollups/summing.ts'
import { DIMENSIONS, usageText, type Dimension, type UsageLine } from '../ledger/reports/usage.ts'
import { route, routes, table } from './route.ts'
import type { Store } from '../store/store.ts'
import { AccountScopeParams, resolveAccountScope } from './account-scope.ts'
import { csvHead, csvHeaders, newestLast, once, streamText } from './csv.ts'
import { TOKEN_SCHEMAS } from './ledger-schemas.ts'
import { Moment } from './schemas.ts'

const count = z.number().int()

const LineSchema = z
  .object({
    time: z.iso.datetime().optional().openapi({
      description: 'Start of the minute, hour or day, UTC, whichever is the finest requested.',
    }),
    key_id: z.string().optional(),
    key_name: z
      .string()
      .nullable()
      .optional()
      .openapi({ description: 'The current name of the key.' }),
    provider: z.string().optional(),
    model: z.string().nullable().optional(),
    other: z.boolean().optional().openapi({
      description:
        'With `top`: whether the line sums up the rest. It has no key, model or provider then.',
    }),
    requests: count,
    errors: count,
    aborted: count,
    unknown: count.openapi({ description: 'Requests whose process died.' }),
    unmetered: count.openapi({ description: 'Requests whose tokens are unknown.' }),
    bytes_in: count,
    bytes_out: count,
    ...TOKEN_SCHEMAS,
    first_byte_ms: count.nullable().openapi({ description: 'Mean over requests with a response.' }),
    total_ms: count.nullable(),
  })
  .openapi('UsageLine')

const ListSchema = z.object({
  object: z.literal('list'),
  data: z.array(LineSchema),
  next_cursor: z.null(),
  groups: count
    .optional()
    .openapi({ description: 'With `top`: how many keys, models or providers there are in all.' }),
})

/** Columns of a CSV after the dimensions. */
const MEASURES = newestLast(
  [
    'requests',
    'errors',
    'aborted',
    'unknown',
    'unmetered',
    'bytes_in',
    'bytes_out',
    'tokens_in',
    'tokens_out',
    'tokens_cached',
    'tokens_reasoning',
    'first_byte_ms',
    'total_ms',
  ],
  LineSchema.keyof().exclude(['time', 'key_id', 'key_name', 'provider', 'model', 'other']).options,
)
type NamedLine = UsageLine & { key_name?: string | null }
/** TABLE of dimensions and their columns. */
const NAMES: Record<Dimension, readonly (keyof NamedLine)[]> = {
  key: ['key_id', 'key_name'],
  model: ['model'],
  provider: ['provider'],
  minute: ['time'],
  hour: ['time'],
  day: ['time'],
}

/** Dimensions that `top` can rank. */
const GROUPS: ReadonlySet<Dimension> = new Set(['key', 'model', 'provider'])

const Query = AccountScopeParams.extend({
  by: z.string().default('day').openapi({
    description: 'One or more of key, model, provider, minute, hour, day, separated by commas.',
    example: 'day,model',
  }),
  from: Moment.optional().openapi({
    description:
      'Defaults to 30 days ago, or to 30 days before a `to` in the past; in a report by the minute to one hour, and at most 24 hours. The whole hour, or minute, that contains it counts.',
  }),
  to: Moment.optional().openapi({ description: 'End of the period, exclusive. Defaults to now.' }),
  key: z.string().max(100).optional(),
  model: z.string().max(300).optional(),
  provider: z.string().max(100).optional(),
  top: z.coerce.number().int().min(1).max(50).optional().openapi({
    description:
      'Returns lines for this many keys, models or providers, those with the most requests, and one line for all the rest. `by` must then name exactly one of the three, with or without a step of time.',
  }),
  format: z.enum(['json', 'csv']).default('json'),
})

/** Default length of a report, in milliseconds: of one by the minute, and of any other. */
const DEFAULT_PERIOD_MS = { byMinute: HOUR, other: 30 * DAY }
/** Longest report by the minute; it reads every row of the ledger. */
const MAX_BY_MINUTE_MS = DAY

/** The dimensions and the period of a valid report. */
interface Question {
  readonly dimensions: readonly Dimension[]
  /** Milliseconds since 1970; `until` is excluded. */
  readonly since: number
  readonly until: number
}

/** The route of usage reports. */
export function usageRoutes(store: Store, clock: () => number): Api {
  return routes(store, clock, [
    route({
      method: 'get',
      path: '/api/v1/usage',
      summary: 'Read usage',
      access: 'manage',
      query: Query,
      check: (query) => errorsOf(query, clock()),
      response: table('The report', ListSchema),
      act: async ({ query, caller, now, context: c }) => {
        const { key, model, provider, top, format } = query
        const { dimensions, since, until } = questionOf(query, now)
        const columns = columnsOf(dimensions, top !== undefined)
        const report = await store.readingFor(caller.account.id).read(usageText, {
          account: resolveAccountScope(caller, query.account),
          by: [...dimensions],
          from: since,
          to: until,
          key,
          model,
          provider,
          top,
          format,
          columns,
        })
        if (report === null)
          throw invalidField(
            'by',
            `The report has more than ${MOST_LINES} lines. Choose a shorter period, one key, model or provider, or fewer dimensions.`,
          )
        if (format === 'csv')
          return c.body(
            streamText(csvHead(columns), once(report.text)),
            200,
            csvHeaders('usage.csv'),
          )
        return c.body(streamText('', once(report.text)), 200, {
          'content-type': 'application/json',
        })
      },
    }),
  ])
}

/** The columns of a report as CSV. */
function columnsOf(dimensions: readonly Dimension[], isRanked: boolean): string[] {
  return [
    ...new Set(dimensions.flatMap((name) => NAMES[name])),
    ...(isRanked ? ['other'] : []),
    ...MEASURES,
  ]
}

type UsageQuery = z.output<typeof Query>

/** Reads dimensions and period from the query; ignores unknown words of `by`. */
function questionOf(
  { by, from, to }: Pick<UsageQuery, 'by' | 'from' | 'to'>,
  now: number,
): Question {
  const dimensions = listNames(by).filter(isDimension)
  const until = to === undefined ? now + 1 : Date.parse(to)
  const standard = dimensions.includes('minute')
    ? DEFAULT_PERIOD_MS.byMinute
    : DEFAULT_PERIOD_MS.other
  const since = from === undefined ? Math.min(until, now) - standard : Date.parse(from)
  return { dimensions, since, until }
}

/** Errors in combinations of parameters. */
function errorsOf(
  { by, from, to, top }: Partial<UsageQuery>,
  now: number,
): readonly (FieldError | null)[] {
  if (by === undefined) return []
  const wrong = listNames(by).find((word) => !isDimension(word))
  if (wrong !== undefined)
    return [
      fieldError('by', `Cannot be ${JSON.stringify(wrong)}. Choose from ${DIMENSIONS.join(', ')}.`),
    ]
  const { dimensions, since, until } = questionOf({ by, from, to }, now)
  const rankedDimension = dimensions.filter((name) => GROUPS.has(name)).length
  const isTooLong = dimensions.includes('minute') && until - since > MAX_BY_MINUTE_MS
  return [
    top !== undefined && rankedDimension !== 1
      ? fieldError('top', 'Needs a "by" that names exactly one of key, model and provider.')
      : null,
    isTooLong
      ? fieldError(
          'from',
          'A report by the minute covers 24 hours at most. Give a later "from", or an earlier "to".',
        )
      : null,
  ]
}

function isDimension(word: string): word is Dimension {
  return DIMENSIONS.some((dimension) => dimension === word)
}

function listNames(text: string): string[] {
  return [...new Set(text.split(',').map((word) => word.trim()))]
}
