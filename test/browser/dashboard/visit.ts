// A person before the dashboard: a real browser on the real server, which complains about whatever
// the browser complains about.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { AxeBuilder } from '@axe-core/playwright'
import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { buildWhereChanged } from '../../../dashboard/build.ts'
import { closeChromium, sharedChromium } from '../chromium.ts'
import { usedFolder } from '../../support/templates.ts'
import type { Ends } from '../../support/temporary.ts'
import { ADMIN, cookieOf, openSite, type Site } from './seeded.ts'

let shared: Promise<Site> | undefined
const ends = new AsyncDisposableStack()

/** For `after`: ends what the tests of this process share. */
export async function closeShared(): Promise<void> {
  await closeChromium()
  await ends.disposeAsync()
}

/** A server of its own, with the dashboard as its sources are now. */
export async function startSite(t: Ends, env: Record<string, string> = {}): Promise<Site> {
  assert.equal(buildWhereChanged(), null)
  // Hooks run in their order: the server ends before its folder goes.
  const stack = new AsyncDisposableStack()
  t.after(() => stack.disposeAsync())
  return stack.use(await openSite(usedFolder(t), env))
}

/**
 * The server that the tests of this process share, which saves half a second of CPU a test: a
 * start, and a site whose code the browser compiles for the first time. Its `setUp` gives each test
 * an administrator of its own, whose keys, requests and conversions nobody else has. What is the
 * whole server's (providers, settings, its clock, its end) must stay as it is.
 */
export function shareSite(): Promise<Site> {
  return (shared ??= openShared())
}

async function openShared(): Promise<Site> {
  assert.equal(buildWhereChanged(), null)
  const folder = usedFolder({ after: (end) => ends.defer(() => void end()) })
  const site = ends.use(await openSite(folder))
  const first = await site.setUp()
  let joined = 0
  const setUp = async (): Promise<string> => {
    const email = `ada-${++joined}@example.com`
    const asFirst = async <T>(method: string, path: string, body: unknown): Promise<T> =>
      (await (await site.api(first, method, path, body)).json()) as T
    const { link } = await asFirst<{ link: string }>('POST', '/api/v1/invitations', { email })
    const token = new URL(link).searchParams.get('token')
    const response = await site.api(null, 'POST', '/api/v1/invitations/accept', {
      token,
      email,
      password: ADMIN.password,
    })
    const { account } = (await response.json()) as { account: { id: string } }
    await asFirst('PATCH', `/api/v1/accounts/${account.id}`, { role: 'admin' })
    return cookieOf(response)
  }
  return { ...site, setUp }
}

export interface Visitor {
  context: BrowserContext
  page: Page
  /** What the browser complained about so far: errors, and what the content policy stopped. */
  complaints: string[]
}

const DESKTOP = { width: 1280, height: 720 }

interface Window {
  readonly context: BrowserContext
  readonly page: Page
}

/** The window of an earlier visitor, cleared: the next one gets it. */
let idle: Window | undefined

async function openWindow(options: BrowserContextOptions): Promise<Window> {
  const context = await (
    await sharedChromium()
  ).newContext({ reducedMotion: 'reduce', viewport: DESKTOP, ...options })
  // Milliseconds for what takes hundreds on an idle machine.
  context.setDefaultTimeout(30_000)
  return { context, page: await context.newPage() }
}

/** Undoes what a visitor has done to a window, and forgets what the site has stored in it. */
async function clear({ context, page }: Window): Promise<void> {
  for (const other of context.pages()) if (other !== page) await other.close()
  page.removeAllListeners()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await context.unrouteAll({ behavior: 'ignoreErrors' })
  await context.setOffline(false)
  await context.clearCookies()
  await context.clearPermissions()
  await page.setViewportSize(DESKTOP)
  await page.emulateMedia({ colorScheme: null, reducedMotion: 'reduce' })
  const { origin } = new URL(page.url())
  if (origin === 'null') return
  // An empty page of the same site, whose server may have ended. about:blank would end the page's
  // process, and to start one is most of what a new window costs.
  await page.route('**', (route) => route.fulfill({ contentType: 'text/html', body: '' }))
  await page.goto(origin)
  await page.unrouteAll()
  await page.evaluate('sessionStorage.clear()')
  const devtools = await context.newCDPSession(page)
  await devtools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  await devtools.detach()
}

interface VisitOptions extends BrowserContextOptions {
  /**
   * Whether nobody else may have the window: the test does what cannot be undone (`page.clock`).
   */
  readonly alone?: boolean
}

/**
 * Somebody who opens the browser, signed in with this cookie or not. The test fails where the
 * browser complains. With no options but the size, it is the window of an earlier visitor if one is
 * free: a new one costs 200 ms of CPU more.
 */
export async function visit(
  t: TestContext,
  site: Site,
  cookie: string | null = null,
  { alone = false, viewport = DESKTOP, ...options }: VisitOptions = {},
): Promise<Visitor> {
  const isShared = !alone && Object.keys(options).length === 0
  const free = isShared ? idle : undefined
  if (free !== undefined) idle = undefined
  const window = free ?? (await openWindow(options))
  const { context, page } = window
  if (viewport !== null && viewport !== DESKTOP) await page.setViewportSize(viewport)
  if (cookie !== null)
    await context.addCookies([
      {
        name: cookie.slice(0, cookie.indexOf('=')),
        value: cookie.slice(cookie.indexOf('=') + 1),
        url: site.url,
      },
    ])
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  // The browser reports refusals, which are often what a test is about.
  page.on(
    'console',
    (message) =>
      message.type() === 'error' &&
      !message.text().startsWith('Failed to load resource') &&
      complaints.push(message.text()),
  )
  t.after(async () => {
    if (isShared && idle === undefined) {
      await clear(window)
      idle = window
    } else await context.close()
    assert.deepEqual(complaints, [])
  })
  return { context, page, complaints }
}

/** The link to a page in the navigation, which other links on a page may share their name with. */
export const pageLink = (page: Page, name: string): Locator =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true })

/**
 * Goes to an address of the dashboard as its links do, without loading everything anew: that takes
 * ten times as long, and axe would have to be sent again. Waits for the heading of the new page.
 * Where it stands on that page already, or nowhere, it is loaded.
 */
export async function goTo(page: Page, address: string): Promise<void> {
  const { origin, pathname, search } = new URL(address)
  const here = new URL(page.url())
  const heading = page.getByRole('heading', { level: 1 }).first()
  // The empty page that an earlier visitor leaves has none.
  const old = (await heading.count()) > 0 ? await heading.elementHandle() : null
  if (old !== null && here.origin === origin && here.pathname !== pathname) {
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(pathname + search)})`)
    await old.waitForElementState('hidden')
  } else await page.goto(address)
  await heading.waitFor()
}

interface View {
  readonly colorScheme: 'dark' | 'light'
  readonly viewport: { readonly width: number; readonly height: number }
  /** Axe's rules; all where it is left out. */
  readonly rules?: readonly string[]
}

/**
 * TABLE of how a page is looked at: in both themes, and on a phone. A theme changes colours and
 * nothing else of what axe looks at: in the dark one these rules are all that may find something
 * new.
 */
const VIEWS: readonly View[] = [
  { colorScheme: 'dark', viewport: DESKTOP, rules: ['color-contrast', 'link-in-text-block'] },
  { colorScheme: 'light', viewport: { width: 390, height: 844 } },
  { colorScheme: 'light', viewport: DESKTOP },
]

/** Run in the page: what would move, or fade from one colour into another, by its classes. */
const MOVING = `[...document.querySelectorAll('*')].filter((element) => {
  const { transitionDuration, animationName } = getComputedStyle(element)
  return transitionDuration.split(', ').some((duration) => duration !== '0s') || animationName !== 'none'
}).map((element) => element.getAttribute('class') ?? element.tagName).join(', ')`

/**
 * Axe is half a megabyte, which takes longer to send than a page to be looked at: a page that has
 * it is sent none.
 */
async function axeSourceFor(page: Page): Promise<{ axeSource?: string }> {
  return (await page.evaluate('typeof axe')) === 'object' ? { axeSource: ';' } : {}
}

/**
 * What a person with a screen reader, a keyboard or weak eyes, or whom motion makes ill, would
 * stumble over.
 */
export async function faultsOf(page: Page, what: string): Promise<string[]> {
  const faults: string[] = []
  for (const { colorScheme, viewport, rules } of VIEWS) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize(viewport)
    const beyond = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
    if (beyond > 0) faults.push(`${what}, ${viewport.width} px: ${beyond} px too wide`)
    const moving = String(await page.evaluate(MOVING))
    if (moving !== '')
      faults.push(
        `${what}, ${viewport.width} px: moves although less motion is asked for: ${moving}`,
      )
    // The page has no frames, which is all that the newer mode is for.
    const { violations } = await new AxeBuilder({ page, ...(await axeSourceFor(page)) })
      .setLegacyMode()
      .options({
        resultTypes: ['violations'],
        ...(rules === undefined ? {} : { runOnly: { type: 'rule', values: [...rules] } }),
      })
      .analyze()
    faults.push(
      ...violations.map(
        ({ id, nodes }) =>
          `${what}, ${colorScheme}, ${viewport.width} px: ${id} at ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
      ),
    )
  }
  return faults
}

/** Run in the page: what has to be moved sideways to be read, code aside. */
const SIDEWAYS = `[...document.querySelectorAll('html, body *')].filter((element) => {
  const beyond = element.scrollWidth - element.clientWidth
  return beyond > 0 && element.tagName !== 'PRE' && (element === document.documentElement || ['auto', 'scroll'].includes(getComputedStyle(element).overflowX))
}).map((element) => (element.getAttribute('class') ?? element.tagName) + ': ' + (element.scrollWidth - element.clientWidth) + ' px')`

/** Run in the page: what is cut off on a button. */
const CUT = `[...document.querySelectorAll('button *, a *')].filter((element) => {
  const { overflowX, textOverflow } = getComputedStyle(element)
  return overflowX === 'hidden' && textOverflow === 'clip' && element.scrollWidth > element.clientWidth && !element.matches('.visually-hidden')
}).map((element) => element.textContent + ' is cut off')`

/**
 * What has to be moved sideways to be read, and what is cut off on a button, at the width that the
 * page has now.
 */
export async function cutOff(page: Page): Promise<string[]> {
  // The second frame shows what follows a new width.
  await page.evaluate(
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
  )
  return [...(await page.evaluate<string[]>(SIDEWAYS)), ...(await page.evaluate<string[]>(CUT))]
}
