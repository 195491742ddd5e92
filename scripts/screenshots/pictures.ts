// TABLES of pictures: the page of each, and the steps before it.
import type { Page } from 'playwright-core'

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

/** One screenshot: the page, and what to do before it is taken. */
export interface Picture {
  name: string
  path: string
  /** Only the visible part of the page, for example with an overlay. */
  window?: true
  /** The steps before the screenshot. */
  before?: (page: Page) => Promise<void>
}

const press = (name: string | RegExp) => async (page: Page) =>
  page
    .getByRole('button', { name, exact: typeof name === 'string' })
    .first()
    .click()

/** Converts a page and waits for its formula, whose code is loaded last. */
const convert = (name: string, html: string) => async (page: Page) => {
  await page
    .locator('input[type=file]')
    .setInputFiles({ name, mimeType: 'text/html', buffer: Buffer.from(html) })
  await page.getByRole('region', { name: 'Preview' }).locator('math').first().waitFor()
}

/** TABLE of pictures of signed-in pages. */
export function pictures(firstKey: string): readonly Picture[] {
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
        await page
          .getByRole('button', { name: /details of/ })
          .first()
          .click()
        await page.getByText('Waiting for the first byte').waitFor()
      },
    },
    {
      name: 'convert',
      path: '/convert',
      before: convert('Team handbook 0123456789abcdef0123456789abcdef.html', EXPORT),
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
        await page.getByLabel('Response', { exact: true }).scrollIntoViewIfNeeded()
      },
    },
    { name: 'account', path: '/account' },
  ]
}

/** TABLE of pictures of empty, loading and failed states. */
export const STATES: readonly Picture[] = [
  ...['', '-loading', '-failed'].flatMap((state) =>
    ['overview', 'keys', 'providers', 'requests', 'convert', 'tokens', 'accounts', 'docs'].map(
      (page) => ({
        name: `${page}${state || '-empty'}`,
        path: page === 'overview' ? '/' : `/${page}`,
      }),
    ),
  ),
  { name: 'key-missing', path: '/keys/key_0' },
  { name: 'nowhere', path: '/nowhere' },
]

/** TABLE of pictures of dialogs and other overlays. */
export function dialogs(firstKey: string): readonly Picture[] {
  const key = `/keys/${firstKey}`
  return [
    { name: 'key-edit', path: key, window: true, before: press('Edit') },
    { name: 'key-rotate', path: key, window: true, before: press('Rotate') },
    { name: 'key-revoke', path: key, window: true, before: press('Revoke') },
    {
      name: 'credential-form',
      path: '/providers',
      window: true,
      before: press('Add credential for Azure OpenAI'),
    },
    { name: 'provider-form', path: '/providers', window: true, before: press('Add a provider') },
    {
      name: 'token-form',
      path: '/tokens?new=1',
      window: true,
      before: async (page) =>
        page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click(),
    },
    { name: 'invite-form', path: '/accounts?invite=1', window: true },
    { name: 'keys-none', path: '/keys?search=nothing' },
    { name: 'requests-none', path: '/requests?status=429' },
    {
      name: 'convert-refused',
      path: '/convert',
      before: async (page) =>
        page.locator('input[type=file]').setInputFiles({
          name: 'picture.png',
          mimeType: 'image/png',
          buffer: Buffer.from('PNG'),
        }),
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

/** TABLE of pictures with very long names, models and numbers. */
export function long(key: string): readonly Picture[] {
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
      before: convert(
        `${'Everything about everything '.repeat(5)}.html`,
        EXPORT.replace('Welcome!', 'Donaudampfschifffahrt'.repeat(9)),
      ),
    },
  ]
}

/** Creates a key each time, so it comes last. */
export const SECRET: readonly Picture[] = [
  {
    name: 'key-secret',
    path: '/keys?new=1',
    window: true,
    before: async (page) => {
      await page.getByLabel('Name', { exact: true }).fill('Website chat, staging')
      await page.getByRole('button', { name: 'Create key' }).last().click()
      await page.getByText('Copy and close').waitFor()
    },
  },
]
