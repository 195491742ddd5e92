// POST /api/v1/convert, as the numbered steps of one request.
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { createRoute, z } from '@hono/zod-openapi'
import type { Plans } from '../accounts/plans.ts'
import { COMMON_PROBLEMS, askForBody, authorized, callerOf, newApi, problems, security } from '../api.ts'
import type { Api, ApiContext } from '../api.ts'
import type { Config } from '../config.ts'
import { Problem } from '../errors.ts'
import { keepBlob } from '../store/blobs/blobs.ts'
import type { BlobStore } from '../store/blobs/blobs.ts'
import type { Instance } from '../store/instance.ts'
import type { Store } from '../store/open.ts'
import type { Scratch } from '../store/scratch.ts'
import { abandon, admit, answerOrTurn, countConversion, readKey } from './admission.ts'
import { fingerprint } from './fingerprint.ts'
import { receiveUpload } from './upload.ts'
import type { Format } from './upload.ts'
import type { Converters } from './converters.ts'

/** What the conversion's routes work with. */
export interface ConvertParts {
  store: Store
  blobs: BlobStore
  scratch: Scratch
  converters: Converters
  instance: Instance
  plans: Plans
  clock: () => number
  limits: Config['conversion']
}

/** TABLE of the answers' content types. */
const CONTENT_TYPES = { markdown: 'text/markdown; charset=utf-8', json: 'application/json' } as const satisfies Record<Format, string>

const RETRY_AFTER = 5

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
            file: z.any().openapi({ type: 'string', format: 'binary', description: 'A .html file or a .zip archive.' }),
            format: z.enum(['markdown', 'json']).default('markdown'),
            include_metadata: z.boolean().default(false).openapi({ description: 'Puts front matter with title, date and source in front.' }),
          }),
        },
      },
    },
  },
  responses: {
    200: {
      description: 'The document',
      content: { 'text/markdown': { schema: z.string() }, 'application/json': { schema: z.object({ object: z.literal('document') }).loose() } },
    },
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
export function convertRoutes({ store, blobs, scratch, converters, instance, plans, clock, limits }: ConvertParts): Api {
  const api = newApi()
  let underWay = 0

  const convert = async (c: ApiContext): Promise<Response> => {
    const { incoming, outgoing } = c.env
    const { account } = callerOf(c)
    await using end = new AsyncDisposableStack()

    // 1. Is there a place for one more upload?
    if (underWay >= limits.uploads) throw new Problem('too_many_uploads', 'Too many uploads are under way. Try again in a moment.', { retryAfter: RETRY_AFTER })
    underWay++
    end.defer(() => void underWay--)
    const gone = whenGone(outgoing)

    // 2. Is there quota, or another request with this Idempotency-Key?
    const key = readKey(c.req.header('idempotency-key'))
    let admission = await admit(store, { account: account.id, plan: plans.of(account.plan), key, instance: instance.id }, clock())
    let counted = false
    end.defer(async () => {
      if (!counted) await abandon(store, admission)
    })

    // 3. Receive the file.
    askForBody(c)
    const source = end.use(scratch.place())
    const upload = await receiveUpload(incoming, source.path, limits)
    const print = fingerprint(upload)

    // 4. Give the first request's answer again, or take its place.
    if (!admission.reservation) {
      const outcome = await answerOrTurn(store, admission, print, clock, gone)
      if ('answer' in outcome) return answerFrom(c, outcome.answer.contentType, await blobs.open(outcome.answer.blobId), limits.transferIdle)
      admission = outcome.turn
    }

    // 5. Convert it.
    const [output, workspace] = [end.use(scratch.place()), end.use(scratch.place())]
    const task = { ...upload, path: source.path, uploadedAt: clock(), scratch: workspace.path, output: output.path }
    await converters.run(task, { signal: gone })

    // 6. Count it, and keep the answer for its key; then nothing can take the success back.
    const contentType = CONTENT_TYPES[upload.format]
    const blobId = key === undefined ? undefined : await keepBlob(store, blobs, output.path, clock())
    await countConversion(store, admission, blobId === undefined ? undefined : { fingerprint: print, contentType, blobId }, limits.idempotency, clock())
    counted = true

    // 7. Answer. The open file outlives its name.
    return answerFrom(c, contentType, blobId === undefined ? await openFile(output.path) : await blobs.open(blobId), limits.transferIdle)
  }

  api.openAPIRegistry.registerPath(convertRoute)
  api.post(convertRoute.path, authorized(store, 'convert', clock), convert)
  return api
}

interface OpenedFile {
  size: number
  stream: Readable
}

async function openFile(path: string): Promise<OpenedFile> {
  const file = await open(path)
  return { size: (await file.stat()).size, stream: createReadStream('', { fd: file }) }
}

/** The document as it lies on the disk. A caller that stops reading it is left after `idle` milliseconds. */
function answerFrom(c: ApiContext, contentType: string, { size, stream }: OpenedFile, idle: number): Response {
  c.env.outgoing.setTimeout(idle)
  const body = Readable.toWeb(stream) as ReadableStream<Uint8Array>
  return new Response(body, { headers: { 'content-type': contentType, 'content-length': String(size) } })
}

/** Aborted when the caller has closed the connection before its answer was complete. */
function whenGone(outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) controller.abort(new Problem('invalid_file', 'The connection was closed before the answer was complete.'))
  })
  return controller.signal
}
