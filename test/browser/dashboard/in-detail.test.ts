// What a person does with the parts of a page that others have no test for: one server for all of
// it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { PAGE } from '../../support/form.ts'
import { until } from '../../support/until.ts'
import { OPENAI } from './seeded.ts'
import { closeShared, startSite, visit } from './visit.ts'

after(closeShared)

interface Made {
  id: string
  secret: string
}

/** Run in the page: labels of the time axis that leave the chart, or touch the one before. */
const CROWDED = `[...document.querySelectorAll('svg[role=slider]')].flatMap((chart) => {
  let end = chart.getBoundingClientRect().left
  const { right: edge } = chart.getBoundingClientRect()
  return [...chart.querySelectorAll('[data-axis=time] text')].flatMap((label) => {
    const { left, right } = label.getBoundingClientRect()
    const isFree = left > end && right <= edge + 0.5
    end = right
    return isFree ? [] : [label.textContent]
  })
})`

/** Tells sizes late, as a busy browser does. */
const MEASURE_LATE = `{
  const { ResizeObserver } = window
  window.ResizeObserver = class extends ResizeObserver {
    constructor(tell) {
      super((...sizes) => setTimeout(tell, 200, ...sizes))
    }
  }
}`

test('in detail', async (t) => {
  const site = await startSite(t, { TOLLMARK_PLANS: '{"free":{"conversions_per_day":1}}' })
  const cookie = await site.setUp()
  const key = async (name: string): Promise<Made> =>
    (await (await site.api(cookie, 'POST', '/api/v1/keys', { name })).json()) as Made
  const send = async (secret: string, text = '1/2/3'): Promise<number> => {
    const response = await site.proxied(secret, OPENAI, {
      model: 'gpt-5',
      messages: [{ role: 'user', content: text }],
    })
    await response.arrayBuffer()
    return response.status
  }
  /** Waits until the ledger has the usage of all requests: a chart is refetched after 30 s only. */
  const allSettled = (): Promise<void> =>
    until(async () => {
      const list = await site.api(cookie, 'GET', '/api/v1/requests?outcome=in_progress')
      return ((await list.json()) as { data: unknown[] }).data.length === 0
    })

  await t.test('a rotated key shows when its old secret expires, and can end it', async (t) => {
    const { id, secret } = await key('Rotated')
    const { secret: newer } = (await (
      await site.api(cookie, 'POST', `/api/v1/keys/${id}/rotate`, { grace_seconds: 3600 })
    ).json()) as Made
    assert.equal(await send(secret), 200)
    const { page } = await visit(t, site, cookie)
    await page.goto(`${site.url}/keys/${id}`)
    const note = page
      .getByRole('note')
      .filter({ hasText: /^The old key still works until .+ \(.+\)\./ })
    await note.getByRole('button', { name: 'Revoke old key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke old key' }).click()
    await note.waitFor({ state: 'detached' })
    assert.deepEqual([await send(secret), await send(newer)], [401, 200])
  })

  await t.test('a chart keeps its labels until the chosen period has loaded', async (t) => {
    const { page } = await visit(t, site, cookie)
    await page.goto(`${site.url}/?period=day`)
    const ticks = page.getByRole('slider').locator('[data-axis=time] text')
    await ticks.first().waitFor()
    const hours = await ticks.allTextContents()
    const week = Promise.withResolvers<void>()
    await page.route(/overview\?.*range=week/, async (route) => {
      await week.promise
      await route.continue()
    })
    await page.getByRole('radio', { name: '7 days' }).click()
    await page.getByRole('radio', { name: '7 days', checked: true }).waitFor()
    assert.deepEqual(await ticks.allTextContents(), hours)
    week.resolve()
    await ticks
      .getByText(/^\w{3} \d+$/)
      .first()
      .waitFor()
    const days = await ticks.allTextContents()
    assert.equal(new Set(days).size, days.length, days.join())
  })

  await t.test('no label of the time axis is cut off or touches the next one', async (t) => {
    const { page } = await visit(t, site, cookie, { viewport: { width: 1440, height: 900 } })
    await page.addInitScript(MEASURE_LATE)
    await page.goto(`${site.url}/?period=day`)
    await page.getByRole('slider').locator('[data-axis=time] text').first().waitFor()
    assert.deepEqual(await page.evaluate(CROWDED), [])
  })

  await t.test('the five busiest keys have a series each, and all others one', async (t) => {
    for (let number = 1; number <= 7; number++) {
      const { secret } = await key(`Busy ${number}`)
      for (let request = 0; request < number; request++) await send(secret)
    }
    await allSettled()
    const { page } = await visit(t, site, cookie)
    await page.goto(`${site.url}/?split=key`)
    await page.getByRole('figure').getByText('Others').waitFor()
    const legend = await page.getByRole('figure').getByRole('listitem').allTextContents()
    // The rest are two of these, and the key that was rotated.
    assert.deepEqual(legend, [
      'In total',
      'Busy 77',
      'Busy 66',
      'Busy 55',
      'Busy 44',
      'Busy 33',
      'Others5',
    ])
    assert.equal(await send((await key('Talks')).secret, '9/6/3/2'), 200)
    await allSettled()
    await page.goto(`${site.url}/?show=tokens`)
    await page.getByRole('figure').getByText('Audio input').waitFor()
    assert.deepEqual(
      (await page.getByRole('figure').getByRole('listitem').allTextContents()).map((text) =>
        text.replace(/\d+$/, ''),
      ),
      ['In total', 'Tokens', 'Input', 'Output', 'Cached', 'Audio input'],
    )
  })

  await t.test("a request that a provider refused shows the provider's error", async (t) => {
    assert.equal(await send((await key('Refused')).secret, 'status 400'), 400)
    const { page } = await visit(t, site, cookie)
    await page.goto(`${site.url}/requests?status=4xx`)
    await page
      .getByRole('button', { name: /^gpt-5: details of/ })
      .first()
      .click()
    const details = page.getByRole('dialog')
    await details.getByText('Response from OpenAI', { exact: true }).waitFor()
    assert.match((await details.getByRole('code').textContent()) ?? '', /"message": "scripted"/)
  })

  await t.test('rows are compact by default, and a roomier choice survives a reload', async (t) => {
    const { page } = await visit(t, site, cookie)
    await page.goto(`${site.url}/requests`)
    const row = page.getByRole('row').nth(1)
    const height = async (): Promise<number> => {
      await row.waitFor()
      return (await row.boundingBox())?.height ?? 0
    }
    const compact = await height()
    await page.getByRole('switch', { name: 'Compact rows' }).click()
    const roomy = await height()
    assert.ok(compact < 36 && roomy > compact * 1.3, `${compact} and ${roomy} px`)
    await page.reload()
    assert.equal(await height(), roomy)
  })

  await t.test('a long key name leaves each compact row one line', async (t) => {
    const { secret } = await key('A long name of a key that says what it is for and for whom')
    await site.proxied(secret, OPENAI, { model: 'gpt-4o-audio-preview', messages: [] })
    await allSettled()
    const { page } = await visit(t, site, cookie, { viewport: { width: 1024, height: 768 } })
    await page.goto(`${site.url}/requests`)
    const row = page.getByRole('row').filter({ hasText: 'gpt-4o-audio-preview' })
    await row.getByText('A long name').waitFor()
    const { height } = (await row.boundingBox())!
    assert.ok(height < 40, `${height} px`)
  })

  await t.test('the choice of keys lies over the page, which does not move', async (t) => {
    await key('Chosen')
    const { page } = await visit(t, site, cookie)
    await page.goto(`${site.url}/requests`)
    const model = page.getByLabel('Model', { exact: true })
    await page.getByRole('row').nth(1).waitFor()
    const before = await model.boundingBox()
    await page.getByLabel('Key', { exact: true }).click()
    const option = page.getByRole('option', { name: /^Chosen/ })
    await option.waitFor()
    assert.deepEqual(await model.boundingBox(), before)
    const behind = `getComputedStyle(document.querySelector('[role=option]').closest('[data-position]')).backgroundColor`
    assert.doesNotMatch(String(await page.evaluate(behind)), /^rgba\(.*, 0\)$/)
  })

  await t.test('providers that are not set up are in the order of their names', async (t) => {
    const { page } = await visit(t, site, cookie)
    await page.goto(`${site.url}/providers`)
    await page.getByRole('button', { name: 'Add credential for Amazon Bedrock' }).waitFor()
    const card = page.getByRole('region', { name: 'Not set up' })
    const shown = await card.locator('li > span').allTextContents()
    assert.ok(shown.length > 40, `${shown.length} providers`)
    assert.deepEqual(
      shown,
      shown.toSorted((one, other) => one.localeCompare(other)),
    )
  })

  await t.test('an object is shared with a key and unshared; a child key is revoked', async (t) => {
    const { id } = await key('Reader')
    const { page } = await visit(t, site, cookie)
    await page.goto(`${site.url}/keys/${id}`)
    await page.getByRole('button', { name: 'Share an object' }).click()
    const form = page.getByRole('dialog')
    await form.getByRole('button', { name: 'Share', exact: true }).click()
    await form.getByText("Enter the object's ID.").waitFor()
    await form.getByLabel('Provider').selectOption('OpenAI')
    await form.getByLabel('Kind').fill('vector_store')
    await form.getByRole('textbox', { name: 'ID' }).fill('vs_handbook')
    await form.getByRole('button', { name: 'Share', exact: true }).click()
    const shared = page.getByRole('list', { name: 'Shared objects' })
    await shared.getByText(/^openai, vector store, since /).waitFor()
    await shared.getByRole('button', { name: 'Stop sharing vs_handbook' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop sharing' }).click()
    await page.getByText('Nothing shared').waitFor()

    const child = { ttl: '10m', models: ['gpt-5'], end_user: 'visitor 7' }
    await site.api(cookie, 'POST', `/api/v1/keys/${id}/children`, child)
    await page.reload()
    const children = page.getByRole('list', { name: 'Child keys' })
    await children.getByText(/^gpt-5 · ends in /).waitFor()
    await children.getByRole('button', { name: 'End visitor 7' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click()
    await children.waitFor({ state: 'detached' })
  })

  await t.test('ended keys are deleted, one or all', async (t) => {
    const ended: Made[] = []
    for (const name of ['Over 1', 'Over 2', 'Over 3']) ended.push(await key(name))
    for (const { id } of ended) await site.api(cookie, 'DELETE', `/api/v1/keys/${id}`)
    const { page } = await visit(t, site, cookie)
    await page.goto(`${site.url}/keys/${ended[0]?.id}`)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.waitForURL(`${site.url}/keys`)
    await page.getByLabel('Status').selectOption('Revoked')
    await page.getByText('Over 2').waitFor()
    assert.equal(await page.getByText('Over 1').count(), 0)
    await page.getByRole('button', { name: 'Delete all' }).click()
    const question = page.getByRole('dialog', { name: 'Delete 2 revoked keys?' })
    await question.getByRole('button', { name: 'Delete all' }).click()
    await page.getByText('No matching keys').waitFor()
    await page.getByLabel('Status').selectOption('Any status')
    await page.getByText('Reader').waitFor()
  })

  await t.test('an account without conversions left sees when it gets more', async (t) => {
    const { page } = await visit(t, site, cookie, {
      timezoneId: 'America/Phoenix',
      locale: 'en-US',
    })
    await page.goto(`${site.url}/convert`)
    const drop = (name: string) =>
      page
        .locator('input[type=file]')
        .setInputFiles({ name, mimeType: 'text/html', buffer: Buffer.from(PAGE) })
    await drop('Handbook.html')
    await page.getByText('1 of 1 conversions used today').waitFor()
    await drop('Second.html')
    await page
      .getByRole('alert')
      .filter({
        hasText:
          /You've used today's conversion \(plan “free”\)\. Your quota resets at 5:00\sPM MST\./,
      })
      .waitFor()
    const files = ['Third.html', 'Fourth.html']
    await page
      .locator('input[type=file]')
      .setInputFiles(
        files.map((name) => ({ name, mimeType: 'text/html', buffer: Buffer.from(PAGE) })),
      )
    for (const name of files)
      await page
        .getByRole('listitem')
        .filter({ hasText: name })
        .getByText(/\(plan “free”\)\. Your quota resets at 5:00\sPM MST\./)
        .waitFor()
    await page.getByText('Define a larger plan with the setting').waitFor()
  })
})
