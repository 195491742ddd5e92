// A response of a provider is never a document, script, style or frame of our origin: what a
// browser asks for as one is refused at its head.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { OPENAI, shareServed } from '../support/served.ts'

/**
 * TABLE of Fetch Metadata headers (https://www.w3.org/TR/fetch-metadata/), and whether the request
 * passes.
 */
const CASES: [headers: Record<string, string>, passes: boolean][] = [
  [{}, true],
  [{ 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty', 'Sec-Fetch-Site': 'cross-site' }, true],
  // As Node's own fetch sends it.
  [{ 'sec-fetch-mode': 'cors' }, true],
  [{ 'Sec-Fetch-Mode': 'same-origin', 'Sec-Fetch-Dest': 'empty' }, true],
  ...['audio', 'video', 'image'].map((dest): [Record<string, string>, boolean] => [
    { 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': dest },
    true,
  ]),
  [{ 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' }, false],
  [{ 'Sec-Fetch-Mode': 'navigate' }, false],
  [{ 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'empty' }, false],
  [{ 'Sec-Fetch-Mode': 'websocket' }, true],
  ...[
    'document',
    'iframe',
    'frame',
    'embed',
    'object',
    'script',
    'style',
    'worker',
    'serviceworker',
    'sharedworker',
    'font',
    'manifest',
    'xslt',
    'report',
    'of-tomorrow',
    '',
  ].map((dest): [Record<string, string>, boolean] => [
    { 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': dest },
    false,
  ]),
]

test('a request for a document or script is refused before anything else', async () => {
  const { fake, key, send } = await shareServed(
    respond(200, { 'Content-Type': 'text/html' }, '<p>'),
  )
  const { secret } = await key()
  for (const [headers, passes] of CASES) {
    const before = fake.requests.length
    const got = await send(secret, `${OPENAI}/v1/models`, { method: 'GET', headers })
    const expected = passes ? [200, null, 1] : [403, 'origin_not_allowed', 0]
    assert.deepEqual(
      [got.status, headerOf(got.rawHeaders, 'x-proxy-error'), fake.requests.length - before],
      expected,
      JSON.stringify(headers),
    )
  }
  const nobody = await send('tmk_wrong', `${OPENAI}/v1/models`, {
    method: 'GET',
    headers: { 'Sec-Fetch-Mode': 'navigate' },
  })
  assert.equal(nobody.status, 403)
})
