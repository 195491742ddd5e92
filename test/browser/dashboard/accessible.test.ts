// No page, in either theme, on a desktop or a phone, has anything that axe finds fault with.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { GEMINI } from './seeded.ts'
import { closeBrowser, faultsOf, startSite, visit } from './visit.ts'

after(closeBrowser)

const EXPORT = '<html><head><title>Notes</title></head><body><article class="page sans"><header><h1 class="page-title">Notes</h1></header><div class="page-body"><p>Hello</p><table class="simple-table"><tbody><tr><td>a</td></tr></tbody></table></div></article></body></html>'

test('every page, light and dark', async (t) => {
  const site = await startSite(t)
  const faults: string[] = []
  const check = async (page: Page, what: string): Promise<void> => void faults.push(...(await faultsOf(page, what)))
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await visit(t, site, null, { colorScheme })
    if (colorScheme === 'light') {
      await page.goto(`${site.url}/setup?token=x`)
      await page.getByRole('button', { name: 'Create account' }).click()
      await check(page, 'setup')
    }
  }
  const cookie = await site.setUp()
  const key = (await (await site.api(cookie, 'POST', '/api/v1/keys', { name: 'Website', models: ['gemini-2.5-*'], rpm: 60 })).json()) as { id: string; secret: string }
  for (const text of ['100/20/50', 'status 500']) await site.proxied(key.secret, GEMINI('gemini-2.5-flash'), { contents: [{ parts: [{ text }] }] })
  await site.api(cookie, 'POST', '/api/v1/tokens', { name: 'Pipeline' })
  const { link } = (await (await site.api(cookie, 'POST', '/api/v1/invitations', { email: 'grace@example.com' })).json()) as { link: string }

  for (const colorScheme of ['light', 'dark'] as const) {
    const stranger = await visit(t, site, null, { colorScheme })
    await stranger.page.goto(`${site.url}/keys`)
    await stranger.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await check(stranger.page, `sign-in, ${colorScheme}`)
    await stranger.page.goto(link)
    await stranger.page.getByRole('heading', { name: 'You are invited' }).waitFor()
    await check(stranger.page, `invitation, ${colorScheme}`)
    await stranger.page.goto(`${site.url}/invite?token=nothing`)
    await stranger.page.getByRole('heading', { name: 'This invitation is not open' }).waitFor()
    await check(stranger.page, `closed invitation, ${colorScheme}`)

    for (const width of [1280, 390]) {
      const { page } = await visit(t, site, cookie, { colorScheme, viewport: { width, height: 900 } })
      const look = async (path: string, name: string): Promise<void> => {
        await page.goto(site.url + path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForLoadState('networkidle')
        await check(page, `${name}, ${colorScheme}, ${width}`)
      }
      await look('/?split=model', 'overview')
      await look('/keys', 'keys')
      await look('/keys?search=nothing', 'no keys')
      await look(`/keys/${key.id}`, 'key')
      await look('/providers', 'providers')
      await look('/requests', 'requests')
      await look('/tokens', 'tokens')
      await look('/accounts', 'accounts')
      await look('/account', 'account')
      await look('/nowhere', 'nowhere')
      await look('/docs', 'docs')
      if (width === 390) continue

      await page.locator('summary', { hasText: 'Make a proxy key' }).click()
      await check(page, `docs, opened, ${colorScheme}`)
      await page.goto(`${site.url}/requests`)
      await page.getByRole('button', { name: /^Details of/ }).first().click()
      await page.getByText('Waiting for the first byte').waitFor()
      await check(page, `request, ${colorScheme}`)
      await page.goto(`${site.url}/keys?new=1`)
      await page.getByRole('button', { name: 'Create key' }).last().click()
      await check(page, `key form with an error, ${colorScheme}`)
      await page.getByLabel('Name', { exact: true }).fill('Another')
      await page.getByRole('button', { name: 'Create key' }).last().click()
      await page.getByText('I have copied it').waitFor()
      await check(page, `secret, ${colorScheme}`)
      await page.goto(`${site.url}/convert`)
      await page.locator('input[type=file]').setInputFiles({ name: 'Notes.html', mimeType: 'text/html', buffer: Buffer.from(EXPORT) })
      await page.getByRole('region', { name: 'Preview' }).getByRole('heading').waitFor()
      await check(page, `convert, ${colorScheme}`)
    }
  }
  assert.deepEqual(faults, [])
})
