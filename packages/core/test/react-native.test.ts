// React Native's own `URL` and `Request`, which browsers' are not: no setters, a slash at the end,
// addresses that nobody has parsed.
// https://github.com/facebook/react-native/blob/main/packages/react-native/Libraries/Blob/URL.js
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProxyFetch } from '@proxy-sdk/core'

class NativeURL {
  readonly #text: string
  constructor(text: string) {
    this.#text = text.endsWith('/') ? text : `${text}/`
  }

  get href(): string {
    return this.#text
  }

  get hostname(): string {
    return /^https?:\/\/([^:/]+)/.exec(this.#text)?.[1] ?? ''
  }

  toString(): string {
    return this.#text
  }
}

class NativeRequest {
  readonly url: string
  constructor(input: unknown) {
    this.url = String(input)
  }
}

/** TABLE: the proxy, what is fetched, and where that leads. */
const CASES: [proxyUrl: string, address: string, sent: string][] = [
  [
    'https://proxy.test',
    'https://api.openai.com/v1/models',
    'https://proxy.test/proxy?url=https%3A%2F%2Fapi.openai.com%2Fv1%2Fmodels',
  ],
  [
    'https://proxy.test/api/',
    'https://api.openai.com/v1/models?a=1&key=sk-theirs#x',
    'https://proxy.test/api/proxy?url=https%3A%2F%2Fapi.openai.com%2Fv1%2Fmodels%3Fa%3D1',
  ],
  [
    'http://10.0.2.2:8484?x=1',
    'https://api.openai.com',
    'http://10.0.2.2:8484/proxy?url=https%3A%2F%2Fapi.openai.com',
  ],
  ['https://proxy.test', 'https://proxy.test/proxy?url=x', 'https://proxy.test/proxy?url=x'],
  ['https://proxy.test', 'file:///a.png', 'file:///a.png'],
  ['https://proxy.test', 'https://files.test/a', 'https://files.test/a'],
]

test("with React Native's URL and Request", async (t) => {
  const { URL, Request } = globalThis
  t.after(() => Object.assign(globalThis, { URL, Request }))
  Object.assign(globalThis, { URL: NativeURL, Request: NativeRequest })
  for (const [proxyUrl, address, wanted] of CASES) {
    const sent: string[] = []
    const fetch = async (input: unknown): Promise<Response> => {
      sent.push(String(input))
      return new Response('ok')
    }
    await createProxyFetch({
      proxyUrl,
      apiKey: 'tmk_x',
      fetch,
      bypass: ({ hostname }) => hostname === 'files.test',
    })(address)
    assert.deepEqual(sent, [wanted])
  }
  for (const proxyUrl of ['', '/api/ai', 'https://user:secret@proxy.test', 'proxy.test']) {
    await assert.rejects(
      createProxyFetch({ proxyUrl, apiKey: 'tmk_x' })('https://api.openai.com'),
      /`proxyUrl` must be/,
    )
  }
})
