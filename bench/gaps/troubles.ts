// TABLE of attacks on other streams by one key, account or stranger.
import { connect, type Socket } from 'node:net'
import { systemClock } from '../../server/common/clock.ts'
import { openLedger } from '../../server/ledger/ledger.ts'
import { openLog } from '../../server/common/log.ts'
import { enterInstance } from '../../server/store/instance.ts'
import { openStore } from '../../server/store/open.ts'
import { headOf } from '../../test/proxy/fairness/attacks.ts'
import type { Attack } from '../../test/proxy/fairness/attack.ts'
import { Hostile } from '../../test/proxy/fairness/hostile.ts'
import { SOCKET_ATTACKS } from '../../test/proxy/fairness/socket-attacks.ts'
import { noise } from '../../test/support/archives/bombs.ts'
import { pageHtml } from '../../test/support/archives/pages.ts'
import { many } from '../../test/support/archives/shapes.ts'
import { archive } from '../../test/support/archives/writer.ts'
import { file, form } from '../../test/support/form.ts'
import {
  CODINGS,
  encoded,
  JSON_BODIES,
  largeForm,
  LARGEST,
  manyFields,
  tokenLists,
  type Body,
} from '../parts/bodies.ts'

/** What an attacker can use. */
export interface Situation {
  readonly port: number
  readonly data: string
  readonly seconds: number
  /**
   * Proxy keys: scoped to models; for everything; with a limit of one request a minute; with a
   * limit of 100,000, and its id and account.
   */
  readonly scoped: string
  readonly open: string
  readonly limited: string
  readonly busy: { readonly secret: string; readonly id: string; readonly account: string }
  /** An API token of the account that the ledger's rows belong to. */
  readonly token: string
}

/** Sends requests until the time is up. */
export interface Client {
  readonly over: boolean
  /** One request. @returns its status, or `cut off` */
  send(
    path: string,
    sent: {
      method?: string
      headers?: Record<string, string>
      body?: Buffer
      hangUpAfter?: number
    },
  ): Promise<string>
  /** Counts a response received in another way. */
  count(response: string, times: number): void
}

/** Prepares an attack. @returns the function that runs it */
export type Trouble = (
  situation: Situation,
) => Promise<(client: Client) => Promise<void>> | ((client: Client) => Promise<void>)

const MB = 1024 * 1024
const to = (address: string): string => `/proxy?url=${encodeURIComponent(address)}`
const CHAT = to('https://api.openai.com/v1/chat/completions')
const EMBEDDINGS = to('https://api.openai.com/v1/embeddings')
const TRANSCRIPTIONS = to('https://api.openai.com/v1/audio/transcriptions')

/** Several callers that each send the next request right after a response. */
const inLoops =
  (callers: number, ask: (client: Client, caller: number) => Promise<unknown>) =>
  async (client: Client): Promise<void> => {
    await Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        while (!client.over) await ask(client, caller)
      }),
    )
  }

const headersOf = (secret: string, { type, encoding }: Body): Record<string, string> => ({
  authorization: `Bearer ${secret}`,
  'content-type': type,
  ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
})

/** Two callers that send the same body repeatedly. */
const bodies =
  (path: string, make: () => Body, who: 'scoped' | 'open' = 'scoped'): Trouble =>
  (situation) => {
    const body = make()
    return inLoops(2, (client) =>
      client.send(path, { headers: headersOf(situation[who], body), body: body.bytes }),
    )
  }

const reading =
  (callers: number, paths: readonly string[]): Trouble =>
  ({ token }) => {
    let next = 0
    return inLoops(callers, (client) =>
      client.send(paths[next++ % paths.length]!, {
        method: 'GET',
        headers: { authorization: `Bearer ${token}` },
      }),
    )
  }

/** So many admissions by another process that the server must reload its window of the key. */
const window: Trouble = async ({ data, busy }) => {
  const clock = systemClock(Date.now)
  const store = await openStore({ data, databaseUrl: null, now: clock.now() })
  const instance = await enterInstance(store, clock.now, () => {})
  const ledger = await openLedger(store, instance.id, clock, openLog('silent'))
  const asking = {
    account_id: busy.account,
    key_id: busy.id,
    rpm: 100_000,
    provider: 'openai',
    model: 'gpt-5',
    endpoint: '/v1/chat/completions',
    method: 'POST',
    context: null,
    child_id: null,
    child_rpm: null,
    end_user: null,
  }
  const body = Buffer.from('{"model":"gpt-5","messages":[]}')
  for (let made = 0; made < 60_000; made += 1_000) {
    await Promise.all(
      Array.from({ length: 1_000 }, (_, i) =>
        ledger.admit({ ...asking, id: `req_window${Date.now()}_${made + i}` }),
      ),
    )
  }
  await ledger.close()
  await instance[Symbol.asyncDispose]()
  await store.close()
  return inLoops(2, (client) =>
    client.send(CHAT, { headers: { authorization: `Bearer ${busy.secret}` }, body }),
  )
}

const conversions: Trouble = ({ token }) => {
  const pages = many(88, (i) => ({
    name: `Page ${i}.html`,
    data: pageHtml(`Page ${i}`, `<p>${noise(MB / 2).toString('hex')}</p>`),
  }))
  const { contentType, body } = form(file('Export.zip', Buffer.from(archive(pages))))
  return inLoops(2, (client) =>
    client.send('/api/v1/convert', {
      headers: { authorization: `Bearer ${token}`, 'content-type': contentType },
      body,
    }),
  )
}

const signIns: Trouble = () => {
  let tries = 0
  return inLoops(200, async (client) => {
    if (++tries > 2_000) return new Promise((resolve) => setTimeout(resolve, 100))
    const body = Buffer.from(
      JSON.stringify({ email: `nobody${tries}@example.com`, password: 'wrong password' }),
    )
    return client.send('/api/v1/session', { headers: { 'content-type': 'application/json' }, body })
  })
}

const small = Buffer.from('{"model":"gpt-5","messages":[{"role":"user","content":"hello"}]}')
const flood =
  (key: (situation: Situation) => string, path = CHAT): Trouble =>
  (situation) =>
    inLoops(50, (client) =>
      client.send(path, {
        headers: { authorization: `Bearer ${key(situation)}`, 'content-type': 'application/json' },
        body: small,
      }),
    )

/** Many callers whose responses the provider breaks off, or ends, in one moment. */
const together =
  (callers: number, fate: 'breaks' | 'ends'): Trouble =>
  ({ open }) =>
    inLoops(callers, (client) =>
      client.send(CHAT, {
        headers: { authorization: `Bearer ${open}`, 'content-type': 'application/json' },
        body: Buffer.from(`{"model":"${fate}-${callers}","messages":[]}`),
      }),
    )

/** Callers that reset their connections in one moment, with a response in progress. */
const resets =
  (callers: number): Trouble =>
  ({ port, open }) =>
  async (client) => {
    // The provider sends the beginning of such a response.
    const body = '{"model":"ends-1000000","messages":[]}'
    const begin = (): Promise<Socket> =>
      new Promise((resolve) => {
        const socket = connect({ port, host: '127.0.0.1' })
        const ready = (): void => resolve(socket)
        socket
          .on('error', () => {})
          .once('data', ready)
          .once('close', ready)
        socket.write(headOf(open, body.length) + body)
      })
    while (!client.over) {
      const sockets = await Promise.all(Array.from({ length: callers }, begin))
      for (const socket of sockets) socket.resetAndDestroy()
      client.count('reset', callers)
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }

const hangUps: Trouble = ({ scoped }) => {
  const body = JSON_BODIES['short messages']!(LARGEST)
  return inLoops(4, (client) =>
    client.send(CHAT, { headers: headersOf(scoped, body), body: body.bytes, hangUpAfter: 40 * MB }),
  )
}

/** An attack by WebSockets: test/proxy/fairness/socket-attacks.ts. */
const bySockets =
  ({ begin }: Attack): Trouble =>
  ({ port, scoped, limited, token }) =>
  async (client) => {
    const hostile = new Hostile(port)
    const scene = { port, key: scoped, usedUp: limited, token, many: 1_000, body: 25 * MB }
    await begin(scene, hostile)
    while (!client.over) await new Promise((resolve) => setTimeout(resolve, 50))
    hostile.close()
    for (const [status, times] of Object.entries(hostile.responses)) client.count(status, times)
  }

const day = (ago: number): string =>
  encodeURIComponent(new Date(Date.now() - ago * 86_400_000).toISOString())

export const TROUBLES: Readonly<Record<string, Trouble>> = {
  nothing: () => inLoops(1, () => new Promise((resolve) => setTimeout(resolve, 50))),
  ...Object.fromEntries(
    Object.entries(JSON_BODIES).map(([name, make]) => [
      `64 MB of ${name}`,
      bodies(CHAT, () => make(LARGEST)),
    ]),
  ),
  '64 MB of short messages, open key': bodies(
    CHAT,
    () => JSON_BODIES['short messages']!(LARGEST),
    'open',
  ),
  '64 MB not quite JSON, open key': bodies(
    CHAT,
    () => JSON_BODIES['not quite JSON']!(LARGEST),
    'open',
  ),
  '20 MB of token lists': bodies(EMBEDDINGS, () => tokenLists(20 * MB)),
  'a form of 60 MB': bodies(TRANSCRIPTIONS, () => largeForm(60 * MB)),
  'a form of small fields': bodies(TRANSCRIPTIONS, () => manyFields(60 * MB)),
  ...Object.fromEntries(
    Object.keys(CODINGS).map((coding) => [
      `60 MB in ${coding}`,
      bodies(CHAT, () => encoded(coding, 60 * MB)),
    ]),
  ),
  ...Object.fromEntries(
    Object.keys(CODINGS).map((coding) => [
      `a bomb of 500 MB in ${coding}`,
      bodies(CHAT, () => encoded(coding, 500 * MB)),
    ]),
  ),
  '64 MB bodies of callers who hang up': hangUps,
  'two callers that got 429': ({ limited }) =>
    inLoops(2, (client) =>
      client.send(CHAT, {
        headers: { authorization: `Bearer ${limited}`, 'content-type': 'application/json' },
        body: small,
      }),
    ),
  '2,000 responses that break at once': together(2_000, 'breaks'),
  '2,000 responses that end at once': together(2_000, 'ends'),
  '2,000 callers that reset at once': resets(2_000),
  'a flood of 401': flood(({ open }) => `${open.slice(0, 20)}AAAAAAAA${open.slice(28)}`),
  'a flood of 403': flood(({ open }) => open, to('https://nobody.invalid/v1/chat/completions')),
  'CSV of 10,000 rows': reading(2, [
    '/api/v1/requests?format=csv',
    '/api/v1/usage?by=hour,key,model&format=csv',
  ]),
  'scrapes of /metrics': reading(200, ['/metrics']),
  'reports without an index': reading(4, [
    '/api/v1/requests?status=404',
    '/api/v1/requests?model=nothing',
    `/api/v1/usage?by=minute,key,model&from=${day(0.99)}`,
    '/api/v1/usage?by=hour,key,model,provider',
    '/api/v1/overview?range=month',
  ]),
  'conversions of 50 MB': conversions,
  '2,000 sign-in attempts': signIns,
  'a window of 60,000 admissions': window,
  ...Object.fromEntries(SOCKET_ATTACKS.map((attack) => [attack.name, bySockets(attack)])),
}
