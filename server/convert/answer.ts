// The document as an answer, the same from a request and from a job.
import type { ServerResponse } from 'node:http'
import { z } from '@hono/zod-openapi'
import type { ApiContext } from '../api.ts'
import { Problem } from '../errors.ts'
import type { OpenedBlob } from '../store/blobs/blobs.ts'
import type { Format } from './upload.ts'

/** TABLE of the documents' content types. */
export const CONTENT_TYPES = { markdown: 'text/markdown; charset=utf-8', json: 'application/json' } as const satisfies Record<Format, string>

const moment = z.iso.datetime().nullable()
const withMetadata = { description: 'Only with `include_metadata`.' }

const PageSchema = z.object({
  id: z.string().nullable(),
  parent_id: z.string().nullable(),
  path: z.string().openapi({ description: 'Where the page lies in the archive.' }),
  title: z.string(),
  icon: z.string().nullable(),
  anchor: z.string().openapi({ description: "The address of the page's heading in the whole document, without `#`." }),
  source_url: z.string().nullable().optional().openapi(withMetadata),
  exported_at: moment.optional().openapi(withMetadata),
  properties: z.record(z.string(), z.unknown()),
  markdown: z.string().openapi({ description: 'This page alone.' }),
  assets: z.array(z.object({ path: z.string(), kind: z.string(), in_archive: z.boolean() })),
})

const DocumentSchema = z
  .object({
    object: z.literal('document'),
    title: z.string(),
    workspace: z.object({ id: z.string().nullable(), name: z.string().nullable() }).optional().openapi({ description: 'Only of an export of a whole workspace.' }),
    markdown: z.string().openapi({ description: 'The whole document.' }),
    pages: z.array(PageSchema),
    warnings: z.array(z.object({ code: z.string(), page: z.string(), detail: z.string() })),
  })
  .openapi('Document')

/** How the document is described in /openapi.json. */
export const documentAnswer = {
  description: 'The document',
  content: { 'text/markdown': { schema: z.string() }, 'application/json': { schema: DocumentSchema } },
}

/** The document as it lies in the store. A caller that stops reading it is left after `idle` milliseconds. */
export function answerFrom(c: ApiContext, contentType: string, { size, stream }: OpenedBlob, idle: number): Response {
  const { outgoing } = c.env
  outgoing.setTimeout(idle)
  // Not every answer is read to its end: of HEAD not even the beginning is.
  if (outgoing.destroyed) stream.destroy()
  outgoing.once('close', () => stream.destroy())
  const pieces = async function* (): AsyncGenerator<Uint8Array, void> {
    try {
      yield* stream
    } catch {
      // Nobody shall take a part for the whole; the log says why.
      c.set('code', 'store_unavailable')
      outgoing.destroy()
    }
  }
  return new Response(ReadableStream.from(pieces()), { headers: { 'content-type': contentType, 'content-length': String(size) } })
}

/** Aborted when the caller has closed the connection before its answer was complete. */
export function whenGone(outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) controller.abort(new Problem('invalid_file', 'The connection was closed before the answer was complete.'))
  })
  return controller.signal
}
