// No page, in either theme, on a desktop or a phone, has anything that axe finds fault with, or has
// to be moved sideways.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { connectSocket, startProvider, withKey } from '../../proxy/socket/support.ts'
import { GEMINI, type Site } from './seeded.ts'
import { closeShared, cutOff, faultsOf, goTo, shareSite, startSite, visit } from './visit.ts'

after(closeShared)

const XAI = 'https://api.x.ai/v1/realtime'
const EXPORT =
  '<html><head><title>Notes</title></head><body><article class="page sans"><header><h1 class="page-title">Notes</h1></header><div class="page-body"><p>Hello</p><table class="simple-table"><tbody><tr><td>a</td></tr></tbody></table></div></article></body></html>'

/** An account with something of everything. */
async function furnish(site: Site): Promise<{ cookie: string; key: string; link: string }> {
  const cookie = await site.setUp()
  const made = async <T>(path: string, body: unknown): Promise<T> =>
    (await (await site.api(cookie, 'POST', path, body)).json()) as T
  const key = await made<{ id: string; secret: string }>('/api/v1/keys', {
    name: 'Website',
    models: ['gemini-2.5-*'],
    rpm: 60,
  })
  for (const text of ['100/20/50', 'status 500'])
    await site.proxied(key.secret, GEMINI('gemini-2.5-flash'), {
      contents: [{ parts: [{ text }] }],
    })
  await made('/api/v1/tokens', { name: 'Pipeline' })
  await made('/api/v1/credentials', { provider: 'anthropic', name: 'team', secret: 'sk-ant' })
  const { link } = await made<{ link: string }>('/api/v1/invitations', {
    email: 'grace@example.com',
  })
  return { cookie, key: key.id, link }
}

let furnished: Promise<Awaited<ReturnType<typeof furnish>> & { site: Site }> | undefined

/** The same for all tests that only look at it. */
const furnishedSite = (): NonNullable<typeof furnished> =>
  (furnished ??= shareSite().then(async (site) => ({ site, ...(await furnish(site)) })))

/** Goes to a page and waits until all of it is there. */
async function open(page: Page, address: string): Promise<void> {
  await goTo(page, address)
  await page.locator('[role=status][aria-label=Loading]').first().waitFor({ state: 'detached' })
}

/** TABLE of what is chosen, where, and another of its kind that is not. */
const CHOSEN = [
  ['/', 'nav[aria-label=Pages] a[aria-current]', 'nav[aria-label=Pages] a:not([aria-current])'],
  ['/', 'input[type=radio]:checked + span', 'input[type=radio]:not(:checked) + span'],
  ['/keys/:id', '[role=tab][aria-selected=true]', '[role=tab][aria-selected=false]'],
] as const

test('in forced colours, a selected item stands out and a dialog has an edge', async (t) => {
  const { site, cookie, key } = await furnishedSite()
  const { page } = await visit(t, site, cookie, { forcedColors: 'active' })
  for (const [path, chosen, other] of CHOSEN) {
    await open(page, site.url + path.replace(':id', key))
    if (path !== '/') {
      await page.getByRole('button', { name: 'Rotate' }).click()
      await page.getByRole('button', { name: 'Rotate key' }).click()
    }
    const colour = (selector: string): Promise<unknown> =>
      page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).color`)
    await page.locator(chosen).first().waitFor()
    assert.notEqual(await colour(chosen), await colour(other), chosen)
  }
  /** The colour and the width of the line below a part. */
  const line = (selector: string, part = ''): Promise<unknown> =>
    page.evaluate(
      `(({ borderBottomColor, borderBottomWidth }) => borderBottomColor + ' ' + borderBottomWidth)(getComputedStyle(document.querySelector(${JSON.stringify(selector)}), ${JSON.stringify(part)}))`,
    )
  await open(page, site.url)
  assert.equal(await line('[aria-pressed=true]', '::after'), 'rgb(0, 0, 0) 2px')
  await open(page, `${site.url}/keys?new=1`)
  await page.getByRole('dialog').waitFor()
  assert.equal(await line('[role=dialog]'), 'rgb(0, 0, 0) 1px')
  await open(page, `${site.url}/convert`)
  const thumb = `getComputedStyle(document.querySelector('[role=switch] + * > *')).backgroundColor`
  assert.notEqual(
    await page.evaluate(thumb),
    await page.evaluate('getComputedStyle(document.body).backgroundColor'),
    'the switch',
  )
})

test('signed-out pages are accessible', async (t) => {
  const site = await startSite(t)
  const { page } = await visit(t, site)
  await page.goto(`${site.url}/setup`)
  await page.getByRole('button', { name: 'Create account' }).click()
  const faults = await faultsOf(page, 'setup')
  const { link } = await furnish(site)
  for (const [address, heading] of [
    [`${site.url}/keys`, 'Sign in'],
    [link, "You're invited"],
    [`${site.url}/invite?token=nothing`, 'Invitation not valid'],
  ] as const) {
    await page.goto(address)
    await page.getByRole('heading', { name: heading }).waitFor()
    faults.push(...(await faultsOf(page, heading)))
  }
  await page.route('**/api/v1/session', (route) => route.fulfill({ status: 404 }))
  await page.goto(site.url)
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  faults.push(...(await faultsOf(page, 'nothing loaded')))
  assert.deepEqual(faults, [])
})

/** TABLE of pages behind the sign-in, in two tests that may run long on a busy machine. */
const PAGES = {
  'pages of the proxy': (key: string) => [
    '/?split=model',
    '/keys',
    '/keys?search=nothing',
    `/keys/${key}`,
    '/providers',
    '/requests',
    '/requests?status=429&child=key_none',
    '/sockets',
  ],
  'all other pages': () => ['/tokens', '/accounts', '/account', '/nowhere', '/docs', '/convert'],
}

for (const [name, paths] of Object.entries(PAGES)) {
  test(name, async (t) => {
    const { site, cookie, key } = await furnishedSite()
    const { page } = await visit(t, site, cookie)
    const faults: string[] = []
    for (const path of paths(key)) {
      await open(page, site.url + path)
      faults.push(...(await faultsOf(page, path)))
    }
    assert.deepEqual(faults, [])
  })
}

test('the longest names fit the narrowest screen, and a wide one', async (t) => {
  const { origin } = await startProvider(t)
  const site = await startSite(t, { TOLLMARK_UPSTREAM_XAI: origin, XAI_API_KEY: 'xai-x' })
  const { cookie, link } = await furnish(site)
  const name = 'W'.repeat(200)
  const models = ['W'.repeat(200)]
  const { id, secret } = (await (
    await site.api(cookie, 'POST', '/api/v1/keys', {
      name,
      models,
      expires_at: new Date(Date.now() + 3 * 86_400_000).toISOString(),
    })
  ).json()) as { id: string; secret: string }
  await (await site.proxied(secret, GEMINI(models.join()), { contents: [] })).arrayBuffer()
  await (await site.proxied(secret, 'https://nobody.example/v1', {})).arrayBuffer()
  const socket = connectSocket(site.running.port, `${XAI}?model=${name}`, [], withKey(secret))
  await socket.opened
  for (const path of ['tokens', 'accounts'])
    await site.api(cookie, 'POST', `/api/v1/${path}`, { name })
  await site.api(cookie, 'POST', '/api/v1/credentials', {
    provider: 'anthropic',
    name,
    secret: 'sk-ant',
  })
  await site.api(cookie, 'POST', '/api/v1/providers', {
    id: 'w'.repeat(64),
    origin: `https://${'w'.repeat(60)}.example.com`,
  })
  await site.api(cookie, 'POST', '/api/v1/invitations', { email: `${'w'.repeat(100)}@example.com` })
  await site.api(null, 'POST', '/api/v1/invitations/accept', {
    token: new URL(link).searchParams.get('token'),
    email: 'grace@example.com',
    password: 'another good password',
  })
  const { page } = await visit(t, site, cookie)
  const faults: string[] = []
  for (const path of [
    '/?split=key',
    '/keys',
    '/keys?new=1',
    `/keys/${id}`,
    '/providers',
    '/requests',
    '/requests?list=refused',
    '/sockets',
    '/tokens',
    '/accounts',
    '/convert',
    '/docs',
    '/account',
  ]) {
    await page.setViewportSize({ width: 320, height: 720 })
    await open(page, site.url + path)
    for (const width of [320, 1440]) {
      await page.setViewportSize({ width, height: 720 })
      faults.push(...(await cutOff(page)).map((fault) => `${path}, ${width} px: ${fault}`))
    }
  }
  assert.deepEqual(faults, [])
})

/** TABLE of what opens on a page, in three tests for the same reason. */
const OPENED: Readonly<
  Record<string, readonly { what: string; path: string; by: (page: Page) => Promise<void> }[]>
> = {
  'dialogs about keys': [
    { what: 'key form with an error', path: '/keys?new=1', by: create },
    {
      what: 'secret',
      path: '/keys?new=1',
      by: async (page) => {
        await page.getByLabel('Name', { exact: true }).fill('Another')
        await create(page)
        await page.getByText('Copy and close').waitFor()
      },
    },
    {
      what: 'what cannot be undone',
      path: '/keys',
      by: async (page) => {
        await page.getByRole('table').getByRole('link').first().click()
        await page.getByRole('button', { name: 'Revoke', exact: true }).click()
        await page.getByRole('button', { name: 'Revoke key' }).waitFor()
      },
    },
    {
      what: 'request',
      path: '/requests',
      by: async (page) => {
        await page
          .getByRole('button', { name: /details of/ })
          .first()
          .click()
        await page.getByText('Waiting for the first byte').waitFor()
      },
    },
  ],
  'calls of the reference': [
    {
      what: 'docs, opened',
      path: '/docs',
      by: (page) => page.locator('summary', { hasText: 'Create a proxy key' }).click(),
    },
    {
      what: 'docs, run',
      path: '/docs',
      by: async (page) => {
        await page.locator('summary', { hasText: 'List the models' }).click()
        await page.getByRole('button', { name: 'Run', exact: true }).click()
        await page.getByLabel('Response', { exact: true }).waitFor()
      },
    },
  ],
  'a document, and the navigation of a phone': [
    {
      what: 'convert',
      path: '/convert',
      by: async (page) => {
        await page
          .locator('input[type=file]')
          .setInputFiles({ name: 'Notes.html', mimeType: 'text/html', buffer: Buffer.from(EXPORT) })
        await page.getByRole('region', { name: 'Preview' }).getByRole('heading').waitFor()
      },
    },
    {
      what: 'navigation',
      path: '/keys',
      by: async (page) => {
        // It stays open when the window is made wide.
        await page.setViewportSize({ width: 390, height: 844 })
        await page.getByRole('button', { name: 'Open the navigation' }).click()
        await page.getByRole('dialog').getByRole('link', { name: 'Keys' }).waitFor()
      },
    },
  ],
}

async function create(page: Page): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
}

for (const [name, opened] of Object.entries(OPENED)) {
  test(name, async (t) => {
    const { site, cookie } = await furnishedSite()
    const { page } = await visit(t, site, cookie)
    const faults: string[] = []
    for (const { what, path, by } of opened) {
      await open(page, site.url + path)
      await by(page)
      faults.push(...(await faultsOf(page, what)))
    }
    assert.deepEqual(faults, [])
  })
}
