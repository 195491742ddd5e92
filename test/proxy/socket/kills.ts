// kill -9 of a server whose sockets have automatic responses under way: every response that the
// provider has started has a row in the ledger, none two, and no window is over its limit. For a
// test, and for a bench that does it more often.
import { hash } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket, WebSocketServer } from 'ws'
import { ensureAccount } from '../../../server/accounts/accounts.ts'
import { createKey } from '../../../server/keys/keys.ts'
import { verifyWindows, type Violation } from '../../../server/ledger/reports/verify.ts'
import { flushJournal } from '../../../server/ledger/settlement/journal.ts'
import { openStore } from '../../../server/store/open.ts'
import type { Store } from '../../../server/store/store.ts'
import { settingsOf, type Place } from '../../support/place.ts'

/** A server in a process of its own. */
export interface Killable {
  readonly port: number
  /** Ends it with SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
}

/** What was found after the kills. */
export interface Killed {
  kills: number
  /** Responses that the provider has started, and rows in the ledger. */
  started: number
  rows: number
  /** Sockets that have fewer rows than responses, or more than the one that is reserved ahead. */
  wrong: { socket: string; started: number; rows: number }[]
  /**
   * Rows of the key that has a limit, in each round: never above it, and just as many where it was
   * waited until the limit had closed its sockets.
   */
  limited: { rows: number; isFull: boolean }[]
  violations: Violation[]
}

export interface KillOptions {
  rounds: number
  /** Sockets at once, half of them on a key with a limit. */
  sockets: number
  rpm: number
  /** Responses that have begun in a round before the server is killed. */
  responses: number
}

/** Milliseconds between two pieces of audio. */
const AUDIO_MS = 20
/** Pieces of audio in a sentence: the provider responds when it has heard one. */
const SENTENCE = 10
/** How long a response takes (milliseconds). */
const RESPONSE_MS = 100

/**
 * Responds to each sentence by itself, as with `turn_detection`, one at a time; counts what it has
 * started by socket.
 */
async function startProvider() {
  const started = new Map<string, number>()
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  let onResponse = (): void => {}
  server.on('connection', (socket, request) => {
    const name = new URL(request.url ?? '', 'http://x').searchParams.get('name') ?? ''
    let heard = 0
    let isBusy = false
    const end = (response: object): void => {
      isBusy = false
      socket.send(JSON.stringify({ type: 'response.done', response }))
    }
    socket.on('error', () => {})
    socket.on('message', () => {
      if (isBusy || ++heard % SENTENCE !== 0) return
      isBusy = true
      const count = (started.get(name) ?? 0) + 1
      started.set(name, count)
      onResponse()
      const id = `resp_${name}_${count}`
      socket.send(JSON.stringify({ type: 'response.created', response: { id } }))
      setTimeout(end, RESPONSE_MS, { id, usage: { input_tokens: 3, output_tokens: 5 } }).unref()
    })
  })
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    started,
    /** Resolves when so many more responses have begun. */
    begun: (count: number) =>
      new Promise<void>((resolve) => {
        let left = count
        onResponse = () => void (--left === 0 && resolve())
      }),
    close: () => server.close(),
  }
}

/** A client that sends audio, in real time, until it is cut off. */
function speak(port: number, secret: string, name: string): Promise<void> {
  const address = `https://api.openai.com/v1/realtime?model=gpt-realtime&name=${name}`
  const socket = new WebSocket(`ws://127.0.0.1:${port}/proxy?url=${encodeURIComponent(address)}`, {
    headers: { Authorization: `Bearer ${secret}`, 'X-Proxy-Context-Key': name },
  })
  socket.on('error', () => {})
  socket.on('open', () => {
    const audio = JSON.stringify({ type: 'input_audio_buffer.append', audio: 'AAAA' })
    const timer = setInterval(() => socket.send(audio, () => {}), AUDIO_MS)
    socket.on('close', () => clearInterval(timer))
  })
  return new Promise<void>((resolve) => socket.on('close', () => resolve()))
}

const inLedger = (name: string): string => hash('sha256', name).slice(0, 32)

/**
 * Starts a server, speaks to it over many sockets, kills it, and does that again; every second time
 * when the limit of the second key has closed all of its sockets.
 *
 * @param start starts a server with these settings
 */
export async function killWithSockets(
  place: Place,
  { rounds, sockets, rpm, responses }: KillOptions,
  start: (env: Record<string, string>) => Promise<Killable>,
): Promise<Killed> {
  const provider = await startProvider()
  const limits: { id: string; isFull: boolean }[] = []
  try {
    for (let round = 0; round < rounds; round++) {
      const [free, limited] = await makeKeys(place, round, rpm)
      limits.push({ id: limited.id, isFull: round % 2 === 1 })
      const { port, kill } = await start({
        HOST: '127.0.0.1',
        ...settingsOf(place),
        LOG_LEVEL: 'silent',
        OPENAI_API_KEY: 'sk',
        TOLLMARK_UPSTREAM_OPENAI: provider.origin,
      })
      const begun = provider.begun(responses)
      const ends = Array.from({ length: sockets }, (_, i) =>
        speak(port, (i % 2 === 0 ? free : limited).secret, `round-${round}-socket-${i}`),
      )
      await begun
      if (limits[round]!.isFull) await Promise.all(ends.filter((_, i) => i % 2 === 1))
      // At another moment of a sentence each time.
      await sleep((round * 37) % (SENTENCE * AUDIO_MS))
      await kill()
    }
  } finally {
    provider.close()
  }
  await using store = await openStore({ ...place, now: Date.now() })
  return { kills: rounds, ...(await audit(store, provider.started, limits)) }
}

async function makeKeys(place: Place, round: number, rpm: number) {
  const now = Date.now()
  await using store = await openStore({ ...place, now })
  const account = await store.run(ensureAccount, { name: null, plan: 'free', newId: 'acc_x', now })
  const wishes = { models: null, rpm: null, allowed_origins: null, expires_at: null }
  return [
    await createKey(store, account.id, { ...wishes, name: `free ${round}` }, now),
    await createKey(store, account.id, { ...wishes, name: `limited ${round}`, rpm }, now),
  ] as const
}

/** Compares what the provider has started with the ledger. */
async function audit(
  store: Store,
  started: ReadonlyMap<string, number>,
  limits: readonly { id: string; isFull: boolean }[],
): Promise<Omit<Killed, 'kills'>> {
  await store.run(flushJournal, null)
  const rows = await store.db.selectFrom('requests').select(['key_id', 'context']).execute()
  const written = Map.groupBy(rows, ({ context }) => context)
  const counts = [...started].map(([socket, count]) => ({
    socket,
    started: count,
    rows: written.get(inLedger(socket))?.length ?? 0,
  }))
  return {
    started: counts.reduce((sum, one) => sum + one.started, 0),
    rows: rows.length,
    wrong: counts.filter((one) => one.rows < one.started || one.rows > one.started + 1),
    limited: limits.map(({ id, isFull }) => ({
      rows: rows.filter(({ key_id }) => key_id === id).length,
      isFull,
    })),
    violations: (await verifyWindows(store)).violations,
  }
}
