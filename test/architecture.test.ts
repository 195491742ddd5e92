// ARCHITECTURE.md, "Who may import whom", as a test. A new file falls under a row of the table, or
// fails.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, posix } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')

interface Area {
  /** Beginning of the paths that belong to it; the longest one counts. */
  path: string
  /** Areas that it may import from, besides itself. */
  from: string[]
  /** Packages that it may import. */
  packages?: string[]
  /** Node's own modules that it may import; any where left out. */
  node?: string[]
}

/** Folders that anyone in the server may import. */
const LEAVES = ['server/common/', 'server/config/']
const NOUNS = ['server/accounts/', 'server/keys/', 'server/ledger/']

/** What pages are made of. */
const DRAWN = [
  'react',
  'react-dom',
  '@mantine/core',
  '@mantine/hooks',
  '@tanstack/react-query',
  'zod',
]

/** TABLE of areas and what each may import. */
const AREAS: Area[] = [
  {
    path: 'server/common/',
    from: [],
    packages: ['pino'],
    node: ['crypto', 'fs', 'http', 'net', 'path', 'stream', 'v8', 'vm', 'zlib'],
  },
  {
    path: 'server/config/',
    from: ['server/common/'],
    packages: ['zod'],
    node: ['crypto', 'fs', 'path', 'util'],
  },
  { path: 'server/common/fairness/', from: [], node: [] },
  { path: 'server/common/clients.ts', from: [], node: [] },
  { path: 'server/common/token-kinds.ts', from: [], node: [] },
  { path: 'server/store/', from: LEAVES, packages: ['kysely', 'pg', '@aws-sdk/client-s3'] },
  ...NOUNS.map((path) => ({
    path,
    from: ['server/store/', ...LEAVES],
    packages: ['kysely'],
    node: ['crypto', 'timers', 'util', 'zlib'],
  })),
  // A key is shown, and lists are ordered, by what it has used.
  ...['key-list.ts', 'key-record.ts'].map((name) => ({
    path: `server/keys/${name}`,
    from: ['server/keys/', 'server/ledger/', 'server/store/', ...LEAVES],
    packages: ['kysely'],
    node: [],
  })),
  {
    path: 'server/conversion/',
    from: ['server/accounts/', 'server/store/', ...LEAVES],
    packages: ['@fastify/busboy', '@tollmark/notion-markdown'],
  },
  // A library: what is Tollmark's own comes by parameters.
  {
    path: 'server/http1/',
    from: ['server/common/client-info.ts', 'server/common/collect-garbage.ts'],
    node: ['crypto', 'dns', 'http', 'net', 'tls'],
  },
  {
    path: 'server/proxy/',
    from: ['server/http1/', 'server/keys/', 'server/ledger/', 'server/store/', ...LEAVES],
    packages: ['zod'],
  },
  { path: 'server/proxy/json/', from: [], node: ['fs'] },
  { path: 'server/telemetry/', from: LEAVES, packages: ['prom-client'], node: ['fs'] },
  {
    path: 'server/telemetry/traces.ts',
    from: LEAVES,
    packages: [
      '@opentelemetry/api',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace-node',
    ],
    node: [],
  },
  {
    path: 'server/api/',
    from: [
      'server/conversion/',
      'server/http1/node-exchange.ts',
      'server/http1/probes.ts',
      'server/proxy/',
      'server/telemetry/',
      ...NOUNS,
      'server/store/',
      ...LEAVES,
    ],
    packages: ['hono', '@hono/node-server', '@hono/zod-openapi'],
    node: ['http', 'stream', 'timers', 'zlib'],
  },
  {
    path: 'server/api/request/',
    from: ['server/common/'],
    packages: ['@hono/zod-openapi'],
    node: ['util'],
  },
  { path: 'server/web/', from: [], node: ['crypto', 'fs', 'http', 'path'] },
  // Puts the parts together, by role; of them all, only the command line imports it.
  {
    path: 'server/app/',
    from: [
      'server/api/',
      'server/conversion/',
      'server/proxy/',
      'server/http1/',
      'server/telemetry/',
      'server/web/',
      ...NOUNS,
      'server/store/',
      ...LEAVES,
    ],
    packages: ['hono', '@hono/node-server'],
    node: ['os', 'path', 'timers'],
  },
  {
    path: 'server/cli/',
    from: ['server/', 'packages/notion-markdown/', 'dashboard/build.ts'],
    packages: ['@tollmark/notion-markdown', 'commander'],
  },
  // The dashboard knows the server by its API only; the tables of clients and of the kinds of
  // tokens are the only files that they share.
  {
    path: 'dashboard/src/',
    from: ['server/common/clients.ts', 'server/common/token-kinds.ts'],
    packages: [...DRAWN, 'wouter'],
    node: [],
  },
  {
    path: 'dashboard/src/api/',
    from: ['server/common/token-kinds.ts'],
    packages: ['react', '@tanstack/react-query', 'zod'],
    node: [],
  },
  { path: 'dashboard/src/ui/', from: ['dashboard/src/'], packages: [...DRAWN, 'wouter'], node: [] },
  {
    path: 'dashboard/src/preview/',
    from: ['dashboard/src/ui/'],
    packages: [
      'react',
      'github-slugger',
      'katex',
      'mdast',
      'react-markdown',
      'remark-gfm',
      'remark-math',
    ],
    node: [],
  },
  {
    path: 'dashboard/vite.config.ts',
    from: ['dashboard/src/theme.ts'],
    packages: ['@mantine/core', '@vitejs/plugin-react', 'vite'],
    node: ['path'],
  },
  {
    path: 'dashboard/build-lock.ts',
    from: [],
    packages: [],
    node: ['fs', 'timers'],
  },
  {
    path: 'dashboard/build.ts',
    from: ['dashboard/build-lock.ts'],
    packages: ['vite'],
    node: ['child_process', 'crypto', 'events', 'fs', 'net', 'os', 'path', 'zlib'],
  },
  {
    path: 'packages/notion-markdown/src/',
    from: [],
    packages: ['entities', 'github-slugger', 'yaml'],
    node: [],
  },
  {
    path: 'packages/notion-markdown/src/archive/',
    from: ['packages/notion-markdown/src/'],
    packages: ['yaml'],
  },
  {
    path: 'packages/notion-markdown/src/web/',
    from: ['packages/notion-markdown/src/'],
    node: [],
  },
  { path: 'packages/core/src/', from: [], node: [] },
  {
    path: 'packages/genai/src/',
    from: [],
    packages: ['@proxy-sdk/core', '@ai-sdk/google'],
    node: [],
  },
  {
    path: 'packages/genai-express/src/',
    from: [],
    packages: ['@proxy-sdk/core', '@ai-sdk/google-vertex'],
    node: [],
  },
]

/**
 * TABLE of effects that have one home: what shows in the source, and the files that may have it.
 */
const EFFECTS: { effect: string; shows: RegExp; homes: string[] }[] = [
  {
    effect: 'the environment',
    shows: /process\.env\b/,
    homes: [
      'server/config/settings.ts',
      'dashboard/build.ts',
      'packages/core/src/managed-fetch.ts',
    ],
  },
  {
    effect: 'the clock',
    shows: /Date\.now\b|new Date\(\)/,
    homes: [
      'server/app/main.ts',
      'server/app/serve.ts',
      'server/cli/',
      'dashboard/src/format.ts',
      'packages/core/src/renewed-key.ts',
    ],
  },
  { effect: 'SQLite', shows: /'node:sqlite'/, homes: ['server/store/sqlite/connection.ts'] },
  { effect: 'PostgreSQL', shows: /from 'pg'/, homes: ['server/store/postgres/'] },
  {
    effect: 'outbound requests',
    shows: /from 'undici'|(?<![.\w])fetch\(|from 'node:(?:https|tls|dns)'/,
    homes: [
      'server/http1/client/',
      'packages/core/',
      'server/cli/remote.ts',
      'dashboard/src/api/http.ts',
      'dashboard/src/pages/docs-try.tsx',
    ],
  },
  {
    effect: 'signals and exit',
    shows: /process\.(?:on|exit)\(/,
    homes: ['server/app/', 'server/conversion/pool/converter-process.ts', 'server/cli/'],
  },
  {
    effect: 'threads',
    shows: /'node:worker_threads'/,
    homes: ['server/store/', 'server/conversion/upload/', 'packages/notion-markdown/src/archive/'],
  },
  {
    effect: 'other processes',
    shows: /'node:child_process'/,
    homes: [
      'server/conversion/pool/',
      'server/store/backup/postgres-tools.ts',
      'dashboard/build.ts',
    ],
  },
  {
    // It is two hundred modules, which a server and most commands do not need.
    effect: "loading the engine at a program's start",
    shows: /^import (?!type )[^']*'@tollmark\/notion-markdown(?:\/archive)?'/m,
    homes: [
      'server/conversion/pool/conversion-step.ts',
      'server/cli/convert/engine.ts',
      'server/cli/convert/unchanged-folder.ts',
      'server/cli/convert/write-pages.ts',
    ],
  },
]

interface Import {
  file: string
  /** A path from the root, a package's name, or `node:…`. */
  target: string
}

// What is compiled to WebAssembly imports nothing but its own files.
const files = globSync(['server/**/*.ts', 'packages/*/src/**/*.ts', 'dashboard/**/*.{ts,tsx}'], {
  cwd: root,
  exclude: ['**/node_modules/**', '**/dist/**', '**/assembly/**', '**/*.test.ts'],
})
  .map((file) => file.replaceAll('\\', '/'))
  .sort()
const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
const imports = files.flatMap(importsOf)

function importsOf(file: string): Import[] {
  const source = sources.get(file) ?? ''
  const found = [
    ...source.matchAll(/^(?:import|export)\b[^'"]*?\bfrom '(?<target>[^']+)'/gm),
    ...source.matchAll(/^import '(?<target>[^']+)'/gm),
    ...source.matchAll(/\bimport\('(?<target>[^']+)'\)/g),
  ]
  return found.map(({ groups = {} }) => {
    const target = groups['target'] ?? ''
    const resolved = target.startsWith('.') ? posix.join(posix.dirname(file), target) : target
    return { file, target: resolved }
  })
}

function areaOf(file: string): Area | undefined {
  return AREAS.filter(({ path }) => file.startsWith(path)).sort(
    (a, b) => b.path.length - a.path.length,
  )[0]
}

/** Why an import is not allowed, or undefined. */
function complaint({ file, target }: Import): string | undefined {
  const area = areaOf(file)
  // Style sheets are files of the page that they belong to; a version stands in a package.json.
  if (target.endsWith('.css') || target.endsWith('/package.json')) return undefined
  if (!area) return `${file} is in no area of the table`
  if (target.startsWith('node:')) {
    const name = target.slice(5).split('/')[0] ?? ''
    return area.node === undefined || area.node.includes(name)
      ? undefined
      : `${file} imports ${target}`
  }
  if (sources.has(target)) {
    return target.startsWith(area.path) || area.from.some((path) => target.startsWith(path))
      ? undefined
      : `${file} imports ${target}`
  }
  const name = target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')
  if (builtinModules.includes(name)) return `${file} imports ${target} without node:`
  return area.packages?.includes(name) ? undefined : `${file} imports ${target}`
}

test('every file is in an area, and imports only what its area may', () => {
  assert.ok(files.length > 40)
  assert.deepEqual(
    files.filter((file) => !areaOf(file)),
    [],
  )
  assert.deepEqual(
    imports.map(complaint).filter((text) => text !== undefined),
    [],
  )
})

test('there are no import cycles, even of types', () => {
  const graph = Map.groupBy(
    imports.filter(({ target }) => sources.has(target)),
    ({ file }) => file,
  )
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (file: string, way: string[]): void => {
    if (way.includes(file))
      return void cycles.push([...way.slice(way.indexOf(file)), file].join(' → '))
    if (done.has(file)) return
    for (const { target } of graph.get(file) ?? []) visit(target, [...way, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  assert.deepEqual(cycles, [])
})

/** The folders of the server, and the other folders that hold programs: what a newcomer learns. */
function roomOf(file: string): string {
  const [top = '', second = ''] = file.split('/')
  return top === 'server' ? `server/${second}` : top
}

test('at most 20 rooms, 80 arrows between them, and none upward', () => {
  const everywhere = globSync(
    ['{server,bench,scripts}/**/*.{ts,mjs}', 'packages/*/src/**/*.ts', 'dashboard/**/*.{ts,tsx}'],
    { cwd: root, exclude: ['**/node_modules/**', '**/dist/**', '**/*.test.ts'] },
  ).map((file) => file.replaceAll('\\', '/'))
  const known = new Set(everywhere)
  const arrows = new Map<string, Set<string>>(everywhere.map((file) => [roomOf(file), new Set()]))
  for (const file of everywhere) {
    const source = readFileSync(join(root, file), 'utf8')
    for (const [, target = ''] of source.matchAll(
      /(?:from|import) ?\(?'(\.{1,2}\/[^']+|@tollmark\/notion-markdown[^']*)'/g,
    )) {
      const resolved = posix.join(posix.dirname(file), target)
      const to = target.startsWith('@') ? 'packages' : known.has(resolved) && roomOf(resolved)
      if (to && to !== roomOf(file)) arrows.get(roomOf(file))?.add(to)
    }
  }
  assert.ok(arrows.size <= 20, `${arrows.size} rooms`)
  const pairs = [...arrows].flatMap(([from, to]) => [...to].map((room) => `${from} → ${room}`))
  assert.ok(pairs.length <= 80, `${pairs.length} arrows: ${pairs.sort().join(', ')}`)
  // Rooms that import nothing are taken away until none is left: what stays imports itself.
  const left = new Map(arrows)
  for (let room: string | undefined; ; left.delete(room)) {
    room = [...left].find(([, to]) => [...to].every((name) => !left.has(name)))?.[0]
    if (room === undefined) break
  }
  assert.deepEqual([...left.keys()], [])
})

for (const { effect, shows, homes } of EFFECTS) {
  test(`${effect}: only in ${homes.join(', ')}`, () => {
    const outside = files.filter(
      (file) =>
        !homes.some((home) => file.startsWith(home)) &&
        shows.test(withoutComments(sources.get(file) ?? '')),
    )
    assert.deepEqual(outside, [])
  })
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1')
}

/** `export` of a declaration at the beginning of a line, and its name. */
const EXPORTED =
  /^export (?:default )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type) (\w+)/

/** The exported names of a source without a docstring above them; of overloads the first counts. */
function undocumented(source: string): string[] {
  const names = new Set<string>()
  const missing: string[] = []
  let before = ''
  for (const line of source.split('\n')) {
    const [, name] = EXPORTED.exec(line) ?? []
    if (name !== undefined && !names.has(name)) {
      names.add(name)
      if (!before.endsWith('*/')) missing.push(name)
    }
    // Comments to the linter, and decorators, stand between.
    if (!/^(?:\/\/|@)/.test(line)) before = line
  }
  return missing
}

test('exported names have a docstring: at most one in a hundred has none', () => {
  const missing = [...sources].flatMap(([file, source]) =>
    undocumented(source).map((name) => `${file}: ${name}`),
  )
  const exported = [...sources.values()].join('\n').match(new RegExp(EXPORTED.source, 'gm')) ?? []
  assert.ok(exported.length > 2_000)
  assert.ok(missing.length <= exported.length / 100, missing.join('\n'))
})
