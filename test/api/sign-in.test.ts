import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Account } from '../../server/accounts/accounts.ts'
import { withAttempt } from '../../server/accounts/attempts.ts'
import { insertIfUnchanged, createSession } from '../../server/accounts/sessions.ts'
import { setUpBySettings } from '../../server/accounts/setup.ts'
import { SetupError } from '../../server/common/errors.ts'
import { forged } from '../support/forged.ts'
import { assertProblem, call, spawnServer, startServer, tollmark } from '../support/harness.ts'
import { openAt, placeOn } from '../support/stores.ts'
import { usedFolder } from '../support/templates.ts'
import { ADMIN, invite, openBrowser, setUp, tokenOf } from '../support/browser-request.ts'

interface Session {
  object: string
  setup_required: boolean
  account: Account | null
}

/** TABLE of settings: what they make of the link of the first run. */
const LINKS: [env: Record<string, string>, link: RegExp][] = [
  [{}, /^http:\/\/localhost:\d+\/setup\?token=[\w-]{43}$/],
  [{ HOST: '127.0.0.1' }, /^http:\/\/127\.0\.0\.1:\d+\/setup\?/],
  // No browser goes to "every address", which is what a container listens on.
  [{ HOST: '0.0.0.0' }, /^http:\/\/localhost:\d+\/setup\?/],
  [{ HOST: '::' }, /^http:\/\/localhost:\d+\/setup\?/],
  [
    { HOST: '0.0.0.0', TOLLMARK_PUBLIC_URL: 'https://ai.example.com/' },
    /^https:\/\/ai\.example\.com\/setup\?token=[\w-]{43}$/,
  ],
]

for (const [env, link] of LINKS) {
  test(`the link of the first run can be opened: ${JSON.stringify(env)}`, async (t) => {
    assert.match((await startServer(t, env)).setupLink ?? '', link)
  })
}

test('the link of the first run creates the first account, once', async (t) => {
  const server = await startServer(t)
  const browser = openBrowser(server.url)
  const session = async () => (await browser.send('GET', 'session')).json<Session>()
  assert.deepEqual(await session(), { object: 'session', setup_required: true, account: null })
  const token = tokenOf(server.setupLink!)
  assertProblem(
    await browser.send('POST', 'setup', { token: 'x'.repeat(43), ...ADMIN }),
    401,
    'invalid_token',
  )
  assertProblem(
    await browser.send('POST', 'setup', { token, ...ADMIN, password: '123456789' }),
    400,
    'invalid_field',
  )
  assertProblem(
    await browser.send('POST', 'setup', { token, ...ADMIN, password: 'x'.repeat(257) }),
    400,
    'invalid_field',
  )
  for (const email of ['', 'ada', 'a b@c', '@', 'a@b@c', 'a@b\u200b', `${'x'.repeat(254)}@y`])
    assertProblem(
      await browser.send('POST', 'setup', { token, ...ADMIN, email }),
      400,
      'invalid_field',
    )

  const responses = await Promise.all(
    ['ada@example.com', 'eve@example.com'].map((email) =>
      openBrowser(server.url).send('POST', 'setup', { token, ...ADMIN, email }),
    ),
  )
  assert.deepEqual(responses.map(({ status }) => status).sort(), [201, 403])
  const made = responses.find(({ status }) => status === 201)!
  const { account } = made.json<{ account: Account }>()
  assert.deepEqual([account.name, account.role, account.plan], ['admin', 'admin', 'free'])
  assert.match(
    made.headers['set-cookie']![0]!,
    /^tollmark_session=tms_\w+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/,
  )
  assertProblem(await browser.send('POST', 'setup', { token, ...ADMIN }), 403, 'setup_closed')
  assert.deepEqual(await session(), { object: 'session', setup_required: false, account: null })
  assert.equal((await server.store.db.selectFrom('accounts').selectAll().execute()).length, 1)
  const stored = JSON.stringify(await server.store.db.selectFrom('passwords').selectAll().execute())
  assert.match(stored, /\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.doesNotMatch(stored, /horse/)
})

test('setup uses the account that the command line created first', async (t) => {
  const data = usedFolder(t)
  const { out } = await tollmark(
    ['tokens', 'create', '--name', 'first', '--account', 'Acme', '--json'],
    { TOLLMARK_DATA: data },
  )
  const server = await startServer(t, { TOLLMARK_DATA: data })
  const browser = await setUp(server)
  const { account } = (await browser.send('GET', 'session')).json<Session>()
  assert.deepEqual([account?.name, account?.role, account?.email], ['Acme', 'admin', ADMIN.email])
  assert.equal(account?.id, (JSON.parse(out) as { account_id: string }).account_id)
  assert.equal((await browser.send('GET', 'tokens')).json<{ data: object[] }>().data.length, 1)
})

test('the first account is the first one created, whatever the clock said', async (t) => {
  const server = await startServer(t)
  const { account_id: first } = await server.newToken({ account: 'Acme' })
  server.step(-60_000)
  const { account_id: later } = await server.newToken({ account: 'Later' })
  assert.equal((await server.newToken()).account_id, first)
  await server.store.db
    .updateTable('accounts')
    .set({ email: ADMIN.email })
    .where('id', '=', later)
    .execute()
  const token = tokenOf(server.setupLink!)
  assertProblem(
    await openBrowser(server.url).send('POST', 'setup', { token, ...ADMIN }),
    400,
    'invalid_field',
  )
  await assert.rejects(
    setUpBySettings(
      server.store,
      { adminEmail: ADMIN.email, adminPassword: ADMIN.password },
      server.clock(),
    ),
    SetupError,
  )
  const browser = await setUp(server, { ...ADMIN, email: 'eve@example.com' })
  assert.equal((await browser.send('GET', 'session')).json<Session>().account?.id, first)
})

test('two settings create the first account without a browser', async (t) => {
  const data = usedFolder(t)
  const settings = {
    TOLLMARK_DATA: data,
    TOLLMARK_ADMIN_EMAIL: 'Ada@Example.com',
    TOLLMARK_ADMIN_PASSWORD: ADMIN.password,
  }
  const server = await startServer(t, settings)
  assert.equal(server.setupLink, null)
  assert.equal((await openBrowser(server.url).send('POST', 'session', ADMIN)).status, 201)
  // Later they change nothing.
  const again = await startServer(t, { ...settings, TOLLMARK_ADMIN_PASSWORD: 'another password' })
  assert.equal((await openBrowser(again.url).send('POST', 'session', ADMIN)).status, 201)
  for (const [name, value] of [
    ['TOLLMARK_ADMIN_EMAIL', 'ada'],
    ['TOLLMARK_ADMIN_PASSWORD', 'short'],
    ['TOLLMARK_ADMIN_PASSWORD', ''],
  ] as const) {
    const { code, out, err } = await tollmark(['serve'], {
      ...settings,
      PORT: '0',
      TOLLMARK_DATA: usedFolder(t),
      [name]: value,
    })
    assert.equal(code, 1, err)
    assert.match(err, /^tollmark: .*TOLLMARK_ADMIN_\w+ .*\.\n$/)
    assert.equal(out, '')
  }
})

test("a session has a token's access, survives a restart, and ends at sign-out", async (t) => {
  const data = usedFolder(t)
  let cookie: string | undefined
  {
    const server = await startServer(t, { TOLLMARK_DATA: data })
    cookie = (await setUp(server)).cookie
    await server[Symbol.asyncDispose]()
  }
  const server = await startServer(t, { TOLLMARK_DATA: data })
  assert.equal(server.setupLink, null)
  const browser = openBrowser(server.url)
  browser.cookie = cookie
  assert.equal((await browser.send('GET', 'session')).json<Session>().account?.email, ADMIN.email)
  assert.equal((await browser.send('POST', 'keys', { name: 'k' })).status, 201)
  assertProblem(await browser.send('POST', 'convert', {}), 400, 'missing_file')
  const signedOut = await browser.send('DELETE', 'session')
  assert.equal(signedOut.status, 204)
  assert.match(signedOut.headers['set-cookie']![0]!, /^tollmark_session=; Max-Age=0; Path=\//)
  assert.equal(browser.cookie, undefined)
  browser.cookie = cookie
  assertProblem(await browser.send('GET', 'keys'), 401, 'invalid_token')
  assert.equal((await browser.send('GET', 'session')).json<Session>().account, null)
})

test('a session ends after 30 days', async (t) => {
  const server = await startServer(t)
  const browser = await setUp(server)
  server.step(30 * 86_400_000 - 10_000)
  assert.equal((await browser.send('GET', 'keys')).status, 200)
  server.step(20_000)
  assertProblem(await browser.send('GET', 'keys'), 401, 'invalid_token')
})

test('signing in replaces an existing cookie and ends its session', async (t) => {
  const server = await startServer(t)
  const browser = await setUp(server)
  const [first] = [browser.cookie]
  assert.equal(
    (
      await browser.send('POST', 'session', {
        email: ' ADA@example.com ',
        password: ADMIN.password,
      })
    ).status,
    201,
  )
  assert.notEqual(browser.cookie, first)
  const fixed = openBrowser(server.url)
  fixed.cookie = first
  assertProblem(await fixed.send('GET', 'keys'), 401, 'invalid_token')
  // A cookie that somebody else has planted.
  const { cookie } = browser
  for (const planted of [
    'planted',
    cookie!.slice(0, -1) + (cookie!.endsWith('x') ? 'y' : 'x'),
    'tms_'.padEnd(60, 'a'),
    forged(cookie!),
  ]) {
    fixed.cookie = planted
    assertProblem(await fixed.send('GET', 'keys'), 401, 'invalid_token')
    assert.equal((await fixed.send('POST', 'session', ADMIN)).status, 201)
    assert.notEqual(fixed.cookie, planted)
  }
  assert.equal(
    (await browser.send('GET', 'keys')).status,
    200,
    "who makes up a cookie ends nobody's session",
  )
})

test('an unknown e-mail and a wrong password look the same; failures slow down, a success resets', async (t) => {
  const server = await startServer(t)
  await setUp(server)
  server.hold()
  const guess = (email: string, password: string) =>
    openBrowser(server.url).send('POST', 'session', { email, password })
  const [unknown, wrong] = [await guess('nobody@example.com', 'x'), await guess(ADMIN.email, 'x')]
  for (const response of [unknown, wrong]) assertProblem(response, 401, 'invalid_credentials')
  assert.equal(unknown.json()['detail'], wrong.json()['detail'])

  // Five in all are free, however many come at once; then even the right password has to wait.
  const atOnce = await Promise.all(Array.from({ length: 12 }, () => guess(ADMIN.email, 'x')))
  assert.deepEqual(atOnce.map(({ status }) => status).sort(), [
    401,
    401,
    401,
    401,
    ...Array<number>(8).fill(429),
  ])
  const waiting = await guess(ADMIN.email, ADMIN.password)
  assertProblem(waiting, 429, 'too_many_attempts')
  assert.equal(waiting.headers['retry-after'], '1')
  assert.equal(waiting.json()['detail'], 'Too many failed sign-ins. Try again in 1 second.')
  server.step(1_000)
  assertProblem(await guess(ADMIN.email, 'x'), 401, 'invalid_credentials')
  assert.equal((await guess(ADMIN.email, 'x')).headers['retry-after'], '2')
  server.step(2_000)
  assert.equal((await guess(ADMIN.email, ADMIN.password)).status, 201)
  for (let i = 0; i < 4; i++)
    assertProblem(await guess(ADMIN.email, 'x'), 401, 'invalid_credentials')

  // One address that tries many e-mails.
  server.step(3_600_000)
  for (let i = 0; i < 20; i++)
    assertProblem(await guess(`person${i}@example.com`, 'x'), 401, 'invalid_credentials')
  assertProblem(await guess(ADMIN.email, ADMIN.password), 429, 'too_many_attempts')
  server.step(3_600_000)
  assert.equal((await guess(ADMIN.email, ADMIN.password)).status, 201)
  const kinds = (await server.store.db.selectFrom('attempts').select('subject').execute()).map(
    ({ subject }) => subject.split(':')[0],
  )
  assert.deepEqual(kinds.sort(), ['address', 'known'], 'what is over is forgotten')
})

/**
 * TABLE of whose guesses are counted: the guesses of one of them, and the seconds to wait after
 * those that are free.
 */
const WAITS: [
  whose: string,
  guess: (i: number) => { email: string; address: string },
  free: number,
  seconds: number[],
][] = [
  [
    'e-mail from one address',
    () => ({ email: 'ada@example.com', address: '192.0.2.1' }),
    5,
    [1, 2, 4, 8, 16, 32, 60, 60],
  ],
  [
    'address',
    (i) => ({ email: `${i}@example.com`, address: '192.0.2.1' }),
    20,
    [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900],
  ],
]

for (const [whose, guess, free, seconds] of WAITS) {
  test(`each wrong guess of one ${whose} doubles the wait, up to ${seconds.at(-1)} s`, async (t) => {
    const store = await openAt(t, await placeOn.sqlite(t))
    let [now, guesses] = [0, 0]
    const attempt = (right: boolean) =>
      withAttempt(store, guess(++guesses), now, () => Promise.resolve(right))
    for (let i = 0; i < free; i++) assert.equal(await attempt(false), false)
    for (const wait of seconds) {
      await assert.rejects(attempt(true), { code: 'too_many_attempts', retryAfter: wait })
      now += wait * 1000
      assert.equal(await attempt(false), false)
    }
  })
}

test("a successful sign-in neither counts for its address nor hides others' failures", async (t) => {
  const store = await openAt(t, await placeOn.sqlite(t))
  const attempt = (email: string, right: boolean) =>
    withAttempt(store, { email, address: '192.0.2.1' }, 0, () => Promise.resolve(right))
  for (let i = 0; i < 19; i++) await attempt(`${i}`, false)
  for (let i = 0; i < 3; i++) assert.equal(await attempt('ada', true), true)
  assert.equal(await attempt('19', false), false)
  await assert.rejects(attempt('ada', true), { code: 'too_many_attempts' })
})

test('behind a trusted reverse proxy, each address counts alone and cookies are Secure', async (t) => {
  const server = await startServer(t, { TOLLMARK_TRUST_PROXY: 'true' })
  await setUp(server)
  const from = (address: string, name = address) =>
    openBrowser(server.url).send(
      'POST',
      'session',
      { email: `${name}@example.com`, password: 'x' },
      {
        'x-forwarded-for': `1.1.1.1, ${address}`,
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'tollmark.example.com',
        origin: 'https://tollmark.example.com',
      },
    )
  const flood = async (address: (i: number) => string) => {
    for (let i = 0; i < 20; i++)
      await openBrowser(server.url).send(
        'POST',
        'session',
        { email: `${i}@example.com`, password: 'x' },
        { 'x-forwarded-for': address(i) },
      )
  }
  /**
   * The refusal. The block of a second may pass while a slow machine hashes; the next is longer.
   */
  const refusal = async (address: string) => {
    for (let i = 0; i < 6; i++) {
      const response = await from(address, `refused${i}`)
      if (response.status !== 401) return response
    }
    throw new Error(`${address} may go on`)
  }
  // Some proxies write the port too.
  await flood((i) => `192.0.2.1:${5000 + i}`)
  assertProblem(await refusal('192.0.2.1'), 429, 'too_many_attempts')
  assertProblem(await from('192.0.2.2'), 401, 'invalid_credentials')
  server.step(3_600_000)
  await flood((i) => (i % 2 === 0 ? `2001:db8::${i + 1}` : `[2001:db8::${i + 1}]:${5000 + i}`))
  assertProblem(await refusal('2001:db8:0:0:1::1'), 429, 'too_many_attempts')
  assertProblem(await from('2001:db8:0:1::1'), 401, 'invalid_credentials')
  server.step(3_600_000)
  const signedIn = await openBrowser(server.url).send('POST', 'session', ADMIN, {
    'x-forwarded-proto': 'https',
  })
  assert.match(signedIn.headers['set-cookie']![0]!, /; Secure/)
})

test('a change with a cookie must come from our own pages', async (t) => {
  const server = await startServer(t)
  const browser = await setUp(server)
  const { cookie } = browser
  const send = (method: string, headers: Record<string, string>, path = '/api/v1/keys') =>
    call(server.url, path, {
      method,
      headers: {
        cookie: `tollmark_session=${cookie}`,
        'content-type': 'application/json',
        ...headers,
      },
      ...(method === 'GET' ? {} : { body: '{"name":"k"}' }),
    })
  /** TABLE: what the browser says of where the request comes from, and whether it passes. */
  const cases: [what: string, headers: Record<string, string>, status: number][] = [
    ['nothing', {}, 403],
    ['another origin', { origin: 'https://evil.example' }, 403],
    ['another port', { origin: 'http://localhost:1' }, 403],
    ['an opaque origin', { origin: 'null' }, 403],
    ['our name as the start of another', { origin: `${server.url}.evil.example` }, 403],
    ['another site, by the browser', { origin: server.url, 'sec-fetch-site': 'cross-site' }, 403],
    ['no site, by the browser', { origin: server.url, 'sec-fetch-site': 'none' }, 403],
    ['a neighbour, by the browser', { origin: server.url, 'sec-fetch-site': 'same-site' }, 403],
    ['our origin', { origin: server.url }, 201],
    [
      'our origin, behind TLS that we do not know of',
      { origin: server.url.replace('http:', 'https:') },
      201,
    ],
    ['ourselves, by the browser', { 'sec-fetch-site': 'same-origin' }, 201],
  ]
  for (const [what, headers, status] of cases) {
    await t.test(what, async () => {
      const response = await send('POST', headers)
      if (status === 403) assertProblem(response, 403, 'cross_site_request')
      else assert.equal(response.status, status, response.text)
    })
  }
  assert.equal(
    (await send('GET', { origin: 'https://evil.example' })).status,
    200,
    'reading is for SameSite and CORS to refuse',
  )
  for (const method of ['PATCH', 'DELETE', 'PUT'])
    assert.ok([403, 405].includes((await send(method, {}, '/api/v1/keys/key_x')).status))
  assertProblem(await send('DELETE', {}, '/api/v1/session'), 403, 'cross_site_request')
  // A stranger's page must not sign somebody in either; a program without cookies may.
  const signIn = (headers: Record<string, string>) =>
    call(server.url, '/api/v1/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(ADMIN),
    })
  assertProblem(await signIn({ origin: 'https://evil.example' }), 403, 'cross_site_request')
  assert.equal((await signIn({})).status, 201)
  // Whoever sends a token means it: the cookie beside it does not count.
  const token = await server.token()
  assertProblem(await send('POST', { authorization: `Bearer ${token}` }), 403, 'insufficient_scope')
  assertProblem(
    await send('GET', { authorization: 'Bearer nonsense', origin: server.url }),
    401,
    'invalid_token',
  )
})

test('changing the password needs the current one and ends other sessions', async (t) => {
  const server = await startServer(t)
  const browser = await setUp(server)
  const other = openBrowser(server.url)
  await other.send('POST', 'session', ADMIN)
  assertProblem(
    await browser.send('POST', 'session/password', {
      current: 'wrong',
      password: 'another password',
    }),
    401,
    'invalid_credentials',
  )
  assert.equal(
    (
      await browser.send('POST', 'session/password', {
        current: ADMIN.password,
        password: 'pass\u0077ord cafe\u0301',
      })
    ).status,
    204,
  )
  assert.equal((await browser.send('GET', 'keys')).status, 200)
  assertProblem(await other.send('GET', 'keys'), 401, 'invalid_token')
  assertProblem(await other.send('POST', 'session', ADMIN), 401, 'invalid_credentials')
  assert.equal(
    (await other.send('POST', 'session', { ...ADMIN, password: 'password café' })).status,
    201,
  )
  const token = await server.token({ scopes: ['manage'] })
  const byToken = await call(server.url, '/api/v1/session/password', {
    method: 'POST',
    token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ current: ADMIN.password, password: 'another password' }),
  })
  assertProblem(byToken, 403, 'insufficient_scope')
})

test('signing in while the password is changed or the account disabled gives no session', async (t) => {
  const server = await startServer(t)
  await setUp(server)
  const { store, clock } = server
  const { account_id: account, hash } = await store.db
    .selectFrom('passwords')
    .selectAll()
    .executeTakeFirstOrThrow()
  const enter = (password: string) =>
    store.run(insertIfUnchanged, {
      account,
      password,
      session: createSession(clock()).session,
      replaced: null,
      now: clock(),
    })
  assert.deepEqual([await enter(hash), await enter('the hash of before')], [true, false])
  await store.db.updateTable('accounts').set({ disabled: 1 }).execute()
  assert.equal(await enter(hash), false)
  assert.equal((await store.db.selectFrom('sessions').selectAll().execute()).length, 2)
})

test('a disabled account: its sessions end, its tokens and keys stop', async (t) => {
  const server = await startServer(t)
  const admin = await setUp(server)
  const MEMBER = { email: 'bob@example.com', password: 'hunter2hunter2' }
  const member = await invite(server.url, admin, MEMBER)
  const { account } = (await member.send('GET', 'session')).json<Session>()
  const token = (await member.send('POST', 'tokens', { name: 't', scopes: ['manage'] })).json<{
    secret: string
  }>().secret
  const key = (await member.send('POST', 'keys', { name: 'k' })).json<{ secret: string }>().secret
  const proxied = async () =>
    (
      await fetch(`${server.url}/proxy?url=https://nobody.example/`, {
        headers: { authorization: `Bearer ${key}` },
      })
    ).status
  assert.equal(await proxied(), 403)
  await admin.send('PATCH', `accounts/${account!.id}`, { disabled: true })
  assertProblem(await member.send('GET', 'keys'), 401, 'invalid_token')
  assertProblem(await call(server.url, '/api/v1/keys', { token }), 401, 'invalid_token')
  assert.equal(await proxied(), 401)
  assertProblem(await member.send('POST', 'session', MEMBER), 401, 'invalid_credentials')
  await admin.send('PATCH', `accounts/${account!.id}`, { disabled: false })
  assertProblem(await member.send('GET', 'keys'), 401, 'invalid_token')
  assert.equal((await call(server.url, '/api/v1/keys', { token })).status, 200)
  assert.equal((await member.send('POST', 'session', MEMBER)).status, 201)
})

test('the first start prints the setup link; with an account it does not', async (t) => {
  const data = usedFolder(t)
  const env = { TOLLMARK_DATA: data, LOG_LEVEL: 'silent' }
  const server = await spawnServer(t, env)
  const { link } = server
  await setUp({ url: server.url, setupLink: await link() })
  server.kill('SIGTERM')
  assert.equal(await server.exited, 0)
  const again = await spawnServer(t, env)
  again.kill('SIGTERM')
  await again.exited
  assert.doesNotMatch(again.said(), /setup/)
})
