// `npm run release:check [-- SBOM]`: checks a release. Builds and packs all published packages and
// inspects the tarballs; checks licences and install scripts of all dependencies; asks the registry
// for known vulnerabilities. Writes the SBOM if a path is given.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { buildPackages, PUBLISHED } from './build-packages.ts'
import { findProblems, readLock, createSbom } from './dependencies.ts'

const root = join(import.meta.dirname, '..')

/** What a tarball may contain, and what it must contain. */
const MAY = /^(?:dist\/.+\.(?:js|d\.ts)|package\.json|README\.md|CHANGELOG\.md|LICENSE)$/
const MUST = [
  'package.json',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'dist/index.js',
  'dist/index.d.ts',
]
/** Scripts that npm runs on installation. */
const LIFECYCLE = ['preinstall', 'install', 'postinstall', 'prepare']

const Manifest = z.object({
  license: z.literal('MIT'),
  scripts: z.record(z.string(), z.string()).default({}),
  exports: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])),
  publishConfig: z.object({ access: z.literal('public') }),
})
const Packed = z.tuple([
  z.object({
    filename: z.string(),
    size: z.number(),
    files: z.array(z.object({ path: z.string() })),
  }),
])
const Advisories = z.object({
  metadata: z.object({ vulnerabilities: z.record(z.string(), z.number()) }),
})

/** Packs a built package. @returns its faults */
function checkPackage(name: string, folder: string): string[] {
  const done = spawnSync('npm', ['pack', '--json', '--ignore-scripts'], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (done.status !== 0) return [`${name} cannot be packed: ${done.stderr}`]
  const [{ size, files }] = Packed.parse(JSON.parse(done.stdout))
  const paths = new Set(files.map(({ path }) => path))
  const { exports, scripts } = Manifest.parse(
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
  )
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  )
  console.log(`${name}: ${String(paths.size)} files, ${(size / 1024).toFixed(1)} KB`)
  return [
    ...[...paths].filter((path) => !MAY.test(path)).map((path) => `${name} holds ${path}`),
    ...MUST.filter((path) => !paths.has(path)).map((path) => `${name} lacks ${path}`),
    ...targets
      .filter((target) => !paths.has(target.replace(/^\.\//, '')))
      .map((target) => `${name} exports ${target}, which is not in it`),
    ...LIFECYCLE.filter((script) => script in scripts).map(
      (script) => `${name} has a script "${script}"`,
    ),
  ]
}

/**
 * Known vulnerabilities from the registry, as a sentence, because not every registry supports the
 * query.
 */
function audit(): string {
  const done = spawnSync('npm', ['audit', '--json'], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  })
  try {
    const counts = Object.entries(
      Advisories.parse(JSON.parse(done.stdout)).metadata.vulnerabilities,
    ).filter(([kind, count]) => kind !== 'total' && count > 0)
    return counts.length === 0
      ? 'none known'
      : `${counts.map(([kind, count]) => `${String(count)} ${kind}`).join(', ')}; run \`npm audit\` for details`
  } catch {
    return 'the registry does not answer `npm audit`'
  }
}

const complaints: string[] = []
const into = mkdtempSync(join(tmpdir(), 'tollmark-release-'))
try {
  await buildPackages(into)
  for (const { name } of PUBLISHED) complaints.push(...checkPackage(name, join(into, name)))
} finally {
  rmSync(into, { recursive: true, force: true })
}

const dependencies = readLock(readFileSync(join(root, 'package-lock.json'), 'utf8'))
complaints.push(...findProblems(dependencies))
const counted = (scope: string): string =>
  `${String(dependencies.filter((one) => one.scope === scope).length)} ${scope}`
console.log(`dependencies: ${['required', 'optional', 'dev'].map(counted).join(', ')}`)
const licences = Map.groupBy(
  dependencies.filter(({ scope }) => scope !== 'dev'),
  ({ licence }) => licence ?? '',
)
console.log(
  `licences of what runs or builds: ${[...licences].map(([licence, { length }]) => `${licence} ${String(length)}`).join(', ')}`,
)

const sbom = process.argv[2]
if (sbom !== undefined) {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')))
  writeFileSync(sbom, createSbom(dependencies, version))
  console.log(`SBOM: ${sbom}`)
}
console.log(`vulnerabilities: ${audit()}`)

for (const complaint of complaints) console.error(`✗ ${complaint}`)
process.exitCode = complaints.length === 0 ? 0 : 1
