// Callers of several processes that, like a balancer, use those whose `/readyz` is 200. No request
// of a key without a limit may fail.
import { Agent, request, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { command } from '../../test/chaos/fleet.ts'
import { nothingTold, RPM, type Told } from '../../test/chaos/load.ts'

/** Interval and timeout of readiness checks. */
const CHECK_MS = 1_000
const CHECK_TIMEOUT_MS = 2_000
/** A caller's pause between requests, which leaves CPU for starting servers. */
const REST_MS = 20
/** Shorter than TOLLMARK_DRAIN, so that the client closes idle connections first. */
const KEEPALIVE_MS = 4_000

const PATH = '/proxy/api.openai.com/v1/chat/completions'

/** Keys of callers: one without a limit, one with. */
export interface CallersKeys {
  readonly open: CallersKey
  readonly limited: CallersKey
}

interface CallersKey {
  readonly id: string
  readonly secret: string
}

/** Makes the keys of callers. @param main the command line of the tree that makes them */
export async function createCallersKeys(
  settings: Readonly<Record<string, string>>,
  main?: string,
): Promise<CallersKeys> {
  const create = async (...more: string[]): Promise<CallersKey> => {
    const args = ['keys', 'create', '--name', 'bench', '--json', '--init', ...more]
    return JSON.parse(await command(args, settings, main)) as CallersKey
  }
  return { open: await create(), limited: await create('--rpm', String(RPM)) }
}

interface ReceivedResponse {
  readonly status: number
  readonly text: string
  readonly retryAfter: string | undefined
}

/** Calls from its creation until it is stopped. */
export class Callers {
  readonly told: Told = nothingTold()
  requests = 0
  streams = 0
  /** Requests under a limit that got 503 with `Retry-After`. */
  later = 0
  /** How often each failure was seen. */
  readonly failures = new Map<string, number>()
  /** What currently happens to the servers. */
  phase = 'all run'
  /** Number of expected failures. */
  expectedFailures = 0
  readonly #ports: readonly number[]
  readonly #expected: RegExp | null
  readonly #ready = new Set<number>()
  readonly #agent = new Agent({ keepAlive: true, timeout: KEEPALIVE_MS })
  readonly #ends: Promise<void>[]
  readonly #stop = new AbortController()
  #turn = 0

  /**
   * @param count callers of each kind: of the open key, of its streams, of the limited one
   * @param expected failures that may occur and are counted separately
   */
  constructor(
    ports: readonly number[],
    keys: CallersKeys,
    count: number,
    expected: RegExp | null = null,
  ) {
    this.#ports = ports
    this.#expected = expected
    this.#ends = [
      ...ports.map((port) => this.#watch(port)),
      ...Array.from({ length: count }, () =>
        this.#again(() => this.#call(keys.open.secret, false, false)),
      ),
      ...Array.from({ length: count }, () =>
        this.#again(() => this.#call(keys.open.secret, true, false)),
      ),
      ...Array.from({ length: count }, () =>
        this.#again(() => this.#call(keys.limited.secret, false, true)),
      ),
    ]
  }

  get failed(): number {
    return [...this.failures.values()].reduce((sum, one) => sum + one, 0)
  }

  /** Whether requests go to this process. */
  isReady(port: number): boolean {
    return this.#ready.has(port)
  }

  /** Stops; resolves when each caller has its last response. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#ends)
    this.#agent.destroy()
  }

  async #watch(port: number): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`, {
        signal: AbortSignal.timeout(CHECK_TIMEOUT_MS),
      }).catch(() => null)
      if (response?.status === 200) this.#ready.add(port)
      else this.#ready.delete(port)
      await response?.body?.cancel()
      await sleep(CHECK_MS)
    }
  }

  async #again(once: () => Promise<void>): Promise<void> {
    for (; !this.#stop.signal.aborted; await sleep(REST_MS)) if (this.#ready.size > 0) await once()
  }

  async #call(secret: string, isStream: boolean, isLimited: boolean): Promise<void> {
    const ports = this.#ports.filter((port) => this.#ready.has(port))
    const port = ports[this.#turn++ % ports.length]
    if (port === undefined) return
    const model = `bench-${this.requests + this.streams}`
    if (isStream) this.streams++
    else this.requests++
    const response = await this.#send(port, secret, { model, stream: isStream, messages: [] })
    if (response instanceof Error) this.#fail(response.message)
    else if (response.status === 200) this.#noteResponse(model, response.text, isStream)
    else if (isLimited && response.status === 429) this.told.refused.add(model)
    else if (isLimited && response.status === 503 && response.retryAfter !== undefined) this.later++
    else this.#fail(`status ${response.status}: ${response.text.slice(0, 160)}`)
  }

  #noteResponse(model: string, text: string, isStream: boolean): void {
    if (isStream && !text.includes('[DONE]')) this.#fail('a stream without its end')
    else this.told.succeeded.add(model)
  }

  #send(port: number, secret: string, body: object): Promise<ReceivedResponse | Error> {
    return new Promise((resolve) => {
      const text: string[] = []
      const receive = (incoming: IncomingMessage): void => {
        incoming.setEncoding('utf8').on('data', (piece: string) => text.push(piece))
        incoming.on('error', () => resolve(new Error('a response that broke off')))
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            text: text.join(''),
            retryAfter: incoming.headers['retry-after'],
          }),
        )
      }
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
      request(
        { host: '127.0.0.1', port, path: PATH, method: 'POST', agent: this.#agent, headers },
        receive,
      )
        .on('error', resolve)
        .end(JSON.stringify(body))
    })
  }

  #fail(what: string): void {
    if (this.#expected?.test(what)) return void this.expectedFailures++
    const failure = `${what} (${this.phase})`
    console.error(`${new Date().toISOString()} ${failure}`)
    this.failures.set(failure, (this.failures.get(failure) ?? 0) + 1)
  }
}
