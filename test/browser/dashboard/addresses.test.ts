// Addresses as they are sent around: what stands in one is what is shown, and what no filter can be
// is none.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '../../support/until.ts'
import { GEMINI, provider } from './seeded.ts'
import { closeShared, goTo, startSite, visit } from './visit.ts'

after(closeShared)

/** TABLE of addresses, the filter that is looked at, what it shows, and whether there is a row. */
const ADDRESSES: readonly [path: string, filter: string, value: string, found: boolean][] = [
  ['/keys?status=active', 'Status', 'active', true],
  ['/keys?status=disabled', 'Status', 'disabled', false],
  ['/keys?status=colour', 'Status', '', true],
  ['/keys?status=toString', 'Status', '', true],
  ['/requests?status=2xx', 'Outcome', '2xx', true],
  ['/requests?status=404', 'Outcome', '404', false],
  ['/requests?status=999', 'Outcome', '', true],
  ['/requests?status=colour', 'Outcome', '', true],
  ['/requests?from=2000-01-01', 'From day (UTC)', '2000-01-01', true],
  ['/requests?from=2000-01-01T12:00:00Z', 'From day (UTC)', '2000-01-01', true],
  ['/requests?from=colour', 'From day (UTC)', '', true],
  ['/requests?from=99999-01-01', 'From day (UTC)', '', true],
  ['/requests?to=2000-01-01', 'To day (UTC)', '2000-01-01', false],
  ['/requests?to=9999-12-31', 'To day (UTC)', '9999-12-31', true],
  ['/requests?to=colour', 'To day (UTC)', '', true],
  ['/requests?to=%2B275760-09-13', 'To day (UTC)', '', true],
  ['/requests?to=-000001-01-01', 'To day (UTC)', '', true],
]

test('filters show what the address says and ignore invalid values', async (t) => {
  const site = await startSite(t)
  const cookie = await site.setUp()
  const { secret } = (await (
    await site.api(cookie, 'POST', '/api/v1/keys', { name: 'Website' })
  ).json()) as { secret: string }
  await (await site.proxied(secret, GEMINI('gemini-2.5-flash'), { contents: [] })).arrayBuffer()
  const { page } = await visit(t, site, cookie)
  for (const [path, filter, value, found] of ADDRESSES) {
    // From another page, so that a new one reads the address.
    await goTo(page, `${site.url}/account`)
    await goTo(page, site.url + path)
    await page
      .getByRole('table')
      .or(page.getByText(/^No matching /))
      .waitFor()
    assert.equal(await page.getByLabel(filter, { exact: true }).inputValue(), value, path)
    assert.equal(await page.getByRole('table').count(), found ? 1 : 0, path)
  }
})

test('an invitation link without a token is not open', async (t) => {
  const site = await startSite(t)
  await site.setUp()
  const { page } = await visit(t, site)
  for (const path of ['/invite', '/invite?token=', `/invite?token=${'x'.repeat(300)}`]) {
    await page.goto(site.url + path)
    await page.getByText('Ask the person who sent it for a new one.').waitFor()
  }
})

test('requests can be filtered by every key, however many there are', async (t) => {
  const site = await startSite(t)
  const cookie = await site.setUp()
  for (let number = 0; number <= 40; number++)
    await site.api(cookie, 'POST', '/api/v1/keys', { name: `Key ${number}` })
  const { page } = await visit(t, site, cookie)
  await page.goto(`${site.url}/requests`)
  await page.getByLabel('Key', { exact: true }).click()
  await page.getByText('Type to find more').waitFor()
  assert.equal(await page.getByRole('option').filter({ hasText: 'Key' }).count(), 8)
  await page.getByLabel('Key', { exact: true }).fill('key 0')
  await page.getByRole('option', { name: /^Key 0/ }).click()
  await page.waitForURL(/key=key_/)
  await page.reload()
  await until(async () => (await page.getByLabel('Key', { exact: true }).inputValue()) === 'Key 0')
  await page.getByRole('button', { name: 'Any key' }).click()
  await page.waitForURL((url) => url.search === '')
})

test('an address with a fragment opens that part of the API reference', async (t) => {
  const site = await startSite(t)
  const { page } = await visit(t, site, await site.setUp())
  await page.goto(`${site.url}/docs#Usage`)
  await page.locator('h2:focus', { hasText: 'Usage' }).waitFor()
  await page.waitForFunction('document.activeElement.getBoundingClientRect().top < 100')
})

test('a request in progress updates until it ends', async (t) => {
  const site = await startSite(t)
  const cookie = await site.setUp()
  const { secret } = (await (
    await site.api(cookie, 'POST', '/api/v1/keys', { name: 'Website' })
  ).json()) as { secret: string }
  const gate = Promise.withResolvers<void>()
  site.fake.play(async (call) => {
    await gate.promise
    await provider(call)
  })
  const responded = site.proxied(secret, GEMINI('gemini-2.5-flash'), { contents: [] })
  await until(
    async () =>
      ((await (await site.api(cookie, 'GET', '/api/v1/requests')).json()) as { data: unknown[] })
        .data.length === 1,
  )
  const { page } = await visit(t, site, cookie)
  await page.goto(`${site.url}/requests`)
  await page.getByRole('button', { name: /details of/ }).click()
  await page.getByRole('dialog').getByText('In progress').waitFor()
  gate.resolve()
  await (await responded).arrayBuffer()
  await page.getByRole('dialog').getByText('Waiting for the first byte').waitFor()
})
