// Every endpoint that a provider's own client calls has a class. The lists in `published/` are read
// from the packages that their first lines name: `class METHODS /path`, `{}` for a parameter.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { PROVIDERS } from '../../../server/proxy/providers/rows/index.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { SDK_ENDPOINTS } from './sdk-endpoints.ts'

const folder = join(import.meta.dirname, 'published')
const table = createProviderTable({
  instances: [
    { provider: 'azure', values: { resource: 'acme' } },
    { provider: 'bedrock', values: { region: 'us-east-1' } },
  ],
})

const listed = readdirSync(folder).map((file) => file.replace(/\.txt$/, ''))

for (const id of listed) {
  const [source = '', ...lines] = readFileSync(join(folder, `${id}.txt`), 'utf8')
    .trimEnd()
    .split('\n')
  test(`${id}: every endpoint of ${source.slice('# '.length)} has the class that is written here`, () => {
    assert.match(source, /^# [@\w/-]+ \d+\.\d+\.\d+$/)
    assert.ok(lines.length > 0)
    const provider = table.byId(id)
    assert.ok(provider)
    const found = lines.map((line) => {
      const [, ...methods] = line.split(' ')
      const path = methods.pop() ?? ''
      const classes = methods.map(
        (method) => classify(provider, method, path.replaceAll('{}', 'x1')).class,
      )
      return [[...new Set(classes)].join('/'), ...methods, path].join(' ')
    })
    assert.deepEqual(found, lines)
    assert.ok(lines.every((line) => /^(?:model|neutral|minting|admin) /.test(line)))
  })
}

test('every provider has a list here, or among what the AI SDK calls', () => {
  const called = new Set(
    SDK_ENDPOINTS.map(({ on }) => {
      const host = on.slice(on.indexOf(' ') + 1).replace(/\/.*$/, '')
      return table.find(host, 443)?.provider.id
    }),
  )
  const missing = PROVIDERS.filter(({ id }) => !listed.includes(id) && !called.has(id))
  assert.deepEqual(
    missing.map(({ id }) => id),
    [],
  )
})
