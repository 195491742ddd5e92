// The thread that reads pages for a certificate, in parallel with the conversion.
import { parentPort } from 'node:worker_threads'
import { decodeHtml } from '../decode.ts'
import { collectUsed } from './collect-garbage.ts'
import type { ReaderMessage, ReaderReport } from './certificate-reader.ts'
import { PageReader, type NumberedReading } from './page-reader.ts'

let reader: PageReader | null = null
/** Bytes read, and readings, that have not been reported yet. */
let read = 0
let readings: NumberedReading[] = []

/** Bytes after which readings are reported: each message costs the conversion 0.1 ms. */
const REPORTED_BYTES = 4 * 1024 * 1024

const report = (message: ReaderReport): void => parentPort?.postMessage(message)

function reportPages(): void {
  report({ read, readings })
  read = 0
  readings = []
}

parentPort?.on('message', (message: ReaderMessage) => {
  if (message !== 'finish' && 'dialect' in message) {
    reader = new PageReader(message)
    return
  }
  if (!reader) throw new Error('nothing is read before its setup')
  if (message === 'finish') {
    reportPages()
    return void reader.finish().then((sha256) => report({ sha256 }))
  }
  let bytes = 0
  for (const page of message.pages)
    if ('bytes' in page) {
      reader.exported(decodeHtml(page.bytes), page.path)
      bytes += page.bytes.byteLength
    } else {
      readings.push(reader.converted(page.number, page.markdown))
      bytes += page.markdown.length
    }
  collectUsed(bytes)
  read += bytes
  if (read >= REPORTED_BYTES) reportPages()
})
