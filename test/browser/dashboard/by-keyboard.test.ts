// What can be done on each page, done by keyboard alone: every stop can be seen, and the focus is
// always somewhere that makes sense.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test, type TestContext } from 'node:test'
import { pageHtml } from '../../support/archives/pages.ts'
import { zip } from '../../support/zip.ts'
import { keyboardOf, type Keyboard, type Step } from './keyboard.ts'
import { GEMINI, type Site } from './seeded.ts'
import { closeShared, shareSite, startSite, visit, type Visitor } from './visit.ts'

after(closeShared)

/** TABLE of flows: what a person wants, and how the keyboard gets there. */
const PROXY: Readonly<Record<string, readonly Step[]>> = {
  'a credential is stored, tested, weighed, paused and removed': [
    ['enter', '/providers'],
    ['press', 'button', 'Add credential for Anthropic'],
    ['dialog', 'Add a credential for Anthropic'],
    ['keys', 'Enter'],
    ['see', 'text', 'Enter your API key or token.'],
    ['on', 'textbox', 'Secret'],
    ['keys', 'Escape'],
    ['on', 'button', 'Add credential for Anthropic'],
    ['keys', 'Enter'],
    ['type', 'Secret', 'sk-ant'],
    ['type', 'Name', 'team'],
    ['keys', 'Enter'],
    ['see', 'region', 'Anthropic'],
    ['press', 'button', 'Test team'],
    ['see', 'text', 'Works'],
    ['on', 'button', 'Test team'],
    ['press', 'button', 'Edit team'],
    ['dialog', 'Edit credential'],
    ['type', 'Weight', 'many'],
    ['keys', 'Enter'],
    ['on', 'textbox', 'Weight'],
    ['keys', 'Control+a', '3', 'Enter'],
    ['see', 'text', /weight 3/],
    ['on', 'button', 'Edit team'],
    ['press', 'button', 'Pause team'],
    ['see', 'text', 'Paused'],
    ['on', 'button', 'Resume team'],
    ['keys', 'Space'],
    ['see', 'button', 'Pause team'],
    ['press', 'button', 'Remove team'],
    ['dialog', 'Remove “team”?'],
    ['press', 'button', 'Remove'],
    ['gone', 'region', 'Anthropic'],
  ],
  'a provider is added and removed': [
    ['enter', '/providers'],
    ['press', 'button', 'Add a provider'],
    ['dialog', 'Add a provider'],
    ['keys', 'Enter'],
    ['on', 'textbox', 'ID'],
    ['keys', ...'acme'],
    ['type', 'Origin', 'https://llm.example.com'],
    ['keys', 'Enter'],
    ['see', 'region', 'acme'],
    ['on', 'button', 'Add a provider'],
    ['press', 'button', 'Remove acme'],
    ['dialog', 'Remove acme?'],
    ['press', 'button', 'Remove'],
    ['gone', 'region', 'acme'],
  ],
  'a key is made': [
    ['enter', '/keys'],
    ['press', 'button', 'Create key'],
    ['dialog', 'Create a key'],
    ['keys', 'Enter'],
    ['see', 'text', /Enter a name\./],
    ['on', 'textbox', 'Name'],
    ['keys', ...'Made'],
    ['type', 'Models', 'gpt-5*'],
    ['keys', 'Enter'],
    ['see', 'button', 'Remove model gpt-5*'],
    ['press', 'button', 'Remove model gpt-5*'],
    ['on', 'textbox', 'Models'],
    ['press', 'button', 'Add model gemini-2.5-flash'],
    ['on', 'textbox', 'Models'],
    ['type', 'Requests per minute', '30'],
    ['type', 'Expires', '01012040'],
    ['type', 'Allowed origins', 'nowhere'],
    ['press', 'button', 'Create key'],
    ['see', 'text', /“nowhere”: Must be an origin such as/],
    ['on', 'textbox', 'Allowed origins'],
    ['keys', 'Control+a', 'Delete', 'Enter'],
    ['dialog', '“Made” is ready'],
    ['keys', 'Escape'],
    ['press', 'button', 'Copy the key'],
    ['see', 'text', 'Copied'],
    ['to', 'tab', 'curl'],
    ['keys', 'ArrowRight'],
    ['on', 'tab', 'TypeScript'],
    ['press', 'button', 'I have copied it'],
    ['gone', 'dialog', '“Made” is ready'],
    ['on', 'button', 'Create key'],
    ['keys', 'Tab'],
    ['to', 'button', 'Create key'],
  ],
  'keys are searched, filtered, sorted, paged and opened': [
    ['enter', '/keys'],
    ['press', 'button', 'Next'],
    ['see', 'text', /^26–\d+ of \d+ keys$/],
    ['on', 'button', 'Next'],
    ['press', 'button', 'Name'],
    ['address', /sort=-name/],
    // The list in its new order could move a link that has the focus out of view.
    ['see', 'text', /^1–25 of \d+ keys$/],
    ['on', 'button', 'Name'],
    ['type', 'Search by name, prefix or id', 'Key 1'],
    ['choose', 'Status', 'Active'],
    ['choose', 'Model', 'gemini'],
    ['choose', 'Status', 'Revoked'],
    ['see', 'text', 'No matching keys'],
    ['press', 'button', 'Clear filters'],
    ['see', 'link', 'Website'],
    ['press', 'link', 'Website'],
    ['on', 'heading', 'Website'],
    ['press', 'link', 'Keys'],
    ['on', 'heading', 'Keys'],
  ],
  'a key is changed, rotated, disabled and revoked': [
    ['enter', '/keys?search=Key+7'],
    ['press', 'link', 'Key 7'],
    ['on', 'heading', 'Key 7'],
    ['press', 'button', 'Edit'],
    ['dialog', 'Edit key'],
    ['keys', 'Control+a', ...'Seven'],
    ['keys', 'Enter'],
    ['see', 'heading', 'Seven'],
    ['on', 'button', 'Edit'],
    ['press', 'button', 'Rotate'],
    ['dialog', 'Rotate “Seven”'],
    ['choose', 'Keep the old key valid for', '1 hour'],
    ['press', 'button', 'Rotate key'],
    ['dialog', 'Your new key'],
    ['press', 'button', 'Copy and close'],
    ['gone', 'dialog', 'Your new key'],
    ['on', 'button', 'Rotate'],
    ['press', 'button', 'Disable'],
    ['dialog', 'Disable “Seven”?'],
    ['press', 'button', 'Disable'],
    ['see', 'text', 'Disabled'],
    ['on', 'button', 'Enable'],
    ['keys', 'Enter'],
    ['see', 'button', 'Disable'],
    ['press', 'button', 'Revoke'],
    ['dialog', 'Revoke “Seven”?'],
    ['keys', 'Escape'],
    ['on', 'button', 'Revoke'],
    ['keys', 'Enter'],
    ['press', 'button', 'Revoke key'],
    ['see', 'text', 'Revoked'],
    ['on', 'heading', 'Seven'],
  ],
  'usage is looked at': [
    ['enter', '/'],
    ['to', 'radio', '24 hours'],
    ['keys', 'ArrowRight'],
    ['address', /period=week/],
    ['keys', 'ArrowRight'],
    ['address', /period=month/],
    ['to', 'radio', 'Total'],
    ['keys', 'ArrowRight', 'ArrowRight'],
    ['address', /split=model/],
    ['on', 'radio', 'By model'],
    ['press', 'button', /^Errors/],
    ['address', /show=errors/],
    ['to', 'slider', /Errors over time/],
    ['keys', 'Home', 'End', 'ArrowLeft', 'ArrowRight'],
    ['see', 'text', /\(UTC\)/],
    ['press', 'link', 'Website'],
    ['on', 'heading', 'Website'],
    ['to', 'radio', '24 hours'],
    ['keys', 'ArrowLeft'],
    ['address', /period=hour/],
    ['press', 'link', 'All requests'],
    ['on', 'heading', 'Requests'],
  ],
  'the ledger is filtered, and a request read': [
    ['enter', '/requests'],
    ['type', 'Key', 'web'],
    ['see', 'option', /^Website/],
    ['keys', 'ArrowDown', 'Enter'],
    ['address', /key=key_/],
    ['choose', 'Outcome', 'Failed'],
    ['address', /status=failed/],
    ['see', 'cell', '500'],
    ['choose', 'Model', 'gemini'],
    ['type', 'To day (UTC)', '01012020'],
    ['address', /to=2020-01-01/],
    ['press', 'button', 'Clear filters'],
    ['see', 'button', /details of/],
    ['press', 'button', /details of/],
    ['dialog', 'Request'],
    ['see', 'text', 'Waiting for the first byte'],
    ['keys', 'Escape'],
    ['gone', 'dialog', 'Request'],
    ['on', 'button', /details of/],
    ['keys', 'Enter'],
    ['press', 'link', 'Website'],
    ['on', 'heading', 'Website'],
  ],
}

const REST: typeof PROXY = {
  'a token is made and revoked': [
    ['enter', '/tokens'],
    ['press', 'button', 'Create token'],
    ['dialog', 'Create a token'],
    ['keys', 'Enter'],
    ['on', 'textbox', 'Name'],
    ['keys', ...'Robot'],
    ['to', 'checkbox', 'Manage'],
    ['keys', 'Space'],
    ['type', 'Expires', '01012040'],
    ['keys', 'Enter'],
    ['dialog', '“Robot” is ready'],
    ['press', 'button', 'Copy and close'],
    ['gone', 'dialog', '“Robot” is ready'],
    ['on', 'button', 'Create token'],
    ['press', 'button', 'Revoke Robot'],
    ['dialog', 'Revoke “Robot”?'],
    ['press', 'button', 'Revoke token'],
    ['see', 'row', /Robot .*Revoked/],
    ['on', 'button', 'Delete Robot'],
  ],
  'a colleague is invited, put on a plan, disabled and enabled': [
    ['enter', '/accounts'],
    ['press', 'button', 'Invite'],
    ['dialog', 'Invite someone'],
    ['keys', ...'no-address', 'Enter'],
    ['on', 'textbox', 'E-mail'],
    ['keys', 'Control+a', ...'mary@example.com'],
    ['choose', 'Plan', 'f'],
    ['press', 'button', 'Create link'],
    ['dialog', 'Invitation link'],
    ['press', 'button', 'Copy and close'],
    ['gone', 'dialog', 'Invitation link'],
    ['on', 'button', 'Invite'],
    ['press', 'button', 'Withdraw the invitation for mary@example.com'],
    ['dialog', 'Withdraw invitation?'],
    ['press', 'button', 'Withdraw'],
    ['gone', 'button', 'Withdraw the invitation for mary@example.com'],
    ['choose', 'Plan of grace@example.com', 'u'],
    ['on', 'combobox', 'Plan of grace@example.com'],
    ['see', 'row', /grace@.*unlimited/],
    ['press', 'button', 'Disable grace@example.com'],
    ['dialog', 'Disable grace@example.com?'],
    ['press', 'button', 'Disable'],
    ['see', 'button', 'Enable grace@example.com'],
    ['on', 'button', 'Enable grace@example.com'],
    ['keys', 'Enter'],
    ['on', 'button', 'Disable grace@example.com'],
  ],
  'the API is read and tried': [
    ['enter', '/docs'],
    ['press', 'link', 'Usage'],
    ['on', 'heading', 'Usage'],
    ['press', 'summary', /Read usage/],
    ['press', 'button', 'Run'],
    ['see', 'text', '200'],
    ['on', 'button', 'Run'],
  ],
  'the theme is changed': [
    ['enter', '/tokens'],
    ['press', 'button', /^System theme/],
    ['on', 'button', /^Light theme/],
    ['keys', 'Enter', 'Enter'],
    ['on', 'button', /^System theme/],
  ],
}

let shared: Promise<Furnished> | undefined
const ends: (() => unknown)[] = []
after(async () => {
  for (const end of ends) await end()
})

interface Furnished {
  readonly site: Site
  readonly cookie: string
}

/** A server on which there is something to do; the tests of this file share it. */
async function furnish(): Promise<Furnished> {
  const site = await startSite(
    { after: (end) => void ends.push(end) },
    { TOLLMARK_PLANS: '{"unlimited":{"conversions_per_day":null}}' },
  )
  const cookie = await site.setUp()
  const made = async <T>(path: string, body: unknown, as: string | null = cookie): Promise<T> =>
    (await (await site.api(as, 'POST', path, body)).json()) as T
  for (let number = 1; number <= 26; number++) await made('/api/v1/keys', { name: `Key ${number}` })
  const { secret } = await made<{ secret: string }>('/api/v1/keys', {
    name: 'Website',
    models: ['gemini-2.5-*'],
  })
  for (const text of ['100/20/50', 'status 500'])
    await (
      await site.proxied(secret, GEMINI('gemini-2.5-flash'), { contents: [{ parts: [{ text }] }] })
    ).arrayBuffer()
  const { link } = await made<{ link: string }>('/api/v1/invitations', {
    email: 'grace@example.com',
  })
  await made(
    '/api/v1/invitations/accept',
    {
      token: new URL(link).searchParams.get('token'),
      email: 'grace@example.com',
      password: 'another good password',
    },
    null,
  )
  return { site, cookie }
}

/** Its administrator at the keyboard. */
async function administrator(t: TestContext): Promise<Visitor & Keyboard> {
  const { site, cookie } = await (shared ??= furnish())
  const visitor = await visit(t, site, cookie)
  await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write'], {
    origin: site.url,
  })
  return { ...visitor, ...keyboardOf(visitor.page, site.url) }
}

test("the proxy's pages can be used by keyboard alone", async (t) => {
  const { walk } = await administrator(t)
  for (const [name, steps] of Object.entries(PROXY)) await t.test(name, () => walk(steps))
})

test('all other pages can be used by keyboard alone', async (t) => {
  const { walk, page, context } = await administrator(t)
  for (const [name, steps] of Object.entries(REST)) await t.test(name, () => walk(steps))

  await t.test('the ledger can be downloaded', async () => {
    await walk([
      ['enter', '/requests'],
      ['to', 'link', 'Export CSV'],
    ])
    const downloading = page.waitForEvent('download')
    await walk([['keys', 'Enter']])
    assert.match(readFileSync(await (await downloading).path(), 'utf8'), /^id,created_at,/)
  })

  await t.test('a failed load can be retried', async () => {
    await context.route('**/api/v1/tokens?*', (route) => route.fulfill({ status: 404 }))
    await walk([
      ['enter', '/tokens'],
      ['see', 'button', 'Try again'],
      ['to', 'button', 'Try again'],
    ])
    await context.unroute('**/api/v1/tokens?*')
    await walk([
      ['keys', 'Enter'],
      ['gone', 'button', 'Try again'],
    ])
  })

  await t.test('the navigation works on a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await walk([
      ['open', '/keys'],
      ['press', 'button', 'Open the navigation'],
      ['dialog', 'Tollmark'],
      ['keys', 'Escape'],
      ['gone', 'dialog', 'Tollmark'],
      ['on', 'button', 'Open the navigation'],
      ['keys', 'Enter'],
      ['press', 'link', 'Tokens'],
      ['on', 'heading', 'Tokens'],
      ['gone', 'dialog', 'Tollmark'],
      ['on', 'heading', 'Tokens'],
    ])
  })
})

test('an export is chosen, watched, read, copied, downloaded and deleted by keyboard alone', async (t) => {
  const site = await startSite(t, { TOLLMARK_ASYNC_ABOVE: '1KB' })
  const { page, context } = await visit(t, site, await site.setUp())
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.url })
  const { walk } = keyboardOf(page, site.url)
  const choose = async (name: string, buffer: Buffer): Promise<void> => {
    await walk([['to', 'button', 'Choose files']])
    const choosing = page.waitForEvent('filechooser')
    await walk([['keys', 'Enter']])
    await (await choosing).setFiles({ name, mimeType: 'application/octet-stream', buffer })
  }
  await walk([
    ['enter', '/convert'],
    ['to', 'radio', 'Markdown'],
    ['keys', 'ArrowRight'],
    ['address', /format=json/],
    ['keys', 'ArrowLeft'],
    ['to', 'switch', 'Include metadata'],
    ['keys', 'Space'],
    ['address', /metadata=1/],
  ])

  await choose('Long.html', Buffer.from(pageHtml('Long', '<p>One two three</p>'.repeat(200))))
  await walk([
    ['see', 'heading', 'Long'],
    ['on', 'region', 'Upload'],
    ['press', 'button', 'Copy the Markdown'],
    ['see', 'text', 'Copied'],
    ['on', 'button', /the Markdown$/],
  ])
  const markdown = String(await page.evaluate('navigator.clipboard.readText()'))
  assert.match(markdown, /^---\n[\s\S]*# Long\n\nOne two three\n/)
  await walk([['to', 'button', 'Download']])
  const downloading = page.waitForEvent('download')
  await walk([
    ['keys', 'Enter'],
    ['on', 'button', 'Download'],
  ])
  assert.equal(readFileSync(await (await downloading).path(), 'utf8'), markdown)
  await walk([
    ['to', 'region', 'Preview'],
    ['keys', 'End'],
  ])
  await page.locator('[aria-label=Preview]:focus').waitFor()

  await choose('picture.png', Buffer.from('PNG'))
  await walk([
    ['see', 'alert', ''],
    ['on', 'region', 'Upload'],
  ])
  await choose('Export.zip', zip({ 'Page.html': pageHtml('Page'), 'fill.bin': Buffer.alloc(2000) }))
  await walk([
    ['address', /job=job_/],
    ['see', 'region', /Result/],
    ['press', 'link', 'Export.zip'],
    ['press', 'button', 'Delete Export.zip'],
    ['dialog', 'Delete “Export.zip”?'],
    ['press', 'button', 'Delete'],
    ['see', 'row', /Export.zip .*Expired/],
    ['on', 'row', /Export.zip .*Expired/],
  ])
})

test('an invitation, the password, signing out and in again work by keyboard alone', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const { link } = (await (
    await site.api(cookie, 'POST', '/api/v1/invitations', { email: 'joan@example.com' })
  ).json()) as { link: string }
  const { page } = await visit(t, site)
  const { walk } = keyboardOf(page, site.url)
  await walk([
    ['open', link.slice(site.url.length)],
    ['on', 'textbox', 'Password'],
    ['keys', ...'short'],
    ['press', 'button', 'Join'],
    ['see', 'text', 'At least 10 characters.'],
    ['on', 'textbox', 'Password'],
    ['keys', 'End', ...' but long enough', 'Enter'],
    ['on', 'heading', 'Overview'],
    ['press', 'link', 'joan@example.com'],
    ['on', 'heading', 'Your account'],
    ['press', 'button', 'Change password'],
    ['on', 'textbox', 'Current password'],
    ['type', 'Current password', 'wrong'],
    ['type', 'New password', 'even longer than that'],
    ['press', 'button', 'Change password'],
    ['see', 'text', 'The current password is wrong.'],
    ['on', 'textbox', 'Current password'],
    ['keys', 'Control+a', ...'short but long enough', 'Enter'],
    ['see', 'text', 'Password changed'],
    ['press', 'button', 'Sign out'],
    ['on', 'textbox', 'E-mail'],
    ['keys', ...'joan@example.com'],
    ['type', 'Password', 'short but long enough'],
    ['press', 'button', 'Sign in'],
    ['see', 'alert', ''],
    ['on', 'button', 'Sign in'],
    ['type', 'Password', 'even longer than that'],
    ['keys', 'Enter'],
    ['on', 'heading', 'Your account'],
  ])
})
