// A request that names no model gets the provider's default one: every model is allowed to `*`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { respond } from '../../support/providers/fake.ts'
import { startScoped, type Id } from '../support/scoped.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM = { 'Content-Type': 'multipart/form-data; boundary=B' }
const SOUND =
  '--B\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nx\r\n--B--\r\n'

/** TABLE of requests without a model. */
const CASES: [id: Id, path: string, headers: Record<string, string>, body: string][] = [
  ['openai', '/v1/images/generations', JSON_TYPE, '{"prompt":"x"}'],
  ['openai', '/v1/moderations', JSON_TYPE, '{"input":"x"}'],
  ['openai', '/v1/audio/speech', JSON_TYPE, '{"input":"x","voice":"alloy"}'],
  ['openai', '/v1/audio/transcriptions', FORM, SOUND],
  ['xai', '/v1/stt', FORM, SOUND],
]

test('a request without a model passes only for the scope `*`', async (t) => {
  const { served, ask } = await startScoped(t)
  served.fake.play(respond(200, JSON_TYPE, '{}'))
  for (const [id, path, headers, body] of CASES)
    for (const [models, status] of [
      [['*'], 200],
      [['gpt-5'], 403],
      [['gpt-*'], 403],
    ] as const) {
      const got = await ask(id, path, [...models], { headers, body })
      assert.equal(got.status, status, `${id} ${path} ${models.join()} ${got.body}`)
    }
})
