// Keys in the hands of a person while programs use them.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ANTHROPIC, GEMINI, OPENAI } from './seeded.ts'
import { closeShared, pageLink, shareSite, startSite, visit } from './visit.ts'

after(closeShared)

test('a key is rotated and revoked while a client calls', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const { id, secret } = (await (
    await site.api(cookie, 'POST', '/api/v1/keys', { name: 'Busy' })
  ).json()) as { id: string; secret: string }
  const statuses: number[] = []
  const calling = { goes: true }
  const client = (async () => {
    while (calling.goes) {
      const response = await site.proxied(secret, GEMINI('gemini-2.5-flash'), { contents: [] })
      await response.arrayBuffer()
      statuses.push(response.status)
      await sleep(20)
    }
  })()

  const { page } = await visit(t, site, cookie)
  await page.goto(`${site.url}/keys/${id}`)
  await page.getByRole('button', { name: 'Rotate' }).click()
  await page.getByLabel('Keep the old key valid for').selectOption('1 hour')
  await page.getByRole('button', { name: 'Rotate key' }).click()
  const newer = (await page.locator('[data-secret]').textContent()) ?? ''
  await page.getByRole('button', { name: 'Copy and close' }).click()
  assert.notEqual(newer, secret)
  assert.equal(
    (await site.proxied(newer, GEMINI('gemini-2.5-flash'), { contents: [] })).status,
    200,
  )
  assert.ok(
    statuses.every((status) => status === 200),
    'the old secret goes on working',
  )

  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await page.getByText('Disabled', { exact: true }).waitFor()
  assert.equal(
    (await site.proxied(newer, GEMINI('gemini-2.5-flash'), { contents: [] })).status,
    401,
  )
  await page.getByRole('button', { name: 'Enable' }).click()
  await page.getByText('Active', { exact: true }).waitFor()

  await page.getByRole('button', { name: 'Revoke', exact: true }).click()
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByText('Revoked', { exact: true }).waitFor()
  assert.equal(
    (await site.proxied(newer, GEMINI('gemini-2.5-flash'), { contents: [] })).status,
    401,
  )
  calling.goes = false
  await client
  assert.equal(
    (await site.proxied(secret, GEMINI('gemini-2.5-flash'), { contents: [] })).status,
    401,
  )
  await page.getByRole('button', { name: 'Revoke', exact: true }).waitFor({ state: 'detached' })
})

test('filters are kept in the address, and errors appear beside their cause', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  for (let number = 1; number <= 30; number++)
    await site.api(cookie, 'POST', '/api/v1/keys', {
      name: `Key ${number}`,
      models: number === 7 ? ['only-this'] : null,
    })
  const { page } = await visit(t, site, cookie)
  await page.goto(`${site.url}/keys`)
  await page.getByText('1–25 of 30 keys').waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('26–30 of 30 keys').waitFor()
  assert.equal(await page.getByRole('row').count(), 6, 'one page is held')
  await page.getByRole('button', { name: 'Name' }).click()
  await page
    .getByRole('cell', { name: /^Key 9/ })
    .first()
    .waitFor()
  await page.waitForURL(/sort=-name/)
  await page.getByLabel('Search by name').fill('key 7')
  await page.waitForURL(/search=key/)
  await page.reload()
  assert.equal(await page.getByLabel('Search by name').inputValue(), 'key 7')
  await page.getByRole('cell', { name: /^Key 7/ }).waitFor()
  assert.equal(await page.getByRole('row').count(), 2)
  await page.getByLabel('Search by name').fill('nothing like it')
  await page.getByText('No matching keys').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('1–25 of 30 keys').waitFor()

  await page.getByRole('button', { name: 'Create key' }).click()
  const submit = await page
    .getByRole('dialog')
    .getByRole('button', { name: 'Create key' })
    .boundingBox()
  assert.ok(
    submit !== null && submit.y + submit.height <= page.viewportSize()!.height,
    'the button is in sight above the fold of a long form',
  )
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Enter a name.').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Odd')
  await page.getByLabel('Allowed origins').fill('no-origin')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Must be an origin such as').waitFor()
  assert.equal(await page.getByLabel('Allowed origins').getAttribute('aria-invalid'), 'true')
})

test("an administrator sets a key's providers, stored objects and read-only flag", async (t) => {
  const site = await shareSite()
  const { page } = await visit(t, site, await site.setUp())
  await page.goto(`${site.url}/keys?new=1`)
  await page.getByLabel('Name', { exact: true }).fill('Reader')
  await page.getByLabel('Providers').fill('opnai')
  await page.getByLabel('Stored objects').selectOption('Everything not owned by another key')
  await page.getByLabel('Read-only').check()
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await page.getByText('There is no provider').waitFor()
  await page.getByLabel('Providers').fill('openai')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'Copy and close' }).click()
  await page.getByRole('link', { name: 'Reader' }).click()
  for (const fact of ['openai', 'Everything not owned by another key', 'Read-only'])
    await page.getByText(fact, { exact: true }).waitFor()
})

test('the first snippet of a new key works as it is copied, streaming or not', async (t) => {
  const site = await startSite(t, { GOOGLE_GENERATIVE_AI_API_KEY: '' })
  const { page } = await visit(t, site, await site.setUp())
  await page.goto(`${site.url}/keys?new=1`)
  // What stands in an empty field is for a provider that can be called, too.
  await page.getByPlaceholder('gpt-5*', { exact: true }).waitFor()
  await page.getByPlaceholder('openai', { exact: true }).waitFor()
  await page.getByLabel('Name', { exact: true }).fill('First')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  for (const streaming of [false, true]) {
    const command = (await page.getByRole('tabpanel').textContent()) ?? ''
    assert.match(command, /api\.openai\.com/)
    assert.equal(command.includes('"stream":true'), streaming)
    // Not synchronously: the server is in this process.
    const { stdout } = await promisify(execFile)('sh', ['-c', `${command} -sS --fail-with-body`])
    assert.match(stdout, /"Hello!"/)
    await page.getByRole('switch', { name: 'Streaming' }).click()
  }
  await page.getByRole('tab', { name: 'Python' }).click()
  assert.match((await page.getByRole('tabpanel').textContent()) ?? '', /from openai import OpenAI/)
  await page.getByRole('button', { name: 'Copy and close' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

/** What a shell makes of a command's last word. */
const wordOf = (command: string): string =>
  execFileSync('sh', ['-c', `curl() { for word do :; done; printf %s "$word"; }\n${command}`], {
    encoding: 'utf8',
  })

test('a value copied into a shell stays one word', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const { page } = await visit(t, site, cookie)
  await page.goto(`${site.url}/keys?new=1`)
  await page.getByLabel('Name', { exact: true }).fill('Odd')
  await page.getByLabel('Models', { exact: true }).fill("claude-o'clock")
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  assert.equal(
    (
      JSON.parse(wordOf((await page.getByRole('tabpanel').textContent()) ?? '')) as {
        model: string
      }
    ).model,
    "claude-o'clock",
  )

  await page.goto(`${site.url}/docs`)
  await page.locator('summary', { hasText: 'List the models' }).click()
  await page.getByLabel('account', { exact: true }).fill("o'clock")
  const code = (await page.getByLabel('curl', { exact: true }).textContent()) ?? ''
  assert.equal(wordOf(code.split(' \\\n')[0] ?? ''), `${site.url}/api/v1/models?account=o%27clock`)
  await page.locator('summary', { hasText: 'Read a job' }).first().click()
  await page.getByRole('textbox', { name: /^id\b/ }).fill("o'clock")
  await page
    .getByText(String.raw`/jobs/o'\''clock`)
    .first()
    .waitFor()
})

test('the search box follows the address', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  for (const name of ['First', 'Second']) await site.api(cookie, 'POST', '/api/v1/keys', { name })
  const { page } = await visit(t, site, cookie)
  await page.goto(`${site.url}/keys`)
  await page.getByRole('link', { name: 'Second' }).waitFor()
  const box = page.getByLabel('Search by name')
  await box.pressSequentially('first')
  await page.getByRole('link', { name: 'Second' }).waitFor({ state: 'detached' })
  assert.equal(await box.inputValue(), 'first')
  await pageLink(page, 'Keys').click()
  await page.getByRole('link', { name: 'Second' }).waitFor()
  assert.equal(await box.inputValue(), '')
  assert.equal(new URL(page.url()).search, '')
})

test('a pasted key finds its record, and its secret stays out of the address', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const create = async (name: string): Promise<{ secret: string; prefix: string }> =>
    (await (await site.api(cookie, 'POST', '/api/v1/keys', { name })).json()) as {
      secret: string
      prefix: string
    }
  await create('Another')
  const { secret, prefix } = await create('Leaked')
  const { page } = await visit(t, site, cookie)
  await page.goto(`${site.url}/keys`)
  await page.getByRole('link', { name: 'Another' }).waitFor()
  await page.getByLabel('Search by name').fill(secret)
  await page.getByRole('link', { name: 'Another' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Leaked' }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('search'), prefix)
})

test('every sortable column sorts both ways, and an unknown order is the default', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  for (const [name, expires_at] of [
    ['First', null],
    ['Second', '2099-01-01'],
  ])
    await site.api(cookie, 'POST', '/api/v1/keys', { name, expires_at })
  const { page } = await visit(t, site, cookie, { viewport: { width: 1600, height: 900 } })
  const names = page.getByRole('cell').getByRole('link')
  await page.goto(`${site.url}/keys?sort=colour`)
  await names.first().waitFor()
  assert.deepEqual(await names.allTextContents(), ['Second', 'First'])
  assert.match(
    await page.getByRole('row', { name: /First/ }).innerText(),
    /No limit\s+0\s+Never\s+Never/,
  )

  const headers = await page.getByRole('columnheader').getByRole('button').allTextContents()
  assert.deepEqual(headers, ['Name', 'Requests', 'Last used', 'Expires'])
  for (const header of headers) {
    const seen: string[][] = []
    for (const order of ['descending', 'ascending']) {
      const sorted = page.waitForResponse((response) => response.url().includes('/api/v1/keys?'))
      await page.getByRole('columnheader', { name: header }).getByRole('button').click()
      assert.equal((await sorted).status(), 200, `${header}, ${order}`)
      await page.locator(`th[aria-sort=${order}]`, { hasText: header }).waitFor()
      await page.locator('table:not([class*=stale] *)').waitFor()
      seen.push(await names.allTextContents())
    }
    assert.deepEqual(seen[0], seen[1]?.toReversed(), header)
  }
})

test('charts separate keys of the same name, and name the provider of a model that several have', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  for (const requests of [1, 2]) {
    const { secret } = (await (
      await site.api(cookie, 'POST', '/api/v1/keys', { name: 'Website' })
    ).json()) as { secret: string }
    for (let request = 0; request < requests; request++)
      await (await site.proxied(secret, GEMINI('gemini-2.5-flash'), { contents: [] })).arrayBuffer()
  }
  const { page } = await visit(t, site, cookie)
  await page.goto(`${site.url}/?split=key`)
  const legend = page.getByRole('figure').getByRole('listitem')
  await legend.first().waitFor()
  assert.deepEqual(await legend.allTextContents(), ['In total', 'Website2', 'Website1'])
  const values = page.getByRole('slider').locator('[data-axis=values] text')
  await values.first().waitFor()
  assert.deepEqual(await values.allTextContents(), ['0', '3'], 'the axis ends close above the bars')
  await page.goto(`${site.url}/?split=key&period=hour`)
  await legend.first().waitFor()
  assert.deepEqual(
    await legend.allTextContents(),
    ['In total', 'Website2', 'Website1'],
    'by the minute too',
  )
  const { secret } = (await (
    await site.api(cookie, 'POST', '/api/v1/keys', { name: 'Other' })
  ).json()) as { secret: string }
  for (const model of ['gemini-2.5-flash', 'gpt-5'])
    await (await site.proxied(secret, OPENAI, { model, messages: [] })).arrayBuffer()
  await page.reload()
  const models = page.getByRole('region', { name: 'Busiest models' })
  for (const name of ['gemini-2.5-flash (google)', 'gemini-2.5-flash (openai)', 'gpt-5'])
    await models.getByText(name, { exact: true }).waitFor()
})

test('a request shows the names of its provider and credential', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  await site.api(cookie, 'POST', '/api/v1/credentials', {
    provider: 'anthropic',
    name: 'Team account',
    secret: 'sk-ant',
  })
  const { secret } = (await (
    await site.api(cookie, 'POST', '/api/v1/keys', { name: 'Website' })
  ).json()) as { secret: string }
  const { page } = await visit(t, site, cookie)
  for (const [address, provider, credential] of [
    [ANTHROPIC, 'Anthropic', 'Team account'],
    [GEMINI('gemini-2.5-flash'), 'Google Gemini', 'From the settings'],
  ] as const) {
    await (
      await site.proxied(secret, address, { model: 'claude-sonnet-4-5', contents: [] })
    ).arrayBuffer()
    await page.goto(`${site.url}/requests`)
    await page
      .getByRole('button', { name: /details of/ })
      .first()
      .click()
    for (const name of [provider, credential])
      await page.getByRole('dialog').getByText(name, { exact: true }).waitFor()
  }
})

test('limits and expiry times are shown exactly in every locale', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const { id } = (await (
    await site.api(cookie, 'POST', '/api/v1/keys', {
      name: 'Exact',
      rpm: 12_345,
      expires_at: '2040-01-01',
    })
  ).json()) as { id: string }
  await site.api(cookie, 'POST', '/api/v1/tokens', {
    name: 'Exact',
    expires_at: '2040-01-01T00:00:00Z',
  })
  const { page } = await visit(t, site, cookie, {
    viewport: { width: 1600, height: 900 },
    timezoneId: 'America/New_York',
  })
  for (const [path, told] of [
    ['/keys', /12,345/],
    [`/keys/${id}`, /12,345/],
    ['/tokens', /Exact/],
  ] as const) {
    await page.goto(site.url + path)
    await page.getByText('Dec 31, 2039, 7:00 PM').waitFor()
    assert.match(await page.getByRole('main').innerText(), told, path)
  }
})

test('an unreachable server is reported, and so is its recovery', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const { page, context } = await visit(t, site, cookie)
  await context.route('**/api/v1/keys?*', (route) => route.abort())
  await page.goto(`${site.url}/keys`)
  await page.getByText('The server is not responding.').waitFor()
  await context.unroute('**/api/v1/keys?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('No keys yet').waitFor()
})

test('a page whose code cannot be loaded shows an error, and appears when the server is back', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const { page, context } = await visit(t, site, cookie)
  await page.goto(site.url)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await context.route('**', (route) => route.abort())
  await pageLink(page, 'Keys').click()
  await page.getByText('The server is not responding.').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await pageLink(page, 'Overview').click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await pageLink(page, 'Keys').click()
  await page.getByText('The server is not responding.').waitFor()
  await context.unroute('**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Keys' }).waitFor()
  await page.getByText('No keys yet').waitFor()
  assert.equal(new URL(page.url()).pathname, '/keys')
})

test('a half-typed expiry date is an error, because it would mean no expiry', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const { page } = await visit(t, site, cookie)
  for (const [path, button, call] of [
    ['/keys?new=1', 'Create key', '/api/v1/keys'],
    ['/tokens?new=1', 'Create token', '/api/v1/tokens'],
  ] as const) {
    await page.goto(site.url + path)
    const dialog = page.getByRole('dialog')
    const end = dialog.getByLabel('Expires')
    await dialog.getByLabel('Name', { exact: true }).fill('Ends')
    await end.focus()
    await page.keyboard.type('0131')
    await dialog.getByRole('button', { name: button }).click()
    await dialog.getByText('Enter a complete date, or leave this blank.').waitFor()
    assert.equal(await end.evaluate('document.activeElement.type'), 'date')
    await end.fill('2040-01-31')
    await dialog.getByRole('button', { name: button }).click()
    await page.locator('[data-secret]').waitFor()
    const { data } = (await (await site.api(cookie, 'GET', call)).json()) as {
      data: { expires_at: string | null }[]
    }
    assert.deepEqual(
      data.map(({ expires_at }) => expires_at?.slice(0, 10)),
      ['2040-01-31'],
      path,
    )
  }
})
