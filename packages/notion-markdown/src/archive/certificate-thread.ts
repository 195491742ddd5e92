// The thread that reads pages for a certificate, beside the conversion.
import { parentPort } from 'node:worker_threads'
import { decodeHtml } from '../decode.ts'
import { collectUsed } from './collect-garbage.ts'
import type { ReaderMessage, ReaderReport } from './certificate-reader.ts'
import { PageReader, type NumberedReading } from './page-reader.ts'

let reader: PageReader | null = null
let progress: Int32Array | null = null
/** What was read and not reported yet. */
let read = 0
let readings: NumberedReading[] = []

/** Bytes after which the conversion is told: each message takes it 0.1 ms. */
const REPORTED_BYTES = 4 * 1024 * 1024

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const report = (message: ReaderReport): void => parentPort?.postMessage(message)

function reportPages(): void {
  report({ read, readings })
  read = 0
  readings = []
}

parentPort?.on('message', (message: ReaderMessage) => {
  if ('setup' in message) {
    reader = new PageReader(message.setup)
    progress = message.progress
    return
  }
  if (!reader || !progress) throw new Error('nothing is read before its setup')
  if ('output' in message) {
    reportPages()
    return void reader.finish(message.output).then((result) => report({ result }))
  }
  let bytes = 0
  for (const page of message.pages) {
    if ('path' in page)
      readings.push(reader.exported(page.number, decodeHtml(page.bytes), page.path))
    else reader.document(page.page, decoder.decode(page.bytes), page.shown)
    bytes += page.bytes.byteLength
    Atomics.add(progress, 0, page.bytes.byteLength)
  }
  collectUsed(bytes)
  read += bytes
  if (read >= REPORTED_BYTES) reportPages()
})
