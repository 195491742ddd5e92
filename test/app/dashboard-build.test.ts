import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { NODE_FLAGS } from '../support/node.ts'

const MAIN = join(import.meta.dirname, '../../server/app/main.ts')

/**
 * A server that cannot start, because its data folder is a file, and says whether it would build.
 */
const PROGRAM = `
  import { main } from ${JSON.stringify(MAIN)}
  const buildDashboard = () => (console.log('builds'), null)
  await main({ TOLLMARK_DATA: ${JSON.stringify(import.meta.filename)} }, { buildDashboard }).catch(() => {})
  process.exit()
`

test('a worker, whose role comes from the environment, does not build the dashboard', () => {
  for (const [role, says] of [
    ['worker', ''],
    ['web', 'builds\n'],
  ] as const) {
    const { stdout } = spawnSync(
      process.execPath,
      [...NODE_FLAGS, '--input-type=module', '--eval', PROGRAM],
      { env: { ...process.env, TOLLMARK_ROLE: role }, encoding: 'utf8' },
    )
    assert.equal(stdout, says, role)
  }
})
