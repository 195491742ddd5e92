// The document as an answer, the same from a request and from a job.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from '@hono/zod-openapi'
import type { ApiContext } from './api.ts'
import { CertificateSchema } from './certificate-schema.ts'
import { Problem } from '../common/errors.ts'
import type { BlobStore, OpenedBlob } from '../store/blobs/blobs.ts'
import { askedRange, rangeWithin } from './byte-range.ts'
import { acceptedCoding, encoded } from './content-coding.ts'
import { documentHeaders, PAGES_TYPE, type DocumentInfo } from '../conversion/document-headers.ts'

const moment = z.iso.datetime().nullable()
const withMetadata = { description: 'Only with `include_metadata`.' }

const typeOfProperty = z.string().nullable().openapi({
  description:
    "The property's type, as Notion's API calls it (`number`, `multi_select`, `relation`, …); null where the export does not say.",
})
const valueOfProperty = z.unknown().openapi({
  description:
    'A number, a boolean or a text; `{ start, end }` of a date (ISO 8601, `end` null where it is no range); a list of texts of options and people; `[{ name, url }]` of files; `[{ page_id, title }]` of relations; null where there is none. Text where it cannot be read as its type.',
})

const DatabaseSchema = z.object({
  id: z.string().nullable(),
  title: z.string(),
  columns: z.array(z.object({ name: z.string(), type: typeOfProperty })),
  rows: z.array(
    z.object({
      page_id: z.string().nullable(),
      values: z.array(valueOfProperty).openapi({ description: 'In the order of `columns`.' }),
    }),
  ),
})

const PageSchema = z.object({
  id: z.string().nullable(),
  parent_id: z.string().nullable(),
  path: z.string().openapi({ description: 'The path of the page in the archive.' }),
  title: z.string(),
  icon: z.string().nullable(),
  anchor: z.string().openapi({
    description: "The address of the page's heading in the whole document, without `#`.",
  }),
  source_url: z.string().nullable().optional().openapi(withMetadata),
  exported_at: moment.optional().openapi(withMetadata),
  properties: z.record(z.string(), z.unknown()).openapi({ description: 'As text.' }),
  property_values: z
    .record(z.string(), z.object({ type: typeOfProperty, value: valueOfProperty }))
    .openapi({ description: 'The same as typed values.' }),
  markdown: z.string().openapi({ description: 'This page alone.' }),
  assets: z.array(z.object({ path: z.string(), kind: z.string(), in_archive: z.boolean() })),
  databases: z.array(DatabaseSchema).openapi({ description: 'Those that the page shows.' }),
})

const DocumentSchema = z
  .object({
    object: z.literal('document'),
    title: z.string(),
    workspace: z
      .object({ id: z.string().nullable(), name: z.string().nullable() })
      .optional()
      .openapi({ description: 'Only of an export of a whole workspace.' }),
    markdown: z.string().openapi({ description: 'The whole document.' }),
    pages: z.array(PageSchema),
    source_map: z
      .array(
        z.object({
          block_id: z.string().nullable(),
          page_id: z.string().nullable(),
          start: z.number().int(),
          end: z.number().int(),
        }),
      )
      .optional()
      .openapi({
        description:
          'Only with `source_map`: which bytes of `markdown` (UTF-8) show which block, in order and without overlaps. A block holds none of those inside it.',
      }),
    certificate: CertificateSchema.optional().openapi({ description: 'Only with `certificate`.' }),
    warnings: z.array(z.object({ code: z.string(), page: z.string(), detail: z.string() })),
  })
  .openapi('Document')

/** How the document is described in /openapi.json. */
export const documentAnswer = {
  description: 'The document',
  content: {
    'text/markdown': { schema: z.string() },
    'application/json': { schema: DocumentSchema },
    'application/jsonl': {
      schema: z.string().openapi({
        description:
          'One chunk a line: `text`, `heading_path`, `page_id`, `parent_ids`, `anchor`, `source_url`, `block_ids`, `tokens_estimated`, and `prev` and `next`, the lines of its neighbors in the same page, counted from 0.',
      }),
    },
    [PAGES_TYPE]: {
      schema: z.string().openapi({
        format: 'binary',
        description:
          'With `layout=pages`: a Markdown file for each page, the files of the export, and `.tollmark.json`, a list of all of them.',
      }),
    },
  },
}

/** How a part of the document is described. */
export const partAnswer = {
  description: 'The range of the document that was asked for',
  content: {
    'text/markdown': { schema: z.string() },
    'application/json': { schema: z.string() },
    'application/jsonl': { schema: z.string() },
    [PAGES_TYPE]: { schema: z.string().openapi({ format: 'binary' }) },
  },
}

/**
 * Answers with a whole document, compressed where the caller accepts that.
 *
 * @param tag the entity tag of its bytes as they are, without quotes; none where it cannot be asked
 *   for again
 * @param idle milliseconds after which a caller that stops reading is left
 */
export function respondWithDocument(
  c: ApiContext,
  info: DocumentInfo,
  { size, stream }: OpenedBlob,
  idle: number,
  tag?: string,
): Response {
  const isPacked = info.contentType === PAGES_TYPE
  const coding = isPacked ? null : acceptedCoding(c.req.header('accept-encoding'))
  const headers = {
    ...documentHeaders(info),
    ...(coding === null ? { 'content-length': String(size) } : { 'content-encoding': coding }),
    // Other bytes, another tag (RFC 9110, section 8.8.3.3).
    ...(tag !== undefined && {
      etag: coding === null ? `"${tag}"` : `"${tag}-${coding}"`,
      'accept-ranges': 'bytes',
    }),
  }
  const body = documentBody(c, stream, coding === null ? stream : encoded(stream, coding), idle)
  return new Response(body, { headers })
}

/** A document that is kept, and can be asked for in parts. */
export interface StoredDocument extends DocumentInfo {
  readonly blob: string
  /** As in `respondWithDocument`. */
  readonly tag: string
}

/**
 * Answers a GET of a document: with the range that was asked for (RFC 9110, section 14), else with
 * all of it. A range is one of the bytes as they are, so it is never compressed; who resumes a
 * compressed download names its tag in `If-Range`, and gets all of it.
 *
 * @throws Problem `range_not_satisfiable`
 */
export async function respondWithRange(
  c: ApiContext,
  kept: StoredDocument,
  blobs: BlobStore,
  idle: number,
): Promise<Response> {
  const condition = c.req.header('if-range')?.trim()
  const isSame = condition === undefined || condition === `"${kept.tag}"`
  const asked = c.req.method === 'GET' && isSame ? askedRange(c.req.header('range')) : null
  if (asked === null)
    return respondWithDocument(c, kept, await blobs.open(kept.blob), idle, kept.tag)
  const size = await blobs.size(kept.blob)
  const range = rangeWithin(asked, size)
  if (range === null) {
    const headers = { 'content-range': `bytes */${size}` }
    throw new Problem(
      'range_not_satisfiable',
      `The document has ${size} bytes, and none in the range that was asked for.`,
      { headers },
    )
  }
  const { stream, size: length } = await blobs.open(kept.blob, range)
  const headers = {
    ...documentHeaders(kept),
    'accept-ranges': 'bytes',
    'content-length': String(length),
    'content-range': `bytes ${range.start}-${range.end}/${size}`,
    etag: `"${kept.tag}"`,
  }
  return new Response(documentBody(c, stream, stream, idle), { status: 206, headers })
}

/** What is sent of a stored file. @param sent `stored` itself, or what is made of it */
function documentBody(
  c: ApiContext,
  stored: OpenedBlob['stream'],
  sent: OpenedBlob['stream'],
  idle: number,
): ReadableStream {
  const { outgoing } = c.env
  outgoing.setTimeout(idle)
  // Not every answer is read to its end: of HEAD not even the beginning is.
  if (outgoing.destroyed) stored.destroy()
  outgoing.once('close', () => stored.destroy())
  const pieces = async function* (): AsyncGenerator<Uint8Array, void> {
    try {
      yield* sent
    } catch {
      // Nobody shall take a part for the whole; the log says why.
      c.set('code', 'store_unavailable')
      outgoing.destroy()
    }
  }
  return ReadableStream.from(pieces())
}

/**
 * How often a caller that has closed its sending side is asked whether it still listens
 * (milliseconds).
 */
const POLL_MS = 1000

/**
 * Aborted when the caller has closed the connection before its answer was complete.
 *
 * A caller that only closes its sending side looks like one that has gone: what is sent to that one
 * comes back as a reset. So it is sent an interim answer now and then (RFC 9110, section 15.2.1),
 * which every client reads over.
 */
export function whenGone(incoming: IncomingMessage, outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController()
  const { socket } = incoming
  let asking: NodeJS.Timeout | undefined
  const ask = (): void => {
    if (outgoing.headersSent || incoming.httpVersion === '1.0') return
    asking ??= setInterval(() => {
      if (!outgoing.headersSent) outgoing.writeContinue()
    }, POLL_MS)
  }
  if (socket.readableEnded) ask()
  else socket.once('end', ask)
  outgoing.once('close', () => {
    socket.off('end', ask)
    clearInterval(asking)
    if (!outgoing.writableFinished)
      controller.abort(
        new Problem('invalid_file', 'The connection was closed before the answer was complete.'),
      )
  })
  return controller.signal
}
