// A server with a month behind it: accounts, keys, credentials, and requests through the real proxy
// to a scripted provider.
import type { Call, FakeProvider, Script } from '../../support/providers/fake.ts'
import { chunk, head, startFake } from '../../support/providers/fake.ts'
import { readConfig } from '../../../server/config/settings.ts'
import { openLog } from '../../../server/common/log.ts'
import { DAY } from '../../../server/common/clock.ts'
import { serve, type Running } from '../../../server/app/serve.ts'

export const ADMIN = { email: 'ada@example.com', password: 'correct horse battery' }

/** A server for the browser, before a provider that responds to whatever it is asked. */
export interface Site extends AsyncDisposable {
  readonly running: Running
  readonly fake: FakeProvider
  readonly url: string
  /** Calls the API as somebody, with their cookie. */
  api(cookie: string | null, method: string, path: string, body?: unknown): Promise<Response>
  /** Makes the first account; gives its cookie. */
  setUp(): Promise<string>
  /** Sends one request through the proxy. */
  proxied(secret: string, address: string, body: unknown): Promise<Response>
  /** Puts the server's clock so many milliseconds behind the real one. */
  behind(milliseconds: number): void
}

export const GEMINI = (model: string): string =>
  `https://generativelanguage.googleapis.com/v1beta/models/${model}:generateContent`
export const OPENAI = 'https://api.openai.com/v1/chat/completions'
export const ANTHROPIC = 'https://api.anthropic.com/v1/messages'

/**
 * Responds in the provider's own form, with as many tokens as the prompt says (`"in/out/cached"`,
 * and for OpenAI `"/audio"` of the input), or the status that it says.
 */
export const provider: Script = async (call) => {
  const text = (await call.body()).toString()
  const [, status = '200'] = /status (\d+)/.exec(text) ?? []
  const [, tin = '900', tout = '120', cached = '400', audio = '0'] =
    /(\d+)\/(\d+)\/(\d+)(?:\/(\d+))?/.exec(text) ?? []
  const [i, o, c] = [Number(tin), Number(tout), Number(cached)]
  const response = call.received.target.includes('generateContent')
    ? {
        candidates: [{ content: { parts: [{ text: 'Hello!' }] } }],
        usageMetadata: { promptTokenCount: i, candidatesTokenCount: o, cachedContentTokenCount: c },
      }
    : call.received.target.includes('/messages')
      ? {
          id: 'msg_1',
          content: [{ type: 'text', text: 'Hello!' }],
          usage: { input_tokens: i - c, cache_read_input_tokens: c, output_tokens: o },
        }
      : {
          id: 'chat_1',
          choices: [{ message: { content: 'Hello!' } }],
          usage: {
            prompt_tokens: i,
            completion_tokens: o,
            prompt_tokens_details: { cached_tokens: c, audio_tokens: Number(audio) },
          },
        }
  if (/"stream":true/.test(text) && call.received.target.includes('/messages'))
    return streamed(call, i - c, o, c)
  const body = JSON.stringify(status === '200' ? response : { error: { message: 'scripted' } })
  await call.pause(3 + (text.length % 11))
  call.write(
    head(Number(status), {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
    }) + body,
  )
}

/** A Messages stream, one word at a time. */
async function streamed(call: Call, input: number, output: number, cached: number): Promise<void> {
  const events = [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [],
        stop_reason: null,
        usage: { input_tokens: input, cache_read_input_tokens: cached, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...['Hello', ' there', '!'].map((text) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: output } },
    { type: 'message_stop' },
  ]
  call.write(head(200, { 'Content-Type': 'text/event-stream', 'Transfer-Encoding': 'chunked' }))
  for (const event of events) {
    call.write(chunk(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
    await call.pause(5)
  }
  call.write('0\r\n\r\n')
}

type Settings = Record<string, string>

/** Milliseconds for all tests of a server; fewer than anything lives whose end a test looks at. */
const LONGEST_TEST = 5 * 60_000

/**
 * Starts the server before a fake provider; settings may depend on the fake's origin.
 *
 * @param behind milliseconds by which the server's clock is behind from the start
 */
export async function openSite(
  data: string,
  env: Settings | ((origin: string) => Settings) = {},
  behind = 0,
): Promise<Site> {
  const fake = await startFake(provider)
  const settings = typeof env === 'function' ? env(fake.origin) : env
  // Shortly before midnight its clock is behind, so that no test runs across it.
  let offset = behind || (DAY - (Date.now() % DAY) < LONGEST_TEST ? LONGEST_TEST : 0)
  const config = readConfig({
    PORT: '0',
    TOLLMARK_DATA: data,
    TOLLMARK_SHUTDOWN_TIMEOUT: '1s',
    OPENAI_API_KEY: 'sk-x',
    GOOGLE_GENERATIVE_AI_API_KEY: 'AIza-x',
    TOLLMARK_UPSTREAM_OPENAI: fake.origin,
    TOLLMARK_UPSTREAM_GOOGLE: fake.origin,
    TOLLMARK_UPSTREAM_ANTHROPIC: fake.origin,
    ...settings,
  })
  const running = await serve(config, openLog('silent'), {
    clock: () => Date.now() - Math.round(offset),
    warm: false,
  })
  const url = `http://localhost:${running.port}`
  const api = (
    cookie: string | null,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Response> =>
    fetch(url + path, {
      method,
      headers: {
        origin: url,
        ...(cookie === null ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
  return {
    running,
    fake,
    url,
    api,
    async setUp() {
      const token = new URL(running.setupLink ?? '').searchParams.get('token')
      const response = await api(null, 'POST', '/api/v1/setup', { token, ...ADMIN })
      return cookieOf(response)
    },
    proxied: (secret, address, body) =>
      fetch(`${url}/proxy?url=${encodeURIComponent(address)}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    behind: (milliseconds) => void (offset = milliseconds),
    async [Symbol.asyncDispose]() {
      await fake.close()
      await running[Symbol.asyncDispose]()
    },
  }
}

/** The cookie that a response sets, as a request sends it. */
export function cookieOf(response: Response): string {
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}
