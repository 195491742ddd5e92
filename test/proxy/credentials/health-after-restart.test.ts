// A provider that failed before a restart is not healthy after it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { respond } from '../../support/providers/fake.ts'
import { manager } from '../../support/manager.ts'
import { usedFolder } from '../../support/templates.ts'
import { until } from '../../support/until.ts'
import { startServed, type Served } from '../support/served.ts'

const CHAT = 'https://api.openai.com/v1/chat/completions'
const BODY = JSON.stringify({ model: 'gpt-5', messages: [] })
const JSON_TYPE = { 'content-type': 'application/json' }

interface Provider {
  id: string
  health: string
  last_error: { status: number | null; code: string | null } | null
}

async function healthOf(served: Served): Promise<unknown[]> {
  const { api } = await manager(served)
  const { data } = (await api('GET', 'providers')).json<{ data: Provider[] }>()
  const openai = data.find(({ id }) => id === 'openai')
  return [openai?.health, openai?.last_error?.status, openai?.last_error?.code]
}

/** TABLE of responses in turn, and how the provider does after a restart. */
const CASES: readonly (readonly [responses: readonly number[], health: readonly unknown[]])[] = [
  [[401], ['failing', 401, null]],
  [[500], ['degraded', 500, null]],
  [
    [500, 404],
    ['degraded', 500, null],
  ],
  [
    [401, 200],
    ['healthy', undefined, undefined],
  ],
]

for (const [responses, health] of CASES)
  test(`after ${responses.join(', then ')} and a restart a provider is ${String(health[0])}`, async (t) => {
    const data = usedFolder(t)
    const before = await startServed(t, respond(200, {}), {}, data)
    const key = await before.key()
    const { api } = await manager(before)
    for (const [at, status] of responses.entries()) {
      before.fake.play(respond(status, JSON_TYPE, '{}'))
      const sent = await before.send(key.secret, CHAT, {
        method: 'POST',
        headers: JSON_TYPE,
        body: BODY,
      })
      assert.equal(sent.status, status)
      await until(
        async () =>
          (await api('GET', 'requests'))
            .json<{ data: { outcome: string }[] }>()
            .data.filter(({ outcome }) => outcome !== 'in_progress').length > at,
      )
    }
    await before.running[Symbol.asyncDispose]()
    const after = await startServed(t, respond(200, {}), {}, data)
    assert.deepEqual(await healthOf(after), health)
  })
