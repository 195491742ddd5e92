// How long each click in the dashboard takes until its result is visible: a real browser, 5,000
// keys and 1,000,000 rows of the ledger. Prints the median and the worst round, the CPU of the
// page's thread and of this process (the server and the browser's driver), the page's nodes and the
// bytes received. Fails if a median is above 200 ms. The fourth argument selects clicks by a part
// of their text.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { buildWhereChanged } from '../dashboard/build.ts'
import { addHours } from '../server/ledger/rollups/coarser.ts'
import { launchChromium } from '../test/browser/chromium.ts'
import { openSite } from '../test/browser/dashboard/seeded.ts'
import { fillLedger } from './parts/rows.ts'

const ROWS = Number(process.argv[2] ?? 1_000_000)
const KEYS = Number(process.argv[3] ?? 5000)
const ROUNDS = Number(process.argv[4] ?? 5)
const ONLY = process.argv[5] ?? ''
const BAR_MS = 200

/** Conditions as JavaScript for the page: no stale content, and the text of an element. */
const FRESH = `document.querySelector('main [class*=stale]') === null`
const rowsAre = (count: number): string =>
  `document.querySelectorAll('main table tbody tr').length >= ${count} && ${FRESH}`
const says = (selector: string, text: RegExp): string =>
  `[...document.querySelectorAll('${selector}')].some(({ textContent }) => ${text}.test(textContent)) && ${FRESH}`
const has = (selector: string): string =>
  `document.querySelector('${selector}') !== null && ${FRESH}`

/** TABLE of clicks: the page, the click, and the condition for its result. */
const CLICKS: readonly {
  what: string
  at: string
  press: (page: Page) => Promise<void>
  until: string
}[] = [
  {
    what: 'Overview → Keys',
    at: '/',
    press: (page) => page.getByRole('link', { name: 'Keys', exact: true }).click(),
    until: rowsAre(25),
  },
  {
    what: 'keys, next page',
    at: '/keys',
    press: (page) => page.getByRole('button', { name: 'Next' }).click(),
    until: says('[role=status]', /^26–50 of/),
  },
  {
    what: 'keys by name',
    at: '/keys',
    press: (page) => page.getByRole('button', { name: 'Name' }).click(),
    until: has('th[aria-sort=descending]'),
  },
  {
    what: 'keys by requests',
    at: '/keys',
    press: (page) => page.getByRole('button', { name: 'Requests' }).click(),
    until: has('th[aria-sort=descending]'),
  },
  {
    what: 'a key',
    at: '/keys',
    press: (page) => page.locator('main table a').first().click(),
    until: has('main figure svg rect'),
  },
  {
    what: 'Overview → Requests',
    at: '/',
    press: (page) => page.getByRole('link', { name: 'Requests', exact: true }).click(),
    until: rowsAre(50),
  },
  {
    what: 'requests, next page',
    at: '/requests',
    press: (page) => page.getByRole('button', { name: 'Next' }).click(),
    until: says('[role=status]', /^51–100/),
  },
  {
    what: 'requests that failed',
    at: '/requests',
    press: async (page) => void (await page.getByLabel('Outcome').selectOption('failed')),
    until: says('main table tbody tr:nth-child(50)', /500/),
  },
  {
    what: 'a request',
    at: '/requests',
    press: (page) => page.locator('main table .linklike').first().click(),
    until: has('[role=dialog] dl'),
  },
  {
    what: 'keys to choose from',
    at: '/requests',
    press: (page) => page.getByLabel('Key', { exact: true }).click(),
    until: has('[role=option]:nth-child(8)'),
  },
  {
    what: 'usage by key, 30 days',
    at: '/?period=month',
    press: (page) => page.getByRole('radio', { name: 'By key' }).click({ force: true }),
    until: has('figure li:nth-child(6)'),
  },
  {
    what: 'usage by model, 30 days',
    at: '/?period=month',
    press: (page) => page.getByRole('radio', { name: 'By model' }).click({ force: true }),
    until: has('figure li:nth-child(6)'),
  },
  {
    what: '30 days',
    at: '/',
    press: (page) => page.getByRole('radio', { name: '30 days' }).click({ force: true }),
    until: has('figure svg g rect:nth-child(25)'),
  },
]

/**
 * Run in the page: from the next click or choice, checks the condition at each frame. Measuring
 * from outside would take longer than the page itself.
 */
const measuring = (until: string): string => `void (window.took = new Promise((resolve) => {
  const begin = ({ timeStamp }) => {
    for (const kind of ['click', 'change']) removeEventListener(kind, begin, true)
    const look = () => (${until} ? resolve(performance.now() - timeStamp) : requestAnimationFrame(look))
    requestAnimationFrame(look)
  }
  for (const kind of ['click', 'change']) addEventListener(kind, begin, true)
}))`

const problem = buildWhereChanged()
if (problem !== null) throw new Error(problem)
const data = mkdtempSync(join(tmpdir(), 'tollmark-bench-'))
const browser = await launchChromium()
let slow = 0
try {
  await using site = await openSite(data)
  const cookie = await site.setUp()
  const { account } = (await (await site.api(cookie, 'GET', '/api/v1/session')).json()) as {
    account: { id: string }
  }
  const now = Date.now()
  fillLedger(join(data, 'tollmark.db'), [account.id], ROWS, now, KEYS)
  await addHours(site.running.store, now)
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
  })
  await context.addCookies([
    {
      name: cookie.slice(0, cookie.indexOf('=')),
      value: cookie.slice(cookie.indexOf('=') + 1),
      url: site.url,
    },
  ])
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const inspector = await context.newCDPSession(page)
  await Promise.all([
    inspector.send('Network.enable'),
    inspector.send('Performance.enable', { timeDomain: 'threadTicks' }),
  ])
  /**
   * Responses in progress, and the bytes received over the network: compressed, with their heads.
   */
  const open = new Set<string>()
  let received = 0
  inspector.on('Network.requestWillBeSent', ({ requestId }) => void open.add(requestId))
  inspector.on('Network.loadingFailed', ({ requestId }) => void open.delete(requestId))
  inspector.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    open.delete(requestId)
    received += encodedDataLength
  })
  /**
   * CPU of the page's thread so far, in milliseconds. Together with the server's it is the whole
   * wait on a quiet machine, and hardly depends on a busy one.
   */
  const worked = async (): Promise<number> => {
    const { metrics } = await inspector.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000
  }
  console.log('median ms   worst ms   page CPU  server CPU   nodes     KB   click')
  for (const { what, at, press, until } of CLICKS.filter(({ what }) => what.includes(ONLY))) {
    const times: number[] = []
    const work: number[] = []
    const served: number[] = []
    let [nodes, bytes] = [0, 0]
    for (let round = 0; round <= ROUNDS; round++) {
      await page.goto(site.url + at)
      await page.waitForLoadState('networkidle')
      await page.evaluate(measuring(until))
      received = 0
      const before = await worked()
      const idle = process.cpuUsage()
      await press(page)
      const took = Number(await page.evaluate('window.took'))
      const after = await worked()
      const { user, system } = process.cpuUsage(idle)
      await waitFor(() => open.size === 0)
      // The first round loads the page's code and warms the server.
      if (round > 0) times.push(took)
      if (round > 0) work.push(after - before)
      if (round > 0) served.push((user + system) / 1000)
      nodes = Number(await page.evaluate('document.querySelectorAll("*").length'))
      bytes = received
    }
    const median = middle(times)
    if (median > BAR_MS) slow++
    const figures = [
      [median, 9],
      [Math.max(...times), 10],
      [middle(work), 9],
      [middle(served), 11],
      [nodes, 7],
      [bytes / 1024, 6],
    ] as const
    console.log(
      `${figures.map(([value, width]) => value.toFixed(0).padStart(width)).join(' ')}   ${what}${median > BAR_MS ? '   TOO SLOW' : ''}`,
    )
  }
  console.log(
    slow === 0 ? `every click within ${BAR_MS} ms` : `${slow} clicks take longer than ${BAR_MS} ms`,
  )
} finally {
  await browser.close()
  rmSync(data, { recursive: true, force: true })
}
process.exitCode = slow === 0 ? 0 : 1

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Infinity
}

async function waitFor(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}
