// What a certificate costs: converts pages as one export in this process, alternately with and
// without a certificate. A second core is idle.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convertFile, OWN_LIMITS } from '../../packages/notion-markdown/src/archive/index.ts'
import type { CorpusPage } from '../../test/corpus/pages.ts'
import { zip } from '../../test/support/zip.ts'

/** How much longer certified conversions may take with a second core. */
const MAX_SHARE = 0.15

/** Milliseconds; `own` of the processor on the converting thread, `cpu` on all. */
interface Cost {
  wall: number
  own: number
  cpu: number
}

/**
 * Prints the cost of certificates for an export of these pages. @returns whether it is within the
 * bar
 */
export async function measureCost(pages: readonly CorpusPage[], rounds: number): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'tollmark-bench-'))
  try {
    const path = join(folder, 'Export.zip')
    writeFileSync(path, zip(Object.fromEntries(pages.map(({ path, html }) => [path, html]))))
    const best = { plain: NEVER, certified: NEVER }
    for (let round = 0; round < rounds; round++) {
      best.plain = least(best.plain, await convert(path, false))
      best.certified = least(best.certified, await convert(path, true))
    }
    const { plain, certified } = best
    console.log(
      `${pages.length} pages as one export, the best of ${rounds} rounds, in ms:\n` +
        `${''.padEnd(12)}   time   CPU of the converting thread   of all threads`,
    )
    for (const [name, cost] of Object.entries(best)) print(name, cost, (n) => n.toFixed(0))
    const more = {
      wall: certified.wall / plain.wall - 1,
      own: certified.own / plain.own - 1,
      cpu: certified.cpu / plain.cpu - 1,
    }
    print('more', more, (n) => `${(100 * n).toFixed(0)} %`)
    return more.wall <= MAX_SHARE
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function print(name: string, { wall, own, cpu }: Cost, show: (n: number) => string): void {
  console.log(
    `${name.padEnd(12)}${show(wall).padStart(7)}${show(own).padStart(31)}${show(cpu).padStart(17)}`,
  )
}

const NEVER: Cost = { wall: Infinity, own: Infinity, cpu: Infinity }
const least = (a: Cost, b: Cost): Cost => ({
  wall: Math.min(a.wall, b.wall),
  own: Math.min(a.own, b.own),
  cpu: Math.min(a.cpu, b.cpu),
})

const milliseconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000

async function convert(path: string, certificate: boolean): Promise<Cost> {
  const [began, before, beforeOwn] = [
    performance.now(),
    process.cpuUsage(),
    process.threadCpuUsage(),
  ]
  await convertFile(
    {
      path,
      kind: 'zip',
      fileName: 'Export.zip',
      format: 'markdown',
      includeMetadata: false,
      uploadedAt: new Date(0),
      limits: OWN_LIMITS,
      certificate,
    },
    () => {},
  )
  return {
    wall: performance.now() - began,
    own: milliseconds(process.threadCpuUsage(beforeOwn)),
    cpu: milliseconds(process.cpuUsage(before)),
  }
}
