import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { changeAccount } from '../../server/accounts/accounts.ts'
import { createSession, signOut } from '../../server/accounts/sessions.ts'
import { revokeToken } from '../../server/accounts/tokens.ts'
import type { NewToken } from '../../server/accounts/tokens.ts'
import { createSecret } from '../../server/common/issued-secrets.ts'
import type { Store } from '../../server/store/store.ts'
import { forged } from '../support/forged.ts'
import { PAGE, file, form } from '../support/form.ts'
import {
  responseOf,
  assertProblem,
  call,
  convert,
  start,
  shareServer,
  startServer,
} from '../support/harness.ts'

const FORM = form(file('Page.html', PAGE))

test('a conversion needs a valid token', async (t) => {
  const server = await startServer(t)
  const good = await server.token()
  const revoked = await server.newToken()
  await server.store.db
    .updateTable('tokens')
    .set({ revoked_at: 1 })
    .where('id', '=', revoked.id)
    .execute()
  const disabled = await server.token({ account: 'disabled' })
  await server.store.db
    .updateTable('accounts')
    .set({ disabled: 1 })
    .where('name', '=', 'disabled')
    .execute()

  const how = /^Send an API token in the header "Authorization: Bearer <API_TOKEN>"\.$/
  const wrong = /^The API token is not valid\./
  /** TABLE of Authorization headers that open nothing, and what is said of each. */
  const headers: [what: string, authorization: string | undefined, detail: RegExp][] = [
    ['no header', undefined, how],
    ['an empty header', '', how],
    ['no token', 'Bearer', how],
    ['another scheme', `Basic ${good}`, how],
    ['the bare token', good, how],
    ['two tokens', `Bearer ${good} ${good}`, how],
    ['a made-up token', `Bearer ${createSecret('tmt').secret}`, wrong],
    ['the head of a token, and another secret', `Bearer ${forged(good)}`, wrong],
    ['the head of a revoked token, and another secret', `Bearer ${forged(revoked.secret)}`, wrong],
    [
      'a token with one wrong letter',
      `Bearer ${good.slice(0, -1)}${good.endsWith('A') ? 'B' : 'A'}`,
      wrong,
    ],
    ['a proxy key', `Bearer ${createSecret('tmk').secret}`, /^This is a proxy key/],
    ['garbage', `Bearer ${'x'.repeat(5000)}`, wrong],
    ['a revoked token', `Bearer ${revoked.secret}`, /revoked/],
    [
      'an expired token',
      `Bearer ${await server.token({ expiresAt: server.clock() - 1 })}`,
      /expired/,
    ],
    ['a token of a disabled account', `Bearer ${disabled}`, /disabled/],
  ]
  for (const [what, authorization, detail] of headers) {
    await t.test(what, async () => {
      const response = await convert(
        server.url,
        undefined,
        FORM,
        authorization === undefined ? {} : { authorization },
      )
      assertProblem(response, 401, 'invalid_token')
      assert.match(String(response.json()['detail']), detail)
      assert.equal(response.headers['www-authenticate'], 'Bearer')
      for (const secret of [good, revoked.secret]) assert.ok(!response.text.includes(secret))
    })
  }
  assert.equal(
    (await convert(server.url, undefined, FORM, { authorization: `bearer ${good}` })).status,
    200,
    'the scheme has no case',
  )
})

test('a token without the scope "convert" is refused with that reason', async () => {
  const server = await shareServer()
  assertProblem(
    await convert(server.url, await server.token({ scopes: ['manage'] }), FORM),
    403,
    'insufficient_scope',
  )
  assertProblem(
    await call(server.url, '/api/v1/tokens', { token: await server.token() }),
    403,
    'insufficient_scope',
  )
})

test('401 is sent before the body arrives', async (t) => {
  const server = await shareServer()
  const outgoing = start(server.url, '/api/v1/convert', {
    headers: { 'content-type': FORM.contentType, 'content-length': '40000000' },
  })
  t.after(() => outgoing.destroy())
  outgoing.flushHeaders()
  assertProblem(await responseOf(outgoing), 401, 'invalid_token')
})

test('a caller that sends Expect gets 401 instead of "100 Continue"', async (t) => {
  const server = await shareServer()
  const outgoing = start(server.url, '/api/v1/convert', {
    headers: {
      'content-type': FORM.contentType,
      'content-length': '40000000',
      expect: '100-continue',
    },
  })
  t.after(() => outgoing.destroy())
  let asked = false
  outgoing.on('continue', () => (asked = true))
  outgoing.flushHeaders()
  assertProblem(await responseOf(outgoing), 401, 'invalid_token')
  assert.equal(asked, false)
})

test('a caller that sends Expect gets "100 Continue" once it is authenticated', async () => {
  const server = await shareServer()
  const headers = {
    'content-type': FORM.contentType,
    'content-length': String(FORM.body.length),
    expect: '100-continue',
  }
  const outgoing = start(server.url, '/api/v1/convert', { token: await server.token(), headers })
  outgoing.flushHeaders()
  outgoing.on('continue', () => outgoing.end(FORM.body))
  assert.equal((await responseOf(outgoing)).status, 200)
})

/** TABLE of what takes away what a token opens. */
const MEANWHILE: [what: string, deed: (store: Store, token: NewToken) => Promise<unknown>][] = [
  ['the token is revoked', (store, { id }) => revokeToken(store, id, null, 1)],
  [
    'the account is disabled',
    (store, { account_id: id }) => changeAccount(store, id, { disabled: true }),
  ],
]
/** TABLE of requests with a body. */
const BODIES: [path: string, contentType: string, body: Buffer][] = [
  ['/api/v1/convert', FORM.contentType, FORM.body],
  ['/api/v1/keys', 'application/json', Buffer.from('{"name":"k"}')],
]

/**
 * Starts a request; resolves when its body has been asked for, which is when its caller has been
 * proven.
 */
async function begin(
  url: string,
  path: string,
  contentType: string,
  body: Buffer,
  more: { token?: string; headers?: Record<string, string> },
) {
  const headers = {
    ...more.headers,
    'content-type': contentType,
    'content-length': String(body.length),
    expect: '100-continue',
  }
  const outgoing = start(url, path, { ...more, headers })
  outgoing.flushHeaders()
  await once(outgoing, 'continue')
  return outgoing
}

test('a caller that loses access while its body arrives changes nothing', async (t) => {
  const server = await startServer(t)
  const { url, store } = server
  const { cookie, session } = createSession(server.clock())
  await store.db
    .insertInto('sessions')
    .values({ ...session, account_id: (await server.newToken()).account_id })
    .execute()
  const [path, contentType, body] = BODIES[1]!
  const ofBrowser = await begin(url, path, contentType, body, {
    headers: { cookie: `tollmark_session=${cookie}`, origin: url },
  })
  await signOut(store, session.public_id)
  ofBrowser.end(body)
  assertProblem(await responseOf(ofBrowser), 401, 'invalid_token')
  for (const [what, deed] of MEANWHILE) {
    for (const [path, contentType, body] of BODIES) {
      const token = await server.newToken({
        account: `${what} ${path}`,
        scopes: ['convert', 'manage'],
      })
      const outgoing = await begin(url, path, contentType, body, { token: token.secret })
      await deed(store, token)
      outgoing.end(body)
      assertProblem(await responseOf(outgoing), 401, 'invalid_token')
    }
  }
  for (const table of ['quota_days', 'reservations', 'keys'] as const)
    assert.deepEqual(await store.db.selectFrom(table).selectAll().execute(), [])
})

test('a caller that sends everything before it reads still reads the 401', async () => {
  const server = await shareServer()
  const { port } = new URL(server.url)
  for (const connection of ['keep-alive', 'close']) {
    const body = Buffer.alloc(30_000_000)
    const socket = connect(Number(port), '127.0.0.1')
    socket.pause()
    const head = `POST /api/v1/convert HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\nContent-Type: ${FORM.contentType}\r\nContent-Length: ${body.length}\r\n\r\n`
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject)
      socket.write(head)
      socket.write(body, () => resolve())
    })
    const [first] = (await socket.take(1).toArray()) as Buffer[]
    assert.match(String(first), /^HTTP\/1\.1 401 /)
    socket.destroy()
  }
})

test('a caller that never stops sending is disconnected', async () => {
  const server = await shareServer()
  const { port } = new URL(server.url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(
    `POST /api/v1/convert HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`,
  )
  socket.resume()
  const piece = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536), Buffer.from('\r\n')])
  let sent = 0
  const pump = (): void => {
    while (!socket.destroyed && socket.write(piece)) sent += piece.length
    socket.once('drain', pump)
  }
  pump()
  await new Promise((resolve) => socket.once('close', resolve))
  assert.ok(sent < 200_000_000, `${sent} bytes went in`)
})
