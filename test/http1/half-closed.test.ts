// A caller may close its sending side behind its request, and wait for the response (RFC 9112,
// section 9.6).
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { PAGE, file, form, type Form } from '../support/form.ts'
import { startServer, type TestServer } from '../support/harness.ts'

function requestOf(token: string, { contentType, body }: Form): Buffer {
  const head = [
    'POST /api/v1/convert HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${body.length}`,
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}

/** Everything that comes back for these bytes, behind which the caller sends no more. */
async function responseTo(server: TestServer, bytes: Buffer | string): Promise<string> {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
  socket.end(bytes)
  // A slow machine asks meanwhile whether somebody still listens.
  return String(Buffer.concat((await socket.toArray()) as Buffer[])).replace(
    /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)+/,
    '',
  )
}

test('a half-closed caller gets its response, then the end of the connection', async (t) => {
  const server = await startServer(t)
  const token = await server.token()
  assert.match(
    await responseTo(server, requestOf(token, form(file('Page.html', PAGE)))),
    /^HTTP\/1\.1 200 [^]*\nBe kind\.\n$/,
  )
  assert.match(
    await responseTo(server, 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    /^HTTP\/1\.1 200 /,
  )
  assert.match(
    await responseTo(server, 'GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    /^HTTP\/1\.1 404 /,
  )
})

test('a stalled upload gets 408, wherever it stops', async (t) => {
  const server = await startServer(t, { TOLLMARK_TRANSFER_IDLE: '200ms' })
  const whole = requestOf(await server.token(), form(file('Page.html', PAGE)))
  const head = whole.indexOf('\r\n\r\n') + 4
  for (const end of [head, head + 1, head + 150, whole.length - 1]) {
    const socket = connect({ port: server.port, host: '127.0.0.1' })
    socket.write(whole.subarray(0, end))
    const [response] = (await once(socket, 'data')) as [Buffer]
    assert.match(
      String(response),
      /^HTTP\/1\.1 408 [^]*"code":"request_timeout"/,
      `${end - head} bytes of the body`,
    )
    socket.destroy()
  }
})
