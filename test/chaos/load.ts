// Callers of everything at once, who write down what they were told.
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { file, form, pageOf } from '../support/form.ts'
import { zip } from '../support/zip.ts'
import type { Fleet } from './fleet.ts'

/** A token or key of each kind that the load uses. */
export interface Secrets {
  /** A proxy key for the models `chaos-*`, without a limit, and one with `RPM`. */
  openKey: string
  limitedKey: string
  /** API tokens of an account without a quota, and of one on the free plan. */
  token: string
  freeToken: string
}

/** Requests a minute of the limited key. */
export const RPM = 40
/** Conversions that the free plan has a day. */
export const FREE = 10

/** What callers know. Nothing in it may turn out to be untrue. */
export interface Told {
  /** Models of proxied requests that got 200 and the whole response. */
  readonly succeeded: Set<string>
  /** Models of requests that were refused, so that no provider may have seen them. */
  readonly refused: Set<string>
  readonly statuses: Map<string, number>
  /**
   * Uploads by their idempotency key: acknowledged with a document, or by a job; `null` while
   * nobody knows.
   */
  readonly uploads: Map<string, 'done' | null>
  /** Jobs: idempotency key → id. */
  readonly jobs: Map<string, string>
  /** Idempotency keys of archives of which nobody knows whether they became jobs. */
  readonly unknownJobs: Set<string>
  /** The free account's: acknowledged, and unknown because the connection broke. */
  free: { done: number; unknown: number }
}

interface ReceivedResponse {
  status: number
  text: string
}

/** The archive that jobs are made of: 40 pages and 300 KB of attachment. */
export function jobArchive(): Buffer {
  const pages = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `Page ${i}.html`,
      pageOf(4000).replace('Team handbook', `Page ${i}`),
    ]),
  )
  return zip({ ...pages, 'fill.bin': Buffer.alloc(300_000) })
}

/** What callers know before they have asked for anything. */
export function nothingTold(): Told {
  return {
    succeeded: new Set(),
    refused: new Set(),
    statuses: new Map(),
    uploads: new Map(),
    jobs: new Map(),
    unknownJobs: new Set(),
    free: { done: 0, unknown: 0 },
  }
}

/**
 * Drives load until `signal`, and notes in `told` what callers are told; resolves when the last one
 * has its response.
 *
 * @param ease how many times longer than usual each caller rests between two requests; jobs come as
 *   often as ever
 */
export async function drive(
  fleet: Fleet,
  secrets: Secrets,
  told: Told,
  ease: number,
  signal: AbortSignal,
): Promise<void> {
  const archive = jobArchive()

  async function again(pause: number, once: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await once()
      await sleep(pause)
    }
  }

  function count(what: string, status: number | null): void {
    const name = `${what} ${status ?? 'broken'}`
    told.statuses.set(name, (told.statuses.get(name) ?? 0) + 1)
  }

  async function proxied(secret: string, what: string, stream: boolean): Promise<void> {
    const model = `chaos-${randomUUID()}`
    const body = JSON.stringify({
      model,
      stream,
      messages: [{ role: 'user', content: 'x'.repeat(500) }],
    })
    const target = `/proxy?url=${encodeURIComponent('https://api.openai.com/v1/chat/completions')}`
    const response = await send(
      fleet,
      'POST',
      target,
      secret,
      { 'content-type': 'application/json' },
      Buffer.from(body),
    )
    count(what, response?.status ?? null)
    if (response?.status === 200) told.succeeded.add(model)
    else if (response !== null && response.status < 500) told.refused.add(model)
  }

  async function freeUpload(): Promise<void> {
    const { contentType, body } = form(file('Page.html', pageOf(2000)))
    const response = await send(
      fleet,
      'POST',
      '/api/v1/convert',
      secrets.freeToken,
      { 'content-type': contentType },
      body,
    )
    count('free upload', response?.status ?? null)
    if (response === null) told.free.unknown++
    else if (response.status === 200) told.free.done++
  }

  /** Sends an upload until there is a response, as a careful caller does. */
  async function careful(
    what: string,
    name: string,
    key: string,
    content: Buffer | string,
  ): Promise<ReceivedResponse | null> {
    const { contentType, body } = form(file(name, content))
    for (let tries = 0; tries < 200; tries++) {
      const response = await send(
        fleet,
        'POST',
        '/api/v1/convert',
        secrets.token,
        { 'content-type': contentType, 'idempotency-key': key },
        body,
      )
      count(what, response?.status ?? null)
      if (response !== null && response.status < 400) return response
      if (signal.aborted) return null
      await sleep(200)
    }
    return null
  }

  async function upload(): Promise<void> {
    const key = randomUUID()
    told.uploads.set(key, null)
    if ((await careful('upload', 'Page.html', key, pageOf(3000))) !== null)
      told.uploads.set(key, 'done')
  }

  async function job(): Promise<void> {
    const key = randomUUID()
    told.unknownJobs.add(key)
    const response = await careful('job', 'Export.zip', key, archive)
    if (response?.status !== 202) return
    told.unknownJobs.delete(key)
    told.jobs.set(key, (JSON.parse(response.text) as { id: string }).id)
  }

  await Promise.all([
    ...Array.from({ length: 6 }, () =>
      again(20 * ease, () => proxied(secrets.openKey, 'proxied', false)),
    ),
    ...Array.from({ length: 4 }, () =>
      again(20 * ease, () => proxied(secrets.openKey, 'stream', true)),
    ),
    ...Array.from({ length: 3 }, () =>
      again(50 * ease, () => proxied(secrets.limitedKey, 'limited', false)),
    ),
    ...Array.from({ length: 2 }, () => again(300 * ease, freeUpload)),
    ...Array.from({ length: 2 }, () => again(100 * ease, upload)),
    ...Array.from({ length: 2 }, () => again(1500, job)),
  ])
}

/** One request on a connection of its own; null where it broke or nobody was there. */
export async function send(
  fleet: Pick<Fleet, 'port'>,
  method: string,
  path: string,
  secret: string,
  headers: Record<string, string> = {},
  body?: Buffer,
): Promise<ReceivedResponse | null> {
  const port = fleet.port()
  if (port === null) {
    await sleep(50)
    return null
  }
  return new Promise((resolve) => {
    const outgoing = request({
      port,
      host: '127.0.0.1',
      method,
      path,
      agent: false,
      timeout: 20_000,
      headers: {
        authorization: `Bearer ${secret}`,
        ...headers,
        ...(body === undefined ? {} : { 'content-length': body.length }),
      },
    })
    const broken = () => resolve(null)
    outgoing.on('error', broken)
    outgoing.on('timeout', () => outgoing.destroy())
    outgoing.on('response', (incoming) => {
      const pieces: Buffer[] = []
      incoming.on('data', (piece: Buffer) => pieces.push(piece))
      incoming.on('error', broken)
      incoming.on('aborted', broken)
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(pieces).toString() }),
      )
    })
    outgoing.end(body)
  })
}
