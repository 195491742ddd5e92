// Builds the package `tollmark`: the command line, the server and the built dashboard, as
// JavaScript, because Node does not strip types in `node_modules`. Each of our files stays a
// separate file, because threads, processes and procedures are found by their URL; dependencies are
// bundled, so that the package installs nothing except, on Linux, a Node. `npm run build:product --
// [FOLDER]` packs it.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { rolldown, type OutputChunk } from 'rolldown'
import { parseAst } from 'rolldown/parseAst'
import * as z from 'zod'
import { buildWhereChanged } from '../dashboard/build.ts'
import { ASSEMBLY } from './build-wasm.ts'

const root = join(import.meta.dirname, '..')
const SOURCES = ['server/**/*.ts', 'packages/notion-markdown/src/**/*.ts']
/** TABLE of imports that resolve to our sources. */
const OURS: Readonly<Record<string, string>> = {
  '@tollmark/notion-markdown': 'packages/notion-markdown/src/index.js',
  '@tollmark/notion-markdown/archive': 'packages/notion-markdown/src/archive/index.js',
  '@tollmark/notion-markdown/formats': 'packages/notion-markdown/src/formats.js',
}
/** Optional modules, loaded if installed. */
const EXTERNAL = ['pg-native', 'pg-cloudflare']

/** `import('…')`. */
const DYNAMIC = /\bimport\('([^']+)'\)/g
/** `new URL('…', import.meta.url)`: programs of threads and processes, and files that are read. */
const ASSET = /new URL\('([\w./-]+)', import\.meta\.url\)/g

/** Names imported from npm packages; `*` for everything. */
type Wanted = Map<string, Set<string>>

/**
 * Writes one of our files as JavaScript, line by line.
 *
 * @param wanted collects its imports from npm
 */
function compile(file: string, dist: string, wanted: Wanted): void {
  const target = join(dist, file.replace(/\.ts$/, '.js'))
  const code = stripTypeScriptTypes(readFileSync(join(root, file), 'utf8'), { mode: 'strip' })
  let linked = code.replaceAll(
    DYNAMIC,
    (_whole, specifier: string) => `import('${redirectImports(specifier, file, ['*'], wanted)}')`,
  )
  for (const { start, end, specifier, names } of listImports(linked).reverse()) {
    linked = `${linked.slice(0, start)}'${redirectImports(specifier, file, names, wanted)}'${linked.slice(end)}`
  }
  const placed = linked.replaceAll(ASSET, (whole, path: string) => {
    if (path.endsWith('.ts')) return whole.replace(/\.ts'/, ".js'")
    const asset = join(dirname(file), path)
    mkdirSync(dirname(join(dist, asset)), { recursive: true })
    cpSync(join(root, asset), join(dist, asset))
    return whole
  })
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, placed)
}

/** Rewrites the import specifiers. */
function redirectImports(
  specifier: string,
  file: string,
  names: readonly string[],
  wanted: Wanted,
): string {
  if (specifier.startsWith('node:')) return specifier
  if (specifier.startsWith('.')) return specifier.replace(/\.ts$/, '.js')
  const ours = OURS[specifier]
  if (ours === undefined)
    wanted.set(specifier, (wanted.get(specifier) ?? new Set()).union(new Set(names)))
  const path = relative(dirname(file), ours ?? vendored(specifier)).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}

/** The bundled file of an npm package. */
const vendored = (specifier: string): string =>
  `vendor/${specifier.replaceAll('/', '-').replace('@', '')}.js`

interface Import {
  /** Position of the specifier, including quotes. */
  start: number
  end: number
  specifier: string
  /** Imported names; `*` for everything. */
  names: string[]
}

const Source = z.object({ start: z.number(), end: z.number(), value: z.string() })
const Name = z.union([
  z.object({ name: z.string() }).transform(({ name }) => name),
  z.object({ value: z.string() }).transform(({ value }) => value),
])
const Node = z.object({
  type: z.string(),
  source: Source.nullish(),
  specifiers: z
    .array(z.object({ type: z.string(), imported: Name.optional(), local: Name.optional() }))
    .default([]),
})

/** The static imports and re-exports of a module, in order. */
function listImports(code: string): Import[] {
  return parseAst(code).body.flatMap((statement) => {
    const { type, source, specifiers } = Node.parse(statement)
    if (!source) return []
    const names = specifiers.map((one) => {
      if (one.type === 'ImportDefaultSpecifier') return 'default'
      if (one.type === 'ImportNamespaceSpecifier') return '*'
      return (one.type === 'ImportSpecifier' ? one.imported : one.local) ?? '*'
    })
    return [
      {
        start: source.start,
        end: source.end,
        specifier: source.value,
        names: type === 'ExportAllDeclaration' ? ['*'] : names,
      },
    ]
  })
}

/**
 * Bundles the npm packages, each as one file, with shared files for common dependencies.
 *
 * @returns all bundled modules
 */
async function bundle(wanted: Wanted, dist: string): Promise<string[]> {
  const entries = new Map(
    [...wanted].map(([specifier, names]) => {
      const listed = [...names].filter((name) => name !== '*')
      const everything = names.has('*') ? `export * from '${specifier}'\n` : ''
      return [
        `\0${specifier}`,
        `${everything}${listed.length > 0 ? `export { ${listed.join(', ')} } from '${specifier}'\n` : ''}`,
      ]
    }),
  )
  const bundled = await rolldown({
    cwd: root,
    input: Object.fromEntries(
      [...wanted.keys()].map((specifier) => [
        vendored(specifier).replace(/\.js$/, ''),
        `\0${specifier}`,
      ]),
    ),
    platform: 'node',
    external: EXTERNAL,
    preserveEntrySignatures: 'strict',
    plugins: [
      {
        name: 'entries',
        resolveId: (id, importer) =>
          entries.has(id)
            ? id
            : importer !== undefined && entries.has(importer) && id === importer.slice(1)
              ? import.meta.resolve(id).replace('file://', '')
              : null,
        load: (id) => entries.get(id) ?? null,
      },
    ],
    logLevel: 'silent',
  })
  const { output } = await bundled.write({
    dir: dist,
    format: 'es',
    entryFileNames: '[name].js',
    chunkFileNames: 'vendor/shared/[name].js',
  })
  await bundled.close()
  return output
    .filter((one): one is OutputChunk => one.type === 'chunk')
    .flatMap(({ moduleIds }) => moduleIds)
}

const Manifest = z.looseObject({ version: z.string() })

/** Builds the package into a folder for `npm pack`. @throws Error if something cannot be built */
export async function buildProduct(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  const dist = join(folder, 'dist')
  mkdirSync(dist, { recursive: true })
  const problem = buildWhereChanged()
  if (problem !== null) throw new Error(problem)
  const wanted: Wanted = new Map()
  for (const file of globSync(SOURCES, { cwd: root, exclude: ['**/*.test.ts', `${ASSEMBLY}/**`] }))
    compile(file, dist, wanted)
  // The package contains the built dashboard.
  mkdirSync(join(dist, 'dashboard'))
  writeFileSync(join(dist, 'dashboard', 'build.js'), 'export const startBuild = () => null\n')
  cpSync(join(root, 'server/package.json'), join(dist, 'server/package.json'))
  const modules = await bundle(wanted, dist)
  cpDashboard(dist)
  writeManifest(folder)
  for (const [from, to] of [
    ['LICENSE', 'LICENSE'],
    ['scripts/hand-over.mjs', 'hand-over.mjs'],
    ['scripts/published-bin.mjs', 'bin.mjs'],
    ['server/cli/README.md', 'README.md'],
  ] as const)
    cpSync(join(root, from), join(folder, to))
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES'), licences(modules))
}

/** Copies the current build of the dashboard. */
function cpDashboard(dist: string): void {
  const from = join(root, 'dashboard', 'dist')
  const to = join(dist, 'dashboard', 'dist')
  const current = readFileSync(join(from, 'current'), 'utf8')
  cpSync(join(from, current), join(to, current), { recursive: true })
  writeFileSync(join(to, 'current'), current)
}

function writeManifest(folder: string): void {
  const { version, optionalDependencies } = Manifest.extend({
    optionalDependencies: z.record(z.string(), z.string()),
  }).parse(JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')))
  const manifest = {
    name: 'tollmark',
    version,
    description:
      'A proxy for AI providers with keys, limits and a ledger, and a converter from Notion exports to Markdown: one server, one command line.',
    license: 'MIT',
    type: 'module',
    bin: { tollmark: 'bin.mjs' },
    engines: { node: '>=20' },
    // A recent Node, for machines with an older one.
    optionalDependencies,
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/**
 * The licence texts of bundled packages, as the licences require. The dashboard's packages are
 * those in the lockfile that run in a browser.
 */
function licences(modules: readonly string[]): string {
  const folders = new Set(
    modules.flatMap((id) => /.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []),
  )
  for (const name of DASHBOARD) folders.add(join(root, 'node_modules', name))
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = z
      .looseObject({ name: z.string(), version: z.string(), license: z.string().optional() })
      .parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
    const [file] = globSync('{LICEN[CS]E,licen[cs]e,COPYING,NOTICE}*', { cwd: folder })
    return `${name} ${version} (${license ?? 'see below'})\n\n${file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim()}\n`
  })
  return texts.join(`\n${'-'.repeat(78)}\n\n`)
}

/** npm packages in the built dashboard. */
const DASHBOARD = [
  'react',
  'react-dom',
  'scheduler',
  '@mantine/core',
  '@mantine/hooks',
  '@floating-ui/react',
  '@tanstack/react-query',
  '@tanstack/query-core',
  'wouter',
  'zod',
  'github-slugger',
  'katex',
  'react-markdown',
  'remark-gfm',
  'remark-math',
]

/** Packs a built package. @returns the tarball */
export function pack(folder: string, into: string): string {
  const done = spawnSync(
    'npm',
    ['pack', '--silent', '--ignore-scripts', '--pack-destination', into, folder],
    { encoding: 'utf8', shell: process.platform === 'win32' },
  )
  const name = done.stdout.trim().split('\n').at(-1) ?? ''
  if (done.status !== 0 || !existsSync(join(into, name)))
    throw new Error(`${basename(folder)} cannot be packed: ${done.stderr}`)
  return join(into, name)
}

if (import.meta.main) {
  const into = resolve(process.argv[2] ?? join(root, 'dist', 'product'))
  await buildProduct(join(into, 'tollmark'))
  console.log(pack(join(into, 'tollmark'), into))
}
