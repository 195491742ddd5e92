// A check of `npm run check`: the prose of Markdown pages is wrapped at 100 columns. `npm run wrap`
// wraps it.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { wrapProse } from './wrap-prose.ts'

const root = join(import.meta.dirname, '..')
const PAGES = [
  '*.md',
  'docs/*.md',
  'contributing/*.md',
  'packages/*/README.md',
  'server/*/README.md',
  'examples/README.md',
]

const wrong = globSync(PAGES, { cwd: root }).filter((page) => {
  const text = readFileSync(join(root, page), 'utf8')
  const wrapped = wrapProse(text)
  if (process.argv[2] === '--write') writeFileSync(join(root, page), wrapped)
  return text !== wrapped
})
if (wrong.length > 0 && process.argv[2] !== '--write') {
  console.error(`Not wrapped at 100 columns (npm run wrap does it): ${wrong.join(', ')}`)
  process.exitCode = 1
}
