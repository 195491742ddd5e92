import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findProblems, readLock, createSbom } from '../../scripts/dependencies.ts'

/** A lockfile with one package. */
const lock = (entry: object, path = 'node_modules/thing'): string =>
  JSON.stringify({ packages: { '': {}, [path]: { version: '1.0.0', ...entry } } })

/** TABLE: what the lockfile says of a package, and what is said to that. */
const CASES: [entry: object, says: RegExp | null][] = [
  [{ license: 'MIT' }, null],
  [{ license: '(AFL-2.1 OR BSD-3-Clause)' }, null],
  [{ license: 'MIT AND Apache-2.0' }, null],
  [{ license: 'MIT AND GPL-3.0-only' }, /licence, MIT AND GPL-3\.0-only, is not allowed/],
  [{ license: 'AGPL-3.0-only' }, /AGPL/],
  [{ license: 'LGPL-3.0-or-later' }, /LGPL/],
  [{ license: 'LGPL-3.0-or-later', optional: true }, /LGPL/],
  [{ license: 'LGPL-3.0-or-later', dev: true }, null],
  [{ license: 'GPL-3.0-only', dev: true }, /GPL/],
  [{}, /which it does not tell/],
  [{ license: 'MIT', hasInstallScript: true }, /thing@1\.0\.0 runs a script/],
  [{ license: 'MIT', hasInstallScript: true, dev: true }, /runs a script/],
]

for (const [entry, says] of CASES) {
  test(`${JSON.stringify(entry)}: ${says === null ? 'allowed' : 'refused'}`, () => {
    const complaints = findProblems(readLock(lock(entry)))
    if (says === null) assert.deepEqual(complaints, [])
    else assert.match(complaints.join('\n'), says)
  })
}

test('an alias counts under its own name, a package in two places once, with its strongest scope', () => {
  const packages = {
    'node_modules/ai-6': { name: 'ai', version: '6.0.0', license: 'MIT', dev: true },
    'node_modules/b/node_modules/ai': { version: '6.0.0', license: 'MIT' },
    'node_modules/ours': { link: true },
    'packages/ours': { version: '1.0.0' },
  }
  assert.deepEqual(
    readLock(JSON.stringify({ packages })).map(({ name, scope }) => [name, scope]),
    [['ai', 'required']],
  )
})

test('our dependencies are allowed, and the SBOM has each with its address, licence and hash', () => {
  const dependencies = readLock(
    readFileSync(join(import.meta.dirname, '..', '..', 'package-lock.json'), 'utf8'),
  )
  assert.deepEqual(findProblems(dependencies), [])
  const { specVersion, components } = JSON.parse(createSbom(dependencies, '1.0.0'))
  assert.equal(specVersion, '1.5')
  assert.equal(components.length, dependencies.length)
  assert.equal(new Set(components.map((one: { purl: string }) => one.purl)).size, components.length)
  for (const { purl, hashes, licenses } of components) {
    assert.match(purl, /^pkg:npm\/(?:%40[\w.-]+\/)?[\w.-]+@[\w.+-]+$/)
    assert.match(hashes[0].content, /^[0-9a-f]{128}$/, purl)
    assert.equal(licenses.length, 1, purl)
  }
})
