// A group of commands on its own lists what there is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GROUPS } from '../../server/cli/commands/table.ts'
import { usedFolder } from '../support/templates.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { openCommands } from './commands.ts'

test('each group on its own says what its list says, with and without options', async (t) => {
  const run = openCommands(t, { TOLLMARK_DATA: usedFolder(t) }, temporaryFolder(t))
  for (const group of Object.keys(GROUPS)) {
    const listed = await run(group, 'list', '--json')
    assert.equal(listed.code, 0, listed.err)
    assert.deepEqual(await run(group, '--json'), listed, group)
  }
  assert.deepEqual(await run('requests'), await run('requests', 'list'))
  const explained = await run('requests', '--help')
  assert.match(explained.out, /\nCommands:\n[^]*\nWithout a command, lists all\.\n/)
})
