// The thread that reads pages for a certificate, beside the conversion.
import { parentPort } from 'node:worker_threads'
import { decodeHtml } from '../decode.ts'
import { collectYoung } from './collect-young.ts'
import type { ReaderMessage, ReaderReport } from './certificate-reader.ts'
import { PageReader, type NumberedReading } from './page-reader.ts'

let reader: PageReader | null = null
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const report = (message: ReaderReport): void => parentPort?.postMessage(message)

parentPort?.on('message', (message: ReaderMessage) => {
  if ('setup' in message) return void (reader = new PageReader(message.setup))
  if (!reader) throw new Error('nothing is read before its setup')
  if ('output' in message)
    return void reader.finish(message.output).then((result) => report({ result }))
  let read = 0
  const readings: NumberedReading[] = []
  for (const page of message.pages) {
    if ('path' in page)
      readings.push(reader.exported(page.number, decodeHtml(page.bytes), page.path))
    else reader.document(page.page, decoder.decode(page.bytes))
    read += page.bytes.byteLength
  }
  collectYoung(read)
  report({ read, readings })
})
