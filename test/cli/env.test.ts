// What to set for a program or SDK: the table, the command, and the page of the documentation are
// the same.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CLIENTS, fillTemplate } from '../../server/common/clients.ts'
import { clientsPage } from '../../scripts/clients-page.ts'
import { createProviderTable } from '../../server/proxy/providers/table.ts'
import { readTarget } from '../../server/proxy/parse-target.ts'
import { MAIN, NODE_FLAGS } from '../support/node.ts'
import { refusalOf } from './in-process.ts'

const PAGE = join(import.meta.dirname, '../../docs/clients.md')

test('docs/clients.md is in step with the table (UPDATE=1 writes it)', () => {
  const page = clientsPage(CLIENTS)
  if (process.env['UPDATE'] === '1') writeFileSync(PAGE, page)
  assert.equal(readFileSync(PAGE, 'utf8'), page)
})

test("every row names the provider's address, the key and the source", () => {
  const table = createProviderTable()
  for (const client of CLIENTS) {
    const { where, lines } = fillTemplate(client, 'http://localhost:8484', 'tmk_x')
    const text = [where, ...lines].join('\n')
    assert.ok(text.includes('tmk_x') && !/\{(?:base|proxy|key)\}/.test(text), client.name)
    assert.match(client.source, /^https:\/\//)
    // fal's client names its target in a header, and has only the proxy's own address.
    if (client.id === 'fal') {
      assert.match(text, /'http:\/\/localhost:8484\/proxy'/)
      continue
    }
    const target = readTarget(
      `${/http:\/\/localhost:8484(\/proxy\/[^"'\s]+)/.exec(text)?.[1] ?? ''}/x`,
    )
    assert.ok(target.ok, client.name)
    assert.equal(
      table.find(target.upstream.hostname, target.upstream.port)?.provider.id,
      client.provider,
      client.name,
    )
  }
})

test('tollmark env prints lines that a shell can read', async () => {
  for (const [url, settings, origin] of [
    [['--url', 'https://ai.example.com/'], { PORT: '9000' }, 'https://ai.example.com'],
    [[], { PORT: '9000' }, 'http://localhost:9000'],
    [[], { TOLLMARK_PUBLIC_URL: 'https://ai.test' }, 'https://ai.test'],
  ] as const) {
    const args = ['env', 'claude-code', '--key', 'tmk_x', ...url]
    const { stdout } = spawnSync(process.execPath, [...NODE_FLAGS, MAIN, ...args], {
      encoding: 'utf8',
      env: { ...process.env, ...settings },
    })
    assert.equal(
      stdout,
      `# Claude Code → anthropic: environment\nexport ANTHROPIC_BASE_URL=${origin}/proxy/api.anthropic.com\nexport ANTHROPIC_AUTH_TOKEN=tmk_x\n`,
    )
  }
  assert.match(
    (await refusalOf(['env', 'nobody'])).detail,
    /There is no client "nobody"\. Choose from claude-code, /,
  )
})
