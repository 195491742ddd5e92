// The two engines: convert on this machine, or on a running server.
import { createWriteStream, openAsBlob } from 'node:fs'
import { availableParallelism } from 'node:os'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import {
  InvalidArchive,
  OWN_LIMITS,
  exportKey,
  hashFile,
  type Certificate,
  type Flavor,
} from '@tollmark/notion-markdown/archive'
import { runConversion } from '../../conversion/run-conversion.ts'
import { openConverterPool } from '../../conversion/pool/converter-pool.ts'
import {
  runStep,
  type ConversionProgress,
  type ConversionTask,
} from '../../conversion/pool/conversion-step.ts'
import type { DocumentFormat } from '../../conversion/upload/upload-options.ts'
import { Problem, SetupError } from '../../common/errors.ts'
import type { ApiClient } from '../client.ts'
import { Row } from '../record.ts'
import type { PreparedInput } from './inputs.ts'

/** A file to convert, and how. */
export interface ConversionRequest extends PreparedInput {
  readonly format: DocumentFormat
  readonly includeMetadata: boolean
  /** A folder for temporary files; the caller removes it. */
  readonly scratch: string
  /** Path of the document. */
  readonly document: string
  /** Whether the JSON document has a source map. */
  readonly sourceMap?: boolean
  /** Path of the source map, if it is a file of its own. */
  readonly sourceMapPath?: string
  /** Path of the certificate; undefined for none. */
  readonly certificatePath?: string
  /** One document (default), or a folder of pages. */
  readonly layout?: 'document' | 'pages'
  /** The program that will read the pages. Default: GFM. */
  readonly flavor?: Flavor
}

type ConversionOptions = { signal: AbortSignal; onProgress: (progress: ConversionProgress) => void }

/**
 * Makes a document.
 *
 * @throws SetupError, ApiError if the file cannot be converted
 */
export type Converter = (request: ConversionRequest, options: ConversionOptions) => Promise<Outcome>

/** Makes documents, and keys for folders of pages. */
export interface Engine {
  readonly convert: Converter
  /** The key of a folder of pages (`exportKey`); null if the engine has none. */
  readonly keyOf: (input: PreparedInput, flavor: Flavor, mode: string) => Promise<string | null>
}

/**
 * The result of a conversion: pages that could not be converted, and notices about the whole file.
 */
export interface Outcome {
  readonly failed: number
  readonly notices: readonly string[]
  readonly certificate?: Certificate
}

/** One conversion at a time, on all cores, without the server's limits on time and memory. */
const POOL_LIMITS = {
  atOnce: availableParallelism(),
  deadline: 2 ** 31 - 1,
  heap: 4 * 2 ** 30,
  warm: false,
}

/** Converts on this machine. @param maxPage largest page of an archive, in bytes */
export const localEngine = (maxPage: number): Engine => ({
  convert: convertLocally(maxPage),
  keyOf: async ({ path, kind }, flavor, mode) =>
    kind === 'zip' ? exportKey(path, { flavor, mode, limits: limitsFor(maxPage) }) : null,
})

const limitsFor = (maxPage: number) => ({ ...OWN_LIMITS, pageBytes: maxPage })

const convertLocally =
  (maxPage: number): Converter =>
  async ({ document, scratch, certificatePath, ...request }, options) => {
    const task = {
      ...request,
      certificate: true,
      inputSha256: null,
      scratch: join(scratch, 'work'),
      output: document,
      uploadedAt: Date.now(),
      limits: limitsFor(maxPage),
    }
    try {
      // Hash on this thread while the converters work.
      const hash = certificatePath === undefined ? null : hashFile(task.path)
      hash?.catch(() => {})
      const outcome = await convertTask(task, options)
      if (certificatePath !== undefined) {
        const certificate = { ...outcome.certificate, input_sha256: await hash }
        await writeFile(certificatePath, `${JSON.stringify(certificate, null, 2)}\n`, {
          mode: 0o600,
        })
      }
      return outcome
    } catch (error) {
      if (!(error instanceof Problem || error instanceof InvalidArchive)) throw error
      // The server's sentences speak of an upload.
      const sentence = error.detail
        .replaceAll(/\bUpload\b/g, 'Convert')
        .replaceAll(/\bupload\b/g, 'convert')
      throw new SetupError(sentence, { cause: error })
    }
  }

async function convertTask(task: ConversionTask, options: ConversionOptions): Promise<Outcome> {
  if (task.kind === 'html')
    return (await runStep(task, { whole: true })) ?? { failed: 0, notices: [] }
  await using converterPool = openConverterPool(POOL_LIMITS)
  return await runConversion(task, converterPool, options)
}

/**
 * Converts on a server. Folders have no key, because the server's converter version is unknown.
 */
export const remoteEngine = (client: ApiClient): Engine => ({
  convert: convertRemotely(client),
  keyOf: () => Promise.resolve(null),
})

/** Converts through a server's API, large archives as jobs. */
function convertRemotely(client: ApiClient): Converter {
  return async (request, { signal, onProgress }) => {
    const { path, fileName, format, includeMetadata, document } = request
    const { sourceMap, sourceMapPath, certificatePath } = request
    const { layout, flavor } = request
    const form = new FormData()
    form.set('format', format)
    form.set('include_metadata', String(includeMetadata))
    if (sourceMap === true || sourceMapPath !== undefined) form.set('source_map', 'true')
    if (certificatePath !== undefined) form.set('certificate', 'true')
    if (layout !== undefined) form.set('layout', layout)
    if (flavor !== undefined) form.set('flavor', flavor)
    form.set('file', await openAsBlob(path), fileName)
    const response = await client.send('POST', 'convert', {}, { body: form, signal })
    const done =
      response.status === 202
        ? await waitForJob(client, new Row(await response.json()), signal, onProgress)
        : response
    await pipeline(done.body ?? [], createWriteStream(document, { mode: 0o600 }), { signal })
    if (sourceMapPath !== undefined) await takeField(document, 'source_map', sourceMapPath)
    if (certificatePath !== undefined) await takeField(document, 'certificate', certificatePath)
    return { failed: Number(done.headers.get('x-tollmark-failed-pages') ?? 0), notices: [] }
  }
}

/** Moves a field of a JSON document to its own file. */
async function takeField(document: string, name: string, path: string): Promise<void> {
  const fields = Object.entries(new Row(JSON.parse(await readFile(document, 'utf8'))).json)
  const [, value] = fields.find(([field]) => field === name) ?? []
  await writeFile(path, `${JSON.stringify(value ?? null)}\n`, { mode: 0o600 })
  const rest = Object.fromEntries(fields.filter(([field]) => field !== name))
  await writeFile(document, `${JSON.stringify(rest)}\n`)
}

/** Milliseconds between two polls of a job. */
const POLL_MS = 500

/**
 * Waits for a job, and cancels it if interrupted.
 *
 * @returns its document
 * @throws ApiError if it fails
 */
async function waitForJob(
  client: ApiClient,
  accepted: Row,
  signal: AbortSignal,
  onProgress: ConversionOptions['onProgress'],
): Promise<Response> {
  const path = `jobs/${encodeURIComponent(accepted.text('id'))}` as const
  try {
    for (
      let job = accepted;
      ['queued', 'running'].includes(job.text('status'));
      job = await client.get(path)
    ) {
      const progress = job.row('progress')
      onProgress({
        pagesDone: Number(progress.text('pages_done')),
        pagesTotal: Number(progress.text('pages_total')),
      })
      await wait(POLL_MS, undefined, { signal })
    }
  } catch (error) {
    if (signal.aborted) await client.delete(path).catch(() => {})
    throw error
  }
  return client.send('GET', `${path}/result`, {}, { signal })
}
