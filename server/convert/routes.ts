// POST /api/v1/convert, as the numbered steps of one request.
import { z } from '@hono/zod-openapi'
import type { Plans } from '../accounts/plans.ts'
import { COMMON_PROBLEMS, askForBody, authorize, authorized, callerOf, createRoute, json, newApi, noQuery, problems, security, type Api, type ApiContext, type Middleware } from '../api.ts'
import type { Config } from '../config.ts'
import { newId } from '../id.ts'
import { keepBlob } from '../store/blobs/blobs.ts'
import { openFile } from '../store/blobs/folder.ts'
import { abandon, admit, countConversion, fingerprint, readKey, refuseUsedUp, tooMany, type Admission, type KeptAnswer } from './admission.ts'
import { CONTENT_TYPES, answerFrom, documentAnswer, whenGone } from './answer.ts'
import { convert as convertOn, type ConversionParts } from './convert.ts'
import { JobSchema, acceptedAnswer } from './job-routes.ts'
import { asAccepted, findJob, newJob, waitingJobs, type ClaimableJob } from './jobs.ts'
import type { Receiver } from './receiver.ts'
import { checkHead, type Upload } from './upload.ts'

/** What the conversion's routes work with. */
export interface ConvertParts extends ConversionParts {
  plans: Plans
  limits: Config['conversion']
  receiver: Receiver
}

const convertRoute = createRoute({
  method: 'post',
  path: '/api/v1/convert',
  summary: 'Convert a Notion export to Markdown',
  security,
  request: {
    headers: z.object({
      'idempotency-key': z.string().optional().openapi({ description: 'The same key with the same content gives the first answer again, for 24 hours.' }),
    }),
    body: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: z.object({
            file: z.string().openapi({ format: 'binary', description: 'A .html file or a .zip archive.' }),
            format: z.enum(['markdown', 'json']).default('markdown'),
            include_metadata: z.boolean().default(false).openapi({ description: 'Adds front matter: title, export date and source.' }),
          }),
        },
      },
    },
  },
  responses: {
    200: documentAnswer,
    202: json('A ZIP archive that is converted in the background: the job', JobSchema),
    ...problems(
      'missing_file',
      'invalid_file',
      'unsupported_file_type',
      'invalid_field',
      'file_too_large',
      'idempotency_conflict',
      'quota_exceeded',
      'too_many_uploads',
      ...COMMON_PROBLEMS,
    ),
  },
})

/** The conversion's routes. */
export function convertRoutes({ store, blobs, scratch, converters, changes, instance, plans, clock, log, limits, receiver }: ConvertParts): Api {
  const api = newApi()
  let underWay = 0

  // 1. Is there a place for one more upload? Asked before anything is looked up: where far too many come, each refusal must cost next to nothing.
  const placed: Middleware = async (_, next) => {
    if (underWay >= limits.uploads) throw tooMany('Too many uploads are under way.')
    underWay++
    try {
      await next()
    } finally {
      underWay--
    }
  }

  const convert = async (c: ApiContext): Promise<Response> => {
    const { incoming, outgoing } = c.env
    const { account } = callerOf(c)
    await using end = new AsyncDisposableStack()

    const gone = whenGone(outgoing)

    // 2. Can anything that comes now be let in?
    const asking = { account: account.id, plan: plans.of(account.plan), key: readKey(c.req.header('idempotency-key')), instance: instance.id }
    await refuseUsedUp(store, asking, clock())

    // 3. Receive the file.
    checkHead(incoming.headers, limits)
    askForBody(c)
    const source = end.use(scratch.place())
    const upload = await receiver.receive(incoming, source.path, limits)

    // 4. Is the caller still who it was? Is there quota for it, or has another request with this Idempotency-Key been answered?
    await authorize(c, store, 'convert', clock())
    const admission = await admit(store, { ...asking, fingerprint: fingerprint(upload) }, clock, gone, log)
    if ('answer' in admission) return answerAgain(c, admission.answer)
    let counted = false
    end.defer(async () => {
      if (!counted) await abandon(store, admission, log)
    })

    // 5. A large archive becomes a job: stored, counted, answered.
    if (upload.kind === 'zip' && upload.size > limits.asyncAbove) {
      const job = await acceptJob(admission, upload, source.path)
      counted = true
      changes.tell()
      return acceptedAnswer(job, clock())
    }

    // 6. Convert everything else.
    const [output, workspace] = [end.use(scratch.place()), end.use(scratch.place())]
    const task = { ...upload, path: source.path, uploadedAt: clock(), scratch: workspace.path, output: output.path }
    await convertOn(task, converters, { signal: gone })

    // 7. Count it, and keep the answer for its key; then nothing can take the success back.
    const contentType = CONTENT_TYPES[upload.format]
    const blobId = asking.key === undefined ? undefined : await keepBlob(store, blobs, output.path, instance.id, clock())
    await countConversion(store, admission, blobId === undefined ? undefined : { contentType, blobId }, limits.idempotency, clock())
    counted = true

    // 8. Answer. The open file outlives its name.
    return answerFrom(c, contentType, blobId === undefined ? await openFile(output.path) : await blobs.open(blobId), limits.transferIdle)
  }

  const acceptJob = async (admission: Admission, upload: Upload, path: string): Promise<ClaimableJob> => {
    // Before the archive is stored; it is decided when the job is entered.
    if ((await waitingJobs(store)) >= limits.jobQueue) throw tooMany('Too many jobs are waiting.')
    const { account, instance } = admission.request
    const now = clock()
    const upload_blob = await keepBlob(store, blobs, path, instance, now)
    const { format, includeMetadata, fileName: file_name, size: file_size } = upload
    const job = newJob({ id: newId('job', now), account_id: account, format, include_metadata: includeMetadata ? 1 : 0, file_name, file_size, upload_blob }, now)
    await countConversion(store, admission, { job, mostWaiting: limits.jobQueue }, limits.idempotency, clock())
    return job
  }

  const answerAgain = async (c: ApiContext, answer: KeptAnswer): Promise<Response> => {
    if ('blobId' in answer) return answerFrom(c, answer.contentType, await blobs.open(answer.blobId), limits.transferIdle)
    const job = await findJob(store, answer.jobId, callerOf(c).account.id)
    if (!job) throw new Error(`the job ${answer.jobId} is gone before its key`)
    return acceptedAnswer(asAccepted(job), clock())
  }

  api.openAPIRegistry.registerPath(convertRoute)
  api.post(convertRoute.path, placed, authorized(store, 'convert', clock), noQuery, convert)
  return api
}
