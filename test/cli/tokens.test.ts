import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Key } from '../../server/keys/keys.ts'
import { PAGE, file, form } from '../form.ts'
import { assertProblem, call, convert, startServer, tollmark } from '../harness.ts'
import { temporaryFolder } from '../temporary.ts'

interface Token {
  id: string
  account_id: string
  scopes: string[]
  secret: string
  status: string
  name: string
  expires_at: string | null
}

const create = (...args: string[]): string[] => ['tokens', 'create', '--name', 'test', ...args]

test('tokens are made for the first account, or for a named one that is made on its plan', async (t) => {
  const env = { TOLLMARK_DATA: temporaryFolder(t), TOLLMARK_PLANS: '{"team":{"conversions_per_day":5}}' }
  const made = async (...args: string[]): Promise<Token> => {
    const { code, out, err } = await tollmark(create('--json', ...args), env)
    assert.equal(code, 0, err)
    return JSON.parse(out) as Token
  }
  const first = await made()
  assert.match(first.secret, /^tmt_/)
  assert.deepEqual([first.scopes, first.status, first.name, first.expires_at], [['convert'], 'active', 'test', null])
  const acme = await made('--account', 'Acme', '--plan', 'team', '--scopes', 'convert,manage', '--expires', '2099-01-31')
  assert.notEqual(acme.account_id, first.account_id)
  assert.deepEqual([acme.scopes, acme.expires_at], [['convert', 'manage'], '2099-01-31T00:00:00.000Z'])
  assert.equal((await made('--account', ' Acme')).account_id, acme.account_id)
  assert.equal((await made()).account_id, first.account_id)

  const list = JSON.parse((await tollmark(['tokens', 'list', '--json'], env)).out) as { object: string; data: Token[] }
  assert.equal(list.object, 'list')
  assert.equal(list.data.length, 4)
  assert.ok(list.data.every((token) => !('secret' in token)))
  const shown = await tollmark(['tokens', 'list'], env)
  assert.equal(shown.out.trim().split('\n').length, 4)

  const server = await startServer(t, env)
  const account = await call(server.url, `/api/v1/accounts/${acme.account_id}`, { token: acme.secret })
  assert.equal(account.json()['plan'], 'team')
})

test('a name that holds control characters is listed in one line, and does nothing to the terminal', async (t) => {
  const env = { TOLLMARK_DATA: temporaryFolder(t) }
  const name = 'a\u001b[2Jb\nc\u202ed'
  for (const nouns of ['keys', 'tokens']) {
    assert.equal((await tollmark([nouns, 'create', '--name', name], env)).code, 0)
    const { out } = await tollmark([nouns, 'list'], env)
    assert.match(out, /^[^\n]+  a\ufffd\[2Jb\ufffdc\ufffdd\n$/)
    assert.equal((JSON.parse((await tollmark([nouns, 'list', '--json'], env)).out) as { data: Token[] }).data[0]?.name, name)
  }
})

test('a running server sees what the command line does at once', async (t) => {
  const server = await startServer(t)
  const env = { TOLLMARK_DATA: server.data }
  const token = JSON.parse((await tollmark(create('--json'), env)).out) as Token
  const good = form(file('Page.html', PAGE))
  assert.equal((await convert(server.url, token.secret, good)).status, 200)
  const revoked = await tollmark(['tokens', 'revoke', token.id], env)
  assert.deepEqual([revoked.code, revoked.out], [0, `${token.id} is revoked.\n`])
  assertProblem(await convert(server.url, token.secret, good), 401, 'invalid_token')
})

test('a key is made for some providers, for the objects of the account, and to read only', async (t) => {
  const env = { TOLLMARK_DATA: temporaryFolder(t) }
  const made = async (...args: string[]) => {
    const { code, out, err } = await tollmark(['keys', 'create', '--name', 'k', '--json', ...args], env)
    assert.equal(code, 0, err)
    const { objects, providers, read_only } = JSON.parse(out) as Key
    return [objects, providers, read_only]
  }
  assert.deepEqual(await made(), ['own', null, false])
  assert.deepEqual(await made('--providers', 'openai, google', '--objects', 'upstream', '--read-only'), ['upstream', ['openai', 'google'], true])
})

/** TABLE of calls that are refused: arguments and the one line that says why. */
const REFUSED: [args: string[], line: RegExp][] = [
  [['tokens'], /^tollmark: Say what to do with tokens: create, list, revoke\.\n$/],
  [['tokens', 'drop'], /^tollmark: Say what to do with tokens/],
  [['tokens', 'create'], /^tollmark: Give the token a name: --name NAME\.\n$/],
  [create('--plan', 'gold'), /^tollmark: There is no plan "gold"\. The plans are free;.*\n$/],
  [create('--scopes', 'all'), /^tollmark: There is no scope "all"\. The scopes are convert, manage\.\n$/],
  [create('--expires', 'soon'), /^tollmark: "soon" is not a date\..*\n$/],
  [create('--expires', '2001-01-01'), /^tollmark: 2001-01-01 lies in the past\.\n$/],
  [create('--expires', '2099-02-30'), /^tollmark: "2099-02-30" is not a date\..*\n$/],
  [create('--expires', '2099-01-31T12:00:00'), /^tollmark: "2099-01-31T12:00:00" is not a date\..*\n$/],
  [create('--name', '  '), /^tollmark: Give the token a name: --name NAME\.\n$/],
  [create('--name', 'x'.repeat(201)), /^tollmark: --name must not be longer than 200 characters\.\n$/],
  [create('--account', ' '), /^tollmark: --account must not be empty\.\n$/],
  [['keys', 'create', '--name', 'x', '--account', ''], /^tollmark: --account must not be empty\.\n$/],
  [create('--account', 'x'.repeat(201)), /^tollmark: --account must not be longer than 200 characters\.\n$/],
  [create('more'), /^tollmark: Unexpected argument 'more'\.\n$/],
  [['keys', 'revoke', 'key_1', 'key_2'], /^tollmark: Unexpected argument 'key_2'\.\n$/],
  [['keys', 'create', '--name', 'x', '--rpm', '-1'], /^tollmark: Option '--rpm' argument is ambiguous\.\n$/],
  [['keys', 'create', '--name', 'x', '--objects', 'all'], /^tollmark: --objects must be own or upstream\.\n$/],
  [['keys', 'create', '--name', 'x', '--providers', 'openai,opnai'], /^tollmark: "opnai" is no provider here\. There are google, .*\n$/],
  [['keys', 'create', '--name', 'x', '--read-only=yes'], /^tollmark: .*\n$/],
  [create('--colour', 'red'), /^tollmark: Unknown option '--colour'\.\n$/],
  [['tokens', 'revoke'], /^tollmark: Say which token: .*\n$/],
  [['tokens', 'revoke', 'tok_x'], /^tollmark: No API token .*\n$/],
  [['keys', 'list', '--account', 'x'], /^tollmark: "tollmark keys list" has no option --account\.\n$/],
  [['keys', 'create', '--name', 'x', '--grace', '1'], /^tollmark: "tollmark keys create" has no option --grace\.\n$/],
  [['tokens', 'revoke', 'tok_x', '--name', 'x'], /^tollmark: "tollmark tokens revoke" has no option --name\.\n$/],
  [['frobnicate'], /^tollmark: There is no command "frobnicate"\. The commands are .*\n$/],
]

test('what cannot be done is refused with one line and exit 1', async (t) => {
  const env = { TOLLMARK_DATA: temporaryFolder(t) }
  for (const [args, line] of REFUSED) {
    const { code, out, err } = await tollmark(args, env)
    assert.deepEqual([code, out], [1, ''], args.join(' '))
    assert.match(err, line)
  }
})

/** TABLE of calls that look for something in a store, or change what is there. */
const ON_WHAT_IS_THERE = [['verify'], ['keys', 'list'], ['keys', 'disable', 'key_x'], ['tokens', 'list'], ['tokens', 'revoke', 'tok_x']]

test('where no database is, only what creates something makes one', async (t) => {
  const data = join(temporaryFolder(t), 'mistyped')
  for (const env of [{ TOLLMARK_DATA: data }, { DATABASE_URL: `sqlite:${data}/other.db`, TOLLMARK_DATA: data }]) {
    for (const args of ON_WHAT_IS_THERE) {
      const { code, out, err } = await tollmark(args, env)
      assert.deepEqual([code, out], [1, ''], args.join(' '))
      assert.match(err, /^tollmark: There is no folder .*mistyped\. Set TOLLMARK_DATA .*\n$/)
    }
  }
  assert.equal(existsSync(data), false)
})
