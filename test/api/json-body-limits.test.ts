// Nobody has to be known to send a JSON body: one that stands still is given up, and one that
// breaks off is no fault of the server's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../support/until.ts'
import { responseOf, assertProblem, start, startServer } from '../support/harness.ts'

const BODY = JSON.stringify({ email: 'me@example.com', password: 'x'.repeat(12) })
const HEADERS = { 'content-type': 'application/json', 'content-length': BODY.length }

test('a stalled body times out, and a slow one is read to its end', async (t) => {
  const { url } = await startServer(t, { TOLLMARK_TRANSFER_IDLE: '1500ms' })
  const silent = start(url, '/api/v1/session', { headers: HEADERS })
  silent.write(BODY.slice(0, 10))
  assertProblem(await responseOf(silent), 408, 'request_timeout')
  silent.destroy()
  const slow = start(url, '/api/v1/session', { headers: HEADERS })
  const responded = responseOf(slow)
  for (let at = 0; at < BODY.length; at += 5) {
    slow.write(BODY.slice(at, at + 5))
    await sleep(200)
  }
  slow.end()
  assertProblem(await responded, 401, 'invalid_credentials')
})

test('a caller that leaves mid-body is not a server error', async (t) => {
  const { url, lines } = await startServer(t)
  const leaving = start(url, '/api/v1/session', { headers: HEADERS })
  leaving.on('error', () => {})
  await new Promise((resolve) => leaving.write(BODY.slice(0, 10), resolve))
  leaving.destroy()
  await until(() => lines.some((line) => line.includes('"route":"/api/v1/session"')))
  assert.deepEqual(
    lines.filter((line) => line.includes('"level":"error"')),
    [],
  )
})
