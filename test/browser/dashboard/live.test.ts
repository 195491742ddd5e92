// What a person sees without reloading, where things fail, and where they live: one server for all
// of it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '../../support/until.ts'
import { connectSocket, startProvider, withKey } from '../../proxy/socket/support.ts'
import { GEMINI, OPENAI, provider } from './seeded.ts'
import { closeShared, faultsOf, startSite, visit } from './visit.ts'

after(closeShared)

interface Made {
  id: string
  secret: string
}

/** Run in the page: the outline of the focused field, and of the box around it. */
const OUTLINES = `[document.activeElement, document.activeElement.parentElement]
  .map((element) => getComputedStyle(element).outlineStyle)`

test('the dashboard updates live', async (t) => {
  const { origin } = await startProvider(t)
  const site = await startSite(t, { TOLLMARK_UPSTREAM_XAI: origin, XAI_API_KEY: 'xai-x' })
  const cookie = await site.setUp()
  const key = async (body: object): Promise<Made> =>
    (await (await site.api(cookie, 'POST', '/api/v1/keys', body)).json()) as Made
  const send = async (secret: string, model: string): Promise<string> => {
    const response = await site.proxied(secret, OPENAI, {
      model,
      messages: [{ role: 'user', content: '1/2/3' }],
    })
    await response.arrayBuffer()
    return response.headers.get('x-proxy-request-id') ?? ''
  }
  const { id, secret } = await key({ name: 'Website', models: ['gpt-*'] })

  await t.test('a request appears by itself, on its list and on the page of its key', async (t) => {
    const { page, context } = await visit(t, site, cookie)
    await page.goto(`${site.url}/requests`)
    await page.getByText('No requests yet').waitFor()
    const other = await context.newPage()
    await other.goto(`${site.url}/keys/${id}`)
    await other.getByText('No requests yet').waitFor()
    await send(secret, 'gpt-live')
    for (const one of [page, other]) {
      await one.bringToFront()
      await one.getByRole('button', { name: /^gpt-live: details of/ }).waitFor()
    }
  })

  await t.test(
    'an open socket is listed, can be closed after a confirmation, and disappears',
    async (t) => {
      const { secret } = await key({ name: 'Voice' })
      const address = 'https://api.x.ai/v1/realtime?model=grok-voice'
      const socket = connectSocket(site.running.port, address, [], withKey(secret))
      await socket.opened
      const { page } = await visit(t, site, cookie)
      await page.goto(`${site.url}/sockets`)
      await page.getByRole('button', { name: /^End grok-voice, open since/ }).click()
      const dialog = page.getByRole('dialog', { name: 'End the socket of “Voice”?' })
      await dialog.waitFor()
      assert.deepEqual(await faultsOf(page, 'the question'), [])
      await dialog.getByRole('button', { name: 'End socket' }).click()
      assert.equal((await socket.closed).code, 1001)
      await page.getByText('No open sockets').waitFor()
    },
  )

  await t.test(
    'the notice that the server is unreachable disappears when it is back',
    async (t) => {
      const { page, context } = await visit(t, site, cookie)
      // As a reverse proxy in front answers, whose health checks come from inside.
      await context.route('**/livez', (route) => route.fulfill({ status: 404 }))
      await context.route('**/api/**', (route) => route.abort())
      await page.goto(site.url)
      await page.getByText('The server is not responding.').first().waitFor()
      await context.unroute('**/api/**')
      await page.getByRole('button', { name: /^Requests/ }).waitFor()
      await page.getByText('The server is not responding.').waitFor({ state: 'detached' })
    },
  )

  await t.test(
    'a request without a response counts as failed in every filter, and so does its provider',
    async (t) => {
      site.fake.play(({ reset }) => reset())
      await send(secret, 'gpt-lost')
      const { page } = await visit(t, site, cookie)
      await page.goto(`${site.url}/requests?status=failed`)
      await page.getByRole('row', { name: /gpt-lost.*502 Unreachable/ }).waitFor()
      assert.equal(await page.getByRole('row').count(), 2, 'and nothing that succeeded')
      await page.goto(`${site.url}/providers`)
      await page
        .getByRole('region', { name: 'OpenAI' })
        .getByText('Failing', { exact: true })
        .waitFor()
      site.fake.play(provider)
      await send(secret, 'gpt-found')
      await page
        .getByRole('region', { name: 'OpenAI' })
        .getByText('Ready', { exact: true })
        .waitFor()
    },
  )

  await t.test(
    'a refused request is found by its id, in the list, and on the page of its key',
    async (t) => {
      const request = await send(secret, 'claude-opus')
      const { page } = await visit(t, site, cookie)
      await page.goto(`${site.url}/requests`)
      await page.getByLabel('Request ID').fill(request)
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog')
      await dialog.getByText('403 Model not allowed').waitFor()
      await dialog.getByText('OpenAI', { exact: true }).waitFor()
      await dialog
        .getByText(/claude-opus/)
        .first()
        .waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('radio', { name: 'Refused' }).click()
      await page.waitForURL(/list=refused/)
      await page.getByRole('row', { name: /403 Model not allowed/ }).waitFor()
      await page.getByLabel('Reason').selectOption({ label: 'Model not allowed (1)' })
      await page.waitForURL(/code=model_not_allowed/)
      // Any cell of a row opens its details.
      await page.getByRole('row', { name: /403 Model not allowed/ }).click()
      await dialog.getByText('403 Model not allowed').waitFor()
      await page.keyboard.press('Escape')
      await page.goto(`${site.url}/keys/${id}`)
      await page
        .getByRole('region', { name: 'Refused' })
        .getByText('403 Model not allowed')
        .waitFor()
    },
  )

  await t.test(
    "times are shown in the browser's zone and locale or in UTC, with the zone",
    async (t) => {
      const { page } = await visit(t, site, cookie, {
        viewport: { width: 1600, height: 900 },
        timezoneId: 'America/Los_Angeles',
        locale: 'en-US',
      })
      await page.goto(`${site.url}/keys?new=1`)
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Name', { exact: true }).fill('Ends')
      await dialog.getByText(/^Expires at 12:00\sAM P[DS]T on this date/).waitFor()
      await dialog.getByLabel('Expires').fill('2020-01-31')
      await dialog.getByRole('button', { name: 'Create key' }).click()
      await dialog.getByText('This date has passed.').waitFor()
      await dialog.getByLabel('Expires').fill('2040-12-31')
      await dialog.getByRole('button', { name: 'Create key' }).click()
      await page.getByRole('button', { name: 'Copy and close' }).click()
      await page.getByText('Dec 31, 2040, 12:00 AM PST').waitFor()
      await page.getByRole('button', { name: /^Local times \(P[DS]T\)/ }).click()
      await page.getByText('Dec 31, 2040, 8:00 AM UTC').waitFor()
      await page.reload()
      await page.getByText('Dec 31, 2040, 8:00 AM UTC').waitFor()
      const german = await visit(t, site, cookie, {
        viewport: { width: 1600, height: 900 },
        timezoneId: 'Europe/Berlin',
        locale: 'de-DE',
      })
      await german.page.goto(`${site.url}/keys`)
      await german.page.getByText(/31\. Dez\. 2040.*09:00 MEZ/).waitFor()
    },
  )

  await t.test('Escape on a form with input asks first', async (t) => {
    const { page } = await visit(t, site, cookie)
    await page.goto(`${site.url}/keys?new=1`)
    const dialog = page.getByRole('dialog', { name: 'Create a key' })
    await dialog.getByLabel('Name', { exact: true }).fill('Half')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Keep editing' }).click()
    assert.equal(await dialog.getByLabel('Name', { exact: true }).inputValue(), 'Half')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  await t.test('an origin is completed, and an invalid one is explained', async (t) => {
    const { page } = await visit(t, site, cookie)
    await page.goto(`${site.url}/keys?new=1`)
    await page.getByLabel('Name', { exact: true }).fill('Browser')
    await page.getByLabel('Allowed origins').fill('app.example.com')
    await page.keyboard.press('Enter')
    await page.getByText('https://app.example.com', { exact: true }).waitFor()
    await page.getByRole('textbox', { name: 'Allowed origins' }).fill('ftp://nowhere')
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    await page.getByText(/“ftp:\/\/nowhere”: Must be an origin such as/).waitFor()
    assert.doesNotMatch(await page.getByRole('dialog').innerText(), /allowed_origins/)
  })

  await t.test('too many sign-in attempts show a countdown', async (t) => {
    const { page } = await visit(t, site, null, { alone: true })
    await page.clock.install()
    await page.route('**/api/v1/session', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({
            status: 429,
            headers: { 'retry-after': '60' },
            contentType: 'application/problem+json',
            body: JSON.stringify({
              status: 429,
              title: 't',
              detail: 'Too many attempts. Try again in 60 s.',
              code: 'too_many_attempts',
              request_id: 'r',
            }),
          })
        : route.continue(),
    )
    await page.goto(site.url)
    await page.getByLabel('E-mail').fill('ada@example.com')
    await page.getByLabel('Password', { exact: true }).fill('something wrong')
    // One ring, around the whole field.
    assert.deepEqual(await page.evaluate(OUTLINES), ['none', 'solid'])
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: /^Try again in [3-6]\d s$/ }).waitFor()
    assert.equal(await page.getByText(/Try again/).count(), 1)
    await page.clock.runFor(60_000)
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
  })

  await t.test('in the view of the whole server, each row names its account', async (t) => {
    const { page } = await visit(t, site, cookie)
    await page.goto(`${site.url}/keys`)
    await page.getByLabel('Whose keys and requests are shown').selectOption('all')
    await page.getByRole('row', { name: /Website tmk_\S+ admin/ }).waitFor()
    await page.goto(`${site.url}/requests`)
    await page.getByRole('columnheader', { name: 'Account' }).waitFor()
    await page
      .getByRole('row', { name: /Website admin 200/ })
      .first()
      .waitFor()
  })

  await t.test('an unknown request id is reported without a retry', async (t) => {
    const { page } = await visit(t, site, cookie)
    await page.goto(`${site.url}/requests?request=req_unknown`)
    await page.getByRole('dialog').getByText('No such request').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
  })

  await t.test('a page that is opened while the server starts says so, and opens', async (t) => {
    const { page } = await visit(t, site, cookie)
    await page.route('**/api/v1/session', (route) => route.fulfill({ status: 503 }))
    await page.goto(site.url)
    await page.getByText('Tollmark is starting').waitFor()
    await page.unroute('**/api/v1/session')
    await page.getByRole('button', { name: /^Requests/ }).waitFor()
  })

  await t.test('the overview shows within seconds that the server is unreachable', async (t) => {
    const { page, context } = await visit(t, site, cookie)
    await page.goto(site.url)
    await page.getByRole('button', { name: /^Requests/ }).waitFor()
    await context.route('**/api/**', (route) => route.abort())
    await page.getByText('The server is not responding.').first().waitFor({ timeout: 12_000 })
  })

  await t.test('an empty list that cannot be refreshed shows an error', async (t) => {
    const { page, context } = await visit(t, site, cookie)
    await page.goto(`${site.url}/requests?model=none`)
    await page.getByText('No matching requests').waitFor()
    await context.route('**/api/**', (route) => route.abort())
    await page.getByText('Could not load this').waitFor()
    assert.equal(await page.getByText('No matching requests').count(), 0)
  })

  await t.test('a long search says how far back it is, until it is stopped', async (t) => {
    const { page } = await visit(t, site, cookie)
    let calls = 0
    await page.route('**/api/v1/requests?*', (route) => {
      const searched_to = `2026-01-0${9 - ++calls}T12:00:00.000Z`
      // The third call stays open.
      if (calls <= 2)
        return route.fulfill({ json: { data: [], next_cursor: `req_${calls}`, searched_to } })
    })
    await page.goto(`${site.url}/requests?status=404`)
    await page.getByText('Searched back to Jan 7, 2026').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    assert.equal(await page.getByText('Searched back to Jan 7, 2026').count(), 1)
    assert.equal(calls, 3)
  })

  await t.test('a key that expires soon shows when, in the chosen zone', async (t) => {
    const { page } = await visit(t, site, cookie, {
      timezoneId: 'America/Los_Angeles',
      locale: 'en-US',
    })
    await key({ name: 'Ends', expires_at: new Date(Date.now() + 7_300_000).toISOString() })
    await page.goto(site.url)
    await page
      .getByText(/The key “Ends” expires in 2 hr\.: \w{3} \d+, \d{4}, \d+:\d\d\s[AP]M P[DS]T\./)
      .waitFor()
  })

  await t.test("a provider's origin is completed", async (t) => {
    const { page } = await visit(t, site, cookie)
    await page.goto(`${site.url}/providers`)
    await page.getByRole('button', { name: 'Add a provider' }).click()
    await page.getByLabel('Origin').fill('llm.example.com')
    await page.getByLabel('Origin').press('Tab')
    assert.equal(await page.getByLabel('Origin').inputValue(), 'https://llm.example.com')
  })

  await t.test('"Getting started" disappears step by step', async (t) => {
    const invited = (await (
      await site.api(cookie, 'POST', '/api/v1/invitations', { email: 'new@example.com' })
    ).json()) as { link: string }
    const accepted = await site.api(null, 'POST', '/api/v1/invitations/accept', {
      token: new URL(invited.link).searchParams.get('token'),
      email: 'new@example.com',
      password: 'another good password',
    })
    const member = (accepted.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const { page } = await visit(t, site, member)
    await page.goto(site.url)
    const card = page.getByRole('region', { name: 'Getting started' })
    await card.getByText('0 of 3 done').waitFor()
    const own = (await (
      await site.api(member, 'POST', '/api/v1/keys', { name: 'Mine' })
    ).json()) as Made
    await page.reload()
    await card.getByText('1 of 3 done').waitFor()
    await (
      await site.proxied(own.secret, GEMINI('gemini-2.5-flash'), { contents: [] })
    ).arrayBuffer()
    await until(async () =>
      (await (await site.api(member, 'GET', '/api/v1/models')).text()).includes('gemini'),
    )
    await page.reload()
    await page.getByRole('heading', { name: 'Busiest keys' }).waitFor()
    await card.getByText('2 of 3 done').waitFor()
    await card.getByRole('link', { name: 'Convert' }).waitFor()
    await card.getByRole('button', { name: 'Hide' }).click()
    await card.waitFor({ state: 'detached' })
  })
})
