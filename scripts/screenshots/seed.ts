// The data in the pictures: a month of traffic, and very long names and numbers.
import { seeded } from '../../test/support/random.ts'
import {
  ADMIN,
  ANTHROPIC,
  cookieOf,
  GEMINI,
  OPENAI,
  type Site,
} from '../../test/browser/dashboard/seeded.ts'

const DAY = 86_400_000

/** TABLE of keys: name, fields, requests on a typical day, addresses. */
const KEYS = [
  {
    name: 'Website chat',
    models: ['gemini-2.5-flash', 'gemini-2.5-pro'],
    rpm: 600,
    day: 14,
    address: () => GEMINI('gemini-2.5-flash'),
    body: {},
  },
  {
    name: 'Support triage',
    models: ['gpt-5-mini', 'gpt-5*'],
    rpm: 120,
    day: 8,
    address: () => OPENAI,
    body: { model: 'gpt-5-mini' },
  },
  {
    name: 'Nightly summaries',
    models: ['claude-*'],
    rpm: 30,
    day: 5,
    address: () => ANTHROPIC,
    body: { model: 'claude-sonnet-4-5', max_tokens: 100 },
  },
  {
    name: 'Research notebook',
    models: null,
    rpm: null,
    day: 3,
    address: () => GEMINI('gemini-2.5-pro'),
    body: {},
  },
  {
    name: 'Mobile app (beta)',
    models: ['gemini-2.5-flash'],
    rpm: 60,
    day: 2,
    address: () => GEMINI('gemini-2.5-flash'),
    body: {},
    expires: 5,
  },
]

/** Invites a person and accepts. */
async function admit(site: Site, cookie: string, email: string): Promise<void> {
  const { link } = (await (
    await site.api(cookie, 'POST', '/api/v1/invitations', { email })
  ).json()) as { link: string }
  await site.api(null, 'POST', '/api/v1/invitations/accept', {
    token: new URL(link).searchParams.get('token'),
    email,
    password: 'another good password',
  })
}

interface MadeKey {
  readonly id: string
  readonly secret: string
}

async function makeKey(site: Site, cookie: string, wishes: object): Promise<MadeKey> {
  return (await (await site.api(cookie, 'POST', '/api/v1/keys', wishes)).json()) as MadeKey
}

const expiryOf = (days: number | undefined): string | null =>
  days === undefined ? null : new Date(Date.now() + days * DAY).toISOString()

/**
 * Creates what an administrator would have set up a month ago: credentials, tokens, a deleted key.
 */
async function setUpAccount(site: Site, cookie: string): Promise<void> {
  for (const [name, secret, weight] of [
    ['team account', 'sk-ant-1', 3],
    ['overflow', 'sk-ant-2', 1],
  ])
    await site.api(cookie, 'POST', '/api/v1/credentials', {
      provider: 'anthropic',
      name,
      secret,
      weight,
    })
  const old = await makeKey(site, cookie, { name: 'Prototype 2025' })
  await site.api(cookie, 'DELETE', `/api/v1/keys/${old.id}`)
  await site.api(cookie, 'POST', '/api/v1/tokens', { name: 'Docs pipeline', scopes: ['convert'] })
  await site.api(cookie, 'POST', '/api/v1/tokens', {
    name: 'Terraform',
    scopes: ['convert', 'manage'],
  })
}

type SeededKey = (typeof KEYS)[number] & MadeKey

/** Makes the calls of one day, `day` days ago, in order. */
async function callFor(
  site: Site,
  keys: readonly SeededKey[],
  day: number,
  chance: () => number,
): Promise<void> {
  const weekend = [0, 6].includes(new Date(Date.now() - day * DAY).getUTCDay())
  const calls = keys.flatMap((key) =>
    Array.from(
      {
        length: Math.round(
          key.day * (weekend ? 0.4 : 1) * (0.7 + chance() * 0.6) * (day < 1 ? 3 : 1),
        ),
      },
      () => ({ key, at: chance() }),
    ),
  )
  for (const { key, at } of calls.sort((a, b) => a.at - b.at)) {
    site.behind(day * DAY + (1 - at) * DAY * (day === 0 ? 0.95 : 1))
    const bad = chance() < 0.025
    const size = 400 + Math.floor(chance() * 3000)
    const prompt = bad
      ? `status ${chance() < 0.5 ? 500 : 400}`
      : `${size}/${Math.floor(size * (0.1 + chance() * 0.3))}/${Math.floor(size * chance() * 0.7)}`
    await (
      await site.proxied(key.secret, key.address(), {
        ...key.body,
        contents: [{ parts: [{ text: prompt }] }],
        messages: [{ role: 'user', content: prompt }],
      })
    ).arrayBuffer()
  }
}

/**
 * Sends a month of traffic through the real proxy and creates a second account; the same each time
 * except for the dates.
 */
export async function seed(site: Site): Promise<{ cookie: string; firstKey: string }> {
  const chance = seeded(7)
  site.behind(31 * DAY)
  let cookie = await site.setUp()
  const keys: SeededKey[] = []
  for (const key of KEYS) {
    const { name, models, expires } = key
    const expires_at = expiryOf(expires)
    keys.push({ ...key, ...(await makeKey(site, cookie, { name, models, expires_at })) })
  }
  await setUpAccount(site, cookie)
  for (let day = 30; day >= 0; day--) await callFor(site, keys, day, chance)
  // The last one is a stream, so its timeline has two parts.
  site.behind(4 * 60_000)
  const [firstKey, , claudeKey] = keys
  if (firstKey === undefined || claudeKey === undefined) throw new Error('KEYS has too few rows')
  const stream = {
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    stream: true,
    messages: [{ role: 'user', content: '2840/412/1900' }],
  }
  await (await site.proxied(claudeKey.secret, ANTHROPIC, stream)).arrayBuffer()
  site.behind(0)
  // Signs in again after the month.
  cookie = cookieOf(await site.api(null, 'POST', '/api/v1/session', ADMIN))
  for (const { id, rpm } of keys) await site.api(cookie, 'PATCH', `/api/v1/keys/${id}`, { rpm })
  await admit(site, cookie, 'linus@example.com')
  await site.api(cookie, 'POST', '/api/v1/invitations', { email: 'grace@example.com' })
  return { cookie, firstKey: firstKey.id }
}

/** Adds very long names, models and numbers. @returns the id of the longest key */
export async function lengthen(site: Site, cookie: string): Promise<string> {
  const name =
    'A name that somebody wrote as if it were a sentence, about what the key is for and who asked for it, with Donaudampfschifffahrtsgesellschaftskapitänsmützenhersteller'
  const model =
    'publishers/anthropic/models/claude-sonnet-4-5-with-a-very-long-suffix@20260929-preview-experimental-0123456789'
  const { account } = (await (await site.api(cookie, 'GET', '/api/v1/session')).json()) as {
    account: { id: string }
  }
  await site.api(cookie, 'PATCH', `/api/v1/accounts/${account.id}`, { plan: 'unlimited' })
  const origins = Array.from(
    { length: 6 },
    (_, number) => `https://a-subdomain-${number}.of-some-rather-long-domain.example.com`,
  )
  const models = [model, 'gemini-2.5-*', 'gpt-5*', 'claude-*', 'o4-mini']
  const made = await makeKey(site, cookie, { name, models, rpm: 1_000_000 })
  await site.api(cookie, 'PATCH', `/api/v1/keys/${made.id}`, { models: null })
  for (let number = 0; number < 12; number++)
    await (
      await site.proxied(made.secret, OPENAI, {
        model,
        messages: [{ role: 'user', content: '98765432109/1234567890/45678901234' }],
      })
    ).arrayBuffer()
  await site.api(cookie, 'PATCH', `/api/v1/keys/${made.id}`, {
    models,
    allowed_origins: origins,
  })
  for (let number = 0; number < 25; number++)
    await site.api(cookie, 'POST', '/api/v1/keys', { name: `Tenant ${number}` })
  await site.api(cookie, 'POST', '/api/v1/tokens', { name, scopes: ['convert', 'manage'] })
  await site.api(cookie, 'POST', '/api/v1/credentials', {
    provider: 'azure',
    name,
    secret: 'x',
    weight: 1000,
    values: { resource: 'a-resource-with-a-long-name-of-our-own' },
  })
  await site.api(cookie, 'POST', '/api/v1/providers', {
    id: 'a-provider-whose-id-is-as-long-as-it-may-be-0123456789',
    origin: `https://${'inference.'.repeat(6)}example.com`,
    dial: null,
    auth: null,
  })
  const email = `${'somebody.with.a.long.name.'.repeat(2)}x@${'department.'.repeat(4)}example.com`
  await admit(site, cookie, email)
  await site.api(cookie, 'POST', '/api/v1/invitations', { email })
  return made.id
}
