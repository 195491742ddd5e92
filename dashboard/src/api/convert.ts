// Conversions: uploads with progress, and the account's jobs.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import * as z from 'zod/mini'
import { ApiError, call, parse, errorFromResponse, send, unreachableError } from './http.ts'
import { useChange, usePages } from './queries.ts'
import { Job } from './shapes.ts'

/** What the conversion form sets besides the file. */
export interface ConvertOptions {
  format: 'markdown' | 'json'
  include_metadata: boolean
  layout: 'document' | 'pages'
  /** The program that will read the pages. */
  flavor: 'gfm' | 'obsidian' | 'docusaurus'
}

/** The summary of a certificate. */
export interface Certified {
  words: number
  tables: number
  differences: number
}

/**
 * The result of an upload: a document, a folder of pages as an archive, or a job for a large one.
 */
export type Converted =
  | {
      kind: 'document'
      name: string
      format: ConvertOptions['format']
      text: string
      certified: Certified | null
    }
  | { kind: 'pages'; name: string; archive: Blob; certified: Certified | null }
  | { kind: 'job'; job: Job }

/**
 * Uploads a file. Uses XMLHttpRequest, because `fetch` reports no upload progress.
 *
 * @param progress called with the fraction of the file sent, from 0 to 1
 * @throws Refused
 */
function convert(
  file: File,
  { format, include_metadata, layout, flavor }: ConvertOptions,
  idempotencyKey: string,
  progress: (fraction: number) => void,
  signal: AbortSignal,
): Promise<Converted> {
  const form = new FormData()
  form.set('format', format)
  form.set('include_metadata', String(include_metadata))
  form.set('certificate', 'true')
  if (layout === 'pages') {
    form.set('layout', layout)
    form.set('flavor', flavor)
  }
  form.set('file', file, file.name)
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', '/api/v1/convert')
    request.setRequestHeader('idempotency-key', idempotencyKey)
    request.responseType = 'blob'
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      progress(total === 0 ? 0 : loaded / total),
    )
    request.addEventListener('error', () => reject(unreachableError()))
    request.addEventListener('abort', () => reject(new DOMException('canceled', 'AbortError')))
    request.addEventListener('load', () => {
      read(request, file.name, { format, layout }).then(resolve, reject)
    })
    signal.addEventListener('abort', () => request.abort())
    request.send(form)
  })
}

async function read(
  request: XMLHttpRequest,
  name: string,
  { format, layout }: Pick<ConvertOptions, 'format' | 'layout'>,
): Promise<Converted> {
  const body: unknown = request.response
  if (!(body instanceof Blob)) throw unreachableError()
  const certified = readCertified(request.getResponseHeader('x-tollmark-certificate'))
  if (request.status === 200 && layout === 'pages')
    return { kind: 'pages', name, archive: body, certified }
  const text = await body.text()
  if (request.status === 200) return { kind: 'document', name, format, text, certified }
  if (request.status === 202) return { kind: 'job', job: parse(Job, JSON.parse(text)) }
  throw errorFromResponse(request.status, text, request.getResponseHeader('retry-after'))
}

/** `words=12480, tables=312, differences=0`. */
function readCertified(header: string | null): Certified | null {
  const found = /^words=(\d+), tables=(\d+), differences=(\d+)$/.exec(header ?? '')
  if (!found) return null
  const [words = 0, tables = 0, differences = 0] = found.slice(1).map(Number)
  return { words, tables, differences }
}

/** The certificate summary of a job. */
export const certifiedOf = ({ certificate }: Job): Certified | null =>
  certificate === undefined
    ? null
    : {
        words: certificate.in.words,
        tables: certificate.in.blocks.tables,
        differences: certificate.differences.length,
      }

const Limits = z.object({
  html_bytes: z.number(),
  zip_bytes: z.number(),
  archive_entries: z.number(),
  page_bytes: z.number(),
  pages_bytes: z.number(),
  parts_bytes: z.number(),
  async_above_bytes: z.number(),
  result_retention_seconds: z.number(),
})

/** The conversion limits of this server. */
export function useLimits() {
  return useQuery({
    queryKey: ['limits'],
    queryFn: ({ signal }) => call(Limits, '/api/v1/limits', { signal }),
    staleTime: Infinity,
  })
}

/**
 * A new Idempotency-Key, which identifies an upload across retries. Works without TLS, too, where
 * `crypto.randomUUID` does not exist.
 */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}

const JOBS = ['jobs'] as const
/** Milliseconds between two polls of unfinished jobs. */
const POLL_MS = 4000

/** Lists the account's jobs, page by page, and refetches while one is unfinished. */
export const useJobs = () =>
  usePages({
    key: [...JOBS, 'list'],
    item: Job,
    path: '/api/v1/jobs',
    query: { limit: 20 },
    refetchMs: (jobs) => jobs.some(isUnfinished) && POLL_MS,
  })

/** Whether a job is queued or running. */
export const isUnfinished = ({ status }: Job): boolean =>
  status === 'queued' || status === 'running'

/** One job, updated by server-sent events, or by polling if those fail. */
export function useJob(id: string) {
  const client = useQueryClient()
  const key = [...JOBS, id]
  const [told, setTold] = useState(true)
  const job = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => call(Job, `/api/v1/jobs/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: ({ state }) =>
      !told && state.data !== undefined && isUnfinished(state.data) && POLL_MS,
  })
  const live = job.data !== undefined && isUnfinished(job.data)
  useEffect(() => {
    if (!live) return
    const events = new EventSource(`/api/v1/jobs/${encodeURIComponent(id)}/events`)
    // The browser reopens a broken stream, but not a refused one.
    events.addEventListener(
      'error',
      () => events.readyState === EventSource.CLOSED && setTold(false),
    )
    events.addEventListener('job', ({ data }: MessageEvent<string>) => {
      const next = Job.safeParse(JSON.parse(data))
      if (!next.success) return
      client.setQueryData(key, next.data)
      if (!isUnfinished(next.data)) {
        events.close()
        void client.invalidateQueries({ queryKey: [...JOBS, 'list'] })
      }
    })
    return () => events.close()
  }, [client, id, live])
  return job
}

/** Cancels a job, or deletes a finished one. */
export const useDeleteJob = () =>
  useChange(JOBS, (id: string) =>
    send(`/api/v1/jobs/${encodeURIComponent(id)}`, { method: 'DELETE' }),
  )

/** Largest result that the page displays; a larger one can only be downloaded. */
const MAX_SHOWN_CHARS = 8 * 1024 * 1024

/** The URL of a job's document. */
export const resultUrl = (id: string): string => `/api/v1/jobs/${encodeURIComponent(id)}/result`

/**
 * The text of a body, or null if it is too long. A compressed response does not tell its length in
 * advance.
 */
async function readTextUpTo(
  body: ReadableStream<Uint8Array>,
  maxChars: number,
): Promise<string | null> {
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  for (const reader = body.getReader(); ;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.length
    if (bytes > maxChars) {
      await reader.cancel()
      return null
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** A job's document, or null if it is too large to display. */
export function useResult(job: Job) {
  return useQuery({
    queryKey: [...JOBS, job.id, 'result'],
    // An archive can only be downloaded.
    enabled: job.status === 'succeeded' && job.layout !== 'pages',
    staleTime: Infinity,
    gcTime: 60_000,
    queryFn: async ({ signal }) => {
      const response = await send(resultUrl(job.id), { signal })
      return response.body === null ? '' : readTextUpTo(response.body, MAX_SHOWN_CHARS)
    },
  })
}

/** Runs one upload at a time and reports its progress. */
export function useConversion() {
  const client = useQueryClient()
  const [fraction, setPart] = useState(0)
  const [control, setControl] = useState<AbortController | null>(null)
  const mutation = useMutation({
    mutationFn: ({ file, options, key }: { file: File; options: ConvertOptions; key: string }) => {
      const control = new AbortController()
      setControl(control)
      setPart(0)
      return convert(file, options, key, setPart, control.signal)
    },
    // With the same Idempotency-Key, a retry after a broken connection gets the same response and
    // costs no second conversion.
    retry: (failures, error) =>
      failures < 2 && error instanceof ApiError && error.code === 'unreachable',
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: JOBS }),
        client.invalidateQueries({ queryKey: ['session'] }),
      ]),
  })
  return { ...mutation, part: fraction, cancel: () => control?.abort() }
}
