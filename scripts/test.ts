// `npm test`: everything that must hold, in the order in which it fails fastest. `npm run check` stops after the lint.
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { buildWhereChanged } from '../dashboard/build.ts'
import { NODE_FLAGS } from '../test/node.ts'
import { startPostgres } from '../test/postgres.ts'

const root = join(import.meta.dirname, '..')
const node = process.execPath
const bin = (name: string) => join(root, 'node_modules', ...name.split('/'))

const tests = globSync(['test/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'server/**/*.test.ts'], {
  cwd: root,
  exclude: ['**/node_modules/**'],
}).sort()

/** TABLE of steps: what it proves, and the command. */
const steps: { name: string; args: string[]; check?: true }[] = [
  { name: 'types', args: [bin('typescript/bin/tsc'), '-p', 'tsconfig.json'], check: true },
  { name: 'types of the client packages, without Node\'s', args: [bin('typescript/bin/tsc'), '-p', 'packages/tsconfig.json'], check: true },
  { name: 'types of the dashboard', args: [bin('typescript/bin/tsc'), '-p', 'dashboard/tsconfig.json'], check: true },
  { name: 'nothing unused', args: [bin('knip/bin/knip.js'), '--no-progress', '--treat-config-hints-as-errors'], check: true },
  { name: 'lint', args: [bin('oxlint/bin/oxlint'), '--type-aware', '--quiet', '--report-unused-disable-directives-severity=error'], check: true },
  {
    name: 'tests',
    args: [...NODE_FLAGS, '--test', '--test-reporter=spec', '--test-timeout=120000', '--test-concurrency=2', ...tests],
  },
]

/** Runs one step; resolves to its exit code. */
function run(args: string[], env: Record<string, string>): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(node, args, { cwd: root, stdio: 'inherit', env: { ...process.env, NODE_ENV: 'test', ...env } })
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

function stopOn(problem: string | null): void {
  if (problem === null) return
  console.error(problem)
  process.exit(1)
}

const onlyChecks = process.argv[2] === 'check'
for (const step of steps) {
  if (onlyChecks && !step.check) continue
  const started = performance.now()
  // What a server does at its start would be in the way of tests of that start.
  if (!step.check) stopOn(buildWhereChanged())
  // One PostgreSQL for all files; a file that runs alone starts its own.
  await using postgres = step.check || process.env['TEST_DATABASE_URL'] ? null : await startPostgres()
  const code = await run(step.args, postgres ? { TEST_DATABASE_URL: postgres.url.href } : {})
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${code === 0 ? 'passed' : 'FAILED'}: ${step.name} (${seconds} s)`)
  if (code !== 0) process.exit(code)
}
