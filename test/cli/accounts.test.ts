import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tollmark } from '../support/harness.ts'
import { usedFolder } from '../support/templates.ts'

test('the command line creates administrators and password links', async (t) => {
  const env = { TOLLMARK_DATA: usedFolder(t), TOLLMARK_PUBLIC_URL: 'https://ai.example.com' }
  const command = async (...args: string[]) => {
    const { code, out, err } = await tollmark(['accounts', ...args, '--json'], env)
    assert.equal(code, 0, err)
    return JSON.parse(out) as Record<string, string>
  }
  const { id, role } = await command('create', '--name', 'jo')
  assert.equal(role, 'member')
  assert.equal((await command('role', 'jo', 'admin'))['role'], 'admin')
  const reset = await command('reset-password', 'jo')
  assert.equal(reset['account_id'], id)
  assert.match(reset['link'] ?? '', /^https:\/\/ai\.example\.com\/reset-password\?token=tmr_/)
  const { out, err } = await tollmark(['accounts', 'reset-password', 'jo'], {
    ...env,
    TOLLMARK_PUBLIC_URL: '',
    PORT: '9000',
  })
  assert.match(out, /^http:\/\/localhost:9000\/reset-password\?token=\S+\n$/)
  assert.match(
    err,
    /^The link assumes that the server is at http:\/\/localhost:9000\. If it is not, set PORT or TOLLMARK_PUBLIC_URL as for the server\.\n$/,
  )
})
