// A connection that breaks between the moment when a request takes it and the moment when the
// request is written.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import {
  createHttpClient,
  destinationOf,
  type Destination,
  type OutboundRequest,
  type HttpClient,
} from '../../../server/http1/client/client.ts'
import {
  respond,
  head,
  startFake,
  type Call,
  type FakeProvider,
  type Script,
} from '../../support/providers/fake.ts'
import { until } from '../../support/until.ts'
import { LIMITS } from '../support/relayed.ts'
import { createTurns } from '../../../server/common/fairness/turn-budget.ts'

async function start(
  t: TestContext,
  script: Script,
): Promise<{ fake: FakeProvider; upstream: HttpClient; destination: Destination }> {
  const fake = await startFake(script)
  const upstream = createHttpClient(LIMITS, () => performance.now(), createTurns)
  t.after(async () => {
    upstream.close()
    await fake.close()
  })
  return {
    fake,
    upstream,
    destination: destinationOf(new URL('https://api.test'), new URL(fake.origin)),
  }
}

/**
 * Sends a request. @returns how it ends, which is filled in when it does: a status, or the code of
 * an error
 */
function send(upstream: HttpClient, request: OutboundRequest): { end: number | string | null } {
  const seen: { end: number | string | null } = { end: null }
  let status = 0
  upstream.send(request, {
    onInterim() {},
    onHead: (said) => (status = said),
    onBody() {},
    onPause() {},
    onEnd: () => (seen.end = status),
    onError: ({ code }) => (seen.end = code),
  })
  return seen
}

/** TABLE of what a server does to a connection that rests. */
const SPOILT: Record<string, (call: Call) => void> = {
  'its connection broke': (call) => call.reset(),
  'its connection was told to be too slow': (call) =>
    call.write(head(408, { Connection: 'close', 'Content-Length': '0' })),
}

for (const [name, spoil] of Object.entries(SPOILT)) {
  test(`a request is sent over another connection if nothing was written when ${name}`, async (t) => {
    let cut = () => {}
    const { fake, upstream, destination } = await start(t, (call) => {
      cut = () => spoil(call)
      return respond(200, {}, 'a')(call)
    })
    const post = () => ({
      destination,
      method: 'POST',
      path: '/',
      headers: [],
      body: {
        length: 2,
        held: [Buffer.from('{}')],
        heldTrailers: [],
        rest: null,
        observe: null,
        trailers: () => [],
      },
    })
    const first = send(upstream, post())
    await until(() => first.end !== null)
    // What is sent in the check phase is written in the next one: the poll between them reads the
    // reset.
    await new Promise(setImmediate)
    const second = send(upstream, post())
    cut()
    await until(() => second.end !== null)
    assert.equal(second.end, 200)
    assert.equal(fake.requests.length, 2)
    assert.equal(fake.connections, 2)
  })
}

test('a call aborted before it was written is never sent', async (t) => {
  const { fake, upstream, destination } = await start(t, respond(200, {}, 'a'))
  const request = { destination, method: 'GET', path: '/', headers: [], body: null }
  const first = send(upstream, request)
  await until(() => first.end !== null)
  upstream
    .send(request, {
      onInterim() {},
      onHead() {},
      onBody() {},
      onPause() {},
      onEnd() {},
      onError() {},
    })
    .abort()
  const last = send(upstream, request)
  await until(() => last.end !== null)
  assert.equal(fake.requests.length, 2)
})
