// tollmark migrate, backup, restore and doctor as a person runs them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { tollmark } from '../support/harness.ts'
import { temporaryFolder } from '../support/temporary.ts'

type Json = Record<string, unknown>

/** An S3 service that does not respond. */
const NOWHERE = {
  S3_ENDPOINT: 'http://127.0.0.1:1',
  S3_ACCESS_KEY_ID: 'a',
  S3_SECRET_ACCESS_KEY: 'b',
}

test('a store is migrated, checked, backed up and restored', async (t) => {
  const folder = temporaryFolder(t)
  const run = async (data: string, ...args: string[]): Promise<Json> => {
    const env = { TOLLMARK_DATA: join(folder, data), DATABASE_URL: '' }
    const { code, out, err } = await tollmark([...args, '--json'], env)
    assert.equal(code, 0, err)
    return JSON.parse(out) as Json
  }
  const planned = await run('one', 'migrate', '--dry-run')
  assert.equal(planned['dry_run'], true)
  assert.ok(Array.isArray(planned['migrations']) && planned['migrations'].length > 20)
  assert.deepEqual(await run('one', 'migrate'), { ...planned, dry_run: false })
  assert.deepEqual((await run('one', 'migrate'))['migrations'], [])
  const key = await run('one', 'keys', 'create', '--name', 'k')

  const { object, ok, checks } = await run('one', 'doctor')
  assert.deepEqual([object, ok], ['examination', true])
  assert.deepEqual(
    (checks as Json[]).map(({ name }) => name),
    [
      'versions',
      'clock',
      'disk_sync',
      'disk_space',
      'data_folder',
      'limits',
      'files',
      'master_key',
      'credentials',
      'balancer',
    ],
  )

  const backup = await run('one', 'backup', join(folder, 'backups'))
  assert.deepEqual(
    [backup['object'], backup['store'], backup['encrypted'], backup['files']],
    ['backup', 'sqlite', false, 1],
  )
  const restored = await run('two', 'restore', String(backup['location']))
  assert.equal(restored['created_at'], backup['created_at'])
  assert.equal((await run('two', 'keys', 'show', String(key['id'])))['name'], 'k')
  assert.equal((await run('two', 'verify'))['ok'], true)

  const { code, err } = await tollmark(['backup', 's3://backups/daily'], {
    TOLLMARK_DATA: join(folder, 'one'),
    DATABASE_URL: '',
    ...NOWHERE,
  })
  assert.equal(code, 1)
  assert.match(err, /The file store cannot be used: connect ECONNREFUSED 127\.0\.0\.1:1\./)
})

test('doctor fails and explains what to do if something does not work', async (t) => {
  const data = temporaryFolder(t)
  // The bucket can be seen, but nothing can be stored in it.
  const readOnly = createServer((request, response) => {
    request.resume()
    response.statusCode = request.method === 'HEAD' ? 200 : 403
    response.end('<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>')
  }).listen(0, '127.0.0.1')
  t.after(() => readOnly.close())
  await once(readOnly, 'listening')
  const { code, out } = await tollmark(['doctor', '--json'], {
    TOLLMARK_DATA: data,
    DATABASE_URL: '',
    S3_BUCKET: 'b',
    ...NOWHERE,
    S3_ENDPOINT: `http://127.0.0.1:${(readOnly.address() as AddressInfo).port}`,
  })
  const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: Json[] }
  assert.deepEqual([code, ok], [1, false])
  assert.deepEqual(
    checks
      .filter(({ status }) => status === 'failed')
      .map(({ name, detail }) => `${String(name)}: ${String(detail)}`),
    ['files: files cannot be stored: Access Denied'],
  )
})
