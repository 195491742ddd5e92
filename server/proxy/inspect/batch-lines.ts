// Reads the lines of a batch while they are uploaded (JSON lines as a form's file, or as the whole
// body), to find the objects that they name. They are forwarded as they arrive. A file that was not
// read completely, has too many strings that could be ids, or could be read differently by two
// servers cannot start a batch. Strings are only stored when a piece arrives; they are looked up
// after the upload, in slices.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { valuesOf } from '../../http1/header-fields.ts'
import { parseJson, wantPaths } from '../json/paths.ts'
import { JsonScanner, type JsonSink } from '../json/scanner.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import { BatchUrls } from './batch-urls.ts'
import { Findings } from './findings.ts'
import { boundaryOf } from './boundaries.ts'
import { MultipartReader, type Form } from './multipart.ts'
import { type PartHead } from './part-heads.ts'
import { STRINGS_PER_STEP } from './inspection.ts'
import { MAX_IDS, compilePaths } from './places.ts'

const NO_PLACES = compilePaths({ required: [] })
/** A line's model matters if it may belong to a key. */
const LINE_MODEL = compilePaths({ required: ['body.model'] })
/** The address that a line calls: platform.openai.com/docs/guides/batch */
const CALLED = ['url', 'method']
const LINE = wantPaths(CALLED)
const LINE_WITH_MODEL = wantPaths([...CALLED, 'body.model'])
const PURPOSE: ReadonlySet<string> = new Set(['purpose'])

/**
 * Uploads that may become a batch's input, by kind: the field with the lines, and whether a field
 * may give the purpose, which then is `batch` (xAI's uploads have none).
 */
const INPUTS = {
  file: { field: 'file', hasPurpose: true },
  // docs.cohere.com/reference/create-dataset: the query gives the purpose.
  dataset: { field: 'data', hasPurpose: false },
} as const

/** The kinds of batch inputs: TABLE INPUTS. */
export type InputKind = keyof typeof INPUTS

/** The kind of batch input that an upload creates; null if it creates none. */
export const inputKindOf = (made: readonly string[]): InputKind | null =>
  made.includes('file') ? 'file' : made.includes('dataset') ? 'dataset' : null

/** Reads the lines of one upload. One per request. */
export class BatchLines {
  readonly #findings: Findings
  readonly #urls: BatchUrls
  readonly #scanner: JsonScanner
  readonly #form: MultipartReader | null
  readonly #length: number | null
  readonly #kind: InputKind
  #bytes = 0
  #files = 0
  #parts = 0
  #ended = false

  /** @param form null if the whole body is the file */
  private constructor(
    form: string | null,
    length: number | null,
    provider: Provider,
    kind: InputKind,
  ) {
    const { ids } = provider
    this.#kind = kind
    const places = ids?.models === undefined ? NO_PLACES : LINE_MODEL
    this.#findings = new Findings(places, false, ids)
    this.#urls = new BatchUrls(provider)
    const strings = this.#findings.strings()
    this.#scanner = new JsonScanner(
      places === NO_PLACES ? LINE : LINE_WITH_MODEL,
      lineSink(this.#findings, this.#urls),
      { strict: true, many: true, ...(strings === undefined ? {} : { strings }) },
    )
    this.#length = length
    let inFile = false
    const part = ({ name, encoding }: PartHead): void => {
      inFile = name === INPUTS[kind].field
      this.#parts++
      if (inFile) this.#files += encoding === '' ? 1 : 2
    }
    const content = (piece: Buffer): void => {
      if (inFile) this.#scanner.write(piece)
    }
    this.#form =
      form === null ? null : new MultipartReader(form, PURPOSE, { part, content, end() {} })
  }

  /** A reader for an upload with these headers; null if it could not be read reliably. */
  static of(
    headers: readonly string[],
    length: number | null,
    provider: Provider,
    kind: InputKind = 'file',
  ): BatchLines | null {
    const types = valuesOf(headers, 'content-type')
    if (
      types.length > 1 ||
      valuesOf(headers, 'content-encoding').some((encoding) => encoding !== 'identity')
    )
      return null
    const [type = ''] = types
    if (/^multipart\//i.test(type)) {
      const boundary = boundaryOf(type)
      return boundary === null ? null : new BatchLines(boundary, length, provider, kind)
    }
    // Only an upload whose only part is the whole file: https://ai.google.dev/api/files
    const [command = 'finalize'] = valuesOf(headers, 'x-goog-upload-command')
    const [offset = '0'] = valuesOf(headers, 'x-goog-upload-offset')
    return /\bfinalize\b/i.test(command) && offset.trim() === '0'
      ? new BatchLines(null, length, provider, kind)
      : null
  }

  write(piece: Buffer): void {
    this.#bytes += piece.length
    if (this.#form === null) this.#scanner.write(piece)
    else this.#form.write(piece)
  }

  /** The body is complete. */
  end(): void {
    this.#ended = true
  }

  /**
   * The objects that the lines name; null if they were not all read, are not JSON lines, or call an
   * endpoint that is not known to run a model. Called once, when the provider responds.
   */
  async named(): Promise<readonly ObjectRef[] | null> {
    if (!this.#ended && this.#bytes !== this.#length) return null
    const form = this.#form?.end()
    if (
      form !== undefined &&
      (form.problem !== null || this.#files !== 1 || !this.#isForBatch(form))
    )
      return null
    this.#scanner.end()
    if (!this.#scanner.complete) return null
    const [findings, urls] = [this.#findings, this.#urls]
    if (urls.isRefused) return null
    while (!findings.settle(STRINGS_PER_STEP)) await nextTurn()
    return findings.unclear || findings.mentioned.length > MAX_IDS
      ? null
      : findings.mentioned.concat(urls.objects)
  }

  #isForBatch({ fields }: Form): boolean {
    return INPUTS[this.#kind].hasPurpose
      ? fields.length === 0 || (fields.length === 1 && fields[0]?.value === 'batch')
      : this.#parts === 1
  }
}

/** Receives a line's values: its address and method, and everything else. */
function lineSink(findings: Findings, urls: BatchUrls): JsonSink {
  return {
    value: (path, raw) => {
      if (!CALLED.includes(path)) return findings.value(path, raw)
      const value = raw === null ? undefined : parseJson(raw.toString('utf8'))
      if (path === 'url') urls.take(value)
      else urls.takeMethod(value)
    },
    // The same bytes have just been decided.
    again: (path) => {
      if (!CALLED.includes(path)) findings.again(path)
    },
    oddity: (kind, path) => {
      // A line that is not an object cannot be interpreted.
      if (path === '' || CALLED.includes(path)) urls.isRefused = true
      else findings.oddity(kind, path)
    },
  }
}
