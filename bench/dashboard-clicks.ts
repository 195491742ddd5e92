// How long each click in the dashboard takes, until what was asked for stands there: a real browser, 5,000 keys and 1,000,000 rows of the ledger.
// Prints the median and the worst of some rounds, the nodes of each page and the bytes that came. Fails where a median is above 200 ms.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { buildWhereChanged } from '../dashboard/build.ts'
import { addHours } from '../server/ledger/added.ts'
import { launchChromium } from '../test/browser/chromium.ts'
import { openSite } from '../test/browser/dashboard/seeded.ts'
import { fillLedger } from './parts/rows.ts'

const ROWS = Number(process.argv[2] ?? 1_000_000)
const KEYS = Number(process.argv[3] ?? 5000)
const ROUNDS = Number(process.argv[4] ?? 5)
const BAR_MS = 200

/** TABLE of clicks: where somebody is, what they press, and what stands there then. */
const CLICKS: readonly { what: string; at: string; press: (page: Page) => Promise<void>; until: string }[] = [
  { what: 'Overview → Keys', at: '/', press: (page) => page.getByRole('link', { name: 'Keys', exact: true }).click(), until: 'main table tbody tr:nth-child(25)' },
  { what: 'keys, next page', at: '/keys', press: (page) => page.getByRole('button', { name: 'Next' }).click(), until: 'text=/^26–50 of/' },
  { what: 'keys by name', at: '/keys', press: (page) => page.getByRole('button', { name: 'Name' }).click(), until: 'th[aria-sort=descending]' },
  { what: 'keys, requests', at: '/keys', press: (page) => page.getByRole('button', { name: 'Requests' }).click(), until: 'th[aria-sort=descending]' },
  { what: 'a key', at: '/keys', press: (page) => page.locator('main table a').first().click(), until: 'main figure svg rect' },
  { what: 'Overview → Requests', at: '/', press: (page) => page.getByRole('link', { name: 'Requests', exact: true }).click(), until: 'main table tbody tr:nth-child(50)' },
  { what: 'requests, next page', at: '/requests', press: (page) => page.getByRole('button', { name: 'Next' }).click(), until: 'text=/^51–100/' },
  { what: 'requests that failed', at: '/requests', press: async (page) => void (await page.getByLabel('Outcome').selectOption('failed')), until: 'main table:not([class*=stale] *) tbody tr:nth-child(50) >> text=500' },
  { what: 'a request', at: '/requests', press: (page) => page.locator('main table .linklike').first().click(), until: '[role=dialog] dl' },
  { what: 'keys to choose from', at: '/requests', press: (page) => page.getByLabel('Key', { exact: true }).click(), until: '[role=option]:nth-child(8)' },
  { what: 'usage by key, 30 days', at: '/?period=month', press: (page) => page.getByRole('radio', { name: 'By key' }).click({ force: true }), until: 'figure li:nth-child(6)' },
  { what: 'usage by model, 30 days', at: '/?period=month', press: (page) => page.getByRole('radio', { name: 'By model' }).click({ force: true }), until: 'figure li:nth-child(6)' },
  { what: '30 days', at: '/', press: (page) => page.getByRole('radio', { name: '30 days' }).click({ force: true }), until: 'figure svg g rect:nth-child(25)' },
]

const problem = buildWhereChanged()
if (problem !== null) throw new Error(problem)
const data = mkdtempSync(join(tmpdir(), 'tollmark-bench-'))
const browser = await launchChromium()
let slow = 0
try {
  await using site = await openSite(data)
  const cookie = await site.setUp()
  const { account } = (await (await site.api(cookie, 'GET', '/api/v1/session')).json()) as { account: { id: string } }
  const now = Date.now()
  fillLedger(join(data, 'tollmark.db'), [account.id], ROWS, now, KEYS)
  await addHours(site.running.store, now)
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
  await context.addCookies([{ name: cookie.slice(0, cookie.indexOf('=')), value: cookie.slice(cookie.indexOf('=') + 1), url: site.url }])
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  /** The bytes of each answer that has begun since the click, as they came (compressed); an answer that was cut off has none. */
  let answers: Promise<number>[] = []
  page.on('response', (answer) => void answers.push(answer.request().sizes().then(({ responseBodySize }) => responseBodySize, () => 0)))
  console.log('median ms   worst ms   nodes     KB   click')
  for (const { what, at, press, until } of CLICKS) {
    const times: number[] = []
    let [nodes, bytes] = [0, 0]
    for (let round = 0; round <= ROUNDS; round++) {
      await page.goto(site.url + at)
      await page.waitForLoadState('networkidle')
      answers = []
      const started = performance.now()
      await press(page)
      await page.locator(until).first().waitFor({ state: 'attached' })
      // The first one loads the code of the page and warms the server.
      if (round > 0) times.push(performance.now() - started)
      nodes = Number(await page.evaluate('document.querySelectorAll("*").length'))
      bytes = (await Promise.all(answers)).reduce((sum, size) => sum + size, 0)
    }
    times.sort((a, b) => a - b)
    const median = times[times.length >> 1] ?? Infinity
    if (median > BAR_MS) slow++
    console.log(`${median.toFixed(0).padStart(9)} ${(times.at(-1) ?? 0).toFixed(0).padStart(10)} ${String(nodes).padStart(7)} ${(bytes / 1024).toFixed(0).padStart(6)}   ${what}${median > BAR_MS ? '   TOO SLOW' : ''}`)
  }
  console.log(slow === 0 ? `every click within ${BAR_MS} ms` : `${slow} clicks take longer than ${BAR_MS} ms`)
} finally {
  await browser.close()
  rmSync(data, { recursive: true, force: true })
}
process.exitCode = slow === 0 ? 0 : 1
