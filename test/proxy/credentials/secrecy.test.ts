// Whatever goes wrong, no secret of a caller or of ours stands in the log or in a response of the
// proxy.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLog } from '../../../server/common/log.ts'
import { respond, type Script } from '../../support/providers/fake.ts'
import { until } from '../../support/until.ts'
import { GOOGLE, OPENAI, SECRETS, startServed } from '../support/served.ts'

const THEIRS = 'AIzaSyTheCallersOwnGoogleKey0123456789'

test("no log line or response contains a key, valid or not, or a credential of the caller's", async (t) => {
  const lines: string[] = []
  const log = openLog('debug', { write: (line) => void lines.push(line) })
  const served = await startServed(
    t,
    respond(200, {}, '{}'),
    { TOLLMARK_FIRST_BYTE_TIMEOUT: '200ms' },
    undefined,
    log,
  )
  const [valid, expired, scoped] = [
    await served.key(),
    await served.key({ expires_at: 1 }),
    await served.key({ models: ['gpt-*'] }),
  ]
  const typo = `${valid.secret.slice(0, -1)}${valid.secret.endsWith('0') ? '1' : '0'}`
  const gemini = `${GOOGLE}/v1beta/models/gemini-x:generateContent`
  const cases: [secret: string, address: string, script?: Script][] = [
    [valid.secret, `${gemini}?key=${THEIRS}`],
    [valid.secret, `${gemini}?alt=sse&%6bey=${THEIRS}&access_token=${THEIRS}`],
    [valid.secret, `${gemini}?key=${THEIRS}`, (call) => call.reset()],
    [valid.secret, `${gemini}?key=${THEIRS}`, (call) => call.gone()],
    [valid.secret, `${gemini}?key=${THEIRS}`, (call) => call.write('this is no HTTP\r\n\r\n')],
    [expired.secret, `${gemini}?key=${THEIRS}`],
    [typo, `${gemini}?key=${THEIRS}`],
    [scoped.secret, `${OPENAI}/v1/chat/completions?api-key=${THEIRS}`],
    [valid.secret, `https://${THEIRS}.example.com/?key=${THEIRS}`.replace(`${THEIRS}.`, 'x.')],
    [valid.secret, `https://user:${THEIRS}@api.openai.com/v1/models`],
  ]
  for (const [secret, address, script] of cases) {
    served.fake.play(script ?? respond(200, {}, '{}'))
    const got = await served.send(secret, address, {
      body: '{"model":"o3"}',
      headers: { 'X-Api-Key': THEIRS, Cookie: `session=${THEIRS}` },
    })
    const said = `${got.rawHeaders.join('\n')}\n${got.body.toString()}`
    for (const hidden of [secret, secret.split('_')[2]!, THEIRS, ...Object.values(SECRETS)])
      assert.ok(!said.includes(hidden), `${address}: ${said}`)
  }
  await until(() => lines.filter((line) => line.includes('/proxy')).length >= cases.length)
  const written = lines.join('')
  for (const { secret } of [valid, expired, scoped])
    assert.ok(!written.includes(secret.split('_')[2]!), 'a key is in the log')
  for (const hidden of [THEIRS, typo, ...Object.values(SECRETS)])
    assert.ok(!written.includes(hidden), `${hidden} is in the log`)
  for (const { target, rawHeaders } of served.fake.requests)
    assert.ok(!`${target} ${rawHeaders.join(' ')}`.includes(THEIRS))
})
