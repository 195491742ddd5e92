// Two ways to make the document: on this machine, or by a running server.
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
import type { DocumentFormat } from '../../conversion/upload/receive-upload.ts'
import { Problem, SetupError } from '../../common/errors.ts'
import type { ApiClient } from '../client.ts'
import { Row } from '../record.ts'
import type { PreparedInput } from './inputs.ts'

/** What is wanted of a file. */
export interface ConversionRequest extends PreparedInput {
  readonly format: DocumentFormat
  readonly includeMetadata: boolean
  /** A folder that may be used; the caller removes it. */
  readonly scratch: string
  /** Where the document is written. */
  readonly document: string
  /** Where the source map is written; undefined for none. */
  readonly sourceMapPath?: string
  /** Where the certificate is written; undefined for nowhere. */
  readonly certificatePath?: string
  /** What becomes of the pages. Default: one document. */
  readonly layout?: 'document' | 'pages'
  /** The program that pages are for. Default: GFM. */
  readonly flavor?: Flavor
}

type ConversionOptions = { signal: AbortSignal; onProgress: (progress: ConversionProgress) => void }

/**
 * Makes a document.
 *
 * @throws SetupError, Refusal where the file is at fault
 */
export type Converter = (request: ConversionRequest, options: ConversionOptions) => Promise<Outcome>

/** The ways to make a document, and what names what a folder is made of. */
export interface Engine {
  readonly convert: Converter
  /** The key of a folder of pages (`exportKey`); null where there is none. */
  readonly keyOf: (input: PreparedInput, flavor: Flavor, mode: string) => Promise<string | null>
}

/** What a conversion came to: pages that could not be converted, and warnings about the whole file. */
export interface Outcome {
  readonly failed: number
  readonly notices: readonly string[]
  readonly certificate?: Certificate
}

/** One conversion at a time, on all cores, as long and with as much memory as it takes. */
const POOL_LIMITS = {
  atOnce: availableParallelism(),
  deadline: 2 ** 31 - 1,
  heap: 4 * 2 ** 30,
  warm: false,
}

/** Works on this machine. @param maxPage bytes of the largest page of an archive */
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
      // Hashed here, beside the converters.
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
      // Those sentences are for somebody who uploads a file.
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

/** Has a server do it. Which converter that has, nobody knows, so folders have no key. */
export const remoteEngine = (client: ApiClient): Engine => ({
  convert: convertRemotely(client),
  keyOf: () => Promise.resolve(null),
})

/** Converts by the API of a server, large archives in the background. */
function convertRemotely(client: ApiClient): Converter {
  return async (request, { signal, onProgress }) => {
    const { path, fileName, format, includeMetadata, document } = request
    const { sourceMapPath, certificatePath } = request
    const { layout, flavor } = request
    const form = new FormData()
    form.set('format', format)
    form.set('include_metadata', String(includeMetadata))
    if (sourceMapPath !== undefined) form.set('source_map', 'true')
    if (certificatePath !== undefined) form.set('certificate', 'true')
    if (layout !== undefined) form.set('layout', layout)
    if (flavor !== undefined) form.set('flavor', flavor)
    form.set('file', await openAsBlob(path), fileName)
    const answer = await client.send('POST', 'convert', {}, { body: form, signal })
    const done =
      answer.status === 202
        ? await waitForJob(client, new Row(await answer.json()), signal, onProgress)
        : answer
    await pipeline(done.body ?? [], createWriteStream(document, { mode: 0o600 }), { signal })
    if (sourceMapPath !== undefined) await takeField(document, 'source_map', sourceMapPath)
    if (certificatePath !== undefined) await takeField(document, 'certificate', certificatePath)
    return { failed: Number(done.headers.get('x-tollmark-failed-pages') ?? 0), notices: [] }
  }
}

/** Moves a field out of a JSON document into a file of its own. */
async function takeField(document: string, name: string, path: string): Promise<void> {
  const fields = Object.entries(new Row(JSON.parse(await readFile(document, 'utf8'))).json)
  const [, value] = fields.find(([field]) => field === name) ?? []
  await writeFile(path, `${JSON.stringify(value ?? null)}\n`, { mode: 0o600 })
  const rest = Object.fromEntries(fields.filter(([field]) => field !== name))
  await writeFile(document, `${JSON.stringify(rest)}\n`)
}

/** Milliseconds between two looks at a job. */
const POLL_MS = 500

/**
 * Waits for a job; an interrupted one is canceled. @returns its document @throws Refusal where it
 * fails
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
