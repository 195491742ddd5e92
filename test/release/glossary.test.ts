// The glossary of ARCHITECTURE.md: one meaning a word, and only words that the code uses.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..', '..')
const glossary = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').split('## Glossary\n')[1] ?? ''
const rows = [...glossary.matchAll(/^\| ([^|`]+?) \| [^|]+ \| `(\w+)` \|$/gm)].map(
  ([, term = '', identifier = '']) => ({ term, identifier }),
)

/** The values that a list has more than once. */
const repeated = (values: readonly string[]): string[] =>
  values.filter((value, index) => values.indexOf(value) !== index)

test('every row of the glossary has a term, a meaning and an identifier', () => {
  const lines = glossary.split('\n').filter((line) => line.startsWith('| '))
  assert.ok(rows.length > 0)
  assert.equal(rows.length, lines.length - 1) // without the header
})

test('no word is in the glossary twice', () => {
  assert.deepEqual(repeated(rows.map(({ term }) => term.toLowerCase())), [])
  assert.deepEqual(repeated(rows.map(({ identifier }) => identifier)), [])
})

/** A source without its comments. */
const codeOf = (file: string): string =>
  readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

test('the code uses every word of the glossary', () => {
  const files = globSync(['server/**/*.ts', 'packages/*/src/**/*.ts'], { cwd: root })
  const used = new Set(
    files
      .map(codeOf)
      .join('\n')
      .match(/\b[A-Za-z_]\w*\b/g),
  )
  assert.deepEqual(
    rows.filter(({ identifier }) => !used.has(identifier)),
    [],
  )
})

test('no page or sentence for users calls the database a store', () => {
  const pages = globSync(['README.md', 'SECURITY.md', 'docs/**/*.md'], { cwd: root })
  const lines = pages.flatMap((page) => readFileSync(join(root, page), 'utf8').split('\n'))
  const literals = globSync('server/**/*.ts', { cwd: root }).flatMap((file) => [
    ...codeOf(file).matchAll(/(['"`])(?:(?!\1)[^\n\\]|\\.)*\1/g),
  ])
  assert.ok(literals.length > 5_000)
  assert.deepEqual(
    [...lines, ...literals.map(([literal]) => literal)].filter((text) =>
      /\b(?:the|a|no|this|another|new|SQLite|Tollmark) store\b/i.test(text),
    ),
    [],
  )
})
