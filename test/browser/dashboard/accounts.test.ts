// Two people who share a server and nothing else.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../support/until.ts'
import { ADMIN, GEMINI, type Site } from './seeded.ts'
import { closeShared, goTo, pageLink, shareSite, startSite, visit } from './visit.ts'

after(closeShared)

test("an invited colleague gets a separate account and cannot see others' records", async (t) => {
  const site = await startSite(t)
  const cookie = await site.setUp()
  const { id, secret } = (await (
    await site.api(cookie, 'POST', '/api/v1/keys', { name: 'Secret project' })
  ).json()) as { id: string; secret: string }
  await (await site.proxied(secret, GEMINI('gemini-secret-model'), { contents: [] })).arrayBuffer()

  const { page } = await visit(t, site, cookie)
  await page.goto(`${site.url}/accounts`)
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByLabel('E-mail').fill('grace@example.com')
  await page.getByRole('button', { name: 'Create link' }).click()
  const link = (await page.locator('[data-secret]').textContent()) ?? ''
  await page.getByRole('button', { name: 'Copy and close' }).click()
  await page.getByRole('row', { name: /grace@example.com Open/ }).waitFor()

  const { page: grace } = await visit(t, site)
  await grace.goto(link)
  await grace.getByLabel('Password', { exact: true }).fill('another good password')
  assert.equal(await grace.getByLabel('E-mail').inputValue(), 'grace@example.com')
  await grace.getByRole('button', { name: 'Join' }).click()
  await grace.getByRole('heading', { name: 'Overview' }).waitFor()
  assert.equal(await grace.getByRole('link', { name: 'Accounts' }).count(), 0)
  for (const path of [
    '/',
    '/keys',
    '/requests',
    '/tokens',
    '/convert',
    '/providers',
    '/accounts',
    `/keys/${id}`,
    `/requests?key=${id}`,
  ]) {
    await goTo(grace, site.url + path)
    await grace.locator('[role=status][aria-label=Loading]').first().waitFor({ state: 'detached' })
    assert.doesNotMatch(
      await grace.locator('main').innerText(),
      /Secret project|gemini-secret-model|ada@example/,
      path,
    )
  }
  await grace.goto(`${site.url}/keys/${id}`)
  await grace.getByText('Key not found').waitFor()

  // The link works once.
  const { page: other } = await visit(t, site)
  await other.goto(link)
  await other.getByText('Invitation not valid').waitFor()

  // Disabled, whoever is signed in is so no longer.
  await page.reload()
  await page.getByRole('button', { name: 'Disable grace@example.com' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('button', { name: 'Enable grace@example.com' }).waitFor()
  await grace.goto(`${site.url}/keys`)
  await grace.getByRole('heading', { name: 'Sign in' }).waitFor()
})

/** Run in the page: whether the whole of a name of nothing but W can be seen. */
const SHOWN_WHOLE = `(() => {
  const names = [...document.querySelectorAll('td *')].filter(({ textContent }) => /^W+$/.test(textContent))
  const holders = names.slice(0, 1).flatMap(function outer(part) {
    return part === null ? [] : [part, ...outer(part.parentElement)]
  })
  const isCut = (part) => getComputedStyle(part).overflowY === 'hidden' && part.scrollHeight > part.clientHeight
  return holders.length > 0 && !holders.some(isCut)
})()`

test('the plan of an account can be read beside the longest address, and the address on a phone', async (t) => {
  const site = await startSite(t)
  const cookie = await site.setUp()
  await site.api(cookie, 'POST', '/api/v1/accounts', { name: 'W'.repeat(200) })
  const { page } = await visit(t, site, cookie, { viewport: { width: 1024, height: 720 } })
  await page.goto(`${site.url}/accounts`)
  const box = await page.getByLabel(`Plan of ${ADMIN.email}`).boundingBox()
  assert.ok((box?.width ?? 0) >= 100, `${box?.width} px wide`)
  await page.setViewportSize({ width: 390, height: 844 })
  // The page follows its new width a moment later.
  await until(async () => (await page.evaluate(SHOWN_WHOLE)) === true)
})

test('a plan chosen with the arrow keys, or on a phone, is saved, however slow each save is', async (t) => {
  const site = await startSite(t, {
    TOLLMARK_PLANS:
      '{"pro":{"conversions_per_day":1000},"team":{"conversions_per_day":5000},"unlimited":{"conversions_per_day":null}}',
  })
  const cookie = await site.setUp()
  const { page } = await visit(t, site, cookie)
  // The first is held for the longest: sent beside the others, it would be saved over them.
  const saved: string[] = []
  await page.route('**/api/v1/accounts/*', async (route) => {
    const { plan } = route.request().postDataJSON() as { plan: string }
    await sleep(plan === 'pro' ? 500 : 50)
    saved.push(plan)
    await route.continue()
  })
  await page.goto(`${site.url}/accounts`)
  const plan = page.getByLabel(`Plan of ${ADMIN.email}`)
  await plan.focus()
  for (const [key, seen] of [
    ['ArrowDown', 'pro'],
    ['ArrowDown', 'team'],
    ['ArrowDown', 'unlimited'],
    ['ArrowUp', 'team'],
  ] as const) {
    await page.keyboard.press(key)
    assert.equal(await plan.inputValue(), seen, 'what is chosen is seen at once')
  }
  await until(() => saved.length === 4)
  assert.deepEqual(saved, ['pro', 'team', 'unlimited', 'team'])
  await until(async () => {
    const { data } = (await (await site.api(cookie, 'GET', '/api/v1/accounts')).json()) as {
      data: { plan: string }[]
    }
    return data[0]?.plan === 'team'
  })
  assert.equal(await plan.inputValue(), 'team')

  // On a phone, too.
  await page.setViewportSize({ width: 320, height: 640 })
  await page.getByLabel(`Plan of ${ADMIN.email}`).selectOption('pro')
  await until(async () => {
    const { data } = (await (await site.api(cookie, 'GET', '/api/v1/accounts')).json()) as {
      data: { plan: string }[]
    }
    return data[0]?.plan === 'pro'
  })
  await page.setViewportSize({ width: 1280, height: 720 })
  await page.getByRole('columnheader', { name: 'Plan' }).first().waitFor()
  await until(async () => (await page.getByLabel(`Plan of ${ADMIN.email}`).inputValue()) === 'pro')
})

test('sign-in attempts with wrong passwords are slowed down', async (t) => {
  const site = await startSite(t)
  await site.setUp()
  const { page } = await visit(t, site)
  await page.goto(`${site.url}/keys`)
  // The only administrator has nobody to ask.
  await page.getByText('tollmark accounts reset-password').waitFor()
  await page.getByLabel('E-mail').fill(ADMIN.email)
  // Each wait is twice the one before it: on a slow machine the first may be over too soon.
  for (let attempt = 0, status = 0; status !== 429; attempt++) {
    assert.ok(attempt < 100)
    await page.getByLabel('Password', { exact: true }).fill(`wrong ${attempt}`)
    const responded = page.waitForResponse('**/api/v1/session')
    await page.getByRole('button', { name: 'Sign in' }).click()
    status = (await responded).status()
  }
  // The wait is now a minute longer, and not over before what follows.
  site.behind(60_000)

  // From the page: a wait is that of an e-mail at an address.
  const status = await page.evaluate(async (who) => {
    const body = JSON.stringify(who)
    return (
      await fetch('/api/v1/session', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      })
    ).status
  }, ADMIN)
  assert.equal(status, 429, 'also with the right password')
})

test('a cookie is not accepted after signing out', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const { page } = await visit(t, site, cookie)
  await page.goto(site.url)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  assert.equal((await site.api(cookie, 'GET', '/api/v1/keys')).status, 401)
})

/** The e-mail address of who has this cookie. */
async function emailOf(site: Site, cookie: string): Promise<string> {
  const response = await site.api(cookie, 'GET', '/api/v1/session')
  const { account } = (await response.json()) as { account: { email: string } }
  return account.email
}

test('signing in or out in one tab applies to all tabs', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  await site.api(cookie, 'POST', '/api/v1/keys', { name: 'Secret project' })
  const { link } = (await (await site.api(cookie, 'POST', '/api/v1/invitations', {})).json()) as {
    link: string
  }
  const email = await emailOf(site, cookie)
  const { page: first, context } = await visit(t, site, cookie)
  await first.goto(`${site.url}/keys`)
  await first.getByText('Secret project').waitFor()

  const second = await context.newPage()
  await second.goto(link)
  await second.getByLabel('E-mail').fill('lin@example.com')
  await second.getByLabel('Password', { exact: true }).fill('another good password')
  await second.getByRole('button', { name: 'Join' }).click()
  await first.getByRole('link', { name: 'lin@example.com' }).waitFor()
  await first.getByText('No keys yet').waitFor()
  assert.equal(await first.getByRole('link', { name: 'Accounts' }).count(), 0)

  await first.getByRole('button', { name: 'Sign out' }).click()
  await second.getByRole('heading', { name: 'Sign in' }).waitFor()
  await second.getByLabel('E-mail').fill(email)
  await second.getByLabel('Password', { exact: true }).fill(ADMIN.password)
  await second.getByRole('button', { name: 'Sign in' }).click()
  await first.getByText('Secret project').waitFor()
})

test('saving after the session ended asks to sign in, then continues', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const email = await emailOf(site, cookie)
  const { page } = await visit(t, site, cookie)
  await page.goto(`${site.url}/keys?new=1`)
  await page.getByLabel('Name', { exact: true }).fill('Late')
  await site.api(cookie, 'DELETE', '/api/v1/session')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.getByText('Your session has ended.').waitFor()
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(ADMIN.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('dialog', { name: 'Create a key' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  assert.equal(await page.getByText('Your session has ended.').count(), 0)
})

test('an administrator adds another administrator, resets a password, renames and deletes accounts, and views the whole server', async (t) => {
  const site = await startSite(t)
  const cookie = await site.setUp()
  const join = async (email: string): Promise<string> => {
    const { link } = (await (
      await site.api(cookie, 'POST', '/api/v1/invitations', { email })
    ).json()) as { link: string }
    const joined = await site.api(null, 'POST', '/api/v1/invitations/accept', {
      token: new URL(link).searchParams.get('token'),
      email,
      password: 'another good password',
    })
    return (joined.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  }
  const grace = await join('grace@example.com')
  await site.api(grace, 'POST', '/api/v1/keys', { name: 'Of Grace' })
  const { page } = await visit(t, site, cookie)

  await page.goto(`${site.url}/keys`)
  await page.getByText('No keys yet').waitFor()
  await page.getByLabel('Whose keys and requests are shown').selectOption('Whole server')
  await page.getByRole('link', { name: 'Of Grace' }).click()
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await page.getByText('Disabled', { exact: true }).waitFor()
  await page.getByLabel('Whose keys and requests are shown').selectOption('Your account')
  await page.getByText('Key not found').waitFor()

  await page.goto(`${site.url}/accounts`)
  await page.getByRole('button', { name: 'Edit grace@example.com' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Grace Hopper')
  await page.getByLabel('Role').selectOption('admin')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /grace@example.com Grace Hopper Admin/ }).waitFor()
  await page.getByRole('button', { name: 'Edit grace@example.com' }).click()
  await page.getByRole('button', { name: 'Create password reset link' }).click()
  const link = (await page.locator('[data-secret]').textContent()) ?? ''
  await page.getByRole('button', { name: 'Copy and close' }).click()
  const { page: other } = await visit(t, site)
  await other.goto(link)
  await other.getByLabel('Password', { exact: true }).fill('a new password of hers')
  await other.getByRole('button', { name: 'Set password' }).click()
  await other.getByRole('link', { name: 'Accounts' }).waitFor()
  const { page: late } = await visit(t, site)
  await late.goto(link)
  await late.getByText('Link not valid').waitFor()

  await page.getByRole('button', { name: 'View grace@example.com' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await pageLink(page, 'Keys').click()
  await page.getByRole('link', { name: 'Of Grace' }).waitFor()
  await pageLink(page, 'Accounts').click()
  await page.getByRole('button', { name: 'Edit grace@example.com' }).click()
  await page.getByRole('button', { name: 'Delete account' }).click()
  await page
    .getByRole('dialog', { name: 'Delete grace@example.com?' })
    .getByRole('button', { name: 'Delete account' })
    .click()
  await page
    .getByRole('row', { name: /grace@example.com Grace Hopper/ })
    .waitFor({ state: 'detached' })
})
