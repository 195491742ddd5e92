// The size of the dashboard, and how soon it is usable: gzipped JavaScript, and the median time of
// cold loads in a real browser until the overview shows its numbers and a click works. Fails above
// 200 KB for the first page, 350 KB in total, or one second.
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildWhereChanged } from '../dashboard/build.ts'
import { launchChromium } from '../test/browser/chromium.ts'
import { openSite } from '../test/browser/dashboard/seeded.ts'

const BARS = { first: 200 * 1024, all: 350 * 1024, interactive: 1000 }
const LOADS = 7

const problem = buildWhereChanged()
if (problem !== null) throw new Error(problem)
const dist = join(import.meta.dirname, '..', 'dashboard', 'dist')
const folder = join(dist, readFileSync(join(dist, 'current'), 'utf8'))
const weightOf = (file: string): number =>
  gzipSync(readFileSync(join(folder, file)), { level: 9 }).length
const all = globSync('**/*.js', { cwd: folder }).reduce((sum, file) => sum + weightOf(file), 0)

const data = mkdtempSync(join(tmpdir(), 'tollmark-bench-'))
const browser = await launchChromium()
let first = 0
const times: number[] = []
const work: number[] = []
try {
  await using site = await openSite(data)
  const cookie = await site.setUp()
  for (let load = 0; load < LOADS; load++) {
    const context = await browser.newContext()
    await context.addCookies([
      {
        name: cookie.slice(0, cookie.indexOf('=')),
        value: cookie.slice(cookie.indexOf('=') + 1),
        url: site.url,
      },
    ])
    const page = await context.newPage()
    const inspector = await context.newCDPSession(page)
    await inspector.send('Performance.enable')
    const scripts = new Set<string>()
    page.on(
      'response',
      (response) =>
        void (
          response.url().endsWith('.js') && scripts.add(new URL(response.url()).pathname.slice(1))
        ),
    )
    await page.goto(site.url, { waitUntil: 'commit' })
    await page.getByRole('button', { name: /^Requests/ }).click()
    times.push(Number(await page.evaluate('performance.now()')))
    const { metrics } = await inspector.send('Performance.getMetrics')
    work.push((metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000)
    first = [...scripts].reduce((sum, file) => sum + weightOf(file), 0)
    await context.close()
  }
} finally {
  await browser.close()
  rmSync(data, { recursive: true, force: true })
}
const median = (values: number[]): number =>
  values.sort((a, b) => a - b)[values.length >> 1] ?? Infinity
const interactive = median(times)
console.table([
  {
    what: 'JavaScript of the first page, KB gzipped',
    measured: Math.round(first / 1024),
    bar: BARS.first / 1024,
  },
  { what: 'JavaScript in all, KB gzipped', measured: Math.round(all / 1024), bar: BARS.all / 1024 },
  {
    what: 'numbers shown and clickable, ms (median of cold loads)',
    measured: Math.round(interactive),
    bar: BARS.interactive,
  },
  {
    what: 'of that, work of the page, ms: all there is to wait for on a quiet machine',
    measured: Math.round(median(work)),
    bar: null,
  },
])
if (first > BARS.first || all > BARS.all || interactive > BARS.interactive) process.exitCode = 1
