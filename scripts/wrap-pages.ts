// A check of `npm run check`: the prose of Markdown pages is wrapped at 100 columns, and no comment
// is wider. `npm run wrap` wraps the pages; the formatter leaves comments as they are.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { WIDTH, wrapProse } from './wrap-prose.ts'

const root = join(import.meta.dirname, '..')
const PAGES = [
  '*.md',
  'docs/*.md',
  'contributing/*.md',
  'packages/*/README.md',
  'server/*/README.md',
  'examples/README.md',
]

const SOURCES = [
  '*.{ts,mjs,yaml}',
  '.github/**/*.yml',
  '{bench,dashboard,deploy,examples,packages,scripts,server,test}/**/*.{css,js,jsx,mjs,ts,tsx,yaml}',
]
const OURS = /^(?!.*(?:node_modules|\/dist\/|\/\.))/

/** A line of a comment. In TypeScript, a line that begins with `#` is a private field. */
const commentOf = (file: string): RegExp => (/\.ya?ml$/.test(file) ? /^\s*#/ : /^\s*(?:\/\/|\/?\*)/)
/** What cannot be wrapped: addresses, and directives of the linter. */
const WHOLE = /https?:|oxlint-disable/

function wideComments(file: string): string[] {
  const isComment = commentOf(file)
  return readFileSync(join(root, file), 'utf8')
    .split('\n')
    .flatMap((line, i) =>
      line.length > WIDTH && isComment.test(line) && !WHOLE.test(line) ? `${file}:${i + 1}` : [],
    )
}

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
const wide = globSync(SOURCES, { cwd: root })
  .filter((file) => OURS.test(file))
  .flatMap(wideComments)
if (wide.length > 0) {
  console.error(`Comments of more than ${WIDTH} columns: ${wide.join(', ')}`)
  process.exitCode = 1
}
