// While one key, account or address does its worst, the requests of every other succeed. In
// full volume: `npm run bench -- fairness`.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ensureAccount } from '../../../server/accounts/accounts.ts'
import { createToken } from '../../../server/accounts/tokens.ts'
import { settings } from '../../../server/config/settings.ts'
import { newId } from '../../../server/common/ids.ts'
import { createKey, type KeyInput } from '../../../server/keys/keys.ts'
import { file, form, PAGE } from '../../support/form.ts'
import { call } from '../../support/harness.ts'
import { chunk, head, headerOf } from '../../support/providers/fake.ts'
import { serveSocket } from '../../support/providers/socket-provider.ts'
import { startServed, type Served } from '../support/served.ts'
import { ATTACKS, NOT_SHARED } from './attacks.ts'
import { SCENE_MODELS, type Attack, type Scene } from './attack.ts'
import { Hostile } from './hostile.ts'

/** Small, so that an attack uses all of it. */
const LIMITS = {
  TOLLMARK_MAX_OPEN: '40',
  TOLLMARK_MAX_BODY: '256KB',
  TOLLMARK_MAX_HELD: '1MB',
  TOLLMARK_MAX_CONNECTIONS_PER_ADDRESS: '150',
  TOLLMARK_UPLOADS: '8',
  TOLLMARK_CONVERSIONS: '1',
  TOLLMARK_CONVERSION_QUEUE: '8',
  TOLLMARK_PLANS: '{"team":{"conversions_per_day":null}}',
  TOLLMARK_BODY_GRACE: '30s',
}
const ADDRESS = 'https://api.openai.com/v1/chat/completions'
/** Requests of the others, one after another and two at a time. */
const CALLS = 4
const PATIENCE_MS = 15_000

interface Place extends Scene {
  served: Served
  /** Of somebody else: another account. */
  other: { key: string; token: string }
}

async function openPlace(t: TestContext): Promise<Place> {
  const served = await startServed(
    t,
    async (provider) => {
      const { target, rawHeaders } = provider.received
      const key = headerOf(rawHeaders, 'sec-websocket-key')
      if (key !== null) {
        serveSocket(provider.socket, target, key)
        return provider.gone()
      }
      const body = await provider.body()
      if (!body.includes('endless'))
        return provider.write(
          `${head(200, { 'Content-Type': 'application/json', 'Content-Length': '2' })}{}`,
        )
      provider.write(
        head(200, { 'Content-Type': 'text/event-stream', 'Transfer-Encoding': 'chunked' }),
      )
      for (let i = 0; i < 40; i++) provider.write(chunk(`data: ${'x'.repeat(8_000)}\n\n`))
      await provider.gone()
    },
    (origin) => ({ ...LIMITS, XAI_API_KEY: 'sk-xai-upstream', TOLLMARK_UPSTREAM_XAI: origin }),
  )
  const { store, keys } = served.running
  const now = Date.now()
  const account = async (name: string) => {
    const { token } = await createToken(
      store,
      { name, plan: 'team' },
      { name, scopes: ['convert', 'manage'], expiresAt: null },
      now,
    )
    const { id } = await store.run(ensureAccount, {
      name,
      plan: 'team',
      newId: newId('acc', now),
      now,
    })
    const key = async (wishes: Partial<KeyInput>) =>
      (
        await createKey(
          store,
          id,
          {
            name,
            models: [...SCENE_MODELS],
            rpm: null,
            allowed_origins: null,
            expires_at: null,
            ...wishes,
          },
          now,
        )
      ).secret
    return { token: token.secret, key: await key({}), usedUp: await key({ rpm: 1 }) }
  }
  const [attacker, other] = [await account('attacker'), await account('other')]
  await keys?.refresh()
  assert.equal(
    (
      await served.send(attacker.usedUp, ADDRESS, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{"model":"gpt-5"}',
      })
    ).status,
    200,
  )
  return { ...attacker, served, port: served.port, other, many: 24, body: 250 * 1024 }
}

/** What the others do, and what they get. */
const OTHERS: Record<Attack['others'], (place: Place) => Promise<number>> = {
  proxy: async ({ served, other }) =>
    (
      await served.send(other.key, ADDRESS, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{"model":"gpt-5","messages":[{"role":"user","content":"hello"}]}',
      })
    ).status,
  convert: async ({ served, other }) => {
    const { contentType, body } = form(file('page.html', PAGE))
    return (
      await call(served.running.url, '/api/v1/convert', {
        method: 'POST',
        token: other.token,
        headers: { 'content-type': contentType },
        body,
      })
    ).status
  },
}

test('no attack by one caller stops the requests of others', async (t) => {
  const place = await openPlace(t)
  for (const attack of ATTACKS.filter(({ large }) => large !== true))
    await t.test(attack.name, { timeout: PATIENCE_MS * 2 }, (t) => underAttack(t, place, attack))
})

async function underAttack(t: TestContext, place: Place, attack: Attack): Promise<void> {
  const hostile = new Hostile(place.port)
  t.after(() => hostile.close())
  const others = OTHERS[attack.others]
  assert.equal(await others(place), 200, 'before it')
  await attack.begin(place, hostile)
  for (let i = 0; i < CALLS; i += 2) {
    const statuses = await Promise.race([Promise.all([others(place), others(place)]), patience(t)])
    assert.deepEqual(
      statuses,
      [200, 200],
      `call ${i}; the attacker got ${JSON.stringify(hostile.responses)}`,
    )
  }
  const strange = Object.keys(hostile.responses).filter(
    (status) => !attack.responses.includes(Number(status)),
  )
  assert.deepEqual(strange, [], `the attacker got ${JSON.stringify(hostile.responses)}`)
}

function patience(t: TestContext): Promise<string> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS, 'no response')
    t.after(() => clearTimeout(timer))
  })
}

test('every limit has an attack, or a reason that no caller can use it up', () => {
  const areas = new Map(settings())
  const limits = ['server', 'conversion', 'proxy']
    .flatMap((area) => areas.get(area)!)
    .map(({ name }) => name)
  const bounding = limits.filter(
    (name) =>
      /_(?:MAX_\w+|UPLOADS|CONVERSIONS|QUEUE|TIMEOUT|IDLE|DEADLINE|HEAP|GRACE)$/.test(name) &&
      name !== 'TOLLMARK_STORE_GRACE',
  )
  const held = new Set([...ATTACKS.flatMap(({ against }) => against), ...Object.keys(NOT_SHARED)])
  assert.deepEqual(
    bounding.filter((name) => !held.has(name)),
    [],
  )
  assert.deepEqual(
    [...held].filter((name) => !limits.includes(name)),
    [],
    'a setting that is none',
  )
})
