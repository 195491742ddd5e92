// Every commit from FIRST on says what it does in one line of one form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subjectProblem, listSubjects } from '../../scripts/commit-messages.ts'

/** The last commit from before the rule. */
const FIRST = '97b2779f70028a1aeecc747172427d23f13bd659'

/** TABLE of subjects, and what is said of each; null: it is good. */
const SUBJECTS: [subject: string, complaint: RegExp | null][] = [
  ['fix(proxy): keep the query of a redirect', null],
  ['feat(api)!: drop v0', null],
  ['docs: say what a grace costs', null],
  ['refactor(keys,manage): cut keys.ts', null],
  ['Merge branch main', null],
  [`fix: ${'x'.repeat(67)}`, null],
  [`fix: ${'x'.repeat(68)}`, /has 73 characters/],
  ['fix(proxy): keep the query.', /full stop/],
  ['fixed the query', /must look like/],
  ['fix(Proxy): keep the query', /must look like/],
  ['fix : keep the query', /must look like/],
  ['feature: keep the query', /must look like/],
  ['fix:', /must look like/],
  ['', /must look like/],
]

test('the subject of a commit has one form', () => {
  for (const [subject, complaint] of SUBJECTS) {
    if (complaint === null) assert.equal(subjectProblem(subject), null, subject)
    else assert.match(subjectProblem(subject) ?? '', complaint, subject)
  }
})

test('the commits in this clone have that form', () => {
  // A shallow clone, or an archive without history, does not know the first one.
  const subjects = known(`${FIRST}..HEAD`) ?? known('HEAD~1..HEAD') ?? []
  for (const subject of subjects) assert.equal(subjectProblem(subject), null, subject)
})

function known(range: string): string[] | null {
  try {
    return listSubjects(range)
  } catch {
    return null
  }
}
