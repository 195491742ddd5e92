// The command line beside a server, both on PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { spawnServer, tollmark } from '../support/harness.ts'
import { freshDatabase } from '../support/postgres.ts'
import { respond, startFake } from '../support/providers/fake.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { until } from '../support/until.ts'

process.env['TEST_STORE'] = 'postgres'

test('keys created and revoked by the command line take effect on a running server within a second, and `verify` passes', async (t) => {
  const fake = await startFake(respond(200, { 'Content-Type': 'application/json' }, '{}'))
  t.after(() => fake.close())
  const env = {
    TOLLMARK_DATA: temporaryFolder(t),
    OPENAI_API_KEY: 'sk',
    TOLLMARK_UPSTREAM_OPENAI: fake.origin,
  }
  const server = await spawnServer(t, env)
  const command = async (...args: string[]) => {
    const { code, out, err } = await tollmark([...args, '--json'], env)
    assert.equal(code, 0, err)
    return JSON.parse(out) as Record<string, unknown>
  }
  const { id, secret, allowed_origins } = await command(
    'keys',
    'create',
    '--name',
    'k',
    '--rpm',
    '100',
    '--origins',
    'https://App.test/',
  )
  assert.deepEqual(allowed_origins, ['https://app.test'], 'as browsers write it')
  const use = async () => {
    const url = `${server.url}/proxy?url=${encodeURIComponent('https://api.openai.com/v1/models')}`
    return (
      await fetch(url, {
        headers: { authorization: `Bearer ${String(secret)}`, origin: 'https://app.test' },
      })
    ).status
  }
  await until(async () => (await use()) === 200)
  await command('keys', 'revoke', String(id))
  await until(async () => (await use()) === 401)
  const proof = await command('verify')
  assert.deepEqual([proof['ok'], proof['keys'], proof['limited']], [true, 1, proof['requests']])
  assert.ok(Number(proof['requests']) >= 1)
})

test('an unresponsive database gives one sentence and exit code 1', async (t) => {
  const url = await freshDatabase()
  const env = { TOLLMARK_DATA: temporaryFolder(t), DATABASE_URL: url.href }
  assert.equal((await tollmark(['keys', 'list'], env)).code, 0)
  const holder = new Client({ connectionString: url.href })
  await holder.connect()
  t.after(() => holder.end())
  await holder.query('begin; lock table keys')
  const { code, out, err } = await tollmark(['keys', 'list'], env)
  assert.deepEqual(
    [code, out, err],
    [1, '', 'tollmark: The database does not answer at the moment. Try again in a moment.\n'],
  )
})
