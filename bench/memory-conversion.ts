// Peak memory of conversions, seen from outside: a real server, real uploads, and the peak of each
// process. `npm run bench -- memory-conversion [--uploads N]`: archives of 50 MB, one at a time,
// then N uploads at once (default 20). Fails if a process exceeds 300 MB, if a job that runs alone
// shows no progress within a second, or if an upload does not yield the whole document. Linux only:
// it reads /proc.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { archive } from '../test/support/archives/writer.ts'
import { file, form, type Form } from '../test/support/form.ts'
import { seeded } from '../test/support/random.ts'
import { responseOf, start, type ReceivedResponse } from '../test/support/request.ts'
import { watchTree } from './parts/process-tree.ts'
import { makeSecrets } from './parts/secrets.ts'
import { startServer } from './parts/server.ts'

const MOST_MB = 300
const MB = 1024 * 1024
/** Seconds from a job's acceptance to its first progress. */
const MOST_WAIT = 1

const { values } = parseArgs({ options: { uploads: { type: 'string', default: '20' } } })
const uploads = Number(values.uploads)

const data = mkdtempSync(join(tmpdir(), 'tollmark-bench-'))
const { port, pid, child } = await startServer({
  TOLLMARK_DATA: data,
  TOLLMARK_PLANS: '{"bench":{"conversions_per_day":null}}',
})
const url = `http://127.0.0.1:${port}`
const { token } = await makeSecrets(data, 'bench')

let failed = false
try {
  console.log(
    `${'upload'.padEnd(34)}${'MB'.padStart(6)}${'seconds'.padStart(9)}${'progress'.padStart(10)}${'pages'.padStart(8)}${'server MB'.padStart(11)}${'largest MB'.padStart(12)}${'all MB'.padStart(8)}`,
  )
  // Only pages, and pages among attachments, as in most exports.
  await report('one archive of 2,000 pages, images', 1, url, build(48.5 * MB, 0.5, 2000))
  await report('one archive of pages', 1, url, build(49.5 * MB, 1))
  await report('one archive, nine tenths images', 1, url, build(49.5 * MB, 0.1))
  await report(`${uploads} archives of pages at once`, uploads, url, build(4.5 * MB, 1))
  await report(`${uploads} large archives at once`, uploads, url, build(49.5 * MB, 0.1))
} finally {
  child.kill('SIGTERM')
  await once(child, 'exit')
  rmSync(data, { recursive: true, force: true })
}
process.exitCode = failed ? 1 : 0

/** Uploads the same archive `times` times at once, and prints the results. */
async function report(
  name: string,
  times: number,
  url: string,
  { bytes, pages }: { bytes: Buffer; pages: number },
): Promise<void> {
  const upload = form(file('Export.zip', bytes))
  const watch = watchTree(pid)
  const started = performance.now()
  let progress = 0
  const onProgress = (seconds: number): void => void (progress = Math.max(progress, seconds))
  const responses = await Promise.all(
    Array.from({ length: times }, () =>
      convert(url, upload, onProgress).catch((error: unknown) => `no response: ${String(error)}`),
    ),
  )
  const seconds = (performance.now() - started) / 1000
  const peak = watch.stop()
  const whole = responses.filter(
    (response) => response.match(/^# Page /gm)?.length === pages,
  ).length
  const bad = [
    whole < times
      ? `only ${whole} of ${times} documents are whole: ${responses.find((response) => !response.startsWith('# '))?.slice(0, 200)}`
      : '',
    peak.largest > MOST_MB ? `over ${MOST_MB} MB` : '',
    times === 1 && progress > MOST_WAIT ? 'no progress for too long' : '',
  ].filter((word) => word)
  if (bad.length > 0) failed = true
  const columns = [
    (bytes.length / MB).toFixed(1).padStart(6),
    seconds.toFixed(1).padStart(9),
    progress.toFixed(2).padStart(10),
    String(pages).padStart(8),
    String(peak.own).padStart(11),
    String(peak.largest).padStart(12),
    String(peak.all).padStart(8),
  ]
  console.log(`${name.padEnd(34)}${columns.join('')}  ${bad.join(', ')}`)
}

/**
 * Sends an archive and returns the document, directly or from a job. Each request has its own
 * connection.
 *
 * @param onProgress gets the seconds from a job's acceptance to its first converted page
 */
async function convert(
  url: string,
  upload: Form,
  onProgress: (seconds: number) => void,
): Promise<string> {
  const outgoing = start(url, '/api/v1/convert', {
    token,
    headers: { 'content-type': upload.contentType, 'content-length': upload.body.length },
  })
  outgoing.end(upload.body)
  const response = await responseOf(outgoing)
  const job = response.headers.location
  if (response.status !== 202 || job === undefined) return response.text
  const accepted = performance.now()
  for (let waits = true; ;) {
    const { status, progress } = (await get(url, job)).json<{
      status: string
      progress: { pages_done: number }
    }>()
    if (waits && progress.pages_done > 0) {
      onProgress((performance.now() - accepted) / 1000)
      waits = false
    }
    if (status !== 'queued' && status !== 'running') return (await get(url, `${job}/result`)).text
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function get(url: string, path: string): Promise<ReceivedResponse> {
  const outgoing = start(url, path, { method: 'GET', token })
  outgoing.end()
  return responseOf(outgoing)
}

/**
 * An archive of about `size` bytes: `share` of it pages (of a typical size, or `count` of them),
 * the rest incompressible images.
 */
function build(size: number, share: number, count?: number): { bytes: Buffer; pages: number } {
  const random = seeded(1)
  const entries: { name: string; data: string | Uint8Array; stored?: boolean }[] = []
  const usual = Array.from({ length: 8 }, () => pageHtml(random, 400))
  // The size of a page is known only once it is packed.
  const packed =
    archive(usual.map((text, index) => ({ name: `Page ${index}.html`, data: text }))).length /
    usual.length
  const pages = count ?? Math.floor((size * share) / packed)
  const html =
    count === undefined
      ? usual
      : usual.map(() => pageHtml(random, Math.floor((400 * size * share) / count / packed)))
  for (let index = 0; index < pages; index++)
    entries.push({
      name: `Page ${index} ${String(index).padStart(32, '0')}.html`,
      data: html[index % html.length]!.replaceAll('TITLE', `Page ${index}`),
    })
  for (let left = size * (1 - share) - 1000; left > 100_000; left -= MB) {
    const image = new Uint8Array(Math.min(left, MB))
    for (let at = 0; at < image.length; at++) image[at] = random() * 256
    entries.push({ name: `image ${left}.png`, data: image, stored: true })
  }
  return { bytes: archive(entries), pages }
}

/**
 * A page with this many blocks (of about 250 bytes each), as the exporter writes it: paragraphs,
 * lists, marks, links, tables.
 */
function pageHtml(random: () => number, count: number): string {
  const word = () => Math.floor(random() * 2 ** 40).toString(36)
  const line = () => Array.from({ length: 12 }, word).join(' ')
  const blocks = [
    () =>
      `<p id="${word()}" class="">${line()} <strong>${line()}</strong> <a href="https://example.com/${word()}">${word()}</a></p>`,
    () =>
      `<ul id="${word()}" class="bulleted-list"><li style="list-style-type:disc">${line()}<ul id="${word()}" class="bulleted-list"><li style="list-style-type:circle">${line()}</li></ul></li></ul>`,
    () => `<h2 id="${word()}" class="">${word()}</h2>`,
    () =>
      `<table id="${word()}" class="simple-table"><tbody><tr><td>${line()}</td><td>${line()}</td></tr></tbody></table>`,
  ]
  const body = Array.from({ length: count }, (_, index) => blocks[index % blocks.length]!()).join(
    '',
  )
  return `<html><head><meta charset="utf-8"/><title>TITLE</title></head><body><article id="${word()}" class="page sans"><header><h1 class="page-title">TITLE</h1></header><div class="page-body">${body}</div></article></body></html>`
}
