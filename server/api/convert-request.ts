// Handles POST /api/v1/convert, in numbered steps.
import type { Plans } from '../accounts/plans.ts'
import { type ApiContext } from './api.ts'
import { authorize, requireCaller } from './guard.ts'
import { sendContinue } from './json-body.ts'
import type { Config } from '../config/settings.ts'
import { FairShares, type Slot } from '../common/fairness/shares.ts'
import { newId } from '../common/ids.ts'
import { keepBlob } from '../store/blobs/blobs.ts'
import { openFile } from '../store/blobs/folder.ts'
import {
  cancelAdmission,
  countConversion,
  tooManyJobs,
  type Admission,
} from '../conversion/admission.ts'
import { admit, assertQuotaLeft } from '../conversion/admit.ts'
import { fingerprint, readKey, type StoredResponse } from '../conversion/idempotency.ts'
import { createJobNotifications, type JobNotifications } from '../conversion/jobs/notifications.ts'
import { tooManyUploads, type ConversionQueue } from '../conversion/queue.ts'
import { respondWithDocument, whenGone } from './document-response.ts'
import {
  checkConversion,
  runConversion,
  type ConversionDependencies,
} from '../conversion/run-conversion.ts'
import type { ConversionTask } from '../conversion/pool/conversion-step.ts'
import { contentTypeOf, summaryOf } from '../conversion/document-headers.ts'
import { acceptedResponse } from './jobs.ts'
import { findJob } from '../conversion/jobs/find-job.ts'
import { certifyOf, initialJob, newJob, type ClaimableJob } from '../conversion/jobs/enter-job.ts'
import { jobQueueRefusal } from '../conversion/jobs/queue-limits.ts'
import type { UploadReceiver } from '../conversion/upload/upload-receiver.ts'
import { checkHead, type Upload } from '../conversion/upload/receive-upload.ts'

/** What the conversion routes depend on. */
export interface ConvertDependencies extends ConversionDependencies {
  plans: Plans
  limits: Config['conversion']
  receiver: UploadReceiver
  queue: ConversionQueue
}

/** An upload that was received and admitted. */
interface AdmittedUpload {
  readonly upload: Upload
  /** Path of the uploaded file. */
  readonly path: string
  readonly admission: AdmissionInProgress
  /** Aborted when the caller disconnects. */
  readonly callerGone: AbortSignal
}

/** Handles requests to convert. One per process. */
export class ConvertRequests {
  readonly #deps: ConvertDependencies
  readonly #uploads: FairShares
  readonly #quotaNotifications: JobNotifications

  constructor(deps: ConvertDependencies) {
    this.#deps = deps
    this.#uploads = new FairShares({ slots: deps.limits.uploads, always: true })
    this.#quotaNotifications = createJobNotifications(deps.store)
  }

  /**
   * Responds with the document, or with the job that makes it.
   *
   * @throws Problem
   */
  async respond(c: ApiContext): Promise<Response> {
    const { store, scratch, instance, plans, clock, log, limits, receiver } = this.#deps
    const { incoming, outgoing } = c.env
    const { account } = requireCaller(c)
    await using cleanup = new AsyncDisposableStack()
    const callerGone = whenGone(incoming, outgoing)

    // 1. Take a slot for one more upload of this account.
    const evicted = new AbortController()
    const slot = this.#acquireSlot(account.id, evicted)
    cleanup.defer(() => slot.release())

    // 2. Refuse the upload early if the quota is used up.
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
    const { path } = cleanup.use(scratch.place())
    const upload = await receiver.receive(incoming, path, limits, evicted.signal)
    slot.pin()

    // 4. Authenticate again, then reserve quota, or replay the response to an earlier request with
    //    this Idempotency-Key.
    await authorize(c, store, ['convert'], clock())
    const admitted = await admit(
      store,
      { ...asking, fingerprint: fingerprint(upload) },
      clock,
      callerGone,
      this.#quotaNotifications,
      log,
    )
    if ('stored' in admitted) return this.#replayResponse(c, admitted.stored, upload.fileName)
    const admission = cleanup.use(
      new AdmissionInProgress(this.#deps, admitted, this.#quotaNotifications),
    )

    // 5. A large archive becomes a job; everything else is converted now.
    const isLarge = upload.kind === 'zip' && upload.size > limits.asyncAbove
    const received = { upload, path, admission, callerGone }
    return await (isLarge ? this.#respondWithJob(received) : this.#respondWithDocument(c, received))
  }

  /** @throws Problem `too_many_uploads` */
  #acquireSlot(account: string, evicted: AbortController): Slot {
    const slot = this.#uploads.acquire(account, () =>
      evicted.abort(
        tooManyUploads('The upload was stopped to make room for other accounts.', 'full'),
      ),
    )
    if (typeof slot !== 'string') return slot
    throw tooManyUploads(
      slot === 'share'
        ? 'Too many of your uploads are in progress.'
        : 'Too many uploads are in progress.',
      slot,
    )
  }

  /** Checks and stores the upload, counts it, and responds with the new job. */
  async #respondWithJob(received: AdmittedUpload): Promise<Response> {
    const { scratch, converterPool, workspaces, notifications, clock } = this.#deps
    const { admission, callerGone } = received
    await using cleanup = new AsyncDisposableStack()
    const output = cleanup.use(scratch.place())
    // Moved to the job once it exists.
    await using ownWorkspace = new AsyncDisposableStack()
    const workspace = ownWorkspace.use(scratch.place())
    const task = this.#taskOf(received, workspace.path, output.path)
    await this.#withConverter(received, (account) =>
      checkConversion(task, converterPool, account, callerGone),
    )
    const job = await this.#acceptAsJob(received)
    admission.isCounted = true
    ownWorkspace.move()
    await workspaces.keep(job.id, workspace)
    notifications.notify()
    return acceptedResponse(job, clock())
  }

  /**
   * Converts when it is the account's turn, counts the conversion, and responds with the document.
   */
  async #respondWithDocument(c: ApiContext, received: AdmittedUpload): Promise<Response> {
    const { store, blobs, scratch, converterPool, instance, limits, clock } = this.#deps
    const { upload, admission, callerGone } = received
    await using cleanup = new AsyncDisposableStack()
    const output = cleanup.use(scratch.place())
    const workspace = cleanup.use(scratch.place())
    const task = this.#taskOf(received, workspace.path, output.path)
    const converted = await this.#withConverter(received, (account) =>
      runConversion(task, converterPool, { account, signal: callerGone }),
    )

    // Count the conversion and store the response for its Idempotency-Key. From here on it has
    // succeeded.
    const issues = { warnings: converted.warnings, failedPages: converted.failed }
    const info = { contentType: contentTypeOf(upload), fileName: upload.fileName, issues }
    const blobId =
      admission.admission.request.key === undefined
        ? undefined
        : await keepBlob(store, blobs, output.path, instance.id, clock())
    const outcome = blobId === undefined ? undefined : { ...info, blobId }
    await countConversion(store, admission.admission, outcome, limits.idempotency, clock())
    admission.isCounted = true

    // An open file stays readable after its workspace is deleted.
    const document = blobId === undefined ? await openFile(output.path) : await blobs.open(blobId)
    const { certificate } = converted
    const certified = certificate && { certified: summaryOf(certificate) }
    return respondWithDocument(c, { ...info, ...certified }, document, limits.transferIdle)
  }

  #taskOf({ upload, path }: AdmittedUpload, scratch: string, output: string): ConversionTask {
    return {
      ...upload,
      path,
      uploadedAt: this.#deps.clock(),
      showCertificate: upload.certificate === true,
      inputSha256: upload.sha256,
      scratch,
      output,
    }
  }

  async #withConverter<T>(
    { admission, callerGone }: AdmittedUpload,
    effect: (account: string) => Promise<T>,
  ): Promise<T> {
    const { account } = admission.admission.request
    using _turn = await this.#deps.queue.enter(account, callerGone)
    admission.isStarted = true
    return await effect(account)
  }

  async #acceptAsJob({ upload, path, admission }: AdmittedUpload): Promise<ClaimableJob> {
    const { store, blobs, limits, clock } = this.#deps
    // Checked early, to avoid storing an archive that would be refused. Entering the job decides.
    const { account, instance } = admission.admission.request
    const rejected = await jobQueueRefusal(store, account, limits.jobQueue)
    if (rejected !== null) throw tooManyJobs(rejected)
    const now = clock()
    const upload_blob = await keepBlob(store, blobs, path, instance, now)
    const job = newJob(
      {
        id: newId('job', now),
        account_id: account,
        format: upload.format,
        include_metadata: upload.includeMetadata ? 1 : 0,
        source_map: upload.sourceMap ? 1 : 0,
        flavor: upload.layout === 'pages' ? (upload.flavor ?? 'gfm') : null,
        certify: certifyOf(upload.certificate),
        file_name: upload.fileName,
        file_size: upload.size,
        upload_blob,
      },
      now,
    )
    const outcome = { job, maxWaiting: limits.jobQueue }
    await countConversion(store, admission.admission, outcome, limits.idempotency, clock())
    return job
  }

  async #replayResponse(
    c: ApiContext,
    stored: StoredResponse,
    fileName: string,
  ): Promise<Response> {
    const { store, blobs, limits, clock } = this.#deps
    if ('blobId' in stored)
      return respondWithDocument(
        c,
        { ...stored, fileName },
        await blobs.open(stored.blobId),
        limits.transferIdle,
      )
    const job = await findJob(store, stored.jobId, requireCaller(c).account.id)
    if (!job) throw new Error(`the job ${stored.jobId} was deleted before its Idempotency-Key`)
    return acceptedResponse(initialJob(job), clock())
  }
}

/** An admission for the duration of its request. Disposing releases it, unless it was counted. */
class AdmissionInProgress implements AsyncDisposable {
  readonly admission: Admission
  /** Whether its conversion was started. */
  isStarted = false
  isCounted = false
  readonly #deps: Pick<ConvertDependencies, 'store' | 'log'>
  readonly #notifications: JobNotifications

  constructor(
    deps: Pick<ConvertDependencies, 'store' | 'log'>,
    admission: Admission,
    notifications: JobNotifications,
  ) {
    this.#deps = deps
    this.admission = admission
    this.#notifications = notifications
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { store, log } = this.#deps
    if (!this.isCounted) await cancelAdmission(store, this.admission, this.isStarted, log)
    this.#notifications.notify()
  }
}
