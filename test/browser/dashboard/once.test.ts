// What a person starts happens once and is seen to its end: pressed twice before the page can show
// the first, or left while it is under way.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Dialog, Page } from 'playwright-core'
import { until } from '../../support/until.ts'
import { ADMIN } from './seeded.ts'
import { closeShared, goTo, shareSite, visit } from './visit.ts'

after(closeShared)

interface Deed {
  path: string
  /** Fields that are filled in before. */
  fill?: Readonly<Record<string, string>>
  /** What opens the form. */
  first?: string
  button: string
  call: string
  /** Whether a secret comes of it, which is shown only now. */
  secret?: true
}

/** TABLE of what sends a POST. */
const DEEDS: readonly Deed[] = [
  {
    path: '/keys?new=1',
    fill: { Name: 'Website' },
    button: 'Create key',
    call: '/api/v1/keys',
    secret: true,
  },
  { path: '/keys/:id', first: 'Rotate', button: 'Rotate key', call: '/rotate', secret: true },
  {
    path: '/tokens?new=1',
    fill: { Name: 'Pipeline' },
    button: 'Create token',
    call: '/api/v1/tokens',
    secret: true,
  },
  { path: '/accounts?invite=1', button: 'Create link', call: '/api/v1/invitations', secret: true },
  {
    path: '/providers',
    first: 'Add credential for Mistral',
    fill: { Secret: 'm-1' },
    button: 'Save credential',
    call: '/api/v1/credentials',
  },
  {
    path: '/providers',
    first: 'Add a provider',
    fill: { ID: 'acme', Origin: 'https://llm.example.com/' },
    button: 'Add provider',
    call: '/api/v1/providers',
  },
  { path: '/providers', button: 'Test environment', call: '/test' },
  {
    path: '/docs',
    first: 'Create a proxy key',
    button: 'Run (changes data)',
    call: '/api/v1/keys',
  },
  {
    path: '/account',
    fill: { 'Current password': ADMIN.password, 'New password': ADMIN.password },
    button: 'Change password',
    call: '/api/v1/session/password',
  },
]

/** Two clicks between which the page cannot draw anything. */
const twice = (page: Page, button: string): Promise<void> =>
  page
    .getByRole('button', { name: button, exact: true })
    .last()
    .evaluate((element) => {
      if (!('click' in element) || typeof element.click !== 'function') return
      element.click()
      element.click()
    })

test('a double click sends one request, and a dialog that creates a secret stays open until it is shown', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const { id } = (await (
    await site.api(cookie, 'POST', '/api/v1/keys', { name: 'Turned' })
  ).json()) as { id: string }
  const { page } = await visit(t, site, cookie)
  for (const { path, fill = {}, first, button, call, secret } of DEEDS) {
    const sent: string[] = []
    const gate = Promise.withResolvers<void>()
    const address = site.url + path.replace(':id', id)
    // A page that is there already shows the result of the deed before.
    if (page.url() !== address) await goTo(page, address)
    await page.route(
      (url) => url.pathname.endsWith(call),
      async (route) => {
        if (route.request().method() === 'POST') {
          sent.push(route.request().url())
          await gate.promise
        }
        await route.continue()
      },
    )
    if (first !== undefined)
      await page
        .getByRole('button', { name: first, exact: true })
        .or(page.locator('summary', { hasText: first }))
        .click()
    for (const [label, value] of Object.entries(fill))
      await page.getByLabel(label, { exact: true }).fill(value)
    await page.getByRole('button', { name: button, exact: true }).last().waitFor()
    await twice(page, button)
    await page.locator('[data-loading]').first().waitFor()
    if (secret) {
      const dialog = page.getByRole('dialog')
      assert.ok(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled(), button)
      assert.ok(await dialog.getByRole('button', { name: 'Close' }).isDisabled(), button)
      await page.keyboard.press('Escape')
    }
    const responded = page.waitForResponse(
      (response) =>
        new URL(response.url()).pathname.endsWith(call) && response.request().method() === 'POST',
    )
    gate.resolve()
    await responded
    if (secret) await page.locator('[data-secret]').waitFor()
    await page.locator('[data-loading]').first().waitFor({ state: 'detached' })
    assert.equal(sent.length, 1, button)
    if (secret) {
      await page.getByRole('button', { name: 'Copy and close' }).click()
      await page.locator('[data-secret]').waitFor({ state: 'detached' })
    }
    await page.unrouteAll()
  }
})

test('a secret is shown even after going back while it is created, and leaving asks first', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const { id } = (await (
    await site.api(cookie, 'POST', '/api/v1/keys', { name: 'Turned' })
  ).json()) as { id: string }
  const { page } = await visit(t, site, cookie)
  for (const { path, fill = {}, first, button, call } of DEEDS.filter(({ secret }) => secret)) {
    const gate = Promise.withResolvers<void>()
    await goTo(page, `${site.url}/account`)
    await page.route(
      (url) => url.pathname.endsWith(call),
      async (route) => {
        if (route.request().method() === 'POST') await gate.promise
        await route.continue()
      },
    )
    const asked: string[] = []
    const dismiss = async (dialog: Dialog): Promise<void> => {
      asked.push(dialog.type())
      await dialog.dismiss()
    }
    page.on('dialog', dismiss)
    const leave = async (times: number): Promise<void> => {
      void page.reload().catch(() => {})
      await until(() => asked.length === times)
    }
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path.replace(':id', id))})`)
    if (first !== undefined) await page.getByRole('button', { name: first, exact: true }).click()
    for (const [label, value] of Object.entries(fill))
      await page.getByLabel(label, { exact: true }).fill(value)
    await page.getByRole('button', { name: button, exact: true }).last().click()
    await page.locator('[data-loading]').first().waitFor()
    await leave(1)
    await page.goBack()
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    gate.resolve()
    await page.locator('[data-secret]').waitFor()
    await leave(2)
    await page.goForward()
    assert.ok(await page.locator('[data-secret]').isVisible(), button)
    await page.getByRole('button', { name: 'Copy and close' }).click()
    await page.locator('[data-secret]').waitFor({ state: 'detached' })
    // Without routes, the page comes from the browser's cache.
    await page.unrouteAll()
    await page.reload()
    assert.deepEqual(asked, ['beforeunload', 'beforeunload'], button)
    page.off('dialog', dismiss)
  }
})

test('two secrets created at the same time are both shown', async (t) => {
  const site = await shareSite()
  const { page } = await visit(t, site, await site.setUp())
  const gate = Promise.withResolvers<void>()
  await page.route('**/api/v1/keys', async (route) => {
    await gate.promise
    await route.continue()
  })
  const make = async (path: string, button: string): Promise<void> => {
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Website')
    await page.getByRole('dialog').getByRole('button', { name: button }).click()
  }
  await page.goto(`${site.url}/account`)
  await make('/keys?new=1', 'Create key')
  await page.goBack()
  await make('/tokens?new=1', 'Create token')
  const made = page.waitForResponse((response) => response.url().endsWith('/api/v1/keys'))
  await page.locator('[data-secret]', { hasText: 'tmt_' }).waitFor()
  gate.resolve()
  await made
  await page.getByRole('button', { name: 'Copy and close' }).click()
  await page.locator('[data-secret]', { hasText: 'tmk_' }).waitFor()
  await page.getByRole('button', { name: 'Copy and close' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('the second of two secrets is not marked as copied, and focus moves to it', async (t) => {
  const site = await shareSite()
  const { page, context } = await visit(t, site, await site.setUp())
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.url })
  const gate = Promise.withResolvers<void>()
  let made = 0
  let listed = false
  await page.route('**/api/v1/keys', async (route) => {
    await gate.promise
    await route.continue()
  })
  page.on('response', (response) => {
    if (new URL(response.url()).pathname !== '/api/v1/keys') return
    if (response.request().method() === 'POST') made++
    else listed = made === 2
  })
  const make = async (name: string): Promise<void> => {
    await page.evaluate("history.pushState(null, '', '/keys?new=1')")
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    await page.locator('[data-loading]').first().waitFor()
  }
  await page.goto(`${site.url}/account`)
  await make('First')
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await make('Second')
  gate.resolve()
  await page.getByRole('dialog', { name: '“First” is ready' }).waitFor()
  await until(() => listed)
  await page.getByRole('button', { name: 'Copy the key' }).click()
  await page.getByRole('button', { name: 'Copied the key' }).waitFor()
  await page.getByRole('button', { name: 'I have copied it' }).click()
  const next = page.getByRole('dialog', { name: '“Second” is ready' })
  await next.waitFor()
  assert.ok(await next.getByRole('button', { name: 'Copy the key' }).isVisible())
  await until(
    async () => (await page.evaluate('document.activeElement.getAttribute("role")')) === 'dialog',
  )
})
