import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Key } from '../../server/keys/key-record.ts'
import { PAGE, file, form } from '../support/form.ts'
import { assertProblem, call, convert, startServer, tollmark } from '../support/harness.ts'
import { MAIN, NODE_FLAGS } from '../support/node.ts'
import { usedFolder } from '../support/templates.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { openCommands } from './commands.ts'
import { refusalOf } from './in-process.ts'

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

test('tokens are created for the first account, or for a named one that is created on its plan', async (t) => {
  const env = {
    TOLLMARK_DATA: usedFolder(t),
    TOLLMARK_PLANS: '{"team":{"conversions_per_day":5}}',
  }
  const run = openCommands(t, env, env.TOLLMARK_DATA)
  const made = async (...args: string[]): Promise<Token> => {
    const { code, out, err } = await run(...create('--json', ...args))
    assert.equal(code, 0, err)
    return JSON.parse(out) as Token
  }
  const first = await made()
  assert.match(first.secret, /^tmt_/)
  assert.deepEqual(
    [first.scopes, first.status, first.name, first.expires_at],
    [['convert'], 'active', 'test', null],
  )
  const acme = await made(
    '--account',
    'Acme',
    '--plan',
    'team',
    '--scopes',
    'convert,manage',
    '--expires',
    '2099-01-31',
  )
  assert.notEqual(acme.account_id, first.account_id)
  assert.deepEqual(
    [acme.scopes, acme.expires_at],
    [['convert', 'manage'], '2099-01-31T00:00:00.000Z'],
  )
  assert.equal((await made('--account', ' Acme')).account_id, acme.account_id)
  assert.equal((await made()).account_id, first.account_id)

  const list = JSON.parse((await run('tokens', 'list', '--json')).out) as {
    object: string
    data: Token[]
  }
  assert.equal(list.object, 'list')
  assert.equal(list.data.length, 4)
  assert.ok(list.data.every((token) => !('secret' in token)))
  const shown = await run('tokens', 'list')
  assert.equal(shown.out.trim().split('\n').length, 5, 'a header, and a line each')
  assert.match(shown.out, /^ID +STATUS +PREFIX +SCOPES +EXPIRES \(UTC\) +LAST USED \(UTC\) +NAME\n/)

  const server = await startServer(t, env)
  const account = await call(server.url, `/api/v1/accounts/${acme.account_id}`, {
    token: acme.secret,
  })
  assert.equal(account.json()['plan'], 'team')
})

test('control characters in a name are not sent to the terminal', async (t) => {
  const data = usedFolder(t)
  const run = openCommands(t, { TOLLMARK_DATA: data }, data)
  const name = 'a\u001b[2Jb\nc\u202ed'
  for (const nouns of ['keys', 'tokens']) {
    assert.equal((await run(nouns, 'create', '--name', name)).code, 0)
    const { out } = await run(nouns, 'list')
    assert.match(out, /^ID [^\n]+ NAME\n[^\n]+  a\ufffd\[2Jb\ufffdc\ufffdd\n$/)
    assert.equal(
      (JSON.parse((await run(nouns, 'list', '--json')).out) as { data: Token[] }).data[0]?.name,
      name,
    )
  }
})

test('a running server sees changes by the command line immediately', async (t) => {
  const server = await startServer(t)
  const env = { TOLLMARK_DATA: server.data }
  const token = JSON.parse((await tollmark(create('--json'), env)).out) as Token
  const good = form(file('Page.html', PAGE))
  assert.equal((await convert(server.url, token.secret, good)).status, 200)
  const revoked = await tollmark(['tokens', 'revoke', token.id], env)
  assert.deepEqual([revoked.code, revoked.out], [0, `${token.id} is revoked.\n`])
  assertProblem(await convert(server.url, token.secret, good), 401, 'invalid_token')
})

test("a key can be limited to providers, opened to the account's objects, and made read-only", async (t) => {
  const data = usedFolder(t)
  const run = openCommands(t, { TOLLMARK_DATA: data }, data)
  const made = async (...args: string[]) => {
    const { code, out, err } = await run('keys', 'create', '--name', 'k', '--json', ...args)
    assert.equal(code, 0, err)
    const { objects, providers, read_only } = JSON.parse(out) as Key
    return [objects, providers, read_only]
  }
  assert.deepEqual(await made(), ['own', null, false])
  assert.deepEqual(
    await made('--providers', 'openai, google', '--objects', 'upstream', '--read-only'),
    ['upstream', ['openai', 'google'], true],
  )
})

/** TABLE of calls that look for something in a store, or change what is there. */
const ON_WHAT_IS_THERE = [
  ['verify'],
  ['keys', 'list'],
  ['keys', 'disable', 'key_x'],
  ['tokens', 'list'],
  ['tokens', 'revoke', 'tok_x'],
]

test('only commands that create something create a database', async (t) => {
  const data = join(temporaryFolder(t), 'mistyped')
  t.after(() => {
    delete process.env['TOLLMARK_DATA']
    delete process.env['DATABASE_URL']
  })
  for (const url of ['', `sqlite:${data}/other.db`]) {
    process.env['TOLLMARK_DATA'] = data
    process.env['DATABASE_URL'] = url
    for (const args of ON_WHAT_IS_THERE) {
      const { detail, exit } = await refusalOf(args)
      assert.equal(exit, 1, args.join(' '))
      assert.match(detail, /^There is no folder .*mistyped\. Set TOLLMARK_DATA /)
    }
  }
  assert.equal(existsSync(data), false)
})

test('no store is created in a folder without one unless asked for', async (t) => {
  const cwd = temporaryFolder(t)
  for (const args of [
    ['keys', 'list'],
    ['keys', 'create', '--name', 'x'],
    ['tokens', 'create', '--name', 'x'],
  ]) {
    const { code, out, err } = await tollmark(args, {}, cwd)
    assert.deepEqual([code, out], [1, ''], args.join(' '))
    assert.match(
      err,
      /^tollmark: There is no Tollmark database at .*tollmark\.db\. Run this in the server's folder, .*, or .*\n$/,
    )
  }
  assert.deepEqual(readdirSync(cwd), [])
  const made = await tollmark(['tokens', 'create', '--name', 'x', '--init'], {}, cwd)
  assert.equal(made.code, 0, made.err)
  assert.equal(
    (await tollmark(['keys', 'create', '--name', 'x'], {}, cwd)).code,
    0,
    'now there is one',
  )
})

test(
  'a secret that cannot be printed is not created, or is revoked',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const env = { TOLLMARK_DATA: usedFolder(t) }
    const into = (args: string[], stdout: number) =>
      spawn(process.execPath, [...NODE_FLAGS, MAIN, ...args], {
        env: { ...process.env, ...env },
        stdio: ['ignore', stdout, 'pipe'],
      })
    const ended = async (child: ChildProcess) => {
      let err = ''
      child.stderr?.setEncoding('utf8').on('data', (piece: string) => (err += piece))
      const [code] = (await once(child, 'close')) as [number | null]
      return { code, err }
    }
    const full = openSync('/dev/full', 'w')
    for (const nouns of ['keys', 'tokens']) {
      for (const args of [['create', '--name', 'full'], ['list']]) {
        const { code, err } = await ended(into([nouns, ...args], full))
        assert.equal(code, 1)
        assert.equal(err, 'tollmark: Standard output cannot be written (ENOSPC).\n')
      }
      // The reader is gone by the time that there is something to print.
      const { code, err } = await ended(
        spawn(
          'sh',
          [
            '-c',
            '("$@"; echo $? >&2) | true',
            'sh',
            process.execPath,
            ...NODE_FLAGS,
            MAIN,
            nouns,
            'create',
            '--name',
            'left',
          ],
          { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] },
        ),
      )
      assert.equal(code, 0)
      assert.match(
        err,
        /^tollmark: Standard output cannot be written \(EPIPE\)\. The (?:key|token) \w+ was created and has been revoked again\.\n1\n$/,
      )
      const { data } = JSON.parse((await tollmark([nouns, 'list', '--json'], env)).out) as {
        data: Token[]
      }
      assert.deepEqual(
        data.map(({ name, status }) => [name, status]),
        [['left', 'revoked']],
      )
    }
  },
)
