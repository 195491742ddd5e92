// Takes screenshots of the dashboard, on a real server with a month of traffic through the real
// proxy. `node scripts/launch.mjs --dev scripts/screenshots.ts` makes those of the docs; with a
// FOLDER, every page at the width of a phone, a tablet and a desktop, light and dark, for review;
// with names after it (`overview,keys`) only those.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildWhereChanged } from '../dashboard/build.ts'
import { launchChromium } from '../test/browser/chromium.ts'
import { openSite, type Site } from '../test/browser/dashboard/seeded.ts'
import { dialogs, long, pictures, SECRET, STATES, type Picture } from './screenshots/pictures.ts'
import { lengthen, seed } from './screenshots/seed.ts'

const docs = join(import.meta.dirname, '..', 'docs', 'screenshots')
const folder = process.argv[2] ?? docs
const only = process.argv[3]
const WIDTHS = [390, 1024, 1440]

/** Run in the page: whether every chart is drawn, which happens once its width is known. */
const DRAWN = `[...document.querySelectorAll('figure svg[role=slider]')]
  .every((chart) => chart.querySelector('[data-axis=time] text'))`

/** TABLE of the docs' pictures: file, and name of the picture. */
const DOCS: Readonly<Record<string, string>> = {
  'setup-1024-light': 'setup',
  'overview-1440-light': 'overview',
  'keys-1440-dark': 'keys',
  'key-form-1440-light': 'key-form',
  'key-secret-1440-light': 'key-secret',
  'key-1440-light': 'key',
  'providers-1440-dark': 'providers',
  'requests-1440-light': 'requests',
  'request-1440-dark': 'request',
  'convert-1440-dark': 'convert',
  'tokens-1440-light': 'tokens',
  'accounts-1440-light': 'accounts',
  'docs-1440-dark': 'api-reference',
  'account-1024-light': 'account',
  'overview-390-light': 'overview-phone',
  'key-390-dark': 'key-phone',
  'convert-390-light': 'convert-phone',
  'request-390-dark': 'request-phone',
}

/** The file name of a picture; undefined if it is not requested. */
function fileOf(name: string, width: number, scheme: string): string | undefined {
  const full = `${name}-${width}-${scheme}`
  if (folder === docs) return DOCS[full]
  return only === undefined || only.split(',').includes(name) ? full : undefined
}

const problem = buildWhereChanged()
if (problem !== null) throw new Error(problem)
const data = mkdtempSync(join(tmpdir(), 'tollmark-screenshots-'))
mkdirSync(folder, { recursive: true })
const browser = await launchChromium()
try {
  await using site = await openSite(data, {
    TOLLMARK_PLANS: '{"unlimited":{"conversions_per_day":null}}',
  })
  const take = async (
    shots: readonly Picture[],
    cookie: string | null,
    { url }: Site = site,
  ): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of WIDTHS) {
        const phone = width === 390
        const context = await browser.newContext({
          viewport: { width, height: phone ? 844 : folder === docs ? 760 : 900 },
          colorScheme,
          reducedMotion: 'reduce',
          locale: 'en-GB',
        })
        if (cookie !== null)
          await context.addCookies([
            {
              name: cookie.slice(0, cookie.indexOf('=')),
              value: cookie.slice(cookie.indexOf('=') + 1),
              url,
            },
          ])
        const page = await context.newPage()
        for (const { name, path, window, before } of shots) {
          const file = fileOf(name, width, colorScheme)
          if (file === undefined) continue
          const complain = (text: string): void => console.log(`${name} at ${width}: ${text}`)
          page.removeAllListeners()
          page.on('console', (message) => message.type() === 'error' && complain(message.text()))
          page.on('pageerror', (error) => complain(error.message))
          await page.unrouteAll()
          const loaded = /\/api\/v1\/(?!session)|\/openapi\.json/
          if (name.endsWith('-loading')) await page.route(loaded, () => {})
          if (name.endsWith('-failed'))
            await page.route(loaded, (route) => route.fulfill({ status: 500 }))
          await page.goto(url + path)
          if (name.endsWith('-loading')) await page.getByRole('heading', { level: 1 }).waitFor()
          else await page.waitForLoadState('networkidle')
          await before?.(page)
          await page.waitForFunction(DRAWN)
          await page.waitForTimeout(150)
          const sideways = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
          if (sideways !== 0) complain(`${String(sideways)} px too wide`)
          // The docs show only the beginning of a long table.
          const height = Math.min(
            Number(await page.evaluate('document.documentElement.scrollHeight')),
            folder !== docs ? Infinity : phone ? 844 : 1010,
          )
          await page.screenshot({
            path: join(folder, `${file}.png`),
            ...(window === true ? {} : { fullPage: true, clip: { x: 0, y: 0, width, height } }),
          })
        }
        await context.close()
      }
    }
  }
  await take([{ name: 'setup', path: '/setup?token=x' }], null)
  const { cookie, firstKey } = await seed(site)
  await take([{ name: 'sign-in', path: '/' }], null)
  await take(pictures(firstKey), cookie)
  await take(SECRET, cookie)
  if (folder !== docs) {
    await take(dialogs(firstKey), cookie)
    await take(long(await lengthen(site, cookie)), cookie)
    await using empty = await openSite(join(data, 'empty'))
    await take(STATES, await empty.setUp(), empty)
  }
} finally {
  await browser.close()
  rmSync(data, { recursive: true, force: true })
}
