// Converts an export as large as a real workspace, with the command line, and through the API as a
// job. `npm run bench -- workspace-size [--mb 5120] [--parts 4] [--only cli|api] [--folder DIR]`;
// DIR (default: the system's folder for temporary files) needs room for three exports. Fails if all
// processes together exceed 500 MB, if scratch files exceed the largest part, if less than 60 MB of
// the archive are converted per second, or if a page is missing. Linux only: it reads /proc.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, mkdirSync, mkdtempSync, openAsBlob, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { MAIN, NODE_FLAGS } from '../test/support/node.ts'
import { watchTree, type TreeUse } from './parts/process-tree.ts'
import { makeSecrets } from './parts/secrets.ts'
import { HEAP_FLAGS, startServer } from './parts/server.ts'
import { writeWorkspaceExport, type WrittenExport } from './parts/workspace-export.ts'

const MB = 1024 * 1024
const MOST_MEMORY_MB = 500
const LEAST_MB_A_SECOND = 60

const { values } = parseArgs({
  options: {
    mb: { type: 'string', default: '5120' },
    parts: { type: 'string', default: '4' },
    only: { type: 'string' },
    folder: { type: 'string', default: tmpdir() },
  },
})

/** Limits that an operator would set for such exports. */
const LIMITS = {
  TOLLMARK_MAX_ZIP: '8GB',
  TOLLMARK_MAX_PARTS: '16GB',
  TOLLMARK_MAX_PAGES: '8GB',
  TOLLMARK_CONVERSION_DEADLINE: '10m',
  TOLLMARK_CONVERSIONS: '2',
}

/** The result of converting an export. */
interface Outcome {
  readonly seconds: number
  readonly use: TreeUse
  readonly pages: number
}

const folder = mkdtempSync(join(values.folder, 'tollmark-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const path = join(folder, 'Export.zip')
const began = performance.now()
const written = writeWorkspaceExport(path, {
  megabytes: Number(values.mb),
  parts: Number(values.parts),
})
console.log(
  `an export of ${megabytes(written.bytes)} MB in ${values.parts} deflated parts, ${written.pages} pages of ${megabytes(written.html)} MB, made in ${((performance.now() - began) / 1000).toFixed(0)} s`,
)
console.log(
  `${'by'.padEnd(14)}${'seconds'.padStart(8)}${'MB/s'.padStart(6)}${'CPU s'.padStart(7)}${'cores'.padStart(7)}${'times read'.padStart(12)}${'memory MB'.padStart(11)}${'largest MB'.padStart(12)}${'scratch MB'.padStart(12)}`,
)
if (values.only !== 'api') report('command line', await byCommandLine(), written)
if (values.only !== 'cli') report('API, as a job', await byApi(), written)

function megabytes(bytes: number): string {
  return (bytes / MB).toFixed(0)
}

function report(
  name: string,
  { seconds, use, pages }: Outcome,
  { bytes, largestPart, pages: all }: WrittenExport,
): void {
  const rate = bytes / MB / seconds
  const faults = [
    use.all > MOST_MEMORY_MB ? `more than ${MOST_MEMORY_MB} MB of memory` : '',
    use.disk * MB > largestPart
      ? `more scratch than the largest part, of ${megabytes(largestPart)} MB`
      : '',
    rate < LEAST_MB_A_SECOND ? `less than ${LEAST_MB_A_SECOND} MB/s` : '',
    pages === all ? '' : `${pages} of ${all} pages`,
  ].filter((fault) => fault)
  const columns = [
    seconds.toFixed(1).padStart(8),
    rate.toFixed(0).padStart(6),
    use.cpu.toFixed(1).padStart(7),
    (use.cpu / seconds).toFixed(2).padStart(7),
    (use.read / bytes).toFixed(1).padStart(12),
  ]
  console.log(
    `${name.padEnd(14)}${columns.join('')}${String(use.all).padStart(11)}${String(use.largest).padStart(12)}${String(use.disk).padStart(12)}  ${faults.join(', ')}`,
  )
  if (faults.length > 0) process.exitCode = 1
}

async function byCommandLine(): Promise<Outcome> {
  const scratch = join(folder, 'tmp')
  mkdirSync(scratch)
  const output = join(folder, 'document.md')
  const started = performance.now()
  const child = spawn(
    process.execPath,
    [...NODE_FLAGS, ...HEAP_FLAGS, MAIN, 'convert', path, '-o', output],
    { env: { ...process.env, TMPDIR: scratch }, stdio: 'inherit' },
  )
  const watch = watchTree(child.pid!, scratch)
  const [code] = (await once(child, 'exit')) as [number | null]
  const seconds = (performance.now() - started) / 1000
  const use = watch.stop()
  if (code !== 0) throw new Error(`the command line ended with ${code}`)
  return { seconds, use, pages: await pagesOf(createReadStream(output)) }
}

async function byApi(): Promise<Outcome> {
  const data = join(folder, 'data')
  mkdirSync(data)
  const { port, pid, child } = await startServer({
    ...LIMITS,
    TOLLMARK_DATA: data,
    TMPDIR: data,
    TOLLMARK_PLANS: '{"bench":{"conversions_per_day":null}}',
  })
  try {
    const { token } = await makeSecrets(data, 'bench')
    const headers = { authorization: `Bearer ${token}` }
    const at = `http://127.0.0.1:${port}`
    // The upload is stored and is not a scratch file; nothing else is written before it is
    // complete.
    let isThere = false
    const isScratch = (size: number): boolean => {
      if (size === written.bytes) isThere = true
      return isThere && size !== written.bytes
    }
    const watch = watchTree(pid, data, isScratch)
    const started = performance.now()
    const form = new FormData()
    form.set('file', await openAsBlob(path), 'Export.zip')
    const accepted = await fetch(`${at}/api/v1/convert`, { method: 'POST', headers, body: form })
    if (accepted.status !== 202) throw new Error(`${accepted.status}: ${await accepted.text()}`)
    const uploaded = (performance.now() - started) / 1000
    const job = `${at}${accepted.headers.get('location')}`
    let status = 'queued'
    while (status === 'queued' || status === 'running') {
      await wait(200)
      status = ((await (await fetch(job, { headers })).json()) as { status: string }).status
    }
    const seconds = (performance.now() - started) / 1000
    const use = watch.stop()
    console.log(`(accepted after ${uploaded.toFixed(1)} s)`)
    const result = await fetch(`${job}/result`, { headers })
    if (!result.ok || result.body === null)
      throw new Error(`${result.status}: ${await result.text()}`)
    return { seconds, use, pages: await pagesOf(Readable.fromWeb(result.body)) }
  } finally {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
}

async function pagesOf(document: Readable): Promise<number> {
  let pages = 0
  for await (const line of createInterface({ input: document })) if (line.startsWith('# ')) pages++
  return pages
}
