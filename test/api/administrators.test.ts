// More than one administrator, and never none; accounts that are renamed and deleted; passwords
// that were lost.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Account } from '../../server/accounts/accounts.ts'
import { createPasswordReset, passwordResetPath } from '../../server/accounts/password-resets.ts'
import type { Key, NewKey } from '../../server/keys/key-record.ts'
import { assertProblem, startServer } from '../support/harness.ts'
import { ADMIN, invite, openBrowser, setUp, tokenOf } from '../support/browser-request.ts'
import { requestNow } from '../support/ledger-row.ts'

const BEA = { email: 'bea@example.com', password: 'a password of some length' }

test('accounts get roles and names and are deleted; one administrator always remains', async (t) => {
  const server = await startServer(t)
  const ada = await setUp(server)
  const bea = await invite(server.url, ada, BEA)
  const accounts = async (query = '') =>
    (await ada.send('GET', `accounts?${query}`)).json<{ data: Account[]; total: number }>()
  const [first, second] = (await accounts()).data
  const change = (who: typeof ada, id: string, wanted: object) =>
    who.send('PATCH', `accounts/${id}`, wanted)

  assertProblem(await change(bea, second!.id, { role: 'admin' }), 403, 'insufficient_scope')
  assertProblem(await change(ada, first!.id, { role: 'member' }), 409, 'last_administrator')
  assertProblem(await ada.send('DELETE', `accounts/${first!.id}`), 400, 'invalid_field')
  // One who cannot sign in does not count.
  const made = (await ada.send('POST', 'accounts', { name: 'program' })).json<Account>()
  assert.equal((await change(ada, made.id, { role: 'admin' })).json<Account>().role, 'admin')
  assertProblem(await change(ada, first!.id, { role: 'member' }), 409, 'last_administrator')

  assert.equal(
    (await change(ada, second!.id, { role: 'admin', name: 'Bea' })).json<Account>().name,
    'Bea',
  )
  assertProblem(await change(ada, second!.id, { name: 'admin' }), 400, 'invalid_field')
  assert.equal((await change(bea, first!.id, { role: 'member' })).json<Account>().role, 'member')
  assertProblem(await ada.send('GET', 'accounts?search=x&limit=0'), 400, 'invalid_field')
  assert.deepEqual(
    (await accounts()).data.map(({ id }) => id),
    [first!.id],
    'she is an administrator no more, at once',
  )
  assert.equal((await change(bea, first!.id, { role: 'admin' })).status, 200)
  assert.deepEqual(
    [
      (await accounts('search=BEA@')).data.map(({ name }) => name),
      (await accounts('limit=1')).total,
    ],
    [['Bea'], 3],
  )

  // Two who demote each other at the same moment do not both succeed.
  await change(ada, made.id, { role: 'member' })
  const both = await Promise.all([
    change(ada, second!.id, { role: 'member' }),
    change(bea, first!.id, { role: 'member' }),
  ])
  assert.equal(both.filter(({ status }) => status === 200).length, 1)
  const left =
    both[0].status === 200
      ? { by: ada, id: second!.id, who: bea }
      : { by: bea, id: first!.id, who: ada }

  const key = (await left.who.send('POST', 'keys', { name: 'theirs' })).json<NewKey>()
  const row = await requestNow(server, { account: left.id, key: key.id, model: 'gpt-5' })
  await left.who.send('POST', 'tokens', { name: 'theirs' })
  assertProblem(await left.by.send('DELETE', 'accounts/acc_nobody'), 404, 'account_not_found')
  assert.equal((await left.by.send('DELETE', `accounts/${left.id}`)).status, 204)
  assertProblem(await left.who.send('GET', 'keys'), 401, 'invalid_token')
  assertProblem(await left.by.send('GET', `accounts/${left.id}`), 404, 'account_not_found')
  assertProblem(await change(left.by, left.id, { disabled: false }), 404, 'account_not_found')
  const keys = (await left.by.send('GET', 'keys?account=all')).json<{ data: Key[] }>().data
  assert.deepEqual(
    keys.map(({ id, status }) => [id, status]),
    [[key.id, 'revoked']],
  )
  assert.equal(
    (await left.by.send('GET', `requests/${row}?account=all`)).status,
    200,
    'the ledger keeps what it has used',
  )
  const lost = left.id === first!.id ? ADMIN : BEA
  assertProblem(
    await openBrowser(server.url).send('POST', 'session', lost),
    401,
    'invalid_credentials',
  )
  assert.equal(
    (await (await invite(server.url, left.by, lost)).send('GET', 'keys')).status,
    200,
    'the e-mail is free again',
  )
})

test("a reset link sets a new password once and ends the account's sessions", async (t) => {
  const server = await startServer(t)
  const ada = await setUp(server)
  const bea = await invite(server.url, ada, BEA)
  const { data } = (await ada.send('GET', 'accounts')).json<{ data: Account[] }>()
  const id = data[1]!.id
  assertProblem(await bea.send('POST', `accounts/${id}/reset-password`), 403, 'insufficient_scope')
  assertProblem(
    await ada.send('POST', 'accounts/acc_nobody/reset-password'),
    404,
    'account_not_found',
  )
  const link = async () =>
    tokenOf((await ada.send('POST', `accounts/${id}/reset-password`)).json<{ link: string }>().link)
  const old = await link()
  const token = await link()
  const visitor = openBrowser(server.url)
  const open = (given: string) => visitor.send('GET', `password-resets/open?token=${given}`)
  assertProblem(await open(old), 404, 'reset_not_found')
  const opened = await open(token)
  assert.equal(opened.json<{ email: string }>().email, BEA.email, opened.text)
  assert.equal((await bea.send('GET', 'keys')).status, 200, 'nothing has changed yet')
  const accept = (given: string, more: object = {}) =>
    visitor.send('POST', 'password-resets/accept', {
      token: given,
      password: 'another long password',
      ...more,
    })
  assertProblem(await accept(token, { password: 'short' }), 400, 'invalid_field')
  assertProblem(
    await accept(token.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'))),
    404,
    'reset_not_found',
  )
  // Used twice at once, it works once.
  const twice = await Promise.all([
    accept(token),
    openBrowser(server.url).send('POST', 'password-resets/accept', {
      token,
      password: 'a third long password',
    }),
  ])
  assert.deepEqual(twice.map(({ status }) => status).toSorted(), [201, 404])
  const again = await link()
  assert.equal((await accept(again)).json<{ account: Account }>().account.id, id)
  assert.equal((await visitor.send('GET', 'keys')).status, 200)
  assertProblem(await bea.send('GET', 'keys'), 401, 'invalid_token')
  for (const used of [token, again]) assertProblem(await accept(used), 404, 'reset_not_found')
  assertProblem(
    await openBrowser(server.url).send('POST', 'session', BEA),
    401,
    'invalid_credentials',
  )
  assert.equal(
    (
      await openBrowser(server.url).send('POST', 'session', {
        ...BEA,
        password: 'another long password',
      })
    ).status,
    201,
  )
  const late = await link()
  server.step(25 * 3_600_000)
  assertProblem(await open(late), 404, 'reset_not_found')

  // An account without an e-mail, by a link that the command line makes.
  const made = (await ada.send('POST', 'accounts', { name: 'made' })).json<Account>()
  const reset = await createPasswordReset(server.store, made.id, server.clock())
  assert.equal(passwordResetPath(reset.token), `/reset-password?token=${reset.token}`)
  assertProblem(await accept(reset.token), 400, 'invalid_field')
  assertProblem(await accept(reset.token, { email: BEA.email }), 400, 'invalid_field')
  assert.equal(
    (await accept(reset.token, { email: 'made@example.com' })).json<{ account: Account }>().account
      .email,
    'made@example.com',
  )
  assert.equal((await ada.send('PATCH', `accounts/${made.id}`, { disabled: true })).status, 200)
  assertProblem(await ada.send('POST', `accounts/${made.id}/reset-password`), 400, 'invalid_field')
  assert.match(
    (await fetch(`${server.url}/reset-password?token=x`)).headers.get('content-type') ?? '',
    /text\/html|text\/plain/,
  )
})
