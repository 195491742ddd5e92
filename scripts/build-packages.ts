// Compiles the published packages, each into a folder for `npm publish` with its tarball beside it:
// `npm run build:packages -- [FOLDER]`. The repository itself uses the sources, through the export
// condition `tollmark`, which is not published.
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)

interface Published {
  name: string
  folder: string
  /** Whether it also gets a CommonJS build, in `dist/cjs`. */
  commonJs?: true
  /** Its tsconfig; that of the client packages has no Node types. */
  settings: string
}

/** TABLE of the published packages, each after its dependencies. */
export const CLIENT_PACKAGES: Published[] = ['core', 'genai', 'genai-express'].map((folder) => ({
  name: `@proxy-sdk/${folder}`,
  folder: `packages/${folder}`,
  settings: 'packages/tsconfig.json',
  commonJs: true,
}))
/** The packages that are published to npm. */
export const PUBLISHED: Published[] = [
  ...CLIENT_PACKAGES,
  {
    name: '@tollmark/notion-markdown',
    folder: 'packages/notion-markdown',
    settings: 'tsconfig.json',
  },
]

/** Files that are copied unchanged. */
const ALONG = ['README.md', 'CHANGELOG.md']

/**
 * Builds packages into `into/<name>`, so that `into` can serve as a `node_modules`.
 *
 * @throws Error with the compiler's output if one does not compile
 */
export async function buildPackages(
  into: string,
  packages: readonly Published[] = PUBLISHED,
): Promise<void> {
  const built: Record<string, string[]> = {}
  for (const one of packages) {
    const { name, folder, commonJs } = one
    const target = join(into, name)
    rmSync(target, { recursive: true, force: true })
    mkdirSync(target, { recursive: true })
    await compile(one, target, 'dist', { paths: built })
    if (commonJs) {
      await compile(one, target, 'dist/cjs', { ...COMMON_JS, paths: built })
      writeFileSync(join(target, 'dist/cjs/package.json'), '{ "type": "commonjs" }\n')
    }
    // Packages built after this one see it as users do.
    built[name] = [join(target, 'dist', 'index.d.ts')]
    const manifest = published(join(root, folder, 'package.json'))
    writeFileSync(
      join(target, 'package.json'),
      `${JSON.stringify({ ...manifest, ...addressesOf(name, folder) }, null, 2)}\n`,
    )
    for (const file of ALONG)
      if (existsSync(join(root, folder, file))) cpSync(join(root, folder, file), join(target, file))
    cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'))
  }
}

const COMMON_JS = { module: 'commonjs', moduleResolution: 'bundler', verbatimModuleSyntax: false }

/**
 * Compiles the sources of a package for the oldest supported Node, 20.
 *
 * @throws Error with the compiler's output
 */
async function compile(
  { folder, settings }: Published,
  target: string,
  out: string,
  options: Record<string, unknown>,
): Promise<void> {
  const project = join(target, 'tsconfig.json')
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    sourceMap: true,
    inlineSources: true,
    rewriteRelativeImportExtensions: true,
    target: 'es2023',
    rootDir: join(root, folder, 'src'),
    outDir: join(target, out),
    customConditions: [],
    typeRoots: [join(root, 'node_modules', '@types')],
    ...options,
  }
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(root, settings),
      compilerOptions,
      include: [join(root, folder, 'src')],
    }),
  )
  try {
    await run(process.execPath, [
      join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
      '-p',
      project,
    ])
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? String(error.stdout) : ''
    throw new Error(`A package does not compile:\n${said}`, { cause: error })
  } finally {
    rmSync(project)
  }
  // Removes local paths from the maps, which contain the sources.
  for (const map of globSync('**/*.map', { cwd: join(target, out) })) {
    const path = join(target, out, map)
    const whole = z
      .looseObject({ sources: z.array(z.string()) })
      .parse(JSON.parse(readFileSync(path, 'utf8')))
    writeFileSync(
      path,
      JSON.stringify({
        ...whole,
        sources: whole.sources.map((source) => `src/${source.split('/src/').at(-1)}`),
      }),
    )
  }
}

/**
 * Fields of a package.json that are not published: export conditions for the sources, and scripts
 * that pack in place.
 */
const INSIDE = new Set(['tollmark', 'source', 'scripts'])

/** A package.json without them. */
function published(path: string): Record<string, unknown> {
  return z
    .record(z.string(), z.unknown())
    .parse(
      JSON.parse(readFileSync(path, 'utf8'), (name, value: unknown) =>
        INSIDE.has(name) ? undefined : value,
      ),
    )
}

/**
 * Links to a package's sources and bug tracker: the GitHub repository it is built in, or else its
 * page in the registry.
 */
function addressesOf(name: string, folder: string): Record<string, unknown> {
  const repository = process.env['GITHUB_REPOSITORY']
  if (repository === undefined) return { homepage: `https://www.npmjs.com/package/${name}` }
  const home = `https://github.com/${repository}`
  return {
    homepage: `${home}/tree/main/${folder}#readme`,
    bugs: `${home}/issues`,
    repository: { type: 'git', url: `git+${home}.git`, directory: folder },
  }
}

if (import.meta.main) {
  const into = resolve(process.argv[2] ?? join(root, 'dist', 'packages'))
  await buildPackages(into)
  for (const old of globSync('*.tgz', { cwd: into })) rmSync(join(into, old))
  for (const { name } of PUBLISHED) {
    const { stdout } = await run('npm', [
      'pack',
      '--silent',
      '--pack-destination',
      into,
      join(into, name),
    ])
    console.log(join(into, stdout.trim()))
  }
}
