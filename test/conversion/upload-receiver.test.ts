// Uploads that are received in the thread of their own, over real sockets.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openUploadReceiver } from '../../server/conversion/upload/upload-receiver.ts'
import { createThrottle } from '../../server/conversion/upload/throttle.ts'
import type { Upload } from '../../server/conversion/upload/receive-upload.ts'
import { file, form } from '../support/form.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const LIMITS = { maxHtml: 8_000_000, maxZip: 50_000_000, transferIdle: 60_000, uploadGrace: 60_000 }
const page = (bytes: number): Buffer =>
  Buffer.from(`<!DOCTYPE html><html><body>${randomBytes(bytes / 2).toString('hex')}</body></html>`)

/**
 * A receiver behind a server; `send` writes the head of a request and gives its socket, `arrived`
 * the requests in their order.
 */
async function open(t: TestContext, limits: Partial<typeof LIMITS> = {}) {
  const receiver = openUploadReceiver(createThrottle(() => true))
  const arrived: IncomingMessage[] = []
  const server = createServer((incoming) => void arrived.push(incoming)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const folder = temporaryFolder(t)
  t.after(async () => {
    await receiver[Symbol.asyncDispose]()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const send = async (contentType: string, length: number): Promise<Socket> => {
    const before = arrived.length
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on(
      'error',
      () => {},
    )
    socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${contentType}\r\nContent-Length: ${length}\r\n\r\n`,
    )
    while (arrived.length === before) await once(server, 'request')
    return socket
  }
  const receive = (
    nth: number,
    { path = join(folder, String(nth)), signal = new AbortController().signal } = {},
  ): Promise<Upload> => receiver.receive(arrived[nth]!, path, { ...LIMITS, ...limits }, signal)
  return { receiver, arrived, folder, send, receive }
}

test('concurrent uploads arrive complete, each in its own file', async (t) => {
  const { folder, send, receive } = await open(t)
  const pages = [200, 65_536, 3_000_000, 5_000_000].map(page)
  for (const [i, data] of pages.entries()) {
    const { contentType, body } = form(file(`Page ${i}.html`, data))
    const socket = await send(contentType, body.length)
    socket.write(body)
  }
  const received = await Promise.all(pages.map((_, i) => receive(i)))
  for (const [i, { fileName, size, sha256, kind }] of received.entries()) {
    const data = pages[i]!
    assert.deepEqual(
      [fileName, kind, size, sha256],
      [`Page ${i}.html`, 'html', data.length, createHash('sha256').update(data).digest('hex')],
    )
    assert.ok(readFileSync(join(folder, String(i))).equals(data))
  }
})

test('a caller that disconnects before its first byte is read is not waited for', async (t) => {
  const { arrived, send, receive } = await open(t)
  const socket = await send('multipart/form-data; boundary=x', 100)
  socket.destroy()
  await until(() => arrived[0]!.destroyed)
  await assert.rejects(receive(0), {
    code: 'invalid_file',
    message: 'The connection was closed before the upload was complete.',
  })
})

test('a caller that disconnects mid-upload is an error', async (t) => {
  const { folder, send, receive } = await open(t)
  const { contentType, body } = form(file('Page.html', page(2_000_000)))
  const socket = await send(contentType, body.length)
  const receiving = receive(0)
  socket.write(body.subarray(0, 1_000_000), () => setTimeout(() => socket.destroy(), 50))
  await assert.rejects(receiving, {
    code: 'invalid_file',
    message: 'The connection was closed before the upload was complete.',
  })
  assert.ok(
    existsSync(join(folder, '0')),
    'what came lies where the caller of the receiver cleans up',
  )
})

test('a stalled upload times out, and a slow one does not', async (t) => {
  const { send, receive } = await open(t, { transferIdle: 2_000 })
  const data = page(400)
  const { contentType, body } = form(file('Page.html', data))
  const stopped = await send(contentType, body.length)
  const first = receive(0)
  stopped.write(body.subarray(0, 200))
  await assert.rejects(first, {
    code: 'request_timeout',
    message: 'The upload stopped arriving. Send it again.',
  })
  const slow = await send(contentType, body.length)
  const second = receive(1)
  for (let at = 0; at < body.length; at += 75) {
    slow.write(body.subarray(at, at + 75))
    await sleep(300)
  }
  assert.equal((await second).size, data.length)
})

test('an upload below the minimum rate times out after its grace, but not if we are the ones who delay it', async (t) => {
  const { send, receive } = await open(t, { uploadGrace: 300 })
  const data = page(4_000_000)
  const { contentType, body } = form(file('Page.html', data))
  const trickling = await send(contentType, body.length)
  const first = receive(0)
  const timer = setInterval(() => trickling.write(body.subarray(0, 1)), 20)
  t.after(() => clearInterval(timer))
  await assert.rejects(first, { code: 'request_timeout', message: /less than 16 KB a second/ })
  // Its pieces wait for their turns for longer than the grace, with the caller's bytes in our
  // hands.
  const quick = await send(contentType, body.length)
  const second = receive(1)
  quick.write(body)
  assert.equal((await second).size, data.length)
})

test('an evicted upload ends with the reason and leaves nothing open', async (t) => {
  const { send, receive } = await open(t)
  const { contentType, body } = form(file('Page.html', page(4_000)))
  const socket = await send(contentType, body.length)
  const controller = new AbortController()
  const receiving = receive(0, { signal: controller.signal })
  socket.write(body.subarray(0, 3_000))
  controller.abort(new Error('to make room'))
  await assert.rejects(receiving, /to make room/)
})

test("a failed file write is a server error with the system's code", async (t) => {
  const { folder, send, receive } = await open(t)
  const { contentType, body } = form(file('Page.html', page(400)))
  const socket = await send(contentType, body.length)
  socket.write(body)
  await assert.rejects(
    receive(0, { path: join(folder, 'not there', 'file') }),
    (error: Error & { code?: string }) => error.name === 'Error' && error.code === 'ENOENT',
  )
})

test('uploads in progress when the receiver ends are refused', async (t) => {
  const { receiver, send, receive } = await open(t)
  const { contentType, body } = form(file('Page.html', page(2_000_000)))
  const socket = await send(contentType, body.length)
  const receiving = receive(0)
  socket.write(body.subarray(0, 100_000))
  await Promise.all([
    assert.rejects(receiving, /upload thread has ended/),
    sleep(100).then(() => receiver[Symbol.asyncDispose]()),
  ])
})
