// Reads pages for a certificate: in a thread beside the conversion, or in this thread if starting one
// would cost more, or would take a core from another converter. While pages are joined, both threads
// read.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Dialect } from '../certificate/dialect.ts'
import { readMarkdownPage } from '../certificate/markdown-reader.ts'
import type { PageReading } from '../certificate/reading.ts'
import {
  PageReader,
  type NumberedReading,
  type PageToCompare,
  type ReaderResult,
  type ReaderSetup,
} from './page-reader.ts'

/** A page of an export, as bytes and as text. */
export interface ExportedPage {
  /** Its place in the export. */
  readonly number: number
  /** Its path in the archive. */
  readonly path: string
  /** The reader takes ownership: they are not used after that. */
  readonly bytes: Uint8Array
  readonly text: string
}

/** Reads pages for a certificate. What it returns is awaited before the next page is given. */
export interface CertificateReader extends AsyncDisposable {
  exported(page: ExportedPage): void | Promise<void>
  document(page: PageToCompare, markdown: string): void | Promise<void>
  /** @param output the SHA-256 of the document, hexadecimal */
  finish(output: string): Promise<ReaderResult>
}

/** A page for a thread. Its bytes are handed over, not copied. */
type PageToRead =
  | { readonly number: number; readonly path: string; readonly bytes: Uint8Array<ArrayBuffer> }
  | {
      readonly page: PageToCompare
      readonly bytes: Uint8Array<ArrayBuffer>
      /** What the document shows, where it was read here. */
      readonly shown: PageReading | undefined
    }

/**
 * A message to the thread. `progress`: shared, one number, to which the thread adds the bytes that it
 * has read (modulo 2³²).
 */
export type ReaderMessage =
  | { readonly setup: ReaderSetup; readonly progress: Int32Array }
  | { readonly pages: readonly PageToRead[] }
  | { readonly output: string }

/**
 * What it says: how many bytes it has read of what it was given, and what it found in pages of the
 * export; or in the end what it found in the document.
 */
export type ReaderReport =
  | { readonly read: number; readonly readings: readonly NumberedReading[] }
  | { readonly result: ReaderResult }

/** Takes what was read of pages of the export, in any order; all of it before `finish` resolves. */
export type OnReading = (...reading: NumberedReading) => void

/**
 * Bytes of pages from which a thread is worth its start: 60 ms beside a conversion that takes as
 * long (bench -- certificate).
 */
const MIN_THREAD_BYTES = 4 * 1024 * 1024
/** Bytes from which pages are sent to a thread that has read before. */
const MIN_IDLE_BYTES = 256 * 1024
/**
 * Bytes of pages that are sent together: each message wakes the thread, which costs 0.1 ms. Pages of an
 * export in fewer batches, smaller ones towards the end, because the conversion waits for the last.
 */
const BATCH_BYTES = 64 * 1024
const MAX_BATCH_BYTES = 1024 * 1024
/** Bytes that may wait for the thread before the conversion waits, too. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024
/**
 * Bytes that wait while pages are joined, before a page is read here: 2 ms for the thread. To read a
 * document takes twice as long as to join it.
 */
const MAX_BEHIND_BYTES = 128 * 1024

/**
 * Opens a reader.
 *
 * @param work how many bytes there are to read, and how many converters are busy beside it
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
    exported: ({ number, text, path }) => onReading(...reader.exported(number, text, path)),
    document: (page, markdown) => reader.document(page, markdown),
    finish: (output) => reader.finish(output),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

/** Bytes that zlib's buffers are longer than what is in them. */
const SLACK_BYTES = 64

/** Bytes with a buffer of their own: small ones lie in one that others use, too. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength <= byteLength + SLACK_BYTES
    ? new Uint8Array(buffer, byteOffset, byteLength)
    : new Uint8Array(bytes)
}

class ReaderThread implements CertificateReader {
  readonly #worker: Worker
  readonly #result: Promise<ReaderResult>
  #resolve: (result: ReaderResult) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  readonly #encoder = new TextEncoder()
  #batch: PageToRead[] = []
  #batched = 0
  #waiting = 0
  /** Bytes to come. */
  #left: number
  /** Bytes given, modulo 2³², and those of them that were read. */
  #given = 0
  readonly #progress = new Int32Array(new SharedArrayBuffer(4))
  readonly #dialect: Dialect
  #isOver = false
  #onSpace: (() => void) | null = null

  readonly #onReading: OnReading

  /** @param size about how many bytes there are to read */
  constructor(setup: ReaderSetup, size: number, onReading: OnReading) {
    this.#left = size
    this.#onReading = onReading
    this.#dialect = setup.dialect
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
      .postMessage({ setup, progress: this.#progress } satisfies ReaderMessage)
  }

  exported({ number, path, bytes }: ExportedPage): void | Promise<void> {
    this.#left -= bytes.byteLength
    const batch = Math.max(BATCH_BYTES, Math.min(MAX_BATCH_BYTES, this.#left / 4))
    return this.#send({ number, path, bytes: ownBytes(bytes) }, batch)
  }

  document(page: PageToCompare, markdown: string): void | Promise<void> {
    const behind = (this.#given - Atomics.load(this.#progress, 0)) | 0
    const shown =
      behind > MAX_BEHIND_BYTES ? readMarkdownPage(markdown, null, this.#dialect) : undefined
    const bytes = this.#encoder.encode(markdown)
    return this.#send({ page, bytes, shown }, BATCH_BYTES)
  }

  finish(output: string): Promise<ReaderResult> {
    this.#flush()
    this.#worker.postMessage({ output } satisfies ReaderMessage)
    return this.#result
  }

  /** Leaves the thread to the next conversion, where it has nothing more to read. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#worker.off('error', this.#reject).off('exit', this.#onExit).off('message', this.#onReport)
    if (this.#isOver && idle === null) keepIdle(this.#worker)
    else await this.#worker.terminate()
    this.#onExit()
  }

  readonly #onExit = (): void =>
    this.#reject(new Error('the thread that reads for a certificate has ended'))

  readonly #onReport = (report: ReaderReport): void => {
    if ('result' in report) return this.#resolve(report.result)
    this.#waiting -= report.read
    for (const reading of report.readings) this.#onReading(...reading)
    if (this.#waiting <= MAX_WAITING_BYTES) this.#onSpace?.()
  }

  #send(page: PageToRead, batch: number): void | Promise<void> {
    this.#batch.push(page)
    this.#batched += page.bytes.byteLength
    this.#given = (this.#given + page.bytes.byteLength) | 0
    if (this.#batched < batch) return undefined
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
      pages.map(({ bytes }) => bytes.buffer),
    )
  }
}

/** A thread that has read, and waits for the next conversion: a new one runs half as fast. */
let idle: Worker | null = null

function startThread(): Worker {
  // It has this file's extension: a source or a compiled file.
  const program = import.meta.url.replace(/certificate-reader(?=\.\w+$)/, 'certificate-thread')
  return new Worker(new URL(program), { name: 'certificate' })
}

function takeIdle(): Worker | null {
  const worker = idle
  worker?.off('exit', forgetIdle).ref()
  idle = null
  return worker
}

/** It keeps no process from its end. */
function keepIdle(worker: Worker): void {
  worker.on('exit', forgetIdle).unref()
  idle = worker
}

const forgetIdle = (): void => void (idle = null)
