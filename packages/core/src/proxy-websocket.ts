import { cleanAddress, cleanHeaders, PROXY_MANAGED } from './credentials.ts'
import { HTTP_ADDRESS, leadsThrough, parseEndpoint } from './endpoint.ts'
import { CONTEXT_KEY, headerText, keyText, NO_KEY } from './proxy-fetch.ts'
import type { ProxyFetchConfig } from './proxy-fetch.ts'

/** Options of `createProxyWebSocket`. */
export interface ProxyWebSocketConfig extends Pick<ProxyFetchConfig, 'proxyUrl' | 'bypass'> {
  /**
   * The proxy's key, `tmk_…`, or a function that returns it for each socket. A proxy key that an
   * SDK puts into the handshake itself (one from `getToken`) takes precedence. `PROXY_MANAGED`
   * sends none.
   */
  apiKey: ProxyFetchConfig['apiKey']
  /**
   * Sockets with the same context key go to the same upstream credential. It is a header, so the
   * inner constructor must accept headers, as that of `ws` does; those of browsers and Node do not.
   */
  contextKey?: string | undefined
  /**
   * Opens the sockets: a constructor with the signature of the platform's `WebSocket`, or that of
   * `ws`. Default: the platform's.
   */
  webSocket?: InnerConstructor | undefined
}

/**
 * An event handler property. Declared as a method, because TypeScript compares these bivariantly.
 */
type Handler<Event> = { tell(event: Event): void }['tell'] | null
type Data = string | ArrayBufferLike | ArrayBufferView | Blob

/** The used members of the inner socket. */
interface InnerSocket {
  readyState: number
  readonly bufferedAmount?: number
  readonly protocol?: string
  binaryType?: string
  onopen: Handler<unknown>
  onmessage: Handler<{ data: unknown }>
  onerror: Handler<unknown>
  onclose: Handler<unknown>
  send(data: never): void
  close(code?: number, reason?: string): void
}

/** The argument by which `ws` gets headers. The platforms' own constructors ignore it. */
interface SocketOptions {
  headers?: Record<string, string | undefined>
}

interface InnerConstructor {
  new (url: string, protocols?: string | string[], options?: SocketOptions): InnerSocket
}

const EVENTS = ['open', 'message', 'error', 'close'] as const
type EventName = (typeof EVENTS)[number]
type Listener = ((event: never) => void) | { handleEvent(event: never): void }

/**
 * TABLE of subprotocols in which SDKs carry a credential, because browsers set no headers: OpenAI
 * (https://platform.openai.com/docs/guides/realtime-websocket), and the AI SDK's xAI and gateway.
 */
const CREDENTIAL = /^(?:openai-insecure-api-key|xai-client-secret|ai-gateway-auth)\./
/** The credential is a separate subprotocol after this one (Deepgram). */
const BEFORE_CREDENTIAL = /^(?:token|bearer)$/i
/** A proxy key, as a whole subprotocol or after the name of one. */
const OWN_KEY = /^(?:[\w-]+\.)?tmk_\w+$/

/** A proxy key in a query, where Gemini's clients put the token from `getToken`. */
const OWN_PARAMETER = /[?&](?:key|access_token)=(tmk_\w+)(?=&|$)/

/** The subprotocols with the proxy's key in place of the SDK's credential, or added. */
function withKey(protocols: readonly string[], key: string | null): string[] {
  if (protocols.some((one) => OWN_KEY.test(one))) return [...protocols]
  const isCredential = (one: string, i: number): boolean =>
    CREDENTIAL.test(one) || BEFORE_CREDENTIAL.test(protocols[i - 1] ?? '')
  if (key === null)
    return protocols.filter((one, i) => !isCredential(one, i) && !BEFORE_CREDENTIAL.test(one))
  let placed = false
  const kept = protocols.map((one, i) => {
    if (!isCredential(one, i)) return one
    placed = true
    return `${CREDENTIAL.exec(one)?.[0] ?? ''}${key}`
  })
  return placed ? kept : [...kept, key]
}

/**
 * A socket through the proxy. It connects when its key is known, which may be later; until then, it
 * is `CONNECTING` like any other. Handlers and listeners get the events of the inner socket.
 */
export class ProxySocket {
  static readonly CONNECTING = 0
  static readonly OPEN = 1
  static readonly CLOSING = 2
  static readonly CLOSED = 3
  readonly CONNECTING = 0
  readonly OPEN = 1
  readonly CLOSING = 2
  readonly CLOSED = 3
  /** The requested address in serialized form: the provider's. */
  readonly url: string
  // The types of the AI SDK's `webSocket` option.
  onopen: ((event: unknown) => void) | null = null
  onmessage: ((event: { data: unknown }) => void) | null = null
  onerror: ((event: unknown) => void) | null = null
  onclose: ((event: unknown) => void) | null = null
  /** By event; the value says whether a listener is called only once. */
  readonly #listeners = new Map<string, Map<Listener, boolean>>()
  #inner: InnerSocket | null = null
  #binaryType: 'blob' | 'arraybuffer' = 'blob'
  #isClosed = false

  constructor(url: string) {
    this.url = url
  }

  get readyState(): number {
    return this.#inner?.readyState ?? (this.#isClosed ? this.CLOSED : this.CONNECTING)
  }

  get bufferedAmount(): number {
    return this.#inner?.bufferedAmount ?? 0
  }

  get protocol(): string {
    return this.#inner?.protocol ?? ''
  }

  /** No extension is offered, so frames are forwarded byte for byte. */
  get extensions(): string {
    return ''
  }

  get binaryType(): 'blob' | 'arraybuffer' {
    return this.#binaryType
  }

  set binaryType(type: 'blob' | 'arraybuffer') {
    this.#binaryType = type
    if (this.#inner !== null) this.#inner.binaryType = type
  }

  /** @throws like the platform's: `InvalidStateError` while it connects */
  send(data: Data): void {
    if (this.#inner === null)
      throw new DOMException('The socket is still connecting.', 'InvalidStateError')
    this.#inner.send(data as never)
  }

  close(code?: number, reason?: string): void {
    if (this.#inner !== null) return this.#inner.close(code, reason)
    if (!this.#isClosed) this.fail(null)
  }

  addEventListener(
    type: string,
    listener: Listener | null,
    options?: { once?: boolean } | boolean,
  ): void {
    if (listener === null) return
    const listeners = this.#listeners.get(type) ?? new Map<Listener, boolean>()
    if (!listeners.has(listener))
      listeners.set(listener, typeof options === 'object' && options.once === true)
    this.#listeners.set(type, listeners)
  }

  removeEventListener(type: string, listener: Listener | null): void {
    if (listener !== null) this.#listeners.get(type)?.delete(listener)
  }

  /** Attaches the inner socket, whose events it passes on from now. */
  connect(inner: InnerSocket): void {
    this.#inner = inner
    if (this.#binaryType !== 'blob') inner.binaryType = this.#binaryType
    for (const name of EVENTS) inner[`on${name}`] = (event: unknown) => this.#tell(name, event)
  }

  /** Ends it before it connects: its owner has closed it, or there is no key. */
  fail(error: unknown): void {
    this.#isClosed = true
    const reason = error instanceof Error ? error.message : ''
    queueMicrotask(() => {
      this.#tell('error', { type: 'error', error, message: reason, target: this })
      this.#tell('close', { type: 'close', code: 1006, reason, wasClean: false, target: this })
    })
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  #tell(name: EventName, event: unknown): void {
    const forwarded = event as never
    this[`on${name}`]?.(forwarded)
    for (const [listener, once] of this.#listeners.get(name) ?? []) {
      if (once) this.removeEventListener(name, listener)
      if (typeof listener === 'function') listener(forwarded)
      else listener.handleEvent(forwarded)
    }
  }
}

/** The constructor returned by `createProxyWebSocket`. */
export interface ProxyWebSocketConstructor {
  new (url: string | URL, protocols?: string | string[], options?: SocketOptions): ProxySocket
  readonly CONNECTING: 0
  readonly OPEN: 1
  readonly CLOSING: 2
  readonly CLOSED: 3
}

/**
 * A `WebSocket` whose sockets go through the proxy: for the `webSocket` option that the AI SDK's
 * realtime and transcription models take in addition to `fetch`, or to replace the global one. The
 * provider's credentials are dropped, and the proxy's key is set in a subprotocol, because browsers
 * cannot set headers. Messages, close codes and everything else are the provider's.
 *
 * Opened directly, without the proxy's key: addresses at other origins that `bypass` names, and
 * those at the proxy's origin but not its endpoint; at the proxy's origin, `bypass` is not asked.
 * The constructor throws a TypeError if `proxyUrl` is not an address, an Error if there is no key,
 * what `apiKey` throws, and the platform's errors. If the promise of `apiKey` rejects, the socket
 * emits `error` and is closed with 1006.
 */
export function createProxyWebSocket(config: ProxyWebSocketConfig): ProxyWebSocketConstructor {
  const Inner: InnerConstructor = config.webSocket ?? globalThis.WebSocket
  const open = (url: string, protocols: string[], headers: Headers): InnerSocket => {
    const fields = Object.fromEntries(headers)
    // The platforms' own constructors take no third argument.
    const options = Object.keys(fields).length > 0 ? [{ headers: fields }] : []
    return new Inner(url, protocols, ...options)
  }

  const connect = (
    socket: ProxySocket,
    protocols: string[],
    { headers: given = {} }: SocketOptions,
  ): void => {
    // Read for each socket, because `createManagedWebSocket` looks up its options then.
    const { proxyUrl, apiKey, contextKey, bypass } = config
    const upstream = socket.url.replace(/^ws(?=s?:)/i, 'http')
    const [, origin, path = ''] = HTTP_ADDRESS.exec(upstream) ?? []
    const endpoint = parseEndpoint(proxyUrl)
    const isAtProxy = origin === endpoint.origin
    const headers = new Headers(Object.entries(given).filter(isSet))
    const isOther = isAtProxy
      ? !leadsThrough(endpoint, path)
      : bypass?.(new URL(socket.url)) === true
    if (origin === undefined || isOther) {
      socket.connect(open(socket.url, protocols, headers))
      return
    }
    const cleaned = cleanHeaders(headers)
    if (contextKey) cleaned.set(CONTEXT_KEY, headerText(contextKey))
    const address = isAtProxy
      ? upstream
      : `${endpoint.origin}${endpoint.path}?url=${encodeURIComponent(cleanAddress(upstream))}`
    const connectWith = (text: string): void => {
      const key = keyText(text)
      if (key === '') throw new Error(NO_KEY)
      const offered = withKey(protocols, key === PROXY_MANAGED ? null : key)
      socket.connect(open(address.replace(/^http/i, 'ws'), offered, cleaned))
    }
    const [, minted] = OWN_PARAMETER.exec(upstream) ?? []
    const key = minted ?? (typeof apiKey === 'function' ? apiKey() : apiKey)
    if (typeof key === 'object') void whenKnown(socket, key, connectWith)
    else connectWith(key)
  }

  return class extends ProxySocket {
    constructor(url: string | URL, protocols: string | string[] = [], options: SocketOptions = {}) {
      super(serialized(String(url)))
      connect(this, typeof protocols === 'string' ? [protocols] : [...protocols], options)
    }
  }
}

/**
 * The address as the platform's own parser writes it. One that a Request cannot have, such as one
 * with a user name, is unchanged, because the inner constructor may take it.
 */
function serialized(url: string): string {
  try {
    return new Request(url).url
  } catch {
    return url
  }
}

async function whenKnown(
  socket: ProxySocket,
  key: Promise<string>,
  connectWith: (key: string) => void,
): Promise<void> {
  try {
    const known = await key
    if (!socket.isClosed) connectWith(known)
  } catch (error) {
    if (!socket.isClosed) socket.fail(error)
  }
}

const isSet = (field: [string, string | undefined]): field is [string, string] =>
  field[1] !== undefined
