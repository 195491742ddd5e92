// `npm test`: runs the checks in parallel, then the tests. `npm run check` stops after the checks.
// `npm test -- PATTERN …` runs only matching test files, and all of a folder.
import { spawn } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildWhereChanged } from '../dashboard/build.ts'
import { NODE_FLAGS, TEST_FLAGS } from '../test/support/node.ts'
import { closeDatabases, startPostgres } from '../test/support/postgres.ts'
import { makeTemplates } from '../test/support/templates.ts'
import { prebundle } from './prebundle.ts'
import { testPrograms } from './test-processes.ts'

const root = join(import.meta.dirname, '..')
const bin = (name: string) => join(root, 'node_modules', ...name.split('/'))

const [onlyChecks, patterns] =
  process.argv[2] === 'check' ? [true, []] : [false, process.argv.slice(2)]

/** Files that match a pattern. Ends the process if there are none: it is misspelt. */
function matching(pattern: string): string[] {
  const isFolder = statSync(join(root, pattern), { throwIfNoEntry: false })?.isDirectory() ?? false
  const files = globSync(isFolder ? join(pattern, '**/*.test.ts') : pattern, {
    cwd: root,
    exclude: ['**/node_modules/**'],
  }).filter((file) => file.endsWith('.test.ts'))
  if (files.length === 0) {
    console.error(`No test file matches ${pattern}. Give a *.test.ts file, a folder or a pattern.`)
    process.exit(2)
  }
  return files
}

const ALL = ['test', 'packages/*/test/**/*.test.ts']
const tests = [...new Set((patterns.length > 0 ? patterns : ALL).flatMap(matching))].sort()

interface Step {
  /** The name in the output. */
  readonly name: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Arguments of the TypeScript compiler. By default it has four checkers, each of which checks the
 * types that they share again: 11 s of CPU for the sources instead of 7 s.
 */
const tsc = (project: string): string[] => [
  bin('typescript/bin/tsc'),
  '--checkers',
  '1',
  '-p',
  project,
]

/**
 * Settings of programs written in Go, the type-aware linter and the TypeScript compiler: a checker
 * per processor and frequent garbage collection take 14 s and 7.5 s of CPU instead of 10 s and 6 s.
 */
const GO = { GOMAXPROCS: '1', GOGC: '400' }

/** TABLE of independent checks. */
const CHECKS: readonly Step[] = [
  { name: 'types', args: tsc('tsconfig.json') },
  {
    name: "types of the client packages, without Node's",
    args: tsc('packages/tsconfig.json'),
  },
  {
    name: 'types of the dashboard',
    args: tsc('dashboard/tsconfig.json'),
  },
  {
    name: 'nothing unused',
    args: [bin('knip/bin/knip.js'), '--no-progress', '--treat-config-hints-as-errors'],
  },
  { name: 'format', args: [bin('oxfmt/bin/oxfmt'), '--check'] },
  { name: 'width of pages and comments', args: ['scripts/wrap-pages.ts'] },
  {
    name: 'lint',
    args: [
      bin('oxlint/bin/oxlint'),
      '--type-aware',
      '--quiet',
      '--report-unused-disable-directives-severity=error',
    ],
  },
]

/**
 * After this a test has hung (milliseconds). The longest takes 80 s beside three others on two slow
 * processors; a machine may be ten times slower.
 */
const TEST_TIMEOUT_MS = 1_200_000

/** Concurrent test processes: two more than CI has processors, because tests often wait. */
const CONCURRENCY = 4

/** Runs all the programs. @param preload a flag for each */
const testsOf = (
  programs: readonly string[],
  preload: string,
  env: Readonly<Record<string, string>>,
): Step => ({
  name: 'tests',
  env,
  args: [
    ...NODE_FLAGS,
    ...TEST_FLAGS,
    preload,
    '--test',
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    `--test-concurrency=${CONCURRENCY}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${join(root, 'scripts', 'slowest.ts')}`,
    '--test-reporter-destination=stdout',
    ...programs,
  ],
})

/**
 * Node's compile cache for all test processes, kept between runs: with it, a CLI command costs 0.12
 * s of CPU instead of 0.6 s, and a process of tests up to 1.5 s less. Node compares the source.
 */
const COMPILE_CACHE = join(root, 'node_modules', '.cache', 'tests')

/**
 * Compiled files at which the cache is deleted, some 250 MB: a run adds up to some thousands that
 * no other uses, because their folders are temporary.
 */
const MAX_CACHED = 40_000

const countFiles = (folder: string): number =>
  existsSync(folder) ? readdirSync(folder, { recursive: true }).length : 0

/**
 * Runs one step and prints its result. Its output is printed at the end, unless it is `live`.
 * @returns whether it passed
 */
async function run(
  { name, args, env = {} }: Step,
  { live = false }: { live?: boolean } = {},
): Promise<boolean> {
  const started = performance.now()
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: live ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...GO, NODE_ENV: 'test', ...env },
  })
  const printed: Buffer[] = []
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (piece: Buffer) => printed.push(piece))
  const code = await new Promise<number>((resolve) =>
    child.on('close', (ended) => resolve(ended ?? 1)),
  )
  process.stdout.write(Buffer.concat(printed))
  console.log(
    `${code === 0 ? 'passed' : 'FAILED'}: ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`,
  )
  return code === 0
}

function stopOn(problem: string | null): void {
  if (problem === null) return
  console.error(problem)
  process.exit(1)
}

if (patterns.length === 0 && (await Promise.all(CHECKS.map((step) => run(step)))).includes(false))
  process.exit(1)
if (!onlyChecks) {
  // Build the dashboard now, because a build would disturb tests of a server's start.
  stopOn(buildWhereChanged())
  // One PostgreSQL for all files. A file that runs alone starts its own.
  await using postgres = process.env['TEST_DATABASE_URL'] ? null : await startPostgres()
  if (postgres) process.env['TEST_DATABASE_URL'] = postgres.url.href
  if (countFiles(COMPILE_CACHE) > MAX_CACHED) rmSync(COMPILE_CACHE, { recursive: true })
  const shared = mkdtempSync(join(tmpdir(), 'tollmark-run-'))
  const preload = await prebundle()
  const env = {
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} ${preload}`.trim(),
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    TEST_OPENAPI: join(shared, 'openapi.json'),
    ...(await makeTemplates(shared)),
  }
  const programs = testPrograms(root, tests, shared)
  process.exitCode = (await run(testsOf(programs, preload, env), { live: true })) ? 0 : 1
  await closeDatabases()
  rmSync(shared, { recursive: true, force: true })
}
