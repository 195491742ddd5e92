// Pictures of the dashboard, on a real server whose month of traffic went through the real proxy.
// `node scripts/launch.mjs --dev scripts/screenshots.ts` makes those of the docs; with a FOLDER, every page at the width of a phone, a tablet and a
// desktop, light and dark, to be looked at; with names behind it (`overview,keys`) only those.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { buildWhereChanged } from '../dashboard/build.ts'
import { launchChromium } from '../test/browser/chromium.ts'
import { ADMIN, ANTHROPIC, GEMINI, OPENAI, openSite, type Site } from '../test/browser/dashboard/seeded.ts'

const docs = join(import.meta.dirname, '..', 'docs', 'screenshots')
const folder = process.argv[2] ?? docs
const only = process.argv[3]
const WIDTHS = [390, 1024, 1440]

/** TABLE of the docs' pictures: file, and the picture that it is. */
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

/** What a picture is called where it is wanted at all. */
function fileOf(name: string, width: number, scheme: string): string | undefined {
  const full = `${name}-${width}-${scheme}`
  if (folder === docs) return DOCS[full]
  return only === undefined || only.split(',').includes(name) ? full : undefined
}
const DAY = 86_400_000

/** TABLE of keys and what they do: name, wishes, requests on a usual day, addresses. */
const KEYS = [
  { name: 'Website chat', models: ['gemini-2.5-flash', 'gemini-2.5-pro'], rpm: 600, day: 14, address: () => GEMINI('gemini-2.5-flash'), body: {} },
  { name: 'Support triage', models: ['gpt-5-mini', 'gpt-5*'], rpm: 120, day: 8, address: () => OPENAI, body: { model: 'gpt-5-mini' } },
  { name: 'Nightly summaries', models: ['claude-*'], rpm: 30, day: 5, address: () => ANTHROPIC, body: { model: 'claude-sonnet-4-5', max_tokens: 100 } },
  { name: 'Research notebook', models: null, rpm: null, day: 3, address: () => GEMINI('gemini-2.5-pro'), body: {} },
  { name: 'Mobile app (beta)', models: ['gemini-2.5-flash'], rpm: 60, day: 2, address: () => GEMINI('gemini-2.5-flash'), body: {}, expires: 5 },
]

/** Always the same pictures: chance that is none. */
function chances(seed: number): () => number {
  let state = seed
  return () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31
}

/** Invites somebody, who accepts. */
async function admit(site: Site, cookie: string, email: string): Promise<void> {
  const { link } = (await (await site.api(cookie, 'POST', '/api/v1/invitations', { email })).json()) as { link: string }
  await site.api(null, 'POST', '/api/v1/invitations/accept', { token: new URL(link).searchParams.get('token'), email, password: 'another good password' })
}

async function seed(site: Site): Promise<{ cookie: string; firstKey: string }> {
  const chance = chances(7)
  site.behind(31 * DAY)
  let cookie = await site.setUp()
  await site.api(cookie, 'POST', '/api/v1/credentials', { provider: 'anthropic', name: 'team account', secret: 'sk-ant-1', weight: 3 })
  await site.api(cookie, 'POST', '/api/v1/credentials', { provider: 'anthropic', name: 'overflow', secret: 'sk-ant-2', weight: 1 })
  const made: { id: string; secret: string }[] = []
  for (const { name, models, expires } of KEYS) {
    const expires_at = expires === undefined ? null : new Date(Date.now() + expires * DAY).toISOString()
    made.push((await (await site.api(cookie, 'POST', '/api/v1/keys', { name, models, expires_at })).json()) as { id: string; secret: string })
  }
  const old = (await (await site.api(cookie, 'POST', '/api/v1/keys', { name: 'Prototype 2025' })).json()) as { id: string }
  await site.api(cookie, 'DELETE', `/api/v1/keys/${old.id}`)
  await site.api(cookie, 'POST', '/api/v1/tokens', { name: 'Docs pipeline', scopes: ['convert'] })
  await site.api(cookie, 'POST', '/api/v1/tokens', { name: 'Terraform', scopes: ['convert', 'manage'] })
  for (let day = 30; day >= 0; day--) {
    const weekend = [0, 6].includes(new Date(Date.now() - day * DAY).getUTCDay())
    const calls = KEYS.flatMap((key, index) => Array.from({ length: Math.round(key.day * (weekend ? 0.4 : 1) * (0.7 + chance() * 0.6) * (day < 1 ? 3 : 1)) }, () => ({ key, secret: made[index]!.secret, at: chance() })))
    for (const { key, secret, at } of calls.sort((a, b) => a.at - b.at)) {
      site.behind(day * DAY + (1 - at) * DAY * (day === 0 ? 0.95 : 1))
      const bad = chance() < 0.025
      const size = 400 + Math.floor(chance() * 3000)
      const prompt = bad ? `status ${chance() < 0.5 ? 500 : 400}` : `${size}/${Math.floor(size * (0.1 + chance() * 0.3))}/${Math.floor(size * chance() * 0.7)}`
      await (await site.proxied(secret, key.address(), { ...key.body, contents: [{ parts: [{ text: prompt }] }], messages: [{ role: 'user', content: prompt }] })).arrayBuffer()
    }
  }
  // The last one is a stream: its way through time has two parts.
  site.behind(4 * 60_000)
  const stream = { model: 'claude-sonnet-4-5', max_tokens: 100, stream: true, messages: [{ role: 'user', content: '2840/412/1900' }] }
  await (await site.proxied(made[2]!.secret, ANTHROPIC, stream)).arrayBuffer()
  site.behind(0)
  // Now, because a month in seconds would meet the limits.
  cookie = (await site.api(null, 'POST', '/api/v1/session', ADMIN)).headers.get('set-cookie')?.split(';')[0] ?? ''
  for (const [index, { rpm }] of KEYS.entries()) await site.api(cookie, 'PATCH', `/api/v1/keys/${made[index]!.id}`, { rpm })
  await admit(site, cookie, 'linus@example.com')
  await site.api(cookie, 'POST', '/api/v1/invitations', { email: 'grace@example.com' })
  return { cookie, firstKey: made[0]!.id }
}

/** A small page as Notion exports it. */
const EXPORT = `<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"/><title>Team handbook</title></head><body>
<article id="01234567-89ab-cdef-0123-456789abcdef" class="page sans"><header>
<h1 class="page-title">Team handbook</h1><p class="page-description"></p></header><div class="page-body">
<p>Welcome! This is what everybody needs in the <strong>first week</strong>, and <em>where</em> to find the rest.</p>
<h1>Your first day</h1><ul class="to-do-list"><li><div class="checkbox checkbox-on"></div><span class="to-do-children-checked">Meet your team</span></li></ul>
<ul class="to-do-list"><li><div class="checkbox checkbox-off"></div><span class="to-do-children-unchecked">Get your laptop</span></li></ul>
<table class="simple-table"><thead class="simple-table-header"><tr><th>Who</th><th>What for</th></tr></thead><tbody><tr><td>Ada</td><td>Accounts and keys</td></tr><tr><td>Grace</td><td>Everything that compiles</td></tr></tbody></table>
<p>The meeting costs <code>n</code> people <figure class="equation"><div class="equation-container"><span class="katex-display"><span class="katex"><span class="katex-mathml"><math><semantics><annotation encoding="application/x-tex">E = \\frac{n(n-1)}{2} \\cdot t^2</annotation></semantics></math></span></span></span></div></figure></p>
<ul class="toggle"><li><details open=""><summary>How do I book a room?</summary><p>Ask in <mark>#office</mark>.</p></details></li></ul>
<blockquote>Leave it better than you found it.</blockquote></div></article></body></html>`

interface Picture {
  name: string
  path: string
  /** Not of the whole page, but of what the window shows: where something lies over it. */
  window?: true
  /** What is done before. */
  before?: (page: Page) => Promise<void>
}

/** TABLE of pictures of whoever is signed in. */
function pictures(firstKey: string): readonly Picture[] {
  return [
    { name: 'overview', path: '/?period=month&split=key' },
    { name: 'keys', path: '/keys' },
    { name: 'key-form', path: '/keys?new=1', window: true },
    { name: 'key', path: `/keys/${firstKey}?period=month` },
    { name: 'providers', path: '/providers' },
    { name: 'requests', path: '/requests' },
    {
      name: 'request',
      path: '/requests',
      window: true,
      before: async (page) => {
        await page.getByRole('button', { name: /details of/ }).first().click()
        await page.getByText('Waiting for the first byte').waitFor()
      },
    },
    {
      name: 'convert',
      path: '/convert',
      before: async (page) => {
        await page.locator('input[type=file]').setInputFiles({ name: 'Team handbook 0123456789abcdef0123456789abcdef.html', mimeType: 'text/html', buffer: Buffer.from(EXPORT) })
        // What draws formulas is loaded last.
        await page.getByRole('region', { name: 'Preview' }).locator('math').first().waitFor()
      },
    },
    { name: 'tokens', path: '/tokens' },
    { name: 'accounts', path: '/accounts' },
    {
      name: 'docs',
      path: '/docs',
      window: true,
      before: async (page) => {
        await page.locator('summary', { hasText: 'List the plans' }).click()
        await page.getByRole('button', { name: 'Run', exact: true }).click()
        await page.getByLabel('Answer', { exact: true }).scrollIntoViewIfNeeded()
      },
    },
    { name: 'account', path: '/account' },
  ]
}

const press = (name: string | RegExp) => async (page: Page) => page.getByRole('button', { name, exact: typeof name === 'string' }).first().click()

/** TABLE of pictures of an account that has nothing yet, where nothing comes, and where it fails. */
const STATES: readonly Picture[] = [
  ...['', '-loading', '-failed'].flatMap((state) =>
    ['overview', 'keys', 'providers', 'requests', 'convert', 'tokens', 'accounts', 'docs'].map((page) => ({ name: `${page}${state || '-empty'}`, path: page === 'overview' ? '/' : `/${page}` })),
  ),
  { name: 'key-missing', path: '/keys/key_0' },
  { name: 'nowhere', path: '/nowhere' },
]

/** TABLE of pictures of dialogs, and of what else lies over a page. */
function dialogs(firstKey: string): readonly Picture[] {
  const key = `/keys/${firstKey}`
  return [
    { name: 'key-edit', path: key, window: true, before: press('Edit') },
    { name: 'key-rotate', path: key, window: true, before: press('Rotate') },
    { name: 'key-revoke', path: key, window: true, before: press('Revoke') },
    { name: 'credential-form', path: '/providers', window: true, before: press('Add credential for Azure OpenAI') },
    { name: 'provider-form', path: '/providers', window: true, before: press('Add a provider') },
    { name: 'token-form', path: '/tokens?new=1', window: true, before: async (page) => page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click() },
    { name: 'invite-form', path: '/accounts?invite=1', window: true },
    { name: 'keys-none', path: '/keys?search=nothing' },
    { name: 'requests-none', path: '/requests?status=429' },
    {
      name: 'convert-refused',
      path: '/convert',
      before: async (page) => page.locator('input[type=file]').setInputFiles({ name: 'picture.png', mimeType: 'image/png', buffer: Buffer.from('PNG') }),
    },
    {
      name: 'navigation',
      path: '/keys',
      window: true,
      before: async (page) => {
        const opener = page.getByRole('button', { name: 'Open the navigation' })
        if (await opener.isVisible()) await opener.click()
      },
    },
  ]
}

/** Names, models and numbers as long as they come. */
async function lengthen(site: Site, cookie: string): Promise<string> {
  const name = 'A name that somebody wrote as if it were a sentence, about what the key is for and who asked for it, with Donaudampfschifffahrtsgesellschaftskapitänsmützenhersteller'
  const model = 'publishers/anthropic/models/claude-sonnet-4-5-with-a-very-long-suffix@20260929-preview-experimental-0123456789'
  const { account } = (await (await site.api(cookie, 'GET', '/api/v1/session')).json()) as { account: { id: string } }
  await site.api(cookie, 'PATCH', `/api/v1/accounts/${account.id}`, { plan: 'unlimited' })
  const origins = Array.from({ length: 6 }, (_, number) => `https://a-subdomain-${number}.of-some-rather-long-domain.example.com`)
  const made = (await (await site.api(cookie, 'POST', '/api/v1/keys', { name, models: [model, 'gemini-2.5-*', 'gpt-5*', 'claude-*', 'o4-mini'], rpm: 1_000_000 })).json()) as { id: string; secret: string }
  await site.api(cookie, 'PATCH', `/api/v1/keys/${made.id}`, { models: null })
  for (let number = 0; number < 12; number++) await (await site.proxied(made.secret, OPENAI, { model, messages: [{ role: 'user', content: '98765432109/1234567890/45678901234' }] })).arrayBuffer()
  await site.api(cookie, 'PATCH', `/api/v1/keys/${made.id}`, { models: [model, 'gemini-2.5-*', 'gpt-5*', 'claude-*', 'o4-mini'], allowed_origins: origins })
  for (let number = 0; number < 25; number++) await site.api(cookie, 'POST', '/api/v1/keys', { name: `Tenant ${number}` })
  await site.api(cookie, 'POST', '/api/v1/tokens', { name, scopes: ['convert', 'manage'] })
  await site.api(cookie, 'POST', '/api/v1/credentials', { provider: 'azure', name, secret: 'x', weight: 1000, values: { resource: 'a-resource-with-a-long-name-of-our-own' } })
  await site.api(cookie, 'POST', '/api/v1/providers', { id: 'a-provider-whose-id-is-as-long-as-it-may-be-0123456789', origin: `https://${'inference.'.repeat(6)}example.com`, dial: null, auth: null })
  const email = `${'somebody.with.a.long.name.'.repeat(2)}x@${'department.'.repeat(4)}example.com`
  await admit(site, cookie, email)
  await site.api(cookie, 'POST', '/api/v1/invitations', { email })
  return made.id
}

/** TABLE of pictures of that. */
function long(key: string): readonly Picture[] {
  return [
    { name: 'overview-long', path: '/?split=model&show=tokens' },
    { name: 'keys-long', path: '/keys' },
    { name: 'key-long', path: `/keys/${key}` },
    { name: 'key-edit-long', path: `/keys/${key}`, window: true, before: press('Edit') },
    { name: 'key-revoke-long', path: `/keys/${key}`, window: true, before: press('Revoke') },
    { name: 'providers-long', path: '/providers' },
    { name: 'requests-long', path: '/requests' },
    { name: 'request-long', path: '/requests', window: true, before: press(/details of/) },
    { name: 'tokens-long', path: '/tokens' },
    { name: 'accounts-long', path: '/accounts' },
    {
      name: 'convert-long',
      path: '/convert?metadata=1',
      before: async (page) => {
        await page.locator('input[type=file]').setInputFiles({ name: `${'Everything about everything '.repeat(5)}.html`, mimeType: 'text/html', buffer: Buffer.from(EXPORT.replace('Welcome!', 'Donaudampfschifffahrt'.repeat(9))) })
        await page.getByRole('region', { name: 'Preview' }).locator('math').first().waitFor()
      },
    },
  ]
}

/** Makes a key each time, and so comes last. */
const SECRET: readonly Picture[] = [
    {
      name: 'key-secret',
      path: '/keys?new=1',
      window: true,
      before: async (page) => {
        await page.getByLabel('Name', { exact: true }).fill('Website chat, staging')
        await page.getByRole('button', { name: 'Create key' }).last().click()
        await page.getByText('I have copied it').waitFor()
      },
    },
]

const problem = buildWhereChanged()
if (problem !== null) throw new Error(problem)
const data = mkdtempSync(join(tmpdir(), 'tollmark-screenshots-'))
mkdirSync(folder, { recursive: true })
const browser = await launchChromium()
try {
  await using site = await openSite(data, { TOLLMARK_PLANS: '{"unlimited":{"conversions_per_day":null}}' })
  const take = async (shots: readonly Picture[], cookie: string | null, { url }: Site = site): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of WIDTHS) {
        const phone = width === 390
        const context = await browser.newContext({ viewport: { width, height: phone ? 844 : folder === docs ? 760 : 900 }, colorScheme, reducedMotion: 'reduce', locale: 'en-GB' })
        if (cookie !== null) await context.addCookies([{ name: cookie.split('=')[0]!, value: cookie.slice(cookie.indexOf('=') + 1), url }])
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
          if (name.endsWith('-failed')) await page.route(loaded, (route) => route.fulfill({ status: 500 }))
          await page.goto(url + path)
          if (name.endsWith('-loading')) await page.getByRole('heading', { level: 1 }).waitFor()
          else await page.waitForLoadState('networkidle')
          await before?.(page)
          await page.waitForTimeout(150)
          const sideways = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
          if (sideways !== 0) complain(`${String(sideways)} px too wide`)
          // A page of the docs wants the beginning of a long table only.
          const height = Math.min(Number(await page.evaluate('document.documentElement.scrollHeight')), folder !== docs ? Infinity : phone ? 844 : 1010)
          await page.screenshot({ path: join(folder, `${file}.png`), ...(window === true ? {} : { fullPage: true, clip: { x: 0, y: 0, width, height } }) })
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
