import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/temporary.ts'
import { PAGE } from '../support/form.ts'
import { NODE_FLAGS } from '../support/node.ts'
import { until } from '../support/until.ts'

test('converters share a compile cache, even though converters are killed', async (t) => {
  const folder = temporaryFolder(t)
  const cache = join(folder, 'compiled')
  mkdirSync(cache)
  const path = join(folder, 'Page.html')
  writeFileSync(path, PAGE)
  const compiled = () =>
    readdirSync(cache, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      .length
  // A process of its own: the folder for compiled code is set once for each. It keeps its own code
  // there only when it ends.
  const server = spawn(
    process.execPath,
    [...NODE_FLAGS, join(import.meta.dirname, 'converting-process.ts'), path, folder],
    {
      env: { ...process.env, NODE_COMPILE_CACHE: cache },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  t.after(() => server.kill('SIGKILL'))
  assert.equal(compiled(), 0)
  const [said] = (await once(server.stdout, 'data')) as [Buffer]
  assert.equal(String(said), 'converted\n')
  await until(() => compiled() > 20)
})
