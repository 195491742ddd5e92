// Where createProxyWebSocket connects, and with which key. The inner constructor only records its
// arguments; real sockets are in test/proxy.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createOpenAI } from '@ai-sdk/openai'
import {
  createManagedWebSocket,
  createProxyWebSocket,
  PROXY_MANAGED,
  type ProxyWebSocketConfig,
} from '@proxy-sdk/core'

const KEY = 'tmk_abc_def_123'
const REALTIME = 'wss://api.openai.com/v1/realtime?model=gpt-realtime'

interface Opened {
  url: string
  protocols: string | string[] | undefined
  options: unknown
}

/** An inner socket that tests drive. */
class FakeSocket {
  static last: FakeSocket | null = null
  readonly opened: Opened
  readyState = 0
  binaryType = 'blob'
  readonly protocol = 'realtime'
  onopen: ((event: unknown) => void) | null = null
  onmessage: ((event: { data: unknown }) => void) | null = null
  onerror: ((event: unknown) => void) | null = null
  onclose: ((event: unknown) => void) | null = null
  readonly sent: unknown[] = []
  closedWith: unknown[] | null = null

  constructor(url: string, protocols?: string | string[], options?: unknown) {
    this.opened = { url, protocols, options }
    FakeSocket.last = this
  }

  send(data: unknown): void {
    this.sent.push(data)
  }

  close(...how: unknown[]): void {
    this.closedWith = how
  }
}

const create = (config: Partial<ProxyWebSocketConfig> = {}) =>
  createProxyWebSocket({
    proxyUrl: 'https://proxy.test/ai/',
    apiKey: KEY,
    webSocket: FakeSocket,
    ...config,
  })

/** What the inner constructor was given. */
function opened(
  url: string | URL,
  protocols?: string | string[],
  config: Partial<ProxyWebSocketConfig> = {},
  headers?: Record<string, string | undefined>,
): Opened {
  const socket = new (create(config))(url, protocols, headers && { headers })
  assert.equal(socket.url, String(url))
  return FakeSocket.last!.opened
}

const through = (address: string): string =>
  `wss://proxy.test/ai/proxy?url=${encodeURIComponent(address)}`

describe('where it connects', () => {
  test('goes through the proxy for every form of address', () => {
    const wanted = through('https://api.openai.com/v1/realtime?model=gpt-realtime')
    assert.equal(opened(REALTIME).url, wanted)
    assert.equal(opened(new URL(REALTIME)).url, wanted)
    assert.equal(
      opened(REALTIME, [], { proxyUrl: 'http://proxy.test' }).url,
      wanted.replace('wss://proxy.test/ai', 'ws://proxy.test'),
    )
  })

  test('without credentials in the query', () => {
    assert.equal(
      opened('wss://generativelanguage.googleapis.com/ws/x.BidiGenerateContent?key=AIza&alt=1').url,
      through('https://generativelanguage.googleapis.com/ws/x.BidiGenerateContent?alt=1'),
    )
  })

  test('bypassed addresses, and other paths of the proxy, stay unchanged', () => {
    const bypass = ({ hostname }: URL) => hostname === 'other.test'
    for (const url of ['wss://other.test/socket', 'wss://proxy.test/elsewhere'])
      assert.deepEqual(opened(url, ['a'], { bypass }), {
        url,
        protocols: ['a'],
        options: undefined,
      })
  })

  test('an address of the endpoint gets the key and is not wrapped again', () => {
    for (const address of [
      through('https://api.x.ai/v1/stt'),
      'wss://proxy.test/ai/proxy/api.x.ai/v1/stt',
    ]) {
      const { url, protocols } = opened(address)
      assert.deepEqual([url, protocols], [address, [KEY]])
    }
  })

  test('the proxy is known by its address, however that is written', () => {
    const socket = new (create())('WSS://Proxy.Test:443/ai/proxy/api.x.ai/v1/stt')
    assert.equal(socket.url, 'wss://proxy.test/ai/proxy/api.x.ai/v1/stt')
    const { url, protocols } = FakeSocket.last!.opened
    assert.deepEqual([url, protocols], [socket.url, [KEY]])
  })

  test('an address relative to the page is wrapped, or gets the key at the proxy', (t) => {
    const { Request } = globalThis
    t.after(() => Object.assign(globalThis, { Request }))
    const OfPage = class extends Request {
      constructor(input: string) {
        super(new URL(input, 'https://page.test'))
      }
    }
    Object.assign(globalThis, { Request: OfPage })
    const Socket = create({ proxyUrl: '/ai' })
    for (const [address, wanted] of [
      ['/ai/proxy/api.x.ai/v1/stt', 'wss://page.test/ai/proxy/api.x.ai/v1/stt'],
      [
        '//other.test/a',
        `wss://page.test/ai/proxy?url=${encodeURIComponent('https://other.test/a')}`,
      ],
    ] as const) {
      assert.ok(new Socket(address))
      const { url, protocols } = FakeSocket.last!.opened
      assert.deepEqual([url, protocols], [wanted, [KEY]])
    }
  })

  test('what the platform cannot read is left to the inner constructor', () => {
    for (const url of ['/socket', 'wss://'])
      assert.deepEqual(opened(url, ['a']), { url, protocols: ['a'], options: undefined })
    const url = 'wss://user:password@other.test/socket'
    assert.equal(opened(url, [], { bypass: () => true }).url, url)
  })
})

describe('the key', () => {
  const MINTED = 'tmk_minted_x_1'
  /** TABLE: what an SDK offers, and what goes to the proxy. */
  const PROTOCOLS: [what: string, offered: string | string[] | undefined, sent: string[]][] = [
    ['none', undefined, [KEY]],
    ['one text', 'realtime', ['realtime', KEY]],
    [
      'OpenAI’s credential',
      ['realtime', 'openai-insecure-api-key.sk-real', 'openai-beta.realtime-v1'],
      ['realtime', `openai-insecure-api-key.${KEY}`, 'openai-beta.realtime-v1'],
    ],
    [
      'of the gateway',
      ['v1', `ai-gateway-auth.${PROXY_MANAGED}`],
      ['v1', `ai-gateway-auth.${KEY}`],
    ],
    ['Deepgram’s', ['token', 'dg-real'], ['token', KEY]],
    [
      'a key that was minted',
      ['realtime', `openai-insecure-api-key.${MINTED}`],
      ['realtime', `openai-insecure-api-key.${MINTED}`],
    ],
  ]
  for (const [what, offered, sent] of PROTOCOLS)
    test(`in the place of ${what}`, () => {
      assert.deepEqual(opened(REALTIME, offered).protocols, sent)
    })

  test('one that was minted, from the query, where Gemini’s clients put it', () => {
    const { url, protocols } = opened(`wss://gemini.test/ws?access_token=${MINTED}`)
    assert.deepEqual([url, protocols], [through('https://gemini.test/ws'), [MINTED]])
  })

  test('none where a route of yours adds it, and no credential either', () => {
    const { protocols } = opened(
      REALTIME,
      ['realtime', 'openai-insecure-api-key.sk', 'token', 'x'],
      {
        apiKey: PROXY_MANAGED,
      },
    )
    assert.deepEqual(protocols, ['realtime'])
  })

  test('headers lose credentials, and reach a constructor that takes them', () => {
    const headers = { Authorization: 'Bearer sk-real', 'X-Trace': '1', gone: undefined }
    assert.deepEqual(opened(REALTIME, [], { contextKey: 'chat é' }, headers).options, {
      headers: { 'x-trace': '1', 'x-proxy-context-key': 'chat %C3%A9' },
    })
    assert.equal(opened(REALTIME, [], {}, { Authorization: 'x' }).options, undefined)
  })

  test('there must be one', () => {
    assert.throws(() => opened(REALTIME, [], { apiKey: ' ' }), /There is no key for the proxy/)
  })
})

describe('a key that comes later', () => {
  const settled = () => new Promise((resolve) => setImmediate(resolve))

  test('connects later and keeps everything set before', async () => {
    FakeSocket.last = null
    const socket = new (create({ apiKey: async () => KEY }))(REALTIME, 'realtime')
    const events: unknown[] = []
    Object.assign(socket, { onmessage: ({ data }: MessageEvent) => events.push(data) })
    socket.addEventListener('message', ({ data }: MessageEvent) => events.push(data), {
      once: true,
    })
    socket.addEventListener('close', { handleEvent: () => events.push('closed') })
    socket.binaryType = 'arraybuffer'
    assert.equal(socket.readyState, socket.CONNECTING)
    assert.throws(() => socket.send('early'), { name: 'InvalidStateError' })
    assert.equal(FakeSocket.last, null)
    await settled()
    const inner: FakeSocket = FakeSocket.last!
    assert.deepEqual(inner.opened.protocols, ['realtime', KEY])
    assert.equal(inner.binaryType, 'arraybuffer')
    inner.readyState = 1
    inner.onmessage!({ data: 'one' })
    inner.onmessage!({ data: 'two' })
    inner.onclose!({ code: 1000 })
    assert.deepEqual(events, ['one', 'one', 'two', 'closed'])
    socket.send('up')
    socket.close(1000, 'bye')
    assert.deepEqual([inner.sent, inner.closedWith], [['up'], [1000, 'bye']])
    assert.deepEqual([socket.readyState, socket.protocol], [1, 'realtime'])
  })

  test('a failing key function and an early close end as sockets do', async () => {
    const key = async () => {
      throw new Error('signed out')
    }
    for (const isClosed of [false, true]) {
      FakeSocket.last = null
      const told: unknown[] = []
      const socket = new (create({ apiKey: isClosed ? async () => KEY : key }))(REALTIME)
      Object.assign(socket, { onerror: () => told.push('error') })
      socket.addEventListener('close', ({ code, reason }: CloseEvent) => told.push(code, reason))
      if (isClosed) socket.close()
      await settled()
      assert.deepEqual(told, ['error', 1006, isClosed ? '' : 'signed out'])
      assert.equal(socket.readyState, socket.CLOSED)
      assert.equal(FakeSocket.last, null)
    }
  })

  test('a key function that fails after an early close adds no events', async () => {
    const failed = Promise.withResolvers<string>()
    const told: string[] = []
    const socket = new (create({ apiKey: () => failed.promise }))(REALTIME)
    for (const name of ['error', 'close']) socket.addEventListener(name, () => told.push(name))
    socket.close()
    failed.reject(new Error('signed out'))
    await settled()
    assert.deepEqual(told, ['error', 'close'])
  })
})

test('the AI SDK takes it beside `fetch`', () => {
  assert.ok(createOpenAI({ apiKey: PROXY_MANAGED, webSocket: create() }))
  assert.equal(create().OPEN, 1)
})

test('a managed socket reads the environment each time', () => {
  const Managed = createManagedWebSocket({ webSocket: FakeSocket })
  assert.throws(() => new Managed(REALTIME), /There is no key for the proxy/)
  process.env['NEXT_PUBLIC_AI_PROXY_KEY'] = KEY
  process.env['NEXT_PUBLIC_AI_PROXY_URL'] = 'https://env.test'
  try {
    assert.ok(new Managed(REALTIME))
    assert.match(FakeSocket.last!.opened.url, /^wss:\/\/env\.test\/proxy\?url=/)
    assert.deepEqual(FakeSocket.last!.opened.protocols, [KEY])
  } finally {
    delete process.env['NEXT_PUBLIC_AI_PROXY_KEY']
    delete process.env['NEXT_PUBLIC_AI_PROXY_URL']
  }
})
