// Reads pages for a certificate: in another thread, or in this one if starting a thread would cost
// more, or would take a core from another converter.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { PageReader, type NumberedReading, type ReaderSetup } from './page-reader.ts'

/** A page of an export, as bytes and as text. */
export interface ExportedPage {
  /** Its path in the archive. */
  readonly path: string
  /** The reader takes ownership; the caller must not use them afterwards. */
  readonly bytes: Uint8Array
  readonly text: string
}

/**
 * Reads pages for a certificate: each one of the export, then the Markdown it was converted to. Its
 * result must be awaited before the next page is passed.
 */
export interface CertificateReader extends AsyncDisposable {
  exported(page: ExportedPage): void | Promise<void>
  /**
   * @param page its index in the export
   * @param markdown with its links still marked
   */
  converted(page: number, markdown: string): void | Promise<void>
  /** @returns the SHA-256 of the export's file, hexadecimal; null if it is not requested */
  finish(): Promise<string | null>
}

/** The input of a thread. Bytes are transferred, not copied. */
type PageToRead =
  | { readonly path: string; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly number: number; readonly markdown: string }

/** A message to the thread. */
export type ReaderMessage = ReaderSetup | { readonly pages: readonly PageToRead[] } | 'finish'

/** A message from the thread: the number of bytes read, and the readings; at the end, the hash. */
export type ReaderReport =
  | { readonly read: number; readonly readings: readonly NumberedReading[] }
  | { readonly sha256: string | null }

/** Receives the readings of pages, in any order, and all of them before `finish` resolves. */
export type OnReading = (...reading: NumberedReading) => void

/**
 * From this many bytes of pages, a thread is worth starting: that takes 60 ms, in parallel with a
 * conversion that takes as long (bench -- certificate).
 */
const MIN_THREAD_BYTES = 4 * 1024 * 1024
/** From this many bytes, pages are sent to a thread that is already running. */
const MIN_IDLE_BYTES = 256 * 1024
/**
 * Bytes of pages that are sent together: each message wakes the thread, which costs 0.1 ms. Batches
 * are smaller towards the end, because the conversion waits for the last.
 */
const BATCH_BYTES = 64 * 1024
const MAX_BATCH_BYTES = 1024 * 1024
/** Bytes that may wait for the thread before the conversion waits, too. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024
/**
 * Opens a reader.
 *
 * @param work `size`: the number of bytes to read; `busy`: the number of processes that convert the
 *   export, this one included
 */
export function openReader(
  setup: ReaderSetup,
  { size, busy }: { size: number; busy: number },
  onReading: OnReading = () => {},
): CertificateReader {
  const hasCore = busy < availableParallelism()
  const minimum = idle === null ? MIN_THREAD_BYTES : MIN_IDLE_BYTES
  return hasCore && size >= minimum
    ? new ReaderThread(setup, size, onReading)
    : readHere(setup, onReading)
}

function readHere(setup: ReaderSetup, onReading: OnReading): CertificateReader {
  const reader = new PageReader(setup)
  return {
    exported: ({ text, path }) => reader.exported(text, path),
    converted: (page, markdown) => onReading(...reader.converted(page, markdown)),
    finish: () => reader.finish(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

/** Bytes by which zlib's buffers may be longer than their content. */
const SLACK_BYTES = 64

/** Bytes in a buffer of their own: small ones are in a shared buffer. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength <= byteLength + SLACK_BYTES
    ? new Uint8Array(buffer, byteOffset, byteLength)
    : new Uint8Array(bytes)
}

class ReaderThread implements CertificateReader {
  readonly #worker: Worker
  readonly #result: Promise<string | null>
  #resolve: (sha256: string | null) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #batch: PageToRead[] = []
  #batched = 0
  #waiting = 0
  /** Number of bytes still to come. */
  #left: number
  #isOver = false
  #onSpace: (() => void) | null = null
  readonly #onReading: OnReading

  /** @param size the approximate number of bytes to read */
  constructor(setup: ReaderSetup, size: number, onReading: OnReading) {
    this.#left = size
    this.#onReading = onReading
    this.#worker = takeIdle() ?? startThread()
    this.#result = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // A caller that waits for space learns of a failure from `finish`.
    this.#result
      .finally(() => {
        this.#isOver = true
        this.#onSpace?.()
      })
      .catch(() => {})
    this.#worker
      .on('error', this.#reject)
      .on('exit', this.#onExit)
      .on('message', this.#onReport)
      .postMessage(setup satisfies ReaderMessage)
  }

  exported({ path, bytes }: ExportedPage): void | Promise<void> {
    this.#left -= bytes.byteLength
    return this.#send({ path, bytes: ownBytes(bytes) }, bytes.byteLength)
  }

  converted(number: number, markdown: string): void | Promise<void> {
    return this.#send({ number, markdown }, markdown.length)
  }

  finish(): Promise<string | null> {
    this.#flush()
    this.#worker.postMessage('finish' satisfies ReaderMessage)
    return this.#result
  }

  /** Leaves the thread to the next conversion, if it has nothing more to read. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#worker.off('error', this.#reject).off('exit', this.#onExit).off('message', this.#onReport)
    if (this.#isOver && idle === null) keepIdle(this.#worker)
    else await this.#worker.terminate()
    this.#onExit()
  }

  readonly #onExit = (): void =>
    this.#reject(new Error('the thread that reads for a certificate has ended'))

  readonly #onReport = (report: ReaderReport): void => {
    if ('sha256' in report) return this.#resolve(report.sha256)
    this.#waiting -= report.read
    for (const reading of report.readings) this.#onReading(...reading)
    if (this.#waiting <= MAX_WAITING_BYTES) this.#onSpace?.()
  }

  #send(page: PageToRead, size: number): void | Promise<void> {
    this.#batch.push(page)
    this.#batched += size
    if (this.#batched < Math.max(BATCH_BYTES, Math.min(MAX_BATCH_BYTES, this.#left / 4)))
      return undefined
    this.#flush()
    if (this.#waiting <= MAX_WAITING_BYTES || this.#isOver) return undefined
    return new Promise((resolve) => (this.#onSpace = resolve))
  }

  #flush(): void {
    const pages = this.#batch
    this.#waiting += this.#batched
    this.#batch = []
    this.#batched = 0
    this.#worker.postMessage(
      { pages } satisfies ReaderMessage,
      pages.flatMap((page) => ('bytes' in page ? [page.bytes.buffer] : [])),
    )
  }
}

/** An idle thread that waits for the next conversion, because a new one runs half as fast. */
let idle: Worker | null = null

function startThread(): Worker {
  // The module has this file's extension: a source or a compiled file.
  const program = import.meta.url.replace(/certificate-reader(?=\.\w+$)/, 'certificate-thread')
  return new Worker(new URL(program), { name: 'certificate' })
}

function takeIdle(): Worker | null {
  const worker = idle
  worker?.off('exit', forgetIdle).ref()
  idle = null
  return worker
}

/** The idle thread does not keep the process alive. */
function keepIdle(worker: Worker): void {
  worker.on('exit', forgetIdle).unref()
  idle = worker
}

const forgetIdle = (): void => void (idle = null)
