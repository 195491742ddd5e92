// The real server before one fake that plays every provider, with a wiretap on the caller's side:
// what the client packages are tested against.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { createToken } from '../../server/accounts/tokens.ts'
import type { KeyInput } from '../../server/keys/keys.ts'
import { respond, type FakeProvider, type Script } from '../support/providers/fake.ts'
import { startServed } from '../proxy/support/served.ts'
import type { Ends } from '../support/temporary.ts'

/** TABLE of providers that the fake plays: the setting of the upstream, and of its credential. */
const PROVIDERS = [
  ['GOOGLE', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ['VERTEX', 'GOOGLE_VERTEX_API_KEY'],
  ...['OPENAI', 'ANTHROPIC', 'MISTRAL', 'GROQ', 'XAI', 'DEEPSEEK', 'COHERE'].map((id) => [
    id,
    `${id}_API_KEY`,
  ]),
] as const

/** What the server presents to providers. It must never be seen on the caller's side. */
export const UPSTREAM_SECRET = 'upstream-secret-0123456789'

export interface Proxied {
  fake: FakeProvider
  /** The proxy's address; what is sent there passes the wiretap. */
  proxyUrl: string
  /** The key of a new record. */
  key(wishes?: Partial<KeyInput>): Promise<string>
  /** The id of a new key, and a token that makes child keys of it. */
  parent(): Promise<{ id: string; token: string }>
  /** Everything that callers have sent to the proxy, headers and bodies. */
  wire(): string
}

/** Starts all of it; it ends with the test. */
export async function startProxied(
  t: Ends,
  script: Script = respond(200, {}, 'ok'),
  env: Record<string, string> = {},
): Promise<Proxied> {
  const settingsFor = (origin: string) =>
    PROVIDERS.flatMap(([id, credential]) => [
      [`TOLLMARK_UPSTREAM_${id}`, origin],
      [credential, UPSTREAM_SECRET],
    ])
  const { fake, port, key, running } = await startServed(t, script, (origin) => ({
    ...Object.fromEntries(settingsFor(origin)),
    ...env,
  }))
  const tap = await startTap(port)
  t.after(tap.close)
  return {
    fake,
    proxyUrl: tap.origin,
    wire: tap.text,
    key: async (wishes) => (await key(wishes)).secret,
    async parent() {
      const { id } = await key()
      const wanted = { name: 'visitors', scopes: ['mint'], expiresAt: null } as const
      const owner = { name: null, plan: 'free' }
      const { token } = await createToken(running.store, owner, wanted, Date.now())
      return { id, token: token.secret }
    },
  }
}

/** A TCP relay that keeps what callers send. */
async function startTap(
  port: number,
): Promise<{ origin: string; text(): string; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const sent: Buffer[] = []
  const server = createServer((caller) => {
    const through = connect(port, '127.0.0.1')
    for (const socket of [caller, through]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        caller.destroy()
        through.destroy()
      })
    }
    caller.on('data', (bytes: Buffer) => sent.push(bytes))
    caller.pipe(through)
    through.pipe(caller)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    text: () => Buffer.concat(sent).toString('latin1'),
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
