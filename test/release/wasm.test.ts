import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { compileScanner, SCANNER } from '../../scripts/build-wasm.ts'
import { temporaryFolder } from '../support/temporary.ts'

test('the committed module is what its source compiles to', async (t) => {
  const compiled = join(temporaryFolder(t), 'scanner.wasm')
  await compileScanner(compiled)
  assert.ok(
    readFileSync(compiled).equals(readFileSync(SCANNER)),
    'npm run build:wasm has not been run since the source was changed',
  )
})
