import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Account } from '../../server/accounts/accounts.ts'
import type { Invitation } from '../../server/accounts/invitations.ts'
import { forged } from '../support/forged.ts'
import { assertProblem, call, startServer } from '../support/harness.ts'
import { ADMIN, invite, openBrowser, setUp, tokenOf } from '../support/browser-request.ts'

const BOB = { email: 'bob@example.com', password: 'hunter2hunter2' }

test('a link creates one account on its plan, and signs it in', async (t) => {
  const server = await startServer(t, { TOLLMARK_PLANS: '{"team":{"conversions_per_day":2}}' })
  const admin = await setUp(server)
  const made = await admin.send('POST', 'invitations', { email: 'Bob@Example.com', plan: 'team' })
  assert.equal(made.status, 201, made.text)
  const { link, ...invitation } = made.json<Invitation & { link: string }>()
  assert.ok(link.startsWith(`${server.url}/invite?token=tmi_`))
  assert.deepEqual(invitation, {
    id: invitation.id,
    object: 'invitation',
    email: 'bob@example.com',
    plan: 'team',
    status: 'open',
    created_at: invitation.created_at,
    expires_at: new Date(Date.parse(invitation.created_at) + 7 * 86_400_000).toISOString(),
    account_id: null,
  })
  const token = tokenOf(link)
  const opened = await call(server.url, `/api/v1/invitations/open?token=${token}`)
  assert.deepEqual(opened.json(), {
    object: 'invitation',
    email: 'bob@example.com',
    expires_at: invitation.expires_at,
  })
  const bob = openBrowser(server.url)
  assertProblem(
    await bob.send('POST', 'invitations/accept', { token, ...BOB, password: 'short' }),
    400,
    'invalid_field',
  )
  assertProblem(
    await bob.send('POST', 'invitations/accept', { token, ...BOB, email: ADMIN.email }),
    400,
    'invalid_field',
  )

  const browsers = Array.from({ length: 4 }, () => openBrowser(server.url))
  const responses = await Promise.all(
    browsers.map((browser, i) =>
      browser.send('POST', 'invitations/accept', { token, ...BOB, email: `bob${i}@example.com` }),
    ),
  )
  assert.deepEqual(responses.map(({ status }) => status).sort(), [201, 404, 404, 404])
  const won = responses.findIndex(({ status }) => status === 201)
  const { account } = responses[won]!.json<{ account: Account }>()
  assert.deepEqual(
    [account.role, account.plan, account.email, account.name],
    ['member', 'team', `bob${won}@example.com`, `bob${won}@example.com`],
  )
  assert.equal((await browsers[won]!.send('GET', 'keys')).status, 200)

  assertProblem(
    await call(server.url, `/api/v1/invitations/open?token=${token}`),
    404,
    'invitation_not_found',
  )
  const [listed] = (await admin.send('GET', 'invitations')).json<{ data: Invitation[] }>().data
  assert.deepEqual([listed?.status, listed?.account_id], ['accepted', account.id])
  assert.ok(!JSON.stringify(listed).includes('tmi_'))
})

test('an expired, revoked or unknown link is refused', async (t) => {
  const server = await startServer(t)
  const admin = await setUp(server)
  const make = async () =>
    (await admin.send('POST', 'invitations', {})).json<Invitation & { link: string }>()
  const [old, withdrawn] = [await make(), await make()]
  assertProblem(
    await call(server.url, `/api/v1/invitations/open?token=${forged(tokenOf(old.link))}`),
    404,
    'invitation_not_found',
  )
  assert.equal((await admin.send('DELETE', `invitations/${withdrawn.id}`)).status, 204)
  assertProblem(
    await admin.send('DELETE', `invitations/${withdrawn.id}`),
    404,
    'invitation_not_found',
  )
  server.step(7 * 86_400_000)
  const cases = [
    old.link,
    withdrawn.link,
    `${server.url}/invite?token=tmi_nothing`,
    `${server.url}/invite?token=`,
  ].map(tokenOf)
  for (const token of cases) {
    assertProblem(
      await call(server.url, `/api/v1/invitations/open?token=${token}`),
      404,
      'invitation_not_found',
    )
    assertProblem(
      await openBrowser(server.url).send('POST', 'invitations/accept', { token, ...BOB }),
      404,
      'invitation_not_found',
    )
  }
  assert.deepEqual(
    (await admin.send('GET', 'invitations'))
      .json<{ data: Invitation[] }>()
      .data.map(({ status }) => status),
    ['expired'],
  )
})

test('an invitation never opens an existing account', async (t) => {
  const server = await startServer(t)
  const admin = await setUp(server)
  await admin.send('POST', 'accounts', { name: BOB.email })
  const bob = await invite(server.url, admin, BOB)
  const { account } = (await bob.send('GET', 'session')).json<{ account: Account }>()
  assert.equal(account.name, `${BOB.email} (${account.id})`)
})

test('members cannot invite', async (t) => {
  const server = await startServer(t)
  const bob = await invite(server.url, await setUp(server), BOB)
  assertProblem(await bob.send('GET', 'invitations'), 403, 'insufficient_scope')
  assertProblem(await bob.send('POST', 'invitations', {}), 403, 'insufficient_scope')
  assertProblem(await bob.send('DELETE', 'invitations/inv_x'), 403, 'insufficient_scope')
  assertProblem(
    await (await setUpAgain(server.url)).send('POST', 'invitations', { plan: 'gold' }),
    400,
    'invalid_field',
  )
})

async function setUpAgain(url: string) {
  const browser = openBrowser(url)
  await browser.send('POST', 'session', ADMIN)
  return browser
}
