// What one key gets takes no credential from another key.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { respond, headerOf, type Script } from '../../support/providers/fake.ts'
import { manager } from '../../support/manager.ts'
import { until } from '../../support/until.ts'
import { OPENAI, SECRETS, startServed } from '../support/served.ts'

const CHAT = `${OPENAI}/v1/chat/completions`
const JSON_TYPE = { 'Content-Type': 'application/json' }
const OK = respond(200, JSON_TYPE, '{}')
const SPARE = 'sk-spare-upstream'

/**
 * A server with two credentials of OpenAI, and a way to ask for a model with a key, which says
 * whose credential went up and what came back.
 */
async function startShared(
  t: TestContext,
  bad: (model: string, secret: string) => Script | null,
  probe: Script,
) {
  const served = await startServed(t, async (call) => {
    const secret = headerOf(call.received.rawHeaders, 'authorization')!.slice('Bearer '.length)
    if (call.received.method === 'GET') return probe(call)
    const { model } = JSON.parse((await call.body()).toString()) as { model: string }
    return (bad(model, secret) ?? OK)(call)
  })
  const admin = (await manager(served)).api
  const spare = (
    await admin('POST', 'credentials', { provider: 'openai', name: 'spare', secret: SPARE })
  ).json<{ id: string }>().id
  const tryOut = () => admin('POST', `credentials/${spare}/test`)
  const [one, two] = [await served.key({ models: ['*'] }), await served.key({ models: ['*'] })]
  const probes = () => served.fake.requests.filter(({ method }) => method === 'GET').length
  const ask = async (key: typeof one, model: string, context: string) => {
    const got = await served.send(key.secret, CHAT, {
      body: JSON.stringify({ model }),
      headers: { ...JSON_TYPE, 'X-Proxy-Context-Key': context },
    })
    const asked = served.fake.requests.findLast(({ method }) => method === 'POST')!
    return {
      status: got.status,
      secret: headerOf(asked.rawHeaders, 'authorization')!.slice('Bearer '.length),
    }
  }
  /** The contexts of a key that go to each of the two. */
  const spread = async (key: typeof one, model: string) => {
    const used = new Set<string>()
    for (let i = 0; i < 30 && used.size < 2; i++)
      used.add((await ask(key, model, `conversation ${i}`)).secret)
    return [...used].sort()
  }
  const resting = async () =>
    (await admin('GET', 'credentials'))
      .json<{ data: { provider: string; resting_ms: number }[] }>()
      .data.filter(({ provider }) => provider === 'openai')
      .map(({ resting_ms }) => resting_ms > 0)
  return { served, one, two, ask, spread, probes, resting, tryOut }
}

const BOTH = [SECRETS.OPENAI_API_KEY, SPARE].sort()

test('a model that always responds with 401 or 429 does not affect others', async (t) => {
  for (const status of [401, 403, 429, 503]) {
    const { one, two, ask, spread, probes, resting } = await startShared(
      t,
      (model) =>
        model === 'bad' ? respond(status, { ...JSON_TYPE, 'Retry-After': '3600' }, '{}') : null,
      OK,
    )
    for (let i = 0; i < 4; i++)
      assert.equal((await ask(one, 'bad', `conversation ${i}`)).status, status)
    assert.deepEqual(
      [await spread(two, 'good'), await spread(one, 'good')],
      [BOTH, BOTH],
      String(status),
    )
    assert.ok(probes() <= (status === 401 ? 2 : 0), `${probes()} probes`)
    assert.deepEqual(await resting(), [false, false])
  }
})

test('a rejected credential is not used until it works again', async (t) => {
  let refused = SPARE
  const { two, one, ask, spread, probes, resting, tryOut } = await startShared(
    t,
    (_, secret) => (secret === refused ? respond(401, JSON_TYPE, '{}') : null),
    (call) =>
      respond(
        headerOf(call.received.rawHeaders, 'authorization') === `Bearer ${refused}` ? 401 : 200,
        JSON_TYPE,
        '{}',
      )(call),
  )
  for (let i = 0; (await ask(one, 'm', `conversation ${i}`)).status === 200; i++);
  await until(async () => (await resting())[1] === true)
  assert.deepEqual(
    [probes(), await resting(), await spread(two, 'm')],
    [1, [false, true], [SECRETS.OPENAI_API_KEY]],
  )
  refused = ''
  await tryOut()
  assert.deepEqual([await resting(), await spread(two, 'm')], [[false, false], BOTH])
})

test('after a 429, requests for that model use the other credential', async (t) => {
  const { one, two, ask, spread, resting } = await startShared(
    t,
    (model, secret) =>
      model === 'busy' && secret === SPARE ? respond(429, JSON_TYPE, '{}') : null,
    OK,
  )
  for (let i = 0; (await ask(one, 'busy', `conversation ${i}`)).status === 200; i++);
  assert.deepEqual(
    [await spread(two, 'busy'), await spread(two, 'other'), await resting()],
    [[SECRETS.OPENAI_API_KEY], BOTH, [false, true]],
  )
})

test('a test call without a response ends with the server, and one runs at a time', async (t) => {
  const shared = await startShared(
    t,
    () => respond(401, JSON_TYPE, '{}'),
    (call) => call.gone(),
  )
  for (let i = 0; i < 5; i++) await shared.ask(shared.one, 'm', 'the same conversation')
  await until(() => shared.probes() === 1)
  await shared.served.running[Symbol.asyncDispose]()
  const probe = shared.served.fake.requests.find(({ method }) => method === 'GET')!
  await until(() => probe.abandoned, 10_000)
})
