import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readConfig } from '../../server/config/settings.ts'
import { isLoopback } from '../../server/http1/listen.ts'
import { openStore } from '../../server/store/open.ts'
import { freePort } from '../support/free-port.ts'
import { call, spawnLogging, spawnServer, tollmark } from '../support/harness.ts'
import { MAIN, NODE_FLAGS } from '../support/node.ts'
import { closeDatabases, freshDatabase } from '../support/postgres.ts'
import { usedFolder } from '../support/templates.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { until } from '../support/until.ts'

after(closeDatabases)

test('a port in use gives one sentence and exit code 1', async (t) => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  t.after(() => taken.close())
  const { port } = taken.address() as AddressInfo
  const { code, err } = await tollmark(['serve'], {
    PORT: String(port),
    TOLLMARK_DATA: usedFolder(t),
  })
  assert.equal(code, 1)
  assert.equal(
    err,
    `tollmark: Port ${port} on localhost is in use. Stop the program that uses it, or set PORT to another port.\n`,
  )
})

test('a read-only data folder gives one sentence and exit code 1', async (t) => {
  const file = join(temporaryFolder(t), 'file')
  writeFileSync(file, '')
  const { code, err } = await tollmark(['serve'], { PORT: '0', TOLLMARK_DATA: join(file, 'data') })
  assert.equal(code, 1)
  assert.match(
    err,
    /^tollmark: The data folder .* cannot be written \(ENOTDIR\)\. Set TOLLMARK_DATA to a folder that can\.\n$/,
  )
  await assert.rejects(openStore({ data: file, databaseUrl: null, now: 0 }), {
    name: 'SetupError',
    message: /^The data folder .*file cannot be written \(ENOTDIR\)\./,
  })
})

test('a read-only scratch folder gives one sentence and exit code 1', async (t) => {
  const data = temporaryFolder(t)
  writeFileSync(join(data, 'scratch'), '')
  const { code, err } = await tollmark(['serve'], { PORT: '0', TOLLMARK_DATA: data })
  assert.equal(code, 1)
  assert.match(
    err,
    /^tollmark: The folder .*scratch cannot be written \(ENOTDIR\)\. Make it writable for the user that runs the server\.\n$/,
  )
})

/** TABLE of settings of backups that cannot be used, beside a file, and what the sentence says. */
const BAD_BACKUPS: [settings: (file: string) => Record<string, string>, says: RegExp][] = [
  [
    (file) => ({ TOLLMARK_BACKUP: `${file}/backups` }),
    /^tollmark: The folder .*backups cannot be written \(ENOTDIR\)\.\n$/,
  ],
  [
    () => ({ TOLLMARK_BACKUP: 's3:/backups' }),
    /^tollmark: s3:\/backups names no bucket\. Write s3:\/\/BUCKET\/PREFIX\.\n$/,
  ],
  [
    (file) => ({ TOLLMARK_BACKUP: 's3://backups', TOLLMARK_BACKUP_RECIPIENT: `${file}/key` }),
    /^tollmark: The file .*key, which TOLLMARK_BACKUP_RECIPIENT names, cannot be read \(ENOTDIR\)\.\n$/,
  ],
]

test('a setting of backups that cannot be used gives one sentence and exit code 1', async (t) => {
  const data = temporaryFolder(t)
  const file = join(data, 'file')
  writeFileSync(file, '')
  for (const [settings, says] of BAD_BACKUPS) {
    const { code, err } = await tollmark(['serve'], {
      PORT: '0',
      TOLLMARK_DATA: data,
      ...settings(file),
    })
    assert.equal(code, 1)
    assert.match(err, says)
  }
})

test('an unreadable .env file gives one sentence and exit code 1', async (t) => {
  const cwd = temporaryFolder(t)
  mkdirSync(join(cwd, '.env'))
  const { code, err } = await tollmark(['tokens', 'list'], {}, cwd)
  assert.deepEqual(
    [code, /^tollmark: The settings in .*\.env cannot be read \(EISDIR\)\.\n$/.test(err)],
    [1, true],
  )
})

test('a file that is not a database gives one sentence and exit code 1', async (t) => {
  const data = temporaryFolder(t)
  writeFileSync(
    join(data, 'tollmark.db'),
    'this is no database, but it is long enough to look like one'.repeat(100),
  )
  const { code, err } = await tollmark(['serve'], { PORT: '0', TOLLMARK_DATA: data })
  assert.equal(code, 1)
  assert.match(err, /^tollmark: The database .*tollmark\.db cannot be opened: .*\n$/)
})

test('a store of a newer version gives one sentence and exit code 1', async (t) => {
  const data = temporaryFolder(t)
  {
    await using store = await openStore({ data, databaseUrl: null, now: 0 })
    const migrations = store.db as unknown as {
      insertInto: (table: string) => {
        values: (row: object) => { execute: () => Promise<unknown> }
      }
    }
    await migrations
      .insertInto('migrations')
      .values({ name: '9999-future', applied_at: 0 })
      .execute()
  }
  const { code, err } = await tollmark(['serve'], { PORT: '0', TOLLMARK_DATA: data })
  assert.equal(code, 1)
  assert.match(
    err,
    /^tollmark: The database was written by a newer version of Tollmark \(it has 9999-future\)\..*\n$/,
  )
})

test('every bad setting gives one sentence and exit code 1', async (t) => {
  const env = {
    PORT: 'http',
    TOLLMARK_ROLE: 'boss',
    DATABASE_URL: 'mysql://u:hunter2@h/d',
    TOLLMARK_DATA: usedFolder(t),
  }
  const { code, err } = await tollmark(['serve'], env)
  assert.equal(code, 1)
  assert.equal(err.trim().split('\n').length, 3)
  assert.doesNotMatch(err, /hunter2/)
})

test('an unreachable PostgreSQL gives one sentence and exit code 1, without the password', async (t) => {
  const started = async (url: string, command = ['serve']) => {
    const { code, err } = await tollmark(command, {
      PORT: '0',
      DATABASE_URL: url,
      TOLLMARK_DATA: usedFolder(t),
    })
    assert.equal(code, 1)
    assert.doesNotMatch(err, /hunter2/)
    return err
  }
  assert.match(
    // A server waits for it: test/app/start-without-database.test.ts.
    await started('postgres://u:hunter2@127.0.0.1:1/d', ['tokens', 'list']),
    /^tollmark: The database d on 127\.0\.0\.1:1 cannot be opened: .*ECONNREFUSED.* Check DATABASE_URL, .*\n$/,
  )
  assert.match(
    await started('postgres://u:hunter2@127.0.0.1:1/d?sslrootcert=/not/there'),
    /^tollmark: The database d on 127\.0\.0\.1:1 cannot be opened: ENOENT.*\/not\/there.* Check DATABASE_URL, .*\n$/,
  )
  const missing = await freshDatabase()
  missing.pathname = '/not_there'
  missing.password = 'hunter2'
  assert.match(
    await started(missing.href),
    /^tollmark: The database not_there on .* cannot be opened: the server has no such database\. Create it first\.\n$/,
  )
})

test('settings come from .env in the folder; the environment takes precedence', async (t) => {
  const cwd = temporaryFolder(t)
  mkdirSync(join(cwd, 'elsewhere'))
  writeFileSync(join(cwd, '.env'), 'TOLLMARK_DATA=elsewhere\nLOG_LEVEL=loud\n')
  const { code, err } = await tollmark(['tokens', 'list'], {}, cwd)
  assert.deepEqual([code, err.includes('LOG_LEVEL must be')], [1, true])
  const { out } = await tollmark(['tokens', 'list'], { LOG_LEVEL: 'info' }, cwd)
  assert.equal(out, 'There are no tokens yet.\n')
})

test('with --json the server prints each address as one JSON line', async (t) => {
  const server = await spawnServer(t, { TOLLMARK_DATA: usedFolder(t) }, '--json')
  await server.link()
  const said = server
    .said()
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('tollmark: '))
    .map((line) => JSON.parse(line) as Record<string, string>)
  assert.deepEqual(
    said.map((line) => Object.keys(line)),
    [['url'], ['setup_url']],
  )
  assert.equal((await fetch(`${said[0]?.['url']}/readyz`)).status, 200)
  assert.equal((await fetch(said[1]?.['setup_url'] ?? '')).status, 200)
})

/** TABLE of what to listen on, and whether other machines reach it there. */
const HOSTS: readonly [host: string, reached: boolean][] = [
  ['LOCALHOST', false],
  ['127.8.8.8', false],
  ['::1', false],
  ['0:0:0:0:0:0:0:1', false],
  ['::FFFF:127.0.0.1', false],
  ['0.0.0.0', true],
  ['::', true],
  ['::ffff:10.0.0.7', true],
  ['127.example.com', true],
]

test('only listening where other machines can connect causes a warning', () => {
  assert.deepEqual(
    HOSTS.map(([host]) => [host, !isLoopback(readConfig({ HOST: host }).server.host)]),
    HOSTS,
  )
})

test('a host is recognised in any spelling', async (t) => {
  const log = join(temporaryFolder(t), 'log')
  const server = await spawnLogging(t, openSync(log, 'w'), {
    HOST: 'LocalHost',
    TOLLMARK_DATA: usedFolder(t),
  })
  assert.match(server.url, /^http:\/\/localhost:\d+$/)
  server.kill('SIGTERM')
  assert.equal(await server.exited, 0)
  assert.doesNotMatch(readFileSync(log, 'utf8'), /other machines/)
})

test('the server prints its address', async (t) => {
  const server = await spawnServer(t, { TOLLMARK_DATA: usedFolder(t) })
  assert.match(server.url, /^http:\/\/localhost:\d+$/)
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
})

test(
  'a server whose log cannot be written still serves requests and stops',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const server = await spawnLogging(t, openSync('/dev/full', 'w'), {
      TOLLMARK_DATA: usedFolder(t),
    })
    for (let i = 0; i < 3; i++)
      assert.equal(
        (await fetch(`${server.url}/livez`, { signal: AbortSignal.timeout(5000) })).status,
        200,
      )
    server.kill('SIGTERM')
    assert.equal(await server.exited, 0)
  },
)

test(
  'a server whose output cannot be written starts and stops',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const port = await freePort()
    const env = {
      ...process.env,
      PORT: String(port),
      TOLLMARK_DATA: usedFolder(t),
      DATABASE_URL: '',
    }
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, 'serve'], {
      env,
      stdio: ['ignore', full, full],
    })
    const exited = once(child, 'exit').then(([code]) => code as number | null)
    t.after(() => child.kill('SIGKILL'))
    await until(
      () =>
        child.exitCode !== null ||
        call(`http://localhost:${port}`, '/livez').then(
          ({ status }) => status === 200,
          () => false,
        ),
    )
    child.kill('SIGTERM')
    assert.equal(await exited, 0)
  },
)
