// POST /api/v1/convert, as the numbered steps of one request.
import { z } from '@hono/zod-openapi'
import type { Plans } from '../accounts/plans.ts'
import {
  COMMON_PROBLEMS,
  sendContinue,
  authorize,
  authorized,
  requireCaller,
  createRoute,
  json,
  createApi,
  noQuery,
  problems,
  security,
  type Api,
  type ApiContext,
} from './api.ts'
import type { Config } from '../config/settings.ts'
import { FairShares } from '../common/fairness/shares.ts'
import { newId } from '../common/ids.ts'
import { keepBlob } from '../store/blobs/blobs.ts'
import { openFile } from '../store/blobs/folder.ts'
import {
  cancelAdmission,
  admit,
  countConversion,
  fingerprint,
  readKey,
  assertQuotaLeft,
  tooManyJobs,
  type Admission,
  type StoredAnswer,
} from '../conversion/admission.ts'
import { createJobNotifications } from '../conversion/jobs/notifications.ts'
import { tooManyUploads, type ConversionQueue } from '../conversion/queue.ts'
import { respondWithDocument, documentAnswer, whenGone } from './document-response.ts'
import {
  checkConversion,
  runConversion as convertOn,
  type ConversionDependencies,
} from '../conversion/run-conversion.ts'
import { contentTypeOf } from '../conversion/document-headers.ts'
import { JobSchema, acceptedAnswer } from './jobs.ts'
import { certifyOf, initialJob, newJob, type ClaimableJob } from '../conversion/jobs/enter-job.ts'
import { findJob } from '../conversion/jobs/find-job.ts'
import { jobQueueRefusal } from '../conversion/jobs/queue-limits.ts'
import type { UploadReceiver } from '../conversion/upload/upload-receiver.ts'
import { checkHead, type Upload } from '../conversion/upload/receive-upload.ts'

/** What the conversion's routes work with. */
export interface ConvertDependencies extends ConversionDependencies {
  plans: Plans
  limits: Config['conversion']
  receiver: UploadReceiver
  queue: ConversionQueue
}

const convertRoute = createRoute({
  method: 'post',
  path: '/api/v1/convert',
  summary: 'Convert a Notion export to Markdown',
  security,
  request: {
    headers: z.object({
      'idempotency-key': z.string().optional().openapi({
        description:
          'The same key with the same content gives the first answer again, for 24 hours.',
      }),
    }),
    body: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: z.object({
            file: z
              .string()
              .openapi({ format: 'binary', description: 'A .html file or a .zip archive.' }),
            format: z.enum(['markdown', 'json', 'chunks']).default('markdown').openapi({
              description:
                '`json` holds every page by itself; `chunks` are lines of JSON for retrieval.',
            }),
            include_metadata: z
              .boolean()
              .default(false)
              .openapi({ description: 'Adds front matter: title, export date and source.' }),
            certificate: z.boolean().optional().openapi({
              description:
                'Compares what went in with what came out. JSON then has it as `certificate`; a job is certified unless this is `false`.',
            }),
            source_map: z.boolean().default(false).openapi({
              description:
                'With `format=json`: adds where each block of Notion stands in the Markdown.',
            }),
            layout: z.enum(['document', 'pages']).default('document').openapi({
              description:
                '`pages`: a ZIP archive with a Markdown file for each page, and its files.',
            }),
            flavor: z.enum(['gfm', 'obsidian', 'docusaurus']).optional().openapi({
              description: 'With `layout=pages`: the program that they are for. Default: `gfm`.',
            }),
          }),
        },
      },
    },
  },
  responses: {
    200: documentAnswer,
    415: problems('unsupported_file_type')[400],
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
      'request_timeout',
      ...COMMON_PROBLEMS,
    ),
  },
})

/** The conversion's routes. */
export function convertRoutes({
  store,
  blobs,
  scratch,
  converterPool,
  notifications,
  workspaces,
  instance,
  plans,
  clock,
  log,
  limits,
  receiver,
  queue,
}: ConvertDependencies): Api {
  const api = createApi()
  const uploads = new FairShares({ slots: limits.uploads, always: true })
  const quotaNotifications = createJobNotifications(store)

  const convert = async (c: ApiContext): Promise<Response> => {
    const { incoming, outgoing } = c.env
    const { account } = requireCaller(c)
    await using cleanup = new AsyncDisposableStack()

    const callerGone = whenGone(incoming, outgoing)

    // 1. Is there a place for one more upload of this account?
    const evicted = new AbortController()
    const slot = uploads.acquire(account.id, () =>
      evicted.abort(
        tooManyUploads('The upload was ended to make room for those of others.', 'full'),
      ),
    )
    if (typeof slot === 'string')
      throw tooManyUploads(
        slot === 'share'
          ? 'Too many of your uploads are under way.'
          : 'Too many uploads are under way.',
        slot,
      )
    cleanup.defer(() => slot.release())

    // 2. Can anything that comes now be let in?
    const asking = {
      account: account.id,
      plan: plans.of(account.plan),
      key: readKey(c.req.header('idempotency-key')),
      instance: instance.id,
    }
    await assertQuotaLeft(store, asking, clock())

    // 3. Receive the file.
    checkHead(incoming.headers, limits)
    sendContinue(c)
    const source = cleanup.use(scratch.place())
    const upload = await receiver.receive(incoming, source.path, limits, evicted.signal)
    slot.pin()

    // 4. Is the caller still who it was? Is there quota for it, or has another request with this
    //   Idempotency-Key been answered?
    await authorize(c, store, 'convert', clock())
    const admission = await admit(
      store,
      { ...asking, fingerprint: fingerprint(upload) },
      clock,
      callerGone,
      quotaNotifications,
      log,
    )
    if ('answer' in admission) return replayAnswer(c, admission.answer, upload.fileName)
    let [counted, tried] = [false, false]
    cleanup.defer(async () => {
      if (!counted) await cancelAdmission(store, admission, tried, log)
      quotaNotifications.notify()
    })

    // 5. A large archive becomes a job: checked, stored, counted, answered.
    const output = cleanup.use(scratch.place())
    // Moved to the job, where it becomes one.
    await using ownWorkspace = new AsyncDisposableStack()
    const workspace = ownWorkspace.use(scratch.place())
    const task = {
      ...upload,
      path: source.path,
      uploadedAt: clock(),
      showCertificate: upload.certificate === true,
      inputSha256: upload.sha256,
      scratch: workspace.path,
      output: output.path,
    }
    if (upload.kind === 'zip' && upload.size > limits.asyncAbove) {
      await withConverter(account.id, callerGone, () => {
        tried = true
        return checkConversion(task, converterPool, callerGone)
      })
      const job = await acceptAsJob(admission, upload, source.path)
      counted = true
      ownWorkspace.move()
      await workspaces.keep(job.id, workspace)
      notifications.notify()
      return acceptedAnswer(job, clock())
    }

    // 6. Convert everything else, when it is the account's turn.
    const converted = await withConverter(account.id, callerGone, () => {
      tried = true
      return convertOn(task, converterPool, { signal: callerGone })
    })

    // 7. Count it, and keep the answer for its key; then nothing can take the success back.
    const issues = { warnings: converted.warnings, failedPages: converted.failed }
    const info = { contentType: contentTypeOf(upload), fileName: upload.fileName, issues }
    const blobId =
      asking.key === undefined
        ? undefined
        : await keepBlob(store, blobs, output.path, instance.id, clock())
    await countConversion(
      store,
      admission,
      blobId === undefined ? undefined : { ...info, blobId },
      limits.idempotency,
      clock(),
    )
    counted = true

    // 8. Answer. The open file outlives its name.
    const document = blobId === undefined ? await openFile(output.path) : await blobs.open(blobId)
    return respondWithDocument(c, info, document, limits.transferIdle)
  }

  const withConverter = async <T>(
    account: string,
    callerGone: AbortSignal,
    effect: () => Promise<T>,
  ): Promise<T> => {
    using _turn = await queue.enter(account, callerGone)
    return await effect()
  }

  const acceptAsJob = async (
    admission: Admission,
    upload: Upload,
    path: string,
  ): Promise<ClaimableJob> => {
    // Before the archive is stored; it is decided when the job is entered.
    const { account, instance } = admission.request
    const rejected = await jobQueueRefusal(store, account, limits.jobQueue)
    if (rejected !== null) throw tooManyJobs(rejected)
    const now = clock()
    const upload_blob = await keepBlob(store, blobs, path, instance, now)
    const flavor = upload.layout === 'pages' ? (upload.flavor ?? 'gfm') : null
    const { format, includeMetadata, sourceMap, certificate } = upload
    const { fileName: file_name, size: file_size } = upload
    const job = newJob(
      {
        id: newId('job', now),
        account_id: account,
        format,
        include_metadata: includeMetadata ? 1 : 0,
        source_map: sourceMap ? 1 : 0,
        flavor,
        certify: certifyOf(certificate),
        file_name,
        file_size,
        upload_blob,
      },
      now,
    )
    await countConversion(
      store,
      admission,
      { job, maxWaiting: limits.jobQueue },
      limits.idempotency,
      clock(),
    )
    return job
  }

  const replayAnswer = async (
    c: ApiContext,
    answer: StoredAnswer,
    fileName: string,
  ): Promise<Response> => {
    if ('blobId' in answer)
      return respondWithDocument(
        c,
        { ...answer, fileName },
        await blobs.open(answer.blobId),
        limits.transferIdle,
      )
    const job = await findJob(store, answer.jobId, requireCaller(c).account.id)
    if (!job) throw new Error(`the job ${answer.jobId} is gone before its key`)
    return acceptedAnswer(initialJob(job), clock())
  }

  api.openAPIRegistry.registerPath(convertRoute)
  api.post(convertRoute.path, authorized(store, 'convert', clock), noQuery, convert)
  return api
}
