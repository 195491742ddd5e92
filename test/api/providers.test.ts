import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { flushJournal } from '../../server/ledger/settlement/journal.ts'
import { deleteProvider } from '../../server/proxy/providers/stored.ts'
import { hostValues } from '../../server/proxy/providers/host-patterns.ts'
import { PROVIDERS } from '../../server/proxy/providers/rows/index.ts'
import { readConfig } from '../../server/config/settings.ts'
import { openLog } from '../../server/common/log.ts'
import { serve } from '../../server/app/serve.ts'
import { assertProblem } from '../support/harness.ts'
import { respond, headerOf, startFake } from '../support/providers/fake.ts'
import type { Script } from '../support/providers/fake.ts'
import { startServed } from '../proxy/support/served.ts'
import type { Served } from '../proxy/support/served.ts'
import { usedFolder } from '../support/templates.ts'
import { until } from '../support/until.ts'
import { manager } from '../support/manager.ts'

interface Credential {
  id: string
  status: string
  readable: boolean
  resting_ms: number
  last_error: { status: number; at: string } | null
}
interface Provider {
  id: string
  source: string
  hosts: string[]
  ready: boolean
  dial: string | null
  credentials: Credential[] | null
}
interface Outcome {
  ok: boolean
  status: number | null
  detail: string
  at: string
}

const JSON_TYPE = { 'content-type': 'application/json' }

test('members see which providers are ready; only administrators see addresses and credentials', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const [admin, member] = [(await manager(served)).api, (await manager(served, 'member')).api]
  const read = async (ask: typeof admin) =>
    new Map(
      (await ask('GET', 'providers')).json<{ data: Provider[] }>().data.map((one) => [one.id, one]),
    )
  const [all, some] = [await read(admin), await read(member)]
  assert.deepEqual(
    [...some.keys()],
    PROVIDERS.map(({ id }) => id),
  )
  const openai = all.get('openai')!
  assert.deepEqual(
    [openai.ready, openai.source, openai.hosts, openai.dial, openai.credentials?.length],
    [true, 'built_in', ['api.openai.com'], served.fake.origin, 1],
  )
  assert.deepEqual(
    [some.get('openai')?.ready, some.get('openai')?.dial, some.get('openai')?.credentials],
    [true, null, null],
  )
  assert.deepEqual(
    [all.get('mistral')?.ready, all.get('azure')?.hosts[0]],
    [false, '{resource}.openai.azure.com'],
  )
})

test('a rejected credential has a reason, cools down if there is another, and recovers', async (t) => {
  const served = await startServed(t, respond(401, JSON_TYPE, '{}'))
  const admin = (await manager(served)).api
  const key = await served.key()
  const credential = async () =>
    (await admin('GET', 'credentials'))
      .json<{ data: Credential[] }>()
      .data.find(({ id }) => id === 'env_openai')!
  assert.deepEqual([(await credential()).resting_ms, (await credential()).last_error], [0, null])
  await served.send(key.secret, 'https://api.openai.com/v1/models', { method: 'GET' })
  // The proxy has tried it itself, too.
  const resting = async () =>
    /^tollmark_credentials_resting (.*)$/m.exec(
      await (await fetch(`${served.running.url}/metrics`)).text(),
    )?.[1]
  await until(async () => (await resting()) === '1')
  assert.deepEqual(
    [(await credential()).resting_ms, (await credential()).last_error?.status],
    [0, 401],
    'it is the only one, so it is used',
  )
  const spare = { provider: 'openai', name: 'spare', secret: 'sk-spare' }
  const { id } = (await admin('POST', 'credentials', spare)).json<{ id: string }>()
  await until(async () => (await credential()).resting_ms > 50_000)
  await admin('DELETE', `credentials/${id}`)
  const overview = (await admin('GET', 'overview')).json<{
    attention: { kind: string; credential_id: string; detail: string }[]
  }>()
  assert.deepEqual(
    overview.attention.map(({ kind, credential_id }) => [kind, credential_id]),
    [['credential_failing', 'env_openai']],
  )
  assert.equal(
    overview.attention[0]?.detail,
    'OpenAI rejected the credential from the settings (401). Test it, or replace it.',
  )
  served.fake.play(respond(200, JSON_TYPE, '{"data":[]}'))
  await served.send(key.secret, 'https://api.openai.com/v1/models', { method: 'GET' })
  const { last_error, resting_ms } = await credential()
  assert.deepEqual([last_error, resting_ms], [null, 0])
})

test('a test call explains how to fix the problem', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{"data":[]}'))
  const admin = (await manager(served)).api
  const { id } = (
    await admin('POST', 'credentials', {
      provider: 'anthropic',
      name: 'spare',
      secret: 'sk-spare',
      weight: 0,
    })
  ).json<Credential>()
  const attempt = async (which = id) =>
    (await admin('POST', `credentials/${which}/test`)).json<Outcome>()
  const { at, ...good } = await attempt()
  assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000)
  assert.deepEqual(good, {
    object: 'credential_test',
    ok: true,
    status: 200,
    detail: 'Anthropic accepts this credential.',
  })
  const [request] = served.fake.requests
  assert.deepEqual(
    [
      request!.method,
      request!.target,
      headerOf(request!.rawHeaders, 'x-api-key'),
      headerOf(request!.rawHeaders, 'anthropic-version'),
    ],
    ['GET', '/v1/models?limit=1', 'sk-spare', '2023-06-01'],
  )
  await served.running.store.run(flushJournal, null)
  assert.equal(
    (await served.running.store.db.selectFrom('requests').selectAll().execute()).length,
    0,
    'nobody has asked for it by a key',
  )

  /** TABLE: what the provider does, and what is said. */
  const cases: [script: Script, status: number | null, says: RegExp][] = [
    [respond(401, {}), 401, /refuses this credential \(401\)/],
    [respond(403, {}), 403, /refuses this credential \(403\)/],
    [respond(404, {}), 404, /answered 404/],
    [respond(429, {}), 429, /limits this credential/],
    [respond(500, {}), 500, /error of its own/],
    [({ reset }) => reset(), null, /cannot be reached/],
    [respond(302, { location: 'https://elsewhere.example/' }), 302, /answered 302/],
  ]
  for (const [script, status, says] of cases) {
    served.fake.play(script)
    const outcome = await attempt('env_openai')
    assert.deepEqual([outcome.ok, outcome.status], [false, status])
    assert.match(outcome.detail, says)
    assert.doesNotMatch(outcome.detail, /sk-|127\.0\.0\.1/)
  }
  assertProblem(await admin('POST', 'credentials/cred_nothing/test'), 404, 'credential_not_found')
})

test('a credential the master key cannot decrypt says so everywhere and does not make its provider ready', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const { store } = served.running
  const admin = (await manager(served)).api
  const { id, readable } = (
    await admin('POST', 'credentials', { provider: 'mistral', name: 'old', secret: 'm-1' })
  ).json<Credential>()
  const mistral = async () =>
    (await admin('GET', 'providers'))
      .json<{ data: Provider[] }>()
      .data.find((one) => one.id === 'mistral')
  assert.deepEqual([readable, (await mistral())?.ready], [true, true])
  await store.db
    .updateTable('credentials')
    .set({ sealed: Buffer.alloc(40).toString('base64'), revision: 9 })
    .where('id', '=', id)
    .execute()
  const read = async () => (await admin('GET', `credentials/${id}`)).json<Credential>()
  await until(async () => !(await read()).readable)
  assert.deepEqual(
    [(await mistral())?.ready, (await mistral())?.credentials?.[0]?.readable],
    [false, false],
  )
  const { ok, status, detail } = (await admin('POST', `credentials/${id}/test`)).json<Outcome>()
  assert.deepEqual([ok, status], [false, null])
  assert.match(detail, /master key/)
  const attention = async () =>
    (await admin('GET', 'overview')).json<{
      attention: { kind: string; credential_id: string; detail: string }[]
    }>().attention
  assert.deepEqual(
    (await attention()).map(({ kind, credential_id }) => [kind, credential_id]),
    [['credential_failing', id]],
  )
  assert.match((await attention())[0]!.detail, /cannot be decrypted/)
  await admin('PATCH', `credentials/${id}`, { status: 'paused' })
  assert.deepEqual(await attention(), [])
})

test('a credential from the environment can be read through the API but not changed', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const admin = (await manager(served)).api
  const { data } = (await admin('GET', 'credentials')).json<{ data: { id: string }[] }>()
  assert.deepEqual(
    data.map(({ id }) => id),
    ['env_anthropic', 'env_google', 'env_openai'],
  )
  for (const shown of data)
    assert.deepEqual((await admin('GET', `credentials/${shown.id}`)).json(), shown)
  for (const method of ['PATCH', 'DELETE'])
    assertProblem(
      await admin(method, 'credentials/env_openai', method === 'PATCH' ? { weight: 2 } : undefined),
      404,
      'credential_not_found',
    )
})

test('a test call reuses an open connection', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{"data":[]}'))
  const admin = (await manager(served)).api
  const key = await served.key()
  await served.send(key.secret, 'https://api.openai.com/v1/models', { method: 'GET' })
  assert.equal((await admin('POST', 'credentials/env_openai/test')).json<Outcome>().ok, true)
  assert.deepEqual(
    served.fake.requests.map(({ connection, turn }) => [connection, turn]),
    [
      [1, 1],
      [1, 2],
    ],
  )
})

test('every built-in provider has a test call that its own table does not forbid', async (t) => {
  const fake = await startFake(respond(200, JSON_TYPE, '{}'))
  t.after(() => fake.close())
  const upstreams = Object.fromEntries(
    PROVIDERS.map(({ id }) => [
      `TOLLMARK_UPSTREAM_${id.toUpperCase().replaceAll('-', '_')}`,
      fake.origin,
    ]),
  )
  const running = await serve(
    readConfig({ PORT: '0', TOLLMARK_DATA: usedFolder(t), ...upstreams }),
    openLog('silent'),
  )
  t.after(() => running[Symbol.asyncDispose]())
  const admin = (await manager({ running })).api
  for (const { id, auth, hosts } of PROVIDERS) {
    const values = Object.fromEntries(hostValues({ hosts }).map((name) => [name, 'x1']))
    const credential = (
      await admin('POST', 'credentials', { provider: id, secret: `secret-of-${id}`, values })
    ).json<Credential>()
    assert.equal(
      (await admin('POST', `credentials/${credential.id}/test`)).json<Outcome>().ok,
      true,
      id,
    )
    assert.ok(
      headerOf(fake.requests.at(-1)!.rawHeaders, auth.header.toLowerCase())?.endsWith(
        `secret-of-${id}`,
      ),
      id,
    )
  }
})

test('an added provider is usable immediately, can be changed, and is deleted with its credentials', async (t) => {
  const served = await startServed(
    t,
    respond(200, JSON_TYPE, '{"usage":{"prompt_tokens":3,"completion_tokens":4}}'),
  )
  const admin = (await manager(served)).api
  const key = await served.key()
  const chat = () =>
    served.send(key.secret, 'https://llm.example.com/v1/chat/completions', {
      headers: JSON_TYPE,
      body: '{"model":"x"}',
    })
  assert.equal((await chat()).status, 403)
  const made = await admin('POST', 'providers', {
    id: 'acme',
    origin: 'https://llm.example.com',
    dial: `${served.fake.origin}/base`,
    auth: { header: 'X-Key', scheme: null },
  })
  assert.equal(made.status, 201, made.text)
  assert.deepEqual(
    [
      made.json<Provider>().source,
      made.json<Provider>().ready,
      made.json<Provider>().hosts,
      made.json<Provider>().dial,
    ],
    ['stored', false, ['llm.example.com'], `${served.fake.origin}/base`],
  )
  assert.equal((await chat()).status, 502, 'it has no credential yet')
  const { id } = (
    await admin('POST', 'credentials', { provider: 'acme', secret: 'own-secret' })
  ).json<Credential>()
  assert.equal((await chat()).status, 200)
  const sent = served.fake.requests.at(-1)!
  assert.deepEqual(
    [sent.target, headerOf(sent.rawHeaders, 'x-key')],
    ['/base/v1/chat/completions', 'own-secret'],
  )
  assert.equal((await admin('PATCH', 'providers/acme', { auth: null })).status, 200)
  assert.equal((await chat()).status, 200)
  assert.equal(
    headerOf(served.fake.requests.at(-1)!.rawHeaders, 'authorization'),
    'Bearer own-secret',
  )
  assert.equal((await admin('POST', `credentials/${id}/test`)).json<Outcome>().ok, true)
  assert.equal((await admin('DELETE', 'providers/acme')).status, 204)
  assert.equal((await chat()).status, 403)
  assertProblem(await admin('GET', `credentials/${id}`), 404, 'credential_not_found')
  assertProblem(await admin('DELETE', 'providers/acme'), 404, 'provider_not_found')
})

test('another region of a built-in provider behaves like that provider', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const admin = (await manager(served)).api
  const made = (
    await admin('POST', 'providers', {
      id: 'anthropic-2',
      origin: 'https://api.anthropic.com',
      dial: served.fake.origin,
    })
  ).json<Provider & { base: string }>()
  assert.equal(made.base, 'https://api.anthropic.com/v1')
  const { id } = (
    await admin('POST', 'credentials', { provider: 'anthropic-2', secret: 'second' })
  ).json<Credential>()
  assert.equal((await admin('POST', `credentials/${id}/test`)).json<Outcome>().ok, true)
  const { target, rawHeaders } = served.fake.requests.at(-1)!
  assert.deepEqual([target, headerOf(rawHeaders, 'x-api-key')], ['/v1/models?limit=1', 'second'])

  // Its host is written out, so a credential need not bring a part of it.
  const eu = await admin('POST', 'providers', {
    id: 'bedrock-eu',
    origin: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
    dial: served.fake.origin,
  })
  assert.equal(
    eu.json<{ base: string }>().base,
    'https://bedrock-runtime.eu-central-1.amazonaws.com',
  )
  const stored = await admin('POST', 'credentials', { provider: 'bedrock-eu', secret: 'third' })
  assert.equal(stored.status, 201, stored.text)
  assert.equal(
    (await admin('POST', `credentials/${stored.json<Credential>().id}/test`)).json<Outcome>().ok,
    true,
  )
})

test('an added provider is known to every other process and after a restart', async (t: TestContext) => {
  const data = usedFolder(t)
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'), {}, data)
  const other = await startServed(t, respond(200, {}), {}, data)
  const admin = (await manager(served)).api
  await admin('POST', 'providers', {
    id: 'acme',
    origin: 'https://llm.example.com',
    dial: served.fake.origin,
  })
  await admin('POST', 'credentials', { provider: 'acme', secret: 'own-secret' })
  const key = await other.key()
  const get = async (at: Served) =>
    (await at.send(key.secret, 'https://llm.example.com/v1/models', { method: 'GET' })).status
  await until(async () => (await get(other)) === 200)
  await admin('DELETE', 'providers/acme')
  await until(async () => (await get(other)) === 403)
})

test('concurrent changes to different fields of a provider are all kept', async (t) => {
  const { running } = await startServed(t, respond(200, {}))
  const admin = (await manager({ running })).api
  await admin('POST', 'providers', {
    id: 'acme',
    origin: 'https://llm.example.com',
    dial: 'http://10.0.0.1',
  })
  const changes = [
    { origin: 'https://ai.example.com' },
    { dial: 'http://10.0.0.2' },
    { auth: { header: 'X-Key', scheme: 'Key' } },
  ]
  for (const { status } of await Promise.all(
    changes.map((change) => admin('PATCH', 'providers/acme', change)),
  ))
    assert.equal(status, 200)
  const { hosts, dial, auth } = (await admin('PATCH', 'providers/acme', {})).json<
    Provider & { auth: object }
  >()
  assert.deepEqual(
    { hosts, dial, auth },
    {
      hosts: ['ai.example.com'],
      dial: 'http://10.0.0.2',
      auth: { header: 'X-Key', scheme: 'Key' },
    },
  )
})

test('no credential is stored for a provider that another process has just deleted', async (t) => {
  const { running } = await startServed(t, respond(200, {}))
  const admin = (await manager({ running })).api
  await admin('POST', 'providers', { id: 'acme', origin: 'https://llm.example.com' })
  await deleteProvider(running.store, 'acme')
  assertProblem(
    await admin('POST', 'credentials', { provider: 'acme', secret: 'own-secret' }),
    400,
    'invalid_field',
  )
  assert.deepEqual(
    await running.store.db.selectFrom('credentials').select('provider').execute(),
    [],
  )
})

/** TABLE of providers that cannot be: body, and what is said. */
const BAD: [body: object, says: RegExp][] = [
  [{ id: 'openai', origin: 'https://llm.example.com' }, /already/],
  [
    { id: 'acme', origin: 'http://llm.example.com' },
    /^origin: Must be the address that callers use/,
  ],
  [
    { id: 'acme', origin: 'https://llm.example.com/v1' },
    /^origin: Must be the address that callers use/,
  ],
  [
    { id: 'acme', origin: 'https://*.example.com' },
    /^origin: Must be the address that callers use/,
  ],
  [
    { id: 'acme', origin: 'https://user@llm.example.com' },
    /^origin: Must be the address that callers use/,
  ],
  [{ id: 'acme', origin: 'llm' }, /^origin: Must be the address that callers use/],
  [{ id: 'acme', origin: 'https://llm.example.com', dial: 'ftp://x' }, /^dial: Must be an address/],
  [
    { id: 'acme', origin: 'https://llm.example.com', dial: 'http://u:p@10.0.0.1' },
    /^dial: Must be an address/,
  ],
  [
    { id: 'acme', origin: 'https://llm.example.com', auth: { header: 'a b' } },
    /^auth.header: Must be the name of a header/,
  ],
  [
    { id: 'acme', origin: 'https://llm.example.com', auth: { header: 'A', scheme: 'x\r\ny' } },
    /^auth.scheme: Must be one word/,
  ],
  ...['Host', 'content-length', 'Transfer-Encoding', 'Connection'].map(
    (header): (typeof BAD)[number] => [
      { id: 'acme', origin: 'https://llm.example.com', auth: { header } },
      /^auth.header: Cannot be .*how the request is sent/,
    ],
  ),
  [{ id: 'A c', origin: 'https://llm.example.com' }, /^id: Must be 1 to 64 lower-case/],
  [{ id: 'taken', origin: 'https://other.example.com' }, /already/],
  [
    { id: 'second', origin: 'https://taken.example.com' },
    /^origin: Names the host taken.example.com, and so does "taken"/,
  ],
]

test('an invalid provider is refused with a sentence and not stored', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const admin = (await manager(served)).api
  assert.equal(
    (await admin('POST', 'providers', { id: 'taken', origin: 'https://taken.example.com' })).status,
    201,
  )
  for (const [body, says] of BAD) {
    const refused = await admin('POST', 'providers', body)
    assertProblem(refused, 400, 'invalid_field')
    assert.match(String(refused.json()['detail']), says)
  }
  for (const id of ['openai', 'nobody']) {
    assertProblem(
      await admin('PATCH', `providers/${id}`, { dial: null }),
      404,
      'provider_not_found',
    )
    assertProblem(await admin('DELETE', `providers/${id}`), 404, 'provider_not_found')
  }
  assertProblem(
    await admin('PATCH', 'providers/taken', { origin: 'https://taken.example.com/v1' }),
    400,
    'invalid_field',
  )
  assert.deepEqual(
    (await served.running.store.db.selectFrom('providers').select(['id', 'origin']).execute()).map(
      (row) => ({ ...row }),
    ),
    [{ id: 'taken', origin: 'https://taken.example.com' }],
  )
})

test('a stored provider that conflicts with the settings is left out, and the others work', async (t) => {
  const data = usedFolder(t)
  {
    const first = await startServed(t, respond(200, {}), {}, data)
    await first.running.store.db
      .insertInto('providers')
      .values({
        id: 'clash',
        origin: 'https://llm.example.com',
        dial: null,
        auth_header: null,
        auth_scheme: null,
        created_at: 1,
      })
      .execute()
    await first.running[Symbol.asyncDispose]()
  }
  const file = join(data, 'providers.json')
  writeFileSync(file, JSON.stringify([{ id: 'filed', origin: 'https://llm.example.com' }]))
  const served = await startServed(
    t,
    respond(200, JSON_TYPE, '{}'),
    { TOLLMARK_PROVIDERS: file },
    data,
  )
  const admin = (await manager(served)).api
  const ids = (await admin('GET', 'providers'))
    .json<{ data: Provider[] }>()
    .data.map(({ id }) => id)
  assert.deepEqual(ids, [...PROVIDERS.map(({ id }) => id), 'filed'])
  assertProblem(await admin('DELETE', 'providers/filed'), 404, 'provider_not_found')
  const key = await served.key()
  assert.equal(
    (await served.send(key.secret, 'https://api.openai.com/v1/models', { method: 'GET' })).status,
    200,
  )
})

test('a credential is tested when it is stored, and the result is kept', async (t) => {
  const served = await startServed(t, respond(401, JSON_TYPE, '{}'))
  const { api } = await manager(served)
  type Tested = Credential & { last_test: Omit<Outcome, 'object'> | null }
  const stored = (
    await api('POST', 'credentials?test=true', {
      provider: 'anthropic',
      name: 'wrong',
      secret: 'sk-wrong',
    })
  ).json<Tested>()
  assert.deepEqual([stored.last_test?.ok, stored.last_test?.status], [false, 401])
  const untried = (
    await api('POST', 'credentials', {
      provider: 'anthropic',
      name: 'untried',
      secret: 'sk-untried',
    })
  ).json<Tested>()
  assert.equal(untried.last_test, null)
  served.fake.play(respond(200, JSON_TYPE, '{"data":[]}'))
  await api('POST', 'credentials/env_openai/test')
  const { data, total } = (await api('GET', 'credentials')).json<{
    data: Tested[]
    total: number
  }>()
  assert.equal(total, data.length)
  const test = (id: string) => data.find((one) => one.id === id)?.last_test?.ok
  assert.deepEqual(
    [test(stored.id), test('env_openai'), test('env_anthropic')],
    [false, true, undefined],
  )
  assert.equal((await api('DELETE', `credentials/${stored.id}`)).status, 204)
  const kept = async () =>
    (
      await served.running.store.db.selectFrom('credential_tests').select('credential_id').execute()
    ).map(({ credential_id }) => credential_id)
  assert.deepEqual(await kept(), ['env_openai'])

  const wanted = {
    id: 'local',
    origin: 'https://llm.example.com',
    dial: served.fake.origin,
    credential: { secret: 'sk-local' },
  }
  const provider = await api('POST', 'providers?test=true', wanted)
  assert.equal(provider.status, 201, provider.text)
  const { ready, credentials } = provider.json<
    Omit<Provider, 'credentials'> & { credentials: Tested[] }
  >()
  assert.deepEqual([ready, credentials.map(({ last_test }) => last_test?.ok)], [true, [true]])
  assert.doesNotMatch(provider.text, /sk-local/)
  assert.equal((await api('DELETE', 'providers/local')).status, 204)
  assert.deepEqual(await kept(), ['env_openai'])
  assertProblem(
    await api('POST', 'providers', { ...wanted, credential: { secret: 'with spaces' } }),
    400,
    'invalid_field',
  )
  assertProblem(await api('GET', 'providers/local'), 405, 'method_not_allowed')
})

test('an added provider may have endpoints of its own, and closed paths', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{"id":"job-1"}'))
  const admin = (await manager(served)).api
  const endpoints = [
    { on: 'POST /v1/speak', model: { body: ['voice_model'] } },
    { on: 'POST /v1/jobs', name: 'acme/jobs', creates: { id: 'job' } },
    { on: 'GET DELETE /v1/jobs/{job}' },
  ]
  const wanted = {
    id: 'acme',
    origin: 'https://voice.example.com',
    dial: served.fake.origin,
    endpoints,
    minting: ['/v1/passes'],
    credential: { secret: 'own-secret' },
  }
  const refused = await admin('POST', 'providers', { ...wanted, endpoints: [{ on: 'speak' }] })
  assert.match(refused.text, /"param":"endpoints\.0\.on"/)
  const made = (await admin('POST', 'providers', wanted)).json()
  assert.deepEqual(
    [made['endpoints'], made['minting'], made['admin']],
    [endpoints, ['/v1/passes'], []],
  )
  const [scoped, other] = [
    await served.key({ models: ['voice-a', 'acme/jobs'] }),
    await served.key(),
  ]
  const ask = async ({ secret }: { secret: string }, on: string, body?: object) => {
    const [method = '', path = ''] = on.split(' ')
    const sent = body && { headers: JSON_TYPE, body: JSON.stringify(body) }
    return (await served.send(secret, `${wanted.origin}${path}`, { method, ...sent })).status
  }
  assert.deepEqual(
    [
      await ask(scoped, 'POST /v1/speak', { voice_model: 'voice-a' }),
      await ask(scoped, 'POST /v1/speak', { voice_model: 'voice-b' }),
      await ask(scoped, 'POST /v1/jobs', {}),
      await ask(scoped, 'GET /v1/jobs/job-1'),
      await ask(other, 'GET /v1/jobs/job-1'),
      await ask(other, 'POST /v1/passes/new', {}),
    ],
    [200, 403, 200, 200, 403, 403],
  )
  await admin('PATCH', 'providers/acme', { admin: ['/v1/speak'] })
  assert.equal(await ask(other, 'POST /v1/speak', { voice_model: 'voice-a' }), 403)
  assert.equal(await ask(scoped, 'GET /v1/jobs/job-1'), 200, 'what is not named stays')
})

test("an added provider with a built-in one's API is held to that API", async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const admin = (await manager(served)).api
  const acme = { id: 'acme', origin: 'https://llm.example.com', dial: served.fake.origin }
  const unknown = await admin('POST', 'providers', { ...acme, speaks: 'nobody' })
  assert.equal(unknown.status, 400)
  assert.match(unknown.text, /"param":"speaks"/)
  const made = await admin('POST', 'providers', {
    ...acme,
    speaks: 'anthropic',
    auth: { header: 'x-api-key', scheme: null },
    credential: { secret: 'own-secret' },
  })
  assert.equal(made.json<{ speaks: string }>().speaks, 'anthropic', made.text)
  const { secret } = await served.key({ models: ['claude-a'] })
  const ask = async (model: string): Promise<number> =>
    (
      await served.send(secret, 'https://llm.example.com/v1/messages', {
        headers: JSON_TYPE,
        body: JSON.stringify({ model, messages: [] }),
      })
    ).status
  assert.deepEqual([await ask('claude-a'), await ask('claude-b')], [200, 403])
  const changed = await admin('PATCH', 'providers/acme', { speaks: null })
  assert.equal(changed.json<{ speaks: null }>().speaks, null, changed.text)
  assert.equal(await ask('claude-a'), 403, "no endpoint of OpenAI's dialect")
})
