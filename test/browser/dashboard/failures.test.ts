// A server that refuses, or is gone: what was wanted and did not happen is told on the page, beside
// what is there.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../../support/until.ts'
import { GEMINI } from './seeded.ts'
import { closeShared, faultsOf, shareSite, startSite, visit } from './visit.ts'

after(closeShared)

interface Failure {
  what: string
  path: string
  /** The calls that are refused. */
  calls: string
  by: ((page: Page) => Promise<void>) | { milliseconds: number }
  /** What is still there. */
  stays: string
}

/** TABLE of what is refused. */
const FAILURES: readonly Failure[] = [
  {
    what: 'more rows',
    path: '/keys',
    calls: '**/api/v1/keys?*cursor=*',
    by: (page) => page.getByRole('button', { name: 'Next' }).click(),
    stays: '1–25 of 31 keys',
  },
  {
    what: 'signing out',
    path: '/keys',
    calls: '**/api/v1/session',
    by: (page) => page.getByRole('button', { name: 'Sign out' }).click(),
    stays: '1–25 of 31 keys',
  },
  {
    what: 'a chart by key',
    path: '/',
    calls: '**/api/v1/usage?*',
    by: (page) => page.getByRole('radio', { name: 'By key' }).click(),
    stays: 'Busiest keys',
  },
  {
    what: 'newer health',
    path: '/providers',
    calls: '**/api/v1/providers',
    by: { milliseconds: 11_000 },
    stays: 'Google Gemini',
  },
  {
    what: 'newer usage',
    path: '/',
    calls: '**/api/v1/overview?*',
    by: { milliseconds: 31_000 },
    stays: 'Busiest keys',
  },
]

test('limits that cannot be loaded are not shown as dashes', async (t) => {
  const site = await shareSite()
  const { page } = await visit(t, site, await site.setUp())
  await page.route('**/api/v1/limits', (route) => route.fulfill({ status: 500 }))
  await page.goto(`${site.url}/convert`)
  await page.getByRole('button', { name: 'Choose files' }).waitFor()
  assert.equal(await page.getByText('up to').first().isVisible(), false)
  await page.unrouteAll()
  await page.reload()
  await page.getByText('.html up to 10 MB, .zip up to 50 MB').waitFor()
})

test('a refused change is reported and the old values stay', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  for (let number = 1; number <= 30; number++)
    await site.api(cookie, 'POST', '/api/v1/keys', { name: `Key ${number}` })
  const { secret } = (await (
    await site.api(cookie, 'POST', '/api/v1/keys', { name: 'Used' })
  ).json()) as { secret: string }
  await (await site.proxied(secret, GEMINI('gemini-2.5-flash'), { contents: [] })).arrayBuffer()
  for (const { what, path, calls, by, stays } of FAILURES)
    await t.test(what, async (t) => {
      const clocked = typeof by === 'object'
      const { page } = await visit(t, site, cookie, { alone: clocked })
      if (clocked) await page.clock.install()
      await page.goto(site.url + path)
      await page.getByText(stays, { exact: true }).waitFor()
      const detail = `No ${what} now.`
      const body = JSON.stringify({
        type: 'about:blank',
        title: 'Too many',
        status: 429,
        detail,
        code: 'too_many',
        request_id: 'req_x',
      })
      await page.route(calls, (route) =>
        route.fulfill({ status: 429, contentType: 'application/problem+json', body }),
      )
      await (typeof by === 'object' ? page.clock.runFor(by.milliseconds) : by(page))
      await page.getByRole('alert').getByText(detail).first().waitFor()
      assert.ok(await page.getByText(stays, { exact: true }).isVisible(), what)
    })
  await t.test('a page that is older than the server asks to be reloaded', async (t) => {
    const { page } = await visit(t, site, cookie)
    await page.route('**/api/v1/overview?*', (route) => route.fulfill({ json: { newer: true } }))
    await page.goto(site.url)
    const advice = 'Reload the page: it may be older than the server.'
    await page.getByRole('alert').getByText(advice).first().waitFor()
  })
})

/** TABLE of what only the server finds wrong: the form, its fields, and the one that is wrong. */
const REFUSED: readonly [
  first: string,
  fields: Readonly<Record<string, string>>,
  button: string,
  wrong: string,
][] = [
  [
    'Add credential for Azure OpenAI',
    { Secret: 'az-1', Resource: 'Not one part' },
    'Save credential',
    'Resource',
  ],
  [
    'Add a provider',
    { ID: 'acme', Origin: 'https://llm.example.com', 'Credential header': 'X Key' },
    'Add provider',
    'Credential header',
  ],
  [
    'Add a provider',
    { ID: 'acme', Origin: 'https://llm.example.com', 'Credential prefix': 'two words' },
    'Add provider',
    'Credential prefix',
  ],
]

test('without a network, requests are still sent: the server may be local', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const { page, context } = await visit(t, site, cookie)
  await page.goto(`${site.url}/keys?new=1`)
  await page.getByLabel('Name', { exact: true }).fill('Website')
  await context.setOffline(true)
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('alert').getByText('The server is not responding.').waitFor()
})

test('an undecryptable credential is shown as such with no share of requests; a refused field shows its error', async (t) => {
  const site = await startSite(t)
  const cookie = await site.setUp()
  await site.api(cookie, 'POST', '/api/v1/credentials', {
    provider: 'mistral',
    name: 'old',
    secret: 'm-1',
  })
  await site.running.store.db
    .updateTable('credentials')
    .set({ sealed: Buffer.alloc(40).toString('base64'), revision: 9 })
    .execute()
  await until(async () =>
    /"readable":false/.test(await (await site.api(cookie, 'GET', '/api/v1/credentials')).text()),
  )
  const { page } = await visit(t, site, cookie)
  await page.goto(`${site.url}/providers`)
  const mistral = page.getByRole('region', { name: 'Mistral' })
  await mistral.getByText('Not ready').waitFor()
  await mistral.getByText('Cannot be decrypted').waitFor()
  await mistral.getByText('weight 1 · not used').waitFor()
  await page.getByRole('button', { name: 'Test old' }).click()
  await mistral.getByText(/cannot decrypt this credential/).waitFor()
  assert.deepEqual(await faultsOf(page, '/providers'), [])
  for (const [first, fields, button, wrong] of REFUSED) {
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: first, exact: true }).click()
    for (const [label, value] of Object.entries(fields))
      await dialog.getByLabel(label, { exact: true }).fill(value)
    await dialog.getByRole('button', { name: button }).click()
    await dialog.locator('[aria-invalid=true]').waitFor()
    assert.equal(
      await dialog.getByLabel(wrong, { exact: true }).getAttribute('aria-invalid'),
      'true',
      wrong,
    )
    assert.equal(await dialog.getByRole('alert').count(), 0, wrong)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  }
})
