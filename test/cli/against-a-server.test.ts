// Every command that a server's API can serve, against one: by an administrator's token in the
// environment, from a folder that has no store.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { COMMANDS } from '../../server/cli/commands/table.ts'
import { newId } from '../../server/common/ids.ts'
import { PAGE } from '../support/form.ts'
import { startServer, tollmark, type TestServer } from '../support/harness.ts'
import { requestNow } from '../support/ledger-row.ts'
import { ASYNC, pagesOf, type Job } from '../support/jobs.ts'
import { startFake } from '../support/providers/fake.ts'
import { provider } from '../browser/dashboard/seeded.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { zip } from '../support/zip.ts'
import { openCommands, type Said } from './commands.ts'

type Json = Record<string, unknown>

/** Commands that work on this machine only. */
const LOCAL = new Set([
  'serve',
  'verify',
  'migrate',
  'backup',
  'restore',
  'vacuum',
  'doctor',
  'completion',
  'env',
])

interface Bench {
  server: TestServer
  folder: string
  account: string
  run: (line: string, ...more: string[]) => Promise<Said>
  json: (line: string, ...more: string[]) => Promise<Json>
  refused: (line: string, code: string, ...more: string[]) => Promise<Json>
}

/** Commands that have run, by name. */
const seen = new Set<string>()

async function open(t: TestContext): Promise<Bench> {
  const fake = await startFake(provider)
  t.after(() => fake.close())
  const server = await startServer(t, { ...ASYNC, TOLLMARK_UPSTREAM_OPENAI: fake.origin })
  const { secret, account_id: account } = await server.newToken({ scopes: ['convert', 'manage'] })
  const folder = temporaryFolder(t)
  const command = openCommands(
    t,
    { TOLLMARK_URL: server.url, TOLLMARK_TOKEN: secret, TOLLMARK_DATA: join(folder, 'none') },
    folder,
  )
  const run = async (line: string, ...more: string[]): Promise<Said> => {
    const { name } = COMMANDS.find(({ name }) => `${line} `.startsWith(`${name} `))!
    const said = await command(...line.split(' '), ...more)
    if (said.code === 0) seen.add(name)
    return said
  }
  const json = async (line: string, ...more: string[]): Promise<Json> => {
    const { code, out, err } = await run(line, ...more, '--json')
    assert.deepEqual([code, err], [0, ''], line)
    return JSON.parse(out) as Json
  }
  const refused = async (line: string, code: string, ...more: string[]): Promise<Json> => {
    const said = await run(line, ...more, '--json')
    assert.deepEqual([said.code, said.out], [1, ''], line)
    const error = JSON.parse(said.err) as Json
    assert.deepEqual([error['object'], error['code']], ['error', code], line)
    assert.match(String(error['request_id']), /^req_/, line)
    return error
  }
  return { server, folder, account, run, json, refused }
}

const idsOf = ({ data }: Json): unknown[] => (data as Json[]).map(({ id }) => id)

test('the command line works on a running server', async (t) => {
  const bench = await open(t)
  for (const [name, body] of Object.entries(GROUPS)) await t.test(name, () => body(bench))
  await t.test('every command is covered, and none creates a local store', () => {
    assert.deepEqual(
      COMMANDS.map(({ name }) => name).filter((name) => !seen.has(name) && !LOCAL.has(name)),
      [],
    )
    assert.equal(existsSync(join(bench.folder, 'none')), false)
  })
})

/** TABLE of groups of commands, and what must be true of them. */
const GROUPS: Record<string, (bench: Bench) => Promise<void>> = {
  async keys({ account, run, json, refused }) {
    const made = await json(
      'keys create --name app --models gpt-*,o3 --rpm 60 --expires 30d --origins https://app.example.com --providers openai --read-only',
    )
    const { id, secret, account_id, models, rpm, status } = made
    assert.match(String(secret), /^tmk_/)
    assert.deepEqual(
      [account_id, models, rpm, status, made['read_only']],
      [account, ['gpt-*', 'o3'], 60, 'active', true],
    )
    const { out, err } = await run('keys create --name plain')
    assert.match(out, /^tmk_\S+\n$/, 'nothing else, for KEY=$(…)')
    assert.match(err, /^key_\S+: all models, no limit\. The key is not shown again\.\n$/)
    assert.equal(idsOf(await json('keys list')).length, 2)
    assert.deepEqual(idsOf(await json('keys list --search app --status active')), [id])
    assert.match((await run('keys list')).out, /^ID +STATUS +PREFIX +MODELS +LIMIT /)
    assert.equal((await json(`keys show ${String(id)}`))['name'], 'app')
    const changed = await json(
      `keys change ${String(id)} --rpm any --name web --read-only no --expires never`,
    )
    assert.deepEqual(
      [changed['rpm'], changed['name'], changed['read_only'], changed['expires_at']],
      [null, 'web', false, null],
    )
    assert.equal(
      (await json(`keys disable ${String(secret)}`))['status'],
      'disabled',
      'by the key itself',
    )
    const unknown = await run('keys revoke tmk_000000000000secret')
    assert.deepEqual(
      [unknown.code, unknown.err],
      [1, 'tollmark: No key begins with tmk_000000000000. "tollmark keys list" shows them.\n'],
    )
    assert.equal((await run(`keys enable ${String(id)}`)).out, `${String(id)} is active.\n`)
    const rotated = await json(`keys rotate ${String(id)} --grace 0`)
    assert.match(String(rotated['secret']), /^tmk_/)
    assert.notEqual(rotated['secret'], secret)
    const child = await json(
      `keys mint ${String(id)} --ttl 10m --models o3 --rpm 5 --end-user user_7`,
    )
    assert.deepEqual(
      [child['parent_id'], child['models'], child['rpm'], child['end_user']],
      [id, ['o3'], 5, 'user_7'],
    )
    assert.deepEqual(idsOf(await json(`keys list --parent ${String(id)}`)), [child['id']])
    assert.equal((await json(`keys revoke ${String(child['secret'])}`))['status'], 'revoked')
    assert.equal((await json(`keys revoke ${String(id)}`))['status'], 'revoked')
    const { id: gone, secret: leaked } = await json('keys create --name gone')
    assert.equal((await run(`keys purge ${String(leaked)}`)).out, `${String(gone)} is deleted.\n`)
    await refused('keys show', 'key_not_found', String(gone))
    assert.match(
      String((await refused('keys show key_x', 'key_not_found'))['detail']),
      /"tollmark keys list" lists them/,
    )
    await refused('keys rotate', 'key_revoked', String(id))
    const { errors } = await refused('keys create --name x --origins nowhere', 'invalid_field')
    assert.deepEqual(
      (errors as Json[]).map(({ param }) => param),
      ['allowed_origins.0'],
    )
    assert.equal((await run('keys create --json')).code, 2)
  },

  async tokens({ account, run, json, refused }) {
    const made = await json('tokens create --name ci --scopes convert --expires 30d')
    assert.match(String(made['secret']), /^tmt_/)
    assert.equal(made['account_id'], account)
    assert.ok(idsOf(await json('tokens list')).includes(made['id']))
    assert.equal((await json(`tokens show ${String(made['id'])}`))['name'], 'ci')
    assert.equal((await json(`tokens revoke ${String(made['id'])}`))['status'], 'revoked')
    assert.match((await run('tokens list')).out, /^ID +STATUS +PREFIX +SCOPES /)
    assert.equal((await json(`tokens purge ${String(made['id'])}`))['purged'], true)
    await refused('tokens show', 'token_not_found', String(made['id']))
    const plain = await run('tokens create --name plain')
    assert.match(plain.out, /^tmt_\S+\n$/)
    assert.match(plain.err, /^tok_\S+: account ".*", convert\. The token is not shown again\.\n$/)
    await refused('tokens revoke tok_x', 'token_not_found')
    await refused('keys list', 'invalid_token', '--token', 'tmt_wrong')
  },

  async accounts({ run, json, refused }) {
    const { id } = await json('accounts create --name acme')
    assert.ok(idsOf(await json('accounts list')).includes(id))
    assert.equal((await json('accounts show acme'))['id'], id)
    assert.equal((await json('accounts change acme --plan free'))['plan'], 'free')
    assert.equal((await json('accounts change acme --name Acme'))['name'], 'Acme')
    await json('accounts change Acme --name acme')
    const { id: left } = await json('accounts create --name left')
    assert.equal((await run('accounts delete left')).out, `${String(left)} is deleted.\n`)
    assert.ok(!idsOf(await json('accounts list')).includes(left))
    assert.equal((await json('accounts role acme admin'))['role'], 'admin')
    assert.equal((await run('accounts role acme member')).out, `${String(id)} is member.\n`)
    assert.match(
      (await run('accounts reset-password acme')).out,
      /^http:\S+\/reset-password\?token=tmr_\S+\n$/,
    )
    // Its keys are made for it, and are shown to administrators who ask.
    const { id: key } = await json('keys create --name theirs --account acme')
    assert.ok(!idsOf(await json('keys list')).includes(key))
    assert.deepEqual(idsOf(await json('keys list --account acme')), [key])
    assert.ok(idsOf(await json('keys list --account all')).includes(key))
    assert.equal((await json(`keys show ${String(key)}`))['account_id'], id)
    assert.equal((await json('accounts disable acme'))['disabled'], true)
    assert.equal((await json('accounts enable acme'))['disabled'], false)
    assert.match((await run('accounts list')).out, /^ID +ROLE +PLAN +STATUS +E-MAIL +NAME\n/)
    await refused('accounts create --name acme', 'invalid_field')
    const member = await json('tokens create --name member --account acme --scopes manage')
    await refused(
      'accounts create --name x',
      'insufficient_scope',
      '--token',
      String(member['secret']),
    )
    assert.deepEqual(idsOf(await json('keys list', '--token', String(member['secret']))), [key])
    const both = await json('tokens create --name member --account acme --scopes manage,convert')
    await refused(
      'jobs list --account all',
      'insufficient_scope',
      '--token',
      String(both['secret']),
    )
  },

  async 'usage and requests'({ server, account, run, json, refused }) {
    const { id: key } = await json('keys create --name used')
    const sent: string[] = []
    for (const status of [200, 429, 200])
      sent.push(await requestNow(server, { account, key: String(key), model: 'gpt-5', status }))
    const [line] = (await json('usage --by key,model --from 2026-11-01'))['data'] as Json[]
    assert.deepEqual(
      [
        line?.['key_name'],
        line?.['model'],
        line?.['requests'],
        line?.['errors'],
        line?.['tokens_in'],
      ],
      ['used', 'gpt-5', 3, 1, 21],
    )
    assert.match(
      (await run('usage --by day --account all')).out,
      // Without the kinds of tokens that no request had.
      /^DAY +REQUESTS +ERRORS +INPUT +OUTPUT +CACHED\n2026-11-03 +3 +1 +21 +15 +6\n$/,
    )
    assert.deepEqual(idsOf(await json(`requests list --key ${String(key)}`)), sent.toReversed())
    assert.deepEqual(idsOf(await json('requests list --status 4xx --limit 1')), [sent[1]])
    assert.match((await run('requests list')).out, /^ID +TIME \(UTC\) +OUTCOME +STATUS +ERROR /)
    assert.equal((await json(`requests show ${sent[1]}`))['status'], 429)
    const narrow = await json('keys create --name narrow --models gpt-*')
    const response = await fetch(
      `${server.url}/proxy?url=${encodeURIComponent('https://api.openai.com/v1/chat/completions')}`,
      {
        method: 'POST',
        headers: {
          authorization: `Bearer ${String(narrow['secret'])}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ model: 'o3', messages: [] }),
      },
    )
    await response.arrayBuffer()
    assert.equal(response.status, 403)
    const refusals = await json(`requests refused --key ${String(narrow['id'])}`)
    assert.deepEqual(idsOf(refusals), [response.headers.get('x-proxy-request-id')])
    assert.match(
      (await run('requests refused --code model_not_allowed')).out,
      /^ID +TIME \(UTC\) +STATUS +CODE +COUNT +MODEL +KEY\n.* 403 +model_not_allowed +1 +o3 +narrow\n$/,
    )
    const { code, out } = await run('requests export --model gpt-5')
    assert.deepEqual([code, out.trimEnd().split('\r\n').length], [0, 4])
    assert.match(out, /^id,created_at,/)
    await refused('requests show req_x', 'request_not_found')
    await refused('usage --by colour', 'invalid_field')
  },

  async 'providers and credentials'({ server, run, json, refused, folder }) {
    // What is read from standard input, which the other commands have none of.
    const token = await server.token({ scopes: ['manage'] })
    const stored = await tollmark(
      ['credentials', 'add', 'openai', '--name', 'team', '--json'],
      { TOLLMARK_URL: server.url, TOLLMARK_TOKEN: token },
      folder,
      'sk-secret\n',
    )
    assert.deepEqual([stored.code, stored.err], [0, ''])
    seen.add('credentials add')
    const { id } = JSON.parse(stored.out) as { id: string }
    assert.ok(!stored.out.includes('sk-secret'))
    assert.deepEqual(idsOf(await json('credentials list')), [id])
    assert.equal((await json(`credentials pause ${id}`))['status'], 'paused')
    assert.equal((await json(`credentials resume ${id}`))['status'], 'active')
    assert.equal((await json(`credentials test ${id}`))['ok'], true)
    assert.match(
      (await run('providers list')).out,
      /^ID +READY +NAME\n(?:.*\n)*openai +yes +OpenAI\n/,
    )
    assert.deepEqual(await json(`credentials remove ${id}`), { id, deleted: true })
    await refused(`credentials pause ${id}`, 'credential_not_found')
  },

  async 'conversions and jobs'({ server, folder, run, json, refused }) {
    writeFileSync(join(folder, 'Page.html'), PAGE)
    assert.match((await run('convert Page.html')).out, /^# Team handbook\n/)
    // An archive is converted in the background here, and waited for.
    writeFileSync(join(folder, 'Export.zip'), pagesOf(2))
    const { code, err } = await run('convert Export.zip -o out/ --metadata')
    assert.deepEqual([code, err], [0, ''])
    assert.match(
      readFileSync(join(folder, 'out', readdirSync(join(folder, 'out'))[0]!), 'utf8'),
      /Kind words 1/,
    )
    const { data } = (await json('jobs list')) as { data: Job[] }
    const [job] = data
    assert.deepEqual([job?.status, job?.file.name], ['succeeded', 'Export.zip'])
    assert.match(
      (await run('jobs list')).out,
      /^ID +STATUS +CREATED \(UTC\) +PAGES +BYTES +FILE\n\S+ +succeeded +\S+ \S+ +2\/2 /,
    )
    assert.equal((await json(`jobs show ${job?.id}`))['status'], 'succeeded')
    assert.match((await run(`jobs result ${job?.id}`)).out, /Kind words 0/)
    assert.equal((await run(`jobs result ${job?.id} -o result.md`)).code, 0)
    assert.match(readFileSync(join(folder, 'result.md'), 'utf8'), /Kind words 0/)

    const waiting = await waitingJob(server, 'acme')
    assert.deepEqual(idsOf(await json('jobs list --account acme')), [waiting])
    assert.ok(!idsOf(await json('jobs list')).includes(waiting))
    assert.ok(idsOf(await json('jobs list --account all')).includes(waiting))
    assert.equal((await json(`jobs cancel ${waiting}`))['status'], 'canceled')
    await refused('jobs show job_x', 'job_not_found')
    await refused(`jobs result ${waiting}`, 'result_expired')
    writeFileSync(join(folder, 'Empty.zip'), zip({}))
    await refused('convert Empty.zip', 'invalid_file')
  },

  async 'what cannot be'({ run }) {
    const gone = await run('keys list --url http://127.0.0.1:1 --json')
    assert.deepEqual([gone.code, gone.out], [1, ''])
    assert.match(
      String((JSON.parse(gone.err) as Json)['detail']),
      /^The server at http:\/\/127\.0\.0\.1:1 cannot be reached \(/,
    )
    const wrong = await run('keys list --colour --json')
    assert.deepEqual([wrong.code, (JSON.parse(wrong.err) as Json)['code']], [2, 'misuse'])
  },
}

/** A job of another account whose turn is far away. */
async function waitingJob(
  { store, clock, newToken }: TestServer,
  account: string,
): Promise<string> {
  const { account_id } = await newToken({ account })
  const id = newId('job', clock())
  await store.db
    .insertInto('jobs')
    .values({
      id,
      account_id,
      status: 'queued',
      format: 'markdown',
      include_metadata: 0,
      source_map: 0,
      certify: 0,
      certificate: null,
      file_name: 'x.zip',
      file_size: 1,
      upload_blob: null,
      result_blob: null,
      pages_done: 0,
      pages_total: null,
      created_at: clock(),
      started_at: null,
      finished_at: null,
      expires_at: null,
      error_code: null,
      error_detail: null,
      claimable_at: clock() + 1e9,
      instance_id: null,
      claim: null,
      claims: 0,
      failures: 0,
      turn: 0,
      counted_day: null,
      quota_limit: null,
    })
    .execute()
  return id
}

test('a page in place of a response is an error, not a record or a document', async (t) => {
  const server = createServer((request, response) => {
    request.resume()
    response.setHeader('content-type', request.url?.includes('keys') ? 'text/plain' : 'text/html')
    response.end('<html>Sign in</html>')
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'page.html'), PAGE)
  const run = openCommands(
    t,
    {
      TOLLMARK_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      TOLLMARK_TOKEN: 'tmt_x',
    },
    folder,
  )
  for (const line of ['keys list', 'tokens list', 'convert page.html']) {
    const { code, out, err } = await run(...line.split(' '))
    assert.deepEqual([code, out], [1, ''], line)
    assert.match(err, /The response \(200\) is not from a Tollmark server\./, line)
  }
})
