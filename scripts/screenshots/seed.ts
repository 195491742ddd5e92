// What the dashboard of the pictures shows: a month of traffic, and names and numbers as long as
// they come.
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

/** TABLE of keys and what they do: name, wishes, requests on a usual day, addresses. */
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

/** Invites somebody, who accepts. */
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

/**
 * A month of traffic that went through the real proxy, and somebody else's account; the same each
 * time, but for its dates.
 */
export async function seed(site: Site): Promise<{ cookie: string; firstKey: string }> {
  const chance = seeded(7)
  site.behind(31 * DAY)
  let cookie = await site.setUp()
  await site.api(cookie, 'POST', '/api/v1/credentials', {
    provider: 'anthropic',
    name: 'team account',
    secret: 'sk-ant-1',
    weight: 3,
  })
  await site.api(cookie, 'POST', '/api/v1/credentials', {
    provider: 'anthropic',
    name: 'overflow',
    secret: 'sk-ant-2',
    weight: 1,
  })
  const made: { id: string; secret: string }[] = []
  for (const { name, models, expires } of KEYS) {
    const expires_at =
      expires === undefined ? null : new Date(Date.now() + expires * DAY).toISOString()
    made.push(
      (await (
        await site.api(cookie, 'POST', '/api/v1/keys', { name, models, expires_at })
      ).json()) as { id: string; secret: string },
    )
  }
  const old = (await (
    await site.api(cookie, 'POST', '/api/v1/keys', { name: 'Prototype 2025' })
  ).json()) as { id: string }
  await site.api(cookie, 'DELETE', `/api/v1/keys/${old.id}`)
  await site.api(cookie, 'POST', '/api/v1/tokens', { name: 'Docs pipeline', scopes: ['convert'] })
  await site.api(cookie, 'POST', '/api/v1/tokens', {
    name: 'Terraform',
    scopes: ['convert', 'manage'],
  })
  for (let day = 30; day >= 0; day--) {
    const weekend = [0, 6].includes(new Date(Date.now() - day * DAY).getUTCDay())
    const calls = KEYS.flatMap((key, index) =>
      Array.from(
        {
          length: Math.round(
            key.day * (weekend ? 0.4 : 1) * (0.7 + chance() * 0.6) * (day < 1 ? 3 : 1),
          ),
        },
        () => ({ key, secret: made[index]!.secret, at: chance() }),
      ),
    )
    for (const { key, secret, at } of calls.sort((a, b) => a.at - b.at)) {
      site.behind(day * DAY + (1 - at) * DAY * (day === 0 ? 0.95 : 1))
      const bad = chance() < 0.025
      const size = 400 + Math.floor(chance() * 3000)
      const prompt = bad
        ? `status ${chance() < 0.5 ? 500 : 400}`
        : `${size}/${Math.floor(size * (0.1 + chance() * 0.3))}/${Math.floor(size * chance() * 0.7)}`
      await (
        await site.proxied(secret, key.address(), {
          ...key.body,
          contents: [{ parts: [{ text: prompt }] }],
          messages: [{ role: 'user', content: prompt }],
        })
      ).arrayBuffer()
    }
  }
  // The last one is a stream: its way through time has two parts.
  site.behind(4 * 60_000)
  const stream = {
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    stream: true,
    messages: [{ role: 'user', content: '2840/412/1900' }],
  }
  await (await site.proxied(made[2]!.secret, ANTHROPIC, stream)).arrayBuffer()
  site.behind(0)
  // Now, because a month in seconds would meet the limits.
  cookie = cookieOf(await site.api(null, 'POST', '/api/v1/session', ADMIN))
  for (const [index, { rpm }] of KEYS.entries())
    await site.api(cookie, 'PATCH', `/api/v1/keys/${made[index]!.id}`, { rpm })
  await admit(site, cookie, 'linus@example.com')
  await site.api(cookie, 'POST', '/api/v1/invitations', { email: 'grace@example.com' })
  return { cookie, firstKey: made[0]!.id }
}

/** Adds names, models and numbers as long as they come; gives the id of the longest key. */
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
  const made = (await (
    await site.api(cookie, 'POST', '/api/v1/keys', {
      name,
      models: [model, 'gemini-2.5-*', 'gpt-5*', 'claude-*', 'o4-mini'],
      rpm: 1_000_000,
    })
  ).json()) as { id: string; secret: string }
  await site.api(cookie, 'PATCH', `/api/v1/keys/${made.id}`, { models: null })
  for (let number = 0; number < 12; number++)
    await (
      await site.proxied(made.secret, OPENAI, {
        model,
        messages: [{ role: 'user', content: '98765432109/1234567890/45678901234' }],
      })
    ).arrayBuffer()
  await site.api(cookie, 'PATCH', `/api/v1/keys/${made.id}`, {
    models: [model, 'gemini-2.5-*', 'gpt-5*', 'claude-*', 'o4-mini'],
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
