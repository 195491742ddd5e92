import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { openConverters } from '../../server/convert/converters.ts'
import { temporaryFolder } from '../temporary.ts'
import { PAGE } from '../form.ts'
import { until } from '../until.ts'

test('what the first converter has compiled the next ones find, although converters are killed', async (t) => {
  const folder = temporaryFolder(t)
  const cache = join(folder, 'compiled')
  enableCompileCache(cache)
  const path = join(folder, 'Page.html')
  writeFileSync(path, PAGE)
  const converters = openConverters({ atOnce: 1, queue: 10, deadline: 30_000, heap: 64 * 1_048_576 })
  t.after(() => converters[Symbol.asyncDispose]())
  const compiled = () => readdirSync(cache, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length
  assert.equal(compiled(), 0)
  const task = { path, kind: 'html', fileName: 'Page.html', uploadedAt: 0, format: 'markdown', includeMetadata: false, scratch: join(folder, 'scratch'), output: join(folder, 'out') } as const
  await converters.run(task, { whole: true })
  await until(() => compiled() > 20, 10_000)
})
