import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { file, form, pageOf } from '../support/form.ts'
import { startServer } from '../support/harness.ts'
import { until } from '../support/until.ts'

/** More than the system's buffers take on their own. */
const LARGE = form(file('Page.html', pageOf(10_000_000)))

/**
 * Longer than this program stands still on a busy machine while it sends: it would be told that its
 * upload stopped.
 */
const IDLE = '2s'

/** Uploads the page on a bare socket, which does not read by itself. */
function upload(t: TestContext, port: number, token: string): Socket {
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  socket.write(
    `POST /api/v1/convert HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: ${LARGE.contentType}\r\nContent-Length: ${LARGE.body.length}\r\n\r\n`,
  )
  socket.write(LARGE.body)
  return socket
}

test('a caller that stops reading its document is disconnected', async (t) => {
  const server = await startServer(t, { TOLLMARK_TRANSFER_IDLE: IDLE })
  const socket = upload(t, server.port, await server.token())
  await once(socket, 'readable')
  await until(() => server.lines.some((line) => /"status":200.*"aborted":true/.test(line)))
})

test('a caller that reads slowly gets all of its document', async (t) => {
  const server = await startServer(t, { TOLLMARK_TRANSFER_IDLE: IDLE })
  let received = 0
  let pieces = 0
  for await (const piece of upload(t, server.port, await server.token())) {
    received += (piece as Buffer).length
    if (pieces++ % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 40))
  }
  assert.ok(received > 9_900_000, `${received} bytes arrived`)
  await until(() => server.lines.some((line) => /"status":200/.test(line)))
  assert.ok(server.lines.every((line) => !line.includes('"aborted"')))
})
