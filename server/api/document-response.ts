// Responds with a document, from a request or a job alike.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from '@hono/zod-openapi'
import type { ApiContext } from './api.ts'
import { CertificateSchema } from './certificate-schema.ts'
import { Problem } from '../common/errors.ts'
import { keepProbing } from '../http1/probes.ts'
import type { BlobStore, OpenedBlob } from '../store/blobs/blobs.ts'
import { askedRange, rangeWithin } from './byte-range.ts'
import { acceptedCoding, encoded, type Coding } from './content-coding.ts'
import {
  documentHeaders,
  PAGES_TYPE,
  VARY,
  type DocumentInfo,
} from '../conversion/document-headers.ts'

const moment = z.iso.datetime().nullable()
const withMetadata = { description: 'Only with `include_metadata`.' }

const typeOfProperty = z.string().nullable().openapi({
  description:
    "The property's type, as Notion's API calls it (`number`, `multi_select`, `relation`, …); null where the export does not say.",
})
const valueOfProperty = z.unknown().openapi({
  description:
    'A number, a boolean or a string; `{ start, end }` for a date (ISO 8601; `end` is null unless it is a range); a list of strings for options and people; `[{ name, url }]` for files; `[{ page_id, title }]` for relations; null if empty. A string if it cannot be read as its type.',
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
    .openapi({ description: 'The same properties as typed values.' }),
  markdown: z.string().openapi({ description: 'The Markdown of this page alone.' }),
  assets: z.array(z.object({ path: z.string(), kind: z.string(), in_archive: z.boolean() })),
  databases: z.array(DatabaseSchema).openapi({ description: 'The databases that the page shows.' }),
})

const DocumentSchema = z
  .object({
    object: z.literal('document'),
    title: z.string(),
    workspace: z
      .object({ id: z.string().nullable(), name: z.string().nullable() })
      .optional()
      .openapi({ description: 'Only for the export of a whole workspace.' }),
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
          "Only with `source_map`: the bytes of `markdown` (UTF-8) that each block became, in order and without overlap. A block's range excludes its nested blocks.",
      }),
    certificate: CertificateSchema.optional().openapi({ description: 'Only with `certificate`.' }),
    warnings: z.array(z.object({ code: z.string(), page: z.string(), detail: z.string() })),
  })
  .openapi('Document')

/** The document's response in /openapi.json. */
export const documentResponse = {
  description: 'The document',
  content: {
    'text/markdown': { schema: z.string() },
    'application/json': { schema: DocumentSchema },
    'application/jsonl': {
      schema: z.string().openapi({
        description:
          'One chunk per line: `text`, `heading_path`, `page_id`, `parent_ids`, `anchor`, `source_url`, `block_ids`, `tokens_estimated`, and `prev` and `next`, the lines of its neighbors in the same page, counted from 0.',
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

/** The 206 response in /openapi.json. */
export const partialResponse = {
  description: 'The requested range of the document',
  content: {
    'text/markdown': { schema: z.string() },
    'application/json': { schema: z.string() },
    'application/jsonl': { schema: z.string() },
    [PAGES_TYPE]: { schema: z.string().openapi({ format: 'binary' }) },
  },
}

/** The 304 response in /openapi.json. */
export const unchangedResponse = {
  description: 'The caller already has the document: its tag is in `If-None-Match`',
}

/**
 * Responds with a whole document, compressed if the caller accepts that.
 *
 * @param tag the entity tag of the uncompressed bytes, without quotes; undefined if the document
 *   cannot be requested again
 * @param idle milliseconds after which a caller that has stopped reading is disconnected
 */
export function respondWithDocument(
  c: ApiContext,
  info: DocumentInfo,
  { size, stream }: OpenedBlob,
  idle: number,
  tag?: string,
): Response {
  const coding = codingOf(c, info)
  const headers = {
    ...documentHeaders(info),
    ...(coding === null ? { 'content-length': String(size) } : { 'content-encoding': coding }),
    ...(tag !== undefined && { etag: entityTag(tag, coding), 'accept-ranges': 'bytes' }),
  }
  const body = documentBody(c, stream, coding === null ? stream : encoded(stream, coding), idle)
  return new Response(body, { headers })
}

/** The coding in which a caller gets a document; an archive is already compressed. */
function codingOf(c: ApiContext, { contentType }: DocumentInfo): Coding | null {
  return contentType === PAGES_TYPE ? null : acceptedCoding(c.req.header('accept-encoding'))
}

/** Compressed bytes need a tag of their own (RFC 9110, section 8.8.3.3). */
function entityTag(tag: string, coding: Coding | null): string {
  return coding === null ? `"${tag}"` : `"${tag}-${coding}"`
}

/** Whether If-None-Match names an entity tag (RFC 9110, section 13.1.2). */
function isNamed(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || Array.from(header.matchAll(/"[^"]*"/g), String).includes(etag)
}

/** A stored document, which can be requested in ranges. */
export interface StoredDocument extends DocumentInfo {
  readonly blob: string
  /** As in `respondWithDocument`. */
  readonly tag: string
}

/**
 * Responds to a GET of a document with the requested range (RFC 9110, section 14), or with all of
 * it, or with none of it if the caller already has it. Ranges refer to the uncompressed bytes and
 * are sent uncompressed. A client that resumes a compressed download sends that response's tag in
 * `If-Range`, which does not match, and gets the whole document.
 *
 * @throws Problem `range_not_satisfiable`
 */
export async function respondWithRange(
  c: ApiContext,
  kept: StoredDocument,
  blobs: BlobStore,
  idle: number,
): Promise<Response> {
  const etag = entityTag(kept.tag, codingOf(c, kept))
  if (isNamed(c.req.header('if-none-match'), etag))
    return new Response(null, { status: 304, headers: { etag, vary: VARY } })
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
      `The document has ${size} bytes, and the requested range contains none of them.`,
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

/** A response body from a stored file. @param sent `stored` itself, or a stream made from it */
function documentBody(
  c: ApiContext,
  stored: OpenedBlob['stream'],
  sent: OpenedBlob['stream'],
  idle: number,
): ReadableStream {
  const { outgoing } = c.env
  outgoing.setTimeout(idle)
  // A response may be cut short, and HEAD reads none of it.
  if (outgoing.destroyed) stored.destroy()
  outgoing.once('close', () => stored.destroy())
  const pieces = async function* (): AsyncGenerator<Uint8Array, void> {
    try {
      yield* sent
    } catch {
      // Reset, so that the client does not take a part for the whole; the log says why.
      c.set('code', 'store_unavailable')
      outgoing.destroy()
    }
  }
  return ReadableStream.from(pieces())
}

/** How long a half-closed connection waits for its response undisturbed (milliseconds). */
const PATIENCE_MS = 250

/**
 * Aborted when the caller closes the connection before the response is complete.
 *
 * A caller that only closed its sending side looks like one that has disconnected, so it is probed.
 */
export function whenGone(incoming: IncomingMessage, outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController()
  const { socket } = incoming
  let stop: (() => void) | undefined
  let waiting: NodeJS.Timeout | undefined
  const probe = (): void => {
    if (!outgoing.headersSent && outgoing.socket !== null) outgoing.writeContinue()
  }
  const ask = (): void => {
    if (outgoing.headersSent || incoming.httpVersion === '1.0') return
    waiting ??= setTimeout(() => (stop = keepProbing(probe)), PATIENCE_MS)
  }
  if (socket.readableEnded) ask()
  else socket.once('end', ask)
  outgoing.once('close', () => {
    socket.off('end', ask)
    clearTimeout(waiting)
    stop?.()
    if (!outgoing.writableFinished)
      controller.abort(
        new Problem('invalid_file', 'The connection was closed before the response was complete.'),
      )
  })
  return controller.signal
}
