import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { COMMANDS } from '../../server/cli/commands/table.ts'
import { SHELLS } from '../../server/cli/completion.ts'

/** TABLE of what has been typed, and what bash offers. */
const TYPED: [typed: string, offered: string][] = [
  ['ke', 'keys'],
  ['keys rev', 'revoke'],
  ['keys create --na', '--name'],
  ['keys create --name x --rp', '--rpm'],
  ['keys show key_1 --u', '--url'],
  ['convert --fo', '--format'],
]

test('bash completes commands and their options', { skip: process.platform === 'win32' }, () => {
  for (const [typed, offered] of TYPED) {
    const words = ['tollmark', ...typed.split(' ')]
    const ask = `\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tollmark; echo "\${COMPREPLY[*]}"`
    const { stdout } = spawnSync(
      'bash',
      ['-c', SHELLS['bash']!(COMMANDS) + ask, 'bash', ...words],
      { encoding: 'utf8' },
    )
    assert.equal(stdout, `${offered}\n`, typed)
  }
})

test('every command has an example', () => {
  const without = COMMANDS.filter(
    ({ name, examples }) => !examples.some((example) => example.includes(`tollmark ${name}`)),
  )
  assert.deepEqual(
    without.map(({ name }) => name),
    [],
  )
})
