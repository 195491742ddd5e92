// The whole way of somebody who has never seen it, by keyboard alone: the link that the server
// prints, an account, a credential, a key, a call streamed through the client package, and its
// usage.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { streamText } from 'ai'
import type { Page } from 'playwright-core'
import { PROXY_MANAGED, createProxyFetch } from '../../../packages/core/src/index.ts'
import { until } from '../../support/until.ts'
import { closeShared, startSite, visit } from './visit.ts'

after(closeShared)

/**
 * Presses Tab until the element with this name has the focus. As a person would, only once it is
 * there to be seen.
 */
async function tabTo(
  page: Page,
  role: 'button' | 'link' | 'textbox' | 'radio',
  name: string | RegExp,
): Promise<void> {
  const wanted = page.getByRole(role, { name, exact: typeof name === 'string' })
  await wanted.first().waitFor()
  for (let presses = 0; presses < 80; presses++) {
    if (
      await wanted.evaluateAll((found) =>
        found.includes(found[0]?.ownerDocument.activeElement as never),
      )
    )
      return
    await page.keyboard.press('Tab')
  }
  assert.fail(`the keyboard does not reach the ${role} ${String(name)}`)
}

async function press(page: Page, role: 'button' | 'link', name: string | RegExp): Promise<void> {
  await tabTo(page, role, name)
  await page.keyboard.press('Enter')
}

async function type(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, 'textbox', label)
  await page.keyboard.type(text)
}

test("the path from the setup link to a key's usage works by keyboard alone", async (t) => {
  const site = await startSite(t)
  const { page } = await visit(t, site)

  await page.goto(`${site.url}/requests`)
  await page.getByRole('heading', { name: 'Welcome to Tollmark' }).waitFor()
  assert.equal(new URL(page.url()).pathname, '/setup', 'every page leads to the first run')

  await page.goto((site.running.setupLink ?? '').replace(/^http:\/\/[^/]+/, site.url))
  await type(page, 'E-mail', 'ada@example.com')
  await tabTo(page, 'button', 'Show the password')
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.type('short')
  await page.keyboard.press('Enter')
  await page.getByText('At least 10 characters.').waitFor()
  await page.keyboard.type(' but long enough')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.getByRole('heading', { name: 'Getting started' }).waitFor()

  await press(page, 'link', 'Providers')
  await press(page, 'button', 'Add credential for Anthropic')
  await page.getByRole('dialog').waitFor()
  await page.getByLabel('Secret', { exact: true }).and(page.locator(':focus')).waitFor()
  await page.keyboard.type('sk-ant-upstream')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'Anthropic' }).getByText('Healthy').waitFor()
  assert.doesNotMatch(await page.content(), /sk-ant-upstream/)

  await press(page, 'link', 'Keys')
  await press(page, 'button', 'Create key')
  await page.getByRole('dialog').waitFor()
  await page.getByLabel('Name', { exact: true }).and(page.locator(':focus')).waitFor()
  await page.keyboard.type('First key')
  await type(page, 'Models', 'claude-*')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Remove model claude-*' }).waitFor()
  await type(page, 'Requests per minute', '30')
  await page.keyboard.press('Enter')
  const secret = (await page.locator('[data-secret]').textContent()) ?? ''
  assert.match(secret, /^tmk_/)
  await page.getByRole('tab', { name: 'curl' }).focus()
  for (const name of [
    '@anthropic-ai/sdk',
    'from anthropic import',
    '@ai-sdk/anthropic',
    '@proxy-sdk/core',
  ]) {
    await page.keyboard.press('ArrowRight')
    await page.getByRole('tabpanel').getByText(name).first().waitFor()
    assert.match((await page.getByRole('tabpanel').textContent()) ?? '', new RegExp(secret))
  }
  await press(page, 'button', 'Copy and close')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.doesNotMatch(await page.content(), new RegExp(secret), 'a secret is shown once')

  // As the snippet for @proxy-sdk/core says.
  const anthropic = createAnthropic({
    apiKey: PROXY_MANAGED,
    fetch: createProxyFetch({ proxyUrl: site.url, apiKey: secret }),
  })
  const { textStream } = streamText({
    model: anthropic('claude-sonnet-4-5'),
    prompt: '700/33/200',
    maxRetries: 0,
  })
  assert.equal((await Array.fromAsync(textStream)).join(''), 'Hello there!')

  // It is settled in a moment; a page that was opened before looks again after half a minute.
  await until(async () => {
    const response = await page.request.get(`${site.url}/api/v1/requests?limit=1`)
    const { data } = (await response.json()) as { data: { tokens_in: number | null }[] }
    return data[0]?.tokens_in === 700
  })

  await press(page, 'link', 'First key')
  await page.getByRole('heading', { name: 'First key' }).waitFor()
  await page.getByRole('button', { name: /Tokens 733/ }).waitFor()
  await press(page, 'button', /^Tokens/)
  await page.getByRole('slider', { name: /Tokens over time/ }).focus()
  await page.keyboard.press('End')
  await page.getByRole('figure').getByText('733').waitFor()
  assert.match(page.url(), /show=tokens/, 'what is looked at stands in the address')
  await page.reload()
  await page.getByRole('button', { name: /^Tokens/, pressed: true }).waitFor()
  await press(page, 'button', /details of/)
  await page.getByText('Waiting for the first byte').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  await press(page, 'button', 'Sign out')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await type(page, 'E-mail', 'ada@example.com')
  await page.keyboard.press('Tab')
  await page.keyboard.type('short but long enough')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'First key' }).waitFor()
})
