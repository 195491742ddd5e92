// /api/v1/jobs: conversions in the background.
import { z } from '@hono/zod-openapi'
import {
  COMMON_PROBLEMS,
  IdParams,
  PageQuery,
  createRoute,
  listOf,
  noQuery,
  page,
  problems,
  parseQuery,
  type Api,
  type ApiContext,
} from './api.ts'
import { authorized, requireCaller, security, tooManyRequests, withSlot } from './guard.ts'
import { isoTime } from '../common/clock.ts'
import { ERRORS, Problem, type ErrorCode } from '../common/errors.ts'
import { FairShares } from '../common/fairness/shares.ts'
import { done, ok, route, routes } from './route.ts'
import { dropBlobs, type BlobStore } from '../store/blobs/blobs.ts'
import type { JobRow } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { AccountScopeParams, resolveAccountScope } from './account-scope.ts'
import { CertificateSchema } from './certificate-schema.ts'
import {
  respondWithRange,
  documentResponse,
  partialResponse,
  unchangedResponse,
  whenGone,
} from './document-response.ts'
import type { JobNotifications } from '../conversion/jobs/notifications.ts'
import { contentTypeOf, issuesFromRow } from '../conversion/document-headers.ts'
import { cancelJob } from '../conversion/jobs/end-job.ts'
import { findJob, listJobs } from '../conversion/jobs/find-job.ts'
import { isFinished } from '../conversion/jobs/states.ts'
import type { JobWatcher } from '../conversion/jobs/job-watcher.ts'

const PATH = '/api/v1/jobs'
/** Seconds to wait before polling an unfinished job again. */
const RETRY_AFTER_SECONDS = '1'

const moment = z.iso.datetime().nullable()

/** A job as the API shows it. */
export const JobSchema = z
  .object({
    id: z.string(),
    object: z.literal('job'),
    status: z.enum(['queued', 'running', 'succeeded', 'failed', 'canceled', 'expired']),
    format: z.enum(['markdown', 'json', 'chunks']),
    include_metadata: z.boolean(),
    source_map: z.literal(true).optional().openapi({ description: 'Only if requested.' }),
    layout: z.literal('pages').optional().openapi({ description: 'Only if requested.' }),
    flavor: z
      .enum(['gfm', 'obsidian', 'docusaurus'])
      .optional()
      .openapi({ description: 'The program that will read the pages.' }),
    file: z.object({ name: z.string(), size: z.number().int().openapi({ description: 'Bytes.' }) }),
    progress: z.object({ pages_done: z.number().int(), pages_total: z.number().int().nullable() }),
    created_at: z.iso.datetime(),
    started_at: moment,
    finished_at: moment,
    expires_at: moment.openapi({ description: 'When the result is deleted.' }),
    result_url: z.string().nullable(),
    error: z.object({ code: z.string(), detail: z.string() }).nullable(),
    certificate: CertificateSchema.optional().openapi({
      description: 'Of a job that has succeeded, unless it was sent with `certificate=false`.',
    }),
  })
  .openapi('Job')

type Job = z.infer<typeof JobSchema>

/** The status of a job now. The sweep may record the expiry later. */
function statusOf({ status, expires_at }: JobRow, now: number): JobRow['status'] {
  return status === 'succeeded' && expires_at !== null && expires_at <= now ? 'expired' : status
}

/** A job as the API shows it. */
function showJob(row: JobRow, now: number): Job {
  const status = statusOf(row, now)
  return {
    id: row.id,
    object: 'job',
    status,
    format: row.format,
    include_metadata: row.include_metadata === 1,
    ...(row.source_map === 1 && { source_map: true as const }),
    ...(row.flavor !== null && { layout: 'pages' as const, flavor: row.flavor }),
    file: { name: row.file_name, size: row.file_size },
    progress: { pages_done: row.pages_done, pages_total: row.pages_total },
    created_at: isoTime(row.created_at),
    started_at: isoTime(row.started_at),
    finished_at: isoTime(row.finished_at),
    expires_at: isoTime(row.expires_at),
    result_url: status === 'succeeded' ? `${PATH}/${row.id}/result` : null,
    error:
      row.error_code === null ? null : { code: row.error_code, detail: row.error_detail ?? '' },
    ...(row.certificate !== null && {
      certificate: CertificateSchema.parse(JSON.parse(row.certificate)),
    }),
  }
}

/** The response to an upload that has become a job. */
export function acceptedResponse(row: JobRow, now: number): Response {
  const headers = {
    'content-type': 'application/json',
    location: `${PATH}/${row.id}`,
    'retry-after': RETRY_AFTER_SECONDS,
  }
  return new Response(JSON.stringify(showJob(row, now)), { status: 202, headers })
}

/** What the job routes depend on. */
export interface JobDependencies {
  store: Store
  blobs: BlobStore
  notifications: JobNotifications
  watcher: JobWatcher
  clock: () => number
  /**
   * `transferIdle`: a caller that reads nothing for this long is disconnected. `eventsIdle`: an
   * event stream sends a comment after this long without an event. Milliseconds.
   */
  limits: { readonly transferIdle: number; readonly eventsIdle: number }
}

function notFound(): Problem {
  return new Problem('job_not_found', `No job of this account has this id. GET ${PATH} lists them.`)
}

/** Why a job has no result; undefined if it has one. */
function noResultProblem({ status, error, expires_at }: Job): Problem | undefined {
  if (status === 'succeeded') return undefined
  if (status === 'failed' && error)
    return new Problem(isCode(error.code) ? error.code : 'internal_error', error.detail)
  if (status === 'canceled')
    return new Problem('result_expired', 'The job was canceled and has no result.')
  if (status === 'expired')
    return new Problem(
      'result_expired',
      `The result was kept until ${expires_at}. Upload the file again.`,
    )
  return new Problem(
    'job_not_finished',
    `The job is ${status}. Poll it or follow its events to see when the result is ready.`,
    { retryAfter: Number(RETRY_AFTER_SECONDS) },
  )
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code)
}

/**
 * Event streams of all accounts. When all slots are taken, the newest stream of the account with
 * the most ends, to make room for an account below its share.
 */
const streams = new FairShares({ slots: 512, share: 64, always: true })

const resultRoute = createRoute({
  method: 'get',
  path: `${PATH}/{id}/result`,
  summary: "Read a job's document or, if the job failed, its error",
  security,
  request: { params: IdParams, query: AccountScopeParams },
  responses: {
    200: documentResponse,
    206: partialResponse,
    304: unchangedResponse,
    ...problems(
      'invalid_field',
      'invalid_file',
      'job_not_found',
      'job_not_finished',
      'result_expired',
      'range_not_satisfiable',
      ...COMMON_PROBLEMS,
    ),
  },
})

const eventsRoute = createRoute({
  method: 'get',
  path: `${PATH}/{id}/events`,
  summary: 'Follow a job: an event "job" with the job at each change, until it is finished',
  security,
  request: { params: IdParams },
  responses: {
    200: {
      description: 'Server-sent events',
      content: { 'text/event-stream': { schema: z.string() } },
    },
    ...problems('invalid_field', 'job_not_found', ...COMMON_PROBLEMS),
  },
})

/** The routes of jobs. */
export function jobRoutes(deps: JobDependencies): Api {
  const { store, clock } = deps
  const mayConvert = authorized(store, ['convert'], clock)
  const api = routes(store, clock, jobRecords(deps))
  api.openAPIRegistry.registerPath(resultRoute)
  api.get(`${PATH}/:id/result`, mayConvert, withSlot, (c) =>
    respondWithResult(deps, c, c.req.param('id')),
  )
  api.openAPIRegistry.registerPath(eventsRoute)
  api.get(`${PATH}/:id/events`, mayConvert, withSlot, noQuery, (c) =>
    respondWithEvents(deps, c, c.req.param('id')),
  )
  return api
}

/** The job of this id that the caller may see. @throws Problem `job_not_found` */
async function requireJob(
  store: Store,
  c: ApiContext,
  id: string,
  account: string | undefined,
): Promise<JobRow> {
  const row = await findJob(store, id, resolveAccountScope(requireCaller(c), account))
  if (!row) throw notFound()
  return row
}

function jobRecords({ store, blobs, notifications }: JobDependencies) {
  return [
    route({
      method: 'get',
      path: PATH,
      summary: 'List jobs, newest first',
      access: 'convert',
      query: PageQuery.extend(AccountScopeParams.shape),
      response: ok('A page of jobs', listOf(JobSchema)),
      act: async ({ query: { limit, cursor, account }, caller, now }) => {
        const rows = await listJobs(store, resolveAccountScope(caller, account), limit + 1, cursor)
        return page(
          rows.map((row) => showJob(row, now)),
          limit,
        )
      },
    }),
    route({
      method: 'get',
      path: `${PATH}/{id}`,
      summary: 'Read a job',
      access: 'convert',
      query: AccountScopeParams,
      response: ok('The job', JobSchema),
      problems: ['job_not_found'],
      act: async ({ params, query, now, context: c }) => {
        const job = showJob(await requireJob(store, c, params.id, query.account), now)
        return c.json(
          job,
          200,
          isFinished(job.status) ? {} : { 'retry-after': RETRY_AFTER_SECONDS },
        )
      },
    }),
    route({
      method: 'delete',
      path: `${PATH}/{id}`,
      summary: 'Cancel a job that is not finished, and delete its upload and its result',
      access: 'convert',
      query: AccountScopeParams,
      response: done('The upload and the result are deleted; GET still shows the job'),
      problems: ['job_not_found'],
      act: async ({ params, query, now, context: c }) => {
        const { id, account_id: account } = await requireJob(store, c, params.id, query.account)
        const held = await store.run(cancelJob, { id, account, now })
        if (!held) throw notFound()
        notifications.notify()
        await dropBlobs(store, blobs, held).catch(() => {}) // the sweep deletes them later
      },
    }),
  ]
}

async function respondWithResult(
  { store, blobs, clock, limits }: JobDependencies,
  c: ApiContext,
  id: string,
): Promise<Response> {
  const row = await requireJob(store, c, id, parseQuery(c, AccountScopeParams).account)
  const problem = noResultProblem(showJob(row, clock()))
  if (problem) throw problem
  if (row.result_blob === null) throw new Error(`the job ${row.id} has no result`)
  const info = {
    contentType: contentTypeOf({
      format: row.format,
      layout: row.flavor === null ? 'document' : 'pages',
    }),
    fileName: row.file_name,
    issues: issuesFromRow(row),
  }
  // A job's result never changes, so its id serves as the tag.
  return respondWithRange(
    c,
    { ...info, blob: row.result_blob, tag: row.id },
    blobs,
    limits.transferIdle,
  )
}

async function respondWithEvents(
  { store, watcher, clock, limits }: JobDependencies,
  c: ApiContext,
  id: string,
): Promise<Response> {
  const row = await requireJob(store, c, id, undefined)
  const gone = openStream(c, limits)
  const body = ReadableStream.from(
    eventStream(watcher.subscribe(row, gone, limits.eventsIdle), clock),
  )
  // The last header keeps nginx from buffering events.
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
  })
}

/**
 * Takes a slot for an event stream.
 *
 * @returns aborted when the caller disconnects or the stream is evicted
 * @throws Problem as `tooManyRequests`
 */
function openStream(c: ApiContext, limits: JobDependencies['limits']): AbortSignal {
  const { incoming, outgoing } = c.env
  const dropped = new AbortController()
  const slot = streams.acquire(requireCaller(c).account.id, () => dropped.abort())
  if (typeof slot === 'string')
    throw tooManyRequests(slot, 'This account is following too many jobs. Follow fewer at once.')
  outgoing.once('close', () => slot.release())
  outgoing.setTimeout(limits.eventsIdle + limits.transferIdle)
  // Following a job needs nothing more from the caller, so its FIN counts as a disconnect.
  if (incoming.socket.readableEnded) outgoing.destroy()
  const release = (): void => void outgoing.destroy()
  incoming.socket.once('end', release)
  outgoing.once('close', () => incoming.socket.off('end', release))
  return AbortSignal.any([whenGone(incoming, outgoing), dropped.signal])
}

/** Rows as server-sent events, with a comment after silence (WHATWG HTML, section 9.2). */
async function* eventStream(
  rows: AsyncIterable<JobRow | undefined>,
  clock: () => number,
): AsyncGenerator<Uint8Array, void> {
  for await (const row of rows) {
    yield Buffer.from(
      row ? `event: job\ndata: ${JSON.stringify(showJob(row, clock()))}\n\n` : ': nothing new\n\n',
    )
  }
}
