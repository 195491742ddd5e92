// A long body is inspected in turns, and what happens meanwhile to its caller, its place and its
// key counts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResponseListener, BodySink, HttpExchange } from '../../../server/http1/exchange.ts'
import type { CachedKey } from '../../../server/keys/cache.ts'
import { compileScope } from '../../../server/keys/scope.ts'
import { inspectRequest } from '../../../server/proxy/inspect/inspect-request.ts'
import { InspectionQueue } from '../../../server/proxy/inspect/scheduler.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { RequestShares } from '../../../server/proxy/admission/request-shares.ts'
import { GatewayError } from '../../../server/proxy/gateway-error.ts'

const PATH = '/v1/chat/completions'
const provider = createProviderTable().byId('openai')!
const LIMIT = 64 * 1024 * 1024
const long = (model: string): Buffer =>
  Buffer.from(
    `{"model":"${model}","messages":[${'{"role":"user","content":"hello"},'.repeat(100_000)}{}]}`,
  )

const keyOf = (models: readonly string[] | null): CachedKey => ({
  id: 'key_1',
  child: null,
  accountId: 'acc_1',
  scope: compileScope(models),
  rpm: null,
  allowedOrigins: null,
  objects: 'upstream',
  providers: null,
  readOnly: false,
  shared: new Set(),
  expiresAt: null,
  disabled: false,
  revoked: false,
})

/** One request whose body has come, and a queue whose turns the test takes. */
function start(body: Buffer, models: readonly string[] | null = ['gpt-*']) {
  const watchers: ResponseListener[] = []
  const turns: (() => void)[] = []
  const shares = new RequestShares({ open: 100, held: 8_000_000, body: 1_000_000 })
  const take = (sink: BodySink | null): void => {
    sink?.onData(body)
    sink?.onEnd([])
  }
  const exchange: HttpExchange = {
    method: 'POST',
    target: '',
    headers: ['Content-Type', 'application/json'],
    closed: false,
    headersSent: false,
    body: { length: body.length, read: take, pause() {}, resume() {} },
    watch: (watcher) => void watchers.push(watcher),
    writeContinue() {},
    writeInterim() {},
    writeHead() {},
    write() {},
    end() {},
    flush: () => true,
    reset() {},
    canSwitch: false,
    switchProtocols: () => null,
  }
  const objects = {
    recordCreated() {},
    trackPending() {},
    lookup: () => assert.fail('not asked'),
    anyOwnedByOther: () => Promise.resolve(false),
  }
  const parts = {
    limits: { body: LIMIT, still: 1_000, grace: 1_000 },
    objects: objects as never,
    inspectionQueue: new InspectionQueue(
      () => performance.now(),
      (turn) => turns.push(turn),
    ),
  }
  const slot = shares.acquire('key_1', 'acc_1')!
  const key = keyOf(models)
  let proof = (): CachedKey => key
  const match = classify(provider, 'POST', PATH)
  const inspecting = inspectRequest(
    { exchange, slot, key, provider, match, pathAndQuery: PATH },
    parts,
    () => proof(),
  )
  return {
    slot,
    inspecting,
    shares,
    leave: () => watchers.forEach((watcher) => watcher.onClose()),
    /** What becomes of the key is known from the next proof on. */
    proveAs: (next: () => CachedKey) => (proof = next),
    /**
     * Takes so many turns, or all that there are; some are asked for by what waits for the ones
     * before.
     */
    async turn(most = Infinity) {
      let taken = 0
      for (; taken < most; taken++) {
        await new Promise(setImmediate)
        const next = turns.shift()
        if (next === undefined) break
        next()
      }
      return taken
    },
  }
}

test('a short body is inspected synchronously', async () => {
  const { inspecting } = start(Buffer.from('{"model":"gpt-5"}'))
  const turn = new Promise((resolve) => setImmediate(() => resolve('a turn')))
  const first = await Promise.race([inspecting, turn])
  assert.ok(typeof first === 'object' && first !== null && 'model' in first)
  assert.equal(first.model, 'gpt-5')
})

test('a long body is inspected in slices', async () => {
  const { inspecting, turn } = start(long('gpt-5'))
  assert.ok((await turn()) >= 4)
  const inspected = await inspecting
  assert.deepEqual(inspected?.body?.length, long('gpt-5').length)
  assert.equal(inspected?.model, 'gpt-5')
})

test('a disconnect ends the inspection of the body', async () => {
  const { inspecting, leave, turn } = start(long('gpt-5'))
  await turn(2)
  leave()
  assert.equal(await inspecting, null)
  assert.ok((await turn()) <= 1)
})

test('an evicted body is not inspected further', async () => {
  const { inspecting, slot, turn, shares } = start(long('gpt-5'))
  await turn(2)
  const refused = assert.rejects(
    inspecting,
    (error) => error instanceof GatewayError && error.code === 'service_unavailable',
  )
  // Others, each within its share, need the memory.
  for (let i = 2; i < 10; i++) shares.acquire(`key_${i}`, `acc_${i}`)?.holdBytes(1_000_000)
  await refused
  assert.ok((await turn()) <= 1)
  slot.release()
})

test('a key that is revoked while its body is inspected is refused', async () => {
  const { inspecting, proveAs, turn } = start(long('gpt-5'))
  proveAs(() => {
    throw new GatewayError('invalid_api_key', 'revoked')
  })
  const refused = assert.rejects(
    inspecting,
    (error) => error instanceof GatewayError && error.code === 'invalid_api_key',
  )
  await turn()
  await refused
})

test('a key that is limited to models while its body is inspected is held to them', async () => {
  const { inspecting, proveAs, turn } = start(long('other'), null)
  proveAs(() => keyOf(['gpt-*']))
  const refused = assert.rejects(
    inspecting,
    (error) => error instanceof GatewayError && error.code === 'model_not_allowed',
  )
  await turn()
  await refused
})
