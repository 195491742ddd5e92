// Four days of a server's life, and what its callers and its API say at the end: a release's data
// is made by its own code, and later versions must say the same of it.
import assert from 'node:assert/strict'
import * as z from 'zod'
import { DAY, HOUR } from '../../../server/common/clock.ts'
import { beginPartition } from '../../../server/ledger/retention/partitions.ts'
import { flushJournal } from '../../../server/ledger/settlement/journal.ts'
import { ADMIN, ANTHROPIC, cookieOf, GEMINI, OPENAI } from '../../browser/dashboard/seeded.ts'
import type { Site } from '../../browser/dashboard/seeded.ts'
import { PAGE, file, form } from '../../support/form.ts'
import { zip } from '../../support/zip.ts'
import { until } from '../../support/until.ts'

const RESPONSES = 'https://api.openai.com/v1/responses'

/** The settings of that server, on every store. */
export const SETTINGS = {
  // Every archive becomes a job.
  TOLLMARK_ASYNC_ABOVE: '100',
  // Its ledger has partitions on PostgreSQL.
  TOLLMARK_LEDGER_RETENTION: '30d',
  // What lies in the folder is part of the release.
  TOLLMARK_RESULT_RETENTION: '365d',
}

/** How long before the end the life begins, in milliseconds. */
export const LIFETIME = 5 * DAY

/** What a release's data is held against. */
export const Memory = z.object({
  /** The server's clock when it was recorded, in milliseconds since 1970. */
  at: z.number(),
  /** The secrets of its callers: an API token, and keys by name. */
  token: z.string(),
  keys: z.record(z.string(), z.string()),
  /** An object that the key `owner` has made. */
  object: z.string(),
  /** A job of the token that has succeeded, and its document. */
  job: z.string(),
  document: z.string(),
  /** What the API says to its administrator, by path. */
  answers: z.record(z.string(), z.json()),
  /** The files of its data folder beside the database, in base64. */
  files: z.record(z.string(), z.string()),
})
export type Memory = z.infer<typeof Memory>

const Made = z.object({ id: z.string(), secret: z.string() })
type Made = z.infer<typeof Made>

/** Uses a new server as its people would. @returns what is asked of later versions */
export async function live(site: Site): Promise<Omit<Memory, 'at' | 'answers' | 'files'>> {
  const cookie = await site.setUp()
  const make = async (path: string, body: object): Promise<Made> => {
    const response = await site.api(cookie, 'POST', `/api/v1/${path}`, body)
    assert.equal(response.status, 201, path)
    return Made.parse(await response.json())
  }
  const key = (name: string, fields: object = {}) => make('keys', { name, ...fields })
  const keys = {
    scoped: await key('scoped', { models: ['gpt-5*', 'gemini-*'] }),
    limited: await key('limited', { rpm: 2 }),
    owner: await key('owner', { objects: 'own' }),
    reader: await key('reader', { read_only: true }),
    revoked: await key('revoked'),
  }
  await addMembers(site, cookie, make)
  const object = await callForDays(site, keys)
  await site.api(cookie, 'DELETE', `/api/v1/keys/${keys.revoked.id}`)
  const child = await make(`keys/${keys.scoped.id}/children`, { ttl: 3600, end_user: 'user 7' })
  assert.equal(await statusOf(site, child.secret, 'gpt-5'), 200)
  const { secret: token } = await make('tokens', { name: 'pipeline', scopes: ['convert'] })
  const job = await convert(site, token)
  await site.running.store.run(flushJournal, null)
  return {
    token,
    keys: Object.fromEntries(
      Object.entries({ ...keys, child }).map(([name, { secret }]) => [name, secret]),
    ),
    object,
    job,
    document: await documentOf(site, token, job),
  }
}

async function addMembers(
  site: Site,
  cookie: string,
  make: (path: string, body: object) => Promise<Made>,
): Promise<void> {
  for (const [path, body] of [
    ['credentials', { provider: 'anthropic', name: 'team', secret: 'sk-ant-release', weight: 2 }],
    [
      'providers',
      { id: 'own-models', origin: 'https://models.example.com', dial: null, auth: null },
    ],
    ['invitations', { email: 'grace@example.com' }],
  ] as const) {
    const response = await site.api(cookie, 'POST', `/api/v1/${path}`, body)
    assert.equal(response.status, 201, await response.text())
  }
  await make('tokens', { name: 'terraform', scopes: ['convert', 'manage'] })
}

/** Requests of four days, with failures and a stream. @returns the id of a stored response */
async function callForDays(site: Site, keys: Record<string, Made>): Promise<string> {
  const { store } = site.running
  for (let day = 3; day >= 0; day--) {
    if (store.dialect === 'postgres') await beginPartition(store, Date.now() - day * DAY, 30 * DAY)
    for (const [hour, name, address, body] of [
      [20, 'scoped', OPENAI, { model: 'gpt-5', messages: said('900/120/400/10') }],
      [19, 'scoped', GEMINI('gemini-2.5-pro'), { contents: [{ parts: [{ text: '50/60/7' }] }] }],
      [18, 'scoped', OPENAI, { model: 'gpt-4o', messages: [] }],
      [16, 'reader', OPENAI, { model: 'gpt-5', messages: said('status 500') }],
      [15, 'revoked', ANTHROPIC, { model: 'claude-sonnet-4-5', stream: true, messages: [] }],
      [15, 'revoked', ANTHROPIC, { model: 'claude-sonnet-4-5', messages: said('status 400') }],
    ] as const) {
      site.behind(day * DAY + hour * HOUR)
      const { secret = '' } = keys[name] ?? {}
      await (await site.proxied(secret, address, body)).arrayBuffer()
    }
  }
  site.behind(0)
  const stored = await site.proxied(keys['owner']?.secret ?? '', RESPONSES, {
    model: 'gpt-5',
    input: '5/6/0',
  })
  return z.object({ id: z.string() }).parse(await stored.json()).id
}

const said = (content: string): object[] => [{ role: 'user', content }]

/** Converts an archive. @returns the id of its job, which has succeeded */
async function convert(site: Site, token: string): Promise<string> {
  const { contentType, body } = form(file('Export.zip', zip({ 'Team handbook.html': PAGE })))
  const accepted = await callAs(token, `${site.url}/api/v1/convert`, {
    method: 'POST',
    headers: { 'content-type': contentType },
    body,
  })
  assert.equal(accepted.status, 202)
  const Job = z.object({ id: z.string(), status: z.string() })
  const { id } = Job.parse(await accepted.json())
  const read = async () =>
    Job.parse(await (await callAs(token, `${site.url}/api/v1/jobs/${id}`)).json())
  await until(async () => (await read()).status === 'succeeded')
  return id
}

/** The document of a job. */
export async function documentOf(site: Site, token: string, job: string): Promise<string> {
  const response = await callAs(token, `${site.url}/api/v1/jobs/${job}/result`)
  assert.equal(response.status, 200)
  return response.text()
}

/** The status of a chat by a key. */
export async function statusOf(site: Site, secret: string, model: string): Promise<number> {
  const response = await site.proxied(secret, OPENAI, { model, messages: said('1/2/0') })
  await response.arrayBuffer()
  return response.status
}

/** The status of reading a stored response. */
export async function readStatus(site: Site, secret: string, object: string): Promise<number> {
  const address = encodeURIComponent(`${RESPONSES}/${object}`)
  const response = await callAs(secret, `${site.url}/proxy?url=${address}`)
  await response.arrayBuffer()
  return response.status
}

function callAs(secret: string, url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${secret}` } })
}

const Page = z.object({ data: z.array(z.looseObject({ id: z.string() })) })

/** What the API says to the administrator of what has been recorded until `at`. */
export async function ask(site: Site, at: number): Promise<Memory['answers']> {
  const cookie = cookieOf(await site.api(null, 'POST', '/api/v1/session', ADMIN))
  const answers: Memory['answers'] = {}
  const get = async (path: string): Promise<unknown> => {
    const response = await site.api(cookie, 'GET', `/api/v1/${path}`)
    assert.equal(response.status, 200, path)
    const answer = z.json().parse(await response.json())
    answers[path] = answer
    return answer
  }
  const period = `from=${new Date(at - 7 * DAY).toISOString()}&to=${new Date(at).toISOString()}`
  for (const path of ['accounts', 'tokens', 'credentials', 'invitations']) await get(path)
  // Each version has providers of its own.
  const stored = ({ source }: Record<string, unknown>): boolean => source === 'stored'
  const providers = Page.parse(await get('providers')).data.filter(stored)
  answers['providers'] = z.json().parse({ data: providers })
  for (const by of ['day,model', 'day,key', 'hour,provider']) await get(`usage?by=${by}&${period}`)
  for (const { id } of Page.parse(await get('keys?limit=100')).data) await get(`keys/${id}`)
  for (const filter of ['outcome=failed', 'model=gpt-5', 'status=4xx'])
    await get(`requests?limit=100&${filter}`)
  const { data } = Page.parse(await get('requests?limit=100'))
  for (const { id } of data.slice(0, 8)) await get(`requests/${id}`)
  return answers
}
