// A provider that has made up its mind before it has read the request: its response arrives, even
// where the connection is reset right behind it.
import assert from 'node:assert/strict'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { setDefaultCACertificates } from 'node:tls'
import { certificateOf } from '../../support/providers/certificate.ts'
import {
  respond,
  chunk,
  head,
  headerOf,
  startFake,
  type Call,
} from '../../support/providers/fake.ts'
import { readResponse, type ReceivedResponse } from '../support/relayed.ts'
import { OPENAI, startServed } from '../support/served.ts'

const REASON =
  '{"error":{"message":"The file is larger than 512 MB.","type":"invalid_request_error"}}'
const JSON_TYPE = { 'Content-Type': 'application/json' }

/** TABLE of responses that come early, and what becomes of the connection. */
const EARLY: { name: string; plays: (call: Call) => void | Promise<void> }[] = [
  { name: 'reset at once', plays: (call) => void call.socket.write(counted(), () => call.reset()) },
  {
    name: 'reset when much of the body lies unread',
    plays: async (call) => {
      call.socket.pause()
      call.write(counted())
      await call.pause(50)
      call.reset()
    },
  },
  {
    name: 'closed at once, with the body unread',
    plays: (call) => void call.socket.pause().end(counted(), () => call.socket.destroy()),
  },
  {
    name: 'in pieces, then reset',
    plays: async (call) => {
      call.write(head(413, { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' }))
      await call.pause(20)
      call.socket.write(
        Buffer.concat([
          chunk(REASON.slice(0, 20)),
          chunk(REASON.slice(20)),
          Buffer.from('0\r\n\r\n'),
        ]),
        () => call.reset(),
      )
    },
  },
  { name: 'kept open', plays: (call) => call.write(counted()) },
]

const counted = () => head(413, { ...JSON_TYPE, 'Content-Length': String(REASON.length) }) + REASON

const PIECE = Buffer.alloc(64 * 1024, 'x')

/** Sends a body without end until there is a response. */
async function upload(
  port: number,
  secret: string,
  length: string | null,
): Promise<ReceivedResponse> {
  const framing =
    length === null ? { 'transfer-encoding': 'chunked' } : { 'content-length': length }
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    method: 'POST',
    agent: false,
    path: `/proxy?url=${encodeURIComponent(`${OPENAI}/v1/files`)}`,
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'multipart/form-data; boundary=x',
      ...framing,
    },
  })
  const send = () => {
    let room = true
    while (room) room = request.write(PIECE)
  }
  request.on('drain', send)
  const responded = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    request.on('error', reject)
  })
  request.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n')
  send()
  const response = await responded
  // As curl and browsers do: what the response is about need not go up any more.
  request.off('drain', send)
  const got = await readResponse(response)
  request.destroy()
  return got
}

/** Of all tests: a process reads the certificates that it trusts once. */
let shared: ReturnType<typeof certificateOf> | undefined

for (const { name, plays } of EARLY) {
  for (const secure of [false, true]) {
    test(`an early response arrives complete: ${name}${secure ? ', over TLS' : ''}`, async (t) => {
      const certificate = secure ? (shared ??= certificateOf(t, 'api.openai.com')) : undefined
      if (certificate) setDefaultCACertificates([certificate.cert])
      const fake = await startFake(plays, certificate)
      t.after(() => fake.close())
      const served = await startServed(t, plays, { TOLLMARK_UPSTREAM_OPENAI: fake.origin })
      const { secret } = await served.key()
      for (const length of ['4000000000', null]) {
        for (let round = 0; round < 3; round++) {
          const got = await upload(served.port, secret, length)
          assert.deepEqual(
            [got.status, got.body.toString(), got.whole],
            [413, REASON, true],
            `${length}, round ${round}`,
          )
          assert.equal(headerOf(got.rawHeaders, 'x-proxy-error'), null)
        }
      }
      // Nothing of the bodies that never went up is taken for a request.
      fake.play(respond(200, JSON_TYPE, '{}'))
      assert.equal(
        (await served.send(secret, `${OPENAI}/v1/models`, { method: 'GET' })).status,
        200,
      )
    })
  }
}
