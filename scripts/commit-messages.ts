// Checks the subjects of commits (CONTRIBUTING.md, "Commits").
//
//   npm run commits -- main..HEAD                the commits of a range: what CI runs
//   npm run commits -- --file .git/COMMIT_EDITMSG   the message of one commit: what the hook runs
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const TYPES = [
  'feat',
  'fix',
  'perf',
  'refactor',
  'test',
  'docs',
  'chore',
  'build',
  'ci',
  'style',
  'revert',
]
const FORM = new RegExp(String.raw`^(?:${TYPES.join('|')})(?:\([a-z0-9,-]+\))?!?: (?<what>\S.*)$`)
const MAX_SUBJECT = 72

/** The error of a commit's subject (the first line of its message), or null. */
export function subjectProblem(subject: string): string | null {
  if (/^(?:Merge|Revert|fixup!|squash!) /.test(subject)) return null
  const what = FORM.exec(subject)?.groups?.['what']
  if (what === undefined)
    return `must look like "fix(proxy): keep the query of a redirect"; types are ${TYPES.join(', ')}`
  if (subject.length > MAX_SUBJECT)
    return `has ${subject.length} characters; ${MAX_SUBJECT} are allowed`
  return what.endsWith('.') ? 'must not end with a full stop' : null
}

/**
 * The subjects of the commits in a range (`main..HEAD`), without merges.
 *
 * @throws Error if git does not know the range
 */
export function listSubjects(range: string): string[] {
  const listed = execFileSync('git', ['log', '--no-merges', '--format=%s', range], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return listed.split('\n').filter((subject) => subject !== '')
}

if (import.meta.main) {
  const [first = 'HEAD~1..HEAD', file] = process.argv.slice(2)
  const subjects =
    first === '--file' && file !== undefined
      ? readFileSync(file, 'utf8').split('\n', 1)
      : listSubjects(first)
  for (const subject of subjects) {
    const complaint = subjectProblem(subject)
    if (complaint === null) continue
    console.error(`"${subject}": the subject of a commit ${complaint}.`)
    process.exitCode = 1
  }
}
