// The whole server before fake providers: what a caller of /proxy meets.
import { once } from 'node:events'
import { connect } from 'node:net'
import { ensureAccount } from '../../../server/accounts/accounts.ts'
import { readConfig } from '../../../server/config/settings.ts'
import { newId } from '../../../server/common/ids.ts'
import type { NewKey } from '../../../server/keys/key-record.ts'
import { createKey, type KeyInput } from '../../../server/keys/keys.ts'
import { openLog } from '../../../server/common/log.ts'
import { serve, type Running } from '../../../server/app/serve.ts'
import type { TargetForm } from '../../../server/proxy/parse-target.ts'
import { startFake, type FakeProvider, type Script } from '../../support/providers/fake.ts'
import { processEnds } from '../../support/process-ends.ts'
import { storeSettings } from '../../support/store-settings.ts'
import { usedFolder } from '../../support/templates.ts'
import type { Ends } from '../../support/temporary.ts'
import { call, type ReceivedResponse, type Sent } from './relayed.ts'

export const OPENAI = 'https://api.openai.com'
export const GOOGLE = 'https://generativelanguage.googleapis.com'
export const ANTHROPIC = 'https://api.anthropic.com'

export const SECRETS = {
  OPENAI_API_KEY: 'sk-openai-upstream',
  GOOGLE_GENERATIVE_AI_API_KEY: 'AIza-google-upstream',
  ANTHROPIC_API_KEY: 'sk-ant-upstream',
}

export type Served = {
  running: Running
  fake: FakeProvider
  port: number
  key(wishes?: Partial<KeyInput>): Promise<NewKey>
  /** A figure of /metrics, by its name without `tollmark_proxy_`. */
  metric(name: string): Promise<number>
  /**
   * A request through the proxy to `address`, with a key's secret; named by the parameter `url`
   * where no form is given.
   */
  send(
    secret: string,
    address: string,
    sent?: Sent & { form?: TargetForm },
  ): Promise<ReceivedResponse>
}

/** TABLE of the two ways to name an address to the proxy. */
export const TARGETS: Readonly<Record<TargetForm, (address: string) => string>> = {
  parameter: (address) => `/proxy?url=${encodeURIComponent(address)}`,
  'base-url': (address) => address.replace('https://', '/proxy/'),
}
export const FORMS: readonly TargetForm[] = ['parameter', 'base-url']

type Settings = Record<string, string>

/**
 * Starts the server with one fake provider behind OpenAI, Google and Anthropic; further settings
 * may depend on the fake's origin.
 */
export async function startServed(
  t: Ends,
  script: Script,
  env: Settings | ((origin: string) => Settings) = {},
  data = usedFolder(t),
  log = openLog('silent'),
): Promise<Served> {
  const fake = await startFake(script)
  const settings = typeof env === 'function' ? env(fake.origin) : env
  const config = readConfig({
    PORT: '0',
    HOST: '127.0.0.1',
    ...(await storeSettings(data)),
    TOLLMARK_SHUTDOWN_TIMEOUT: '1s',
    ...SECRETS,
    TOLLMARK_UPSTREAM_OPENAI: fake.origin,
    TOLLMARK_UPSTREAM_GOOGLE: fake.origin,
    TOLLMARK_UPSTREAM_ANTHROPIC: fake.origin,
    ...settings,
  })
  const running = await serve(config, log, { warm: false })
  t.after(async () => {
    await fake.close()
    await running[Symbol.asyncDispose]()
  })
  return {
    running,
    fake,
    port: running.port,
    async key(wishes = {}) {
      const now = Date.now()
      const { id } = await running.store.run(ensureAccount, {
        name: null,
        plan: 'free',
        newId: newId('acc', now),
        now,
      })
      const key = await createKey(
        running.store,
        id,
        {
          name: 'test',
          models: null,
          rpm: null,
          allowed_origins: null,
          expires_at: null,
          ...wishes,
        },
        now,
      )
      await running.keys?.refresh()
      return key
    },
    async metric(name) {
      const text = await (await fetch(`${running.url}/metrics`)).text()
      return Number(new RegExp(`^tollmark_proxy_${name} (.*)$`, 'm').exec(text)?.[1])
    },
    send: (secret, address, { form = 'parameter', ...sent } = {}) =>
      call(running.port, {
        ...sent,
        target: TARGETS[form](address),
        headers: { Authorization: `Bearer ${secret}`, ...sent.headers },
      }),
  }
}

let shared: Promise<Served> | undefined

/**
 * The server that the tests of this process share, before a provider with this script that has
 * received no request yet. A start costs 0.1 s of CPU, twice that on PostgreSQL. A test that counts
 * rows or connections, or ends the server, needs its own.
 */
export async function shareServed(script: Script): Promise<Served> {
  const served = await (shared ??= startServed(processEnds, script))
  served.fake.play(script)
  served.fake.requests.length = 0
  return served
}

/** Sends raw bytes and gives everything that comes back until the connection closes. */
export async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  socket.on('error', () => {})
  socket.write(bytes, 'latin1')
  await once(socket, 'close')
  return text
}
