// ARCHITECTURE.md, "Who may import whom", as a test. A new file falls under a row of the table, or fails.
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

/** TABLE of leaves: anyone in the server may import them. */
const LEAVES = ['server/errors.ts', 'server/log.ts', 'server/config.ts', 'server/setting.ts', 'server/secret.ts', 'server/id.ts', 'server/clock.ts', 'server/linger.ts', 'server/drain.ts', 'server/own-text.ts', 'server/client.ts', 'server/fair-shares.ts', 'server/fair-queue.ts', 'server/time-slices.ts']
const NOUNS = ['server/accounts/', 'server/keys/', 'server/ledger/']
const FEATURES = ['server/convert/', 'server/proxy/', 'server/manage/']

/** What pages are made of. */
const DRAWN = ['react', 'react-dom', '@mantine/core', '@mantine/hooks', '@tanstack/react-query', 'zod']

/** TABLE of areas and what each may import. */
const AREAS: Area[] = [
  { path: 'server/errors.ts', from: [], node: [] },
  { path: 'server/log.ts', from: [], packages: ['pino'], node: [] },
  { path: 'server/lines.ts', from: ['server/errors.ts'], node: ['fs'] },
  { path: 'server/setting.ts', from: [], node: [] },
  { path: 'server/config.ts', from: ['server/errors.ts', 'server/setting.ts', 'server/providers-file.ts'], node: ['fs', 'path', 'util'] },
  { path: 'server/providers-file.ts', from: ['server/errors.ts', 'server/setting.ts'], packages: ['zod'], node: ['fs'] },
  { path: 'server/clock.ts', from: [], node: ['crypto', 'fs', 'zlib'] },
  { path: 'server/secret.ts', from: [], node: ['crypto', 'zlib'] },
  { path: 'server/id.ts', from: ['server/secret.ts'], node: [] },
  { path: 'server/own-text.ts', from: [], node: [] },
  { path: 'server/fair-shares.ts', from: [], node: [] },
  { path: 'server/fair-queue.ts', from: ['server/fair-shares.ts'], node: [] },
  { path: 'server/time-slices.ts', from: [], node: [] },
  { path: 'server/store/', from: LEAVES, packages: ['kysely', 'pg', '@aws-sdk/client-s3'] },
  ...NOUNS.map((path) => ({ path, from: ['server/store/', ...LEAVES], packages: ['kysely'], node: ['crypto', 'util', 'zlib'] })),
  // A key is shown, and lists are ordered, by what it has used.
  ...['key-list.ts', 'key-record.ts'].map((name) => (
    { path: `server/keys/${name}`, from: ['server/keys/', 'server/ledger/', 'server/store/', ...LEAVES], packages: ['kysely'], node: [] }
  )),
  { path: 'server/request/', from: ['server/errors.ts'], packages: ['@hono/zod-openapi'], node: ['util'] },
  { path: 'server/api.ts', from: ['server/request/', ...NOUNS, 'server/store/', ...LEAVES], packages: ['hono', '@hono/node-server', '@hono/zod-openapi'] },
  { path: 'server/route.ts', from: ['server/api.ts', 'server/request/', 'server/accounts/', 'server/store/', ...LEAVES], packages: ['@hono/zod-openapi'], node: [] },
  { path: 'server/whose.ts', from: ['server/request/', 'server/accounts/', 'server/store/', ...LEAVES], packages: ['@hono/zod-openapi'], node: [] },
  {
    path: 'server/convert/',
    from: ['server/api.ts', 'server/route.ts', 'server/whose.ts', 'server/request/', 'server/accounts/', 'server/store/', 'packages/notion-markdown/', ...LEAVES],
    packages: ['@fastify/busboy', '@hono/zod-openapi', '@tollmark/notion-markdown'],
  },
  { path: 'server/convert/run.ts', from: ['server/convert/'], packages: ['@tollmark/notion-markdown'], node: ['fs'] },
  { path: 'server/http/', from: LEAVES, node: ['http', 'net'] },
  { path: 'server/http/loop-turns.ts', from: ['server/ledger/'], node: [] },
  { path: 'server/proxy/', from: ['server/http/', 'server/keys/', 'server/ledger/', 'server/store/', ...LEAVES], packages: ['zod'] },
  { path: 'server/proxy/json/', from: [], node: ['fs'] },
  { path: 'server/manage/', from: ['server/api.ts', 'server/route.ts', 'server/whose.ts', 'server/request/', 'server/proxy/', ...NOUNS, 'server/store/', ...LEAVES], packages: ['@hono/zod-openapi', 'hono'], node: [] },
  { path: 'server/health.ts', from: ['server/api.ts'], packages: ['@hono/zod-openapi'], node: [] },
  { path: 'server/watch/', from: ['server/api.ts', ...LEAVES], packages: ['@hono/zod-openapi', 'prom-client'], node: ['fs'] },
  {
    path: 'server/watch/traces.ts',
    from: LEAVES,
    packages: ['@opentelemetry/api', '@opentelemetry/exporter-trace-otlp-http', '@opentelemetry/resources', '@opentelemetry/sdk-trace-node'],
    node: [],
  },
  { path: 'server/openapi.ts', from: ['server/api.ts'], packages: ['@hono/zod-openapi'], node: [] },
  { path: 'server/master-key.ts', from: ['server/errors.ts', 'server/setting.ts'], node: ['crypto', 'fs', 'path'] },
  { path: 'server/drain.ts', from: [], node: [] },
  { path: 'server/threads.ts', from: [], node: ['v8'] },
  { path: 'server/linger.ts', from: ['server/drain.ts'], node: ['http'] },
  { path: 'server/dashboard.ts', from: [], node: ['crypto', 'fs', 'http', 'path'] },
  { path: 'server/client.ts', from: [], node: ['http', 'net'] },
  { path: 'server/listen.ts', from: ['server/http/', ...LEAVES], node: ['http', 'net'] },
  {
    path: 'server/app.ts',
    from: [...FEATURES, 'server/accounts/', 'server/store/', 'server/api.ts', 'server/dashboard.ts', 'server/health.ts', 'server/openapi.ts', 'server/watch/', 'server/http/', 'server/ledger/', 'server/listen.ts', ...LEAVES],
    packages: ['hono', '@hono/node-server'],
    node: [],
  },
  { path: 'server/main.ts', from: ['server/'] },
  // The dashboard knows the server by its API only; the table of clients is the command line's.
  { path: 'dashboard/src/', from: ['packages/cli/src/clients.ts'], packages: [...DRAWN, 'wouter'], node: [] },
  { path: 'dashboard/src/api/', from: [], packages: ['react', '@tanstack/react-query', 'zod'], node: [] },
  { path: 'dashboard/src/ui/', from: ['dashboard/src/'], packages: [...DRAWN, 'wouter'], node: [] },
  { path: 'dashboard/src/preview/', from: ['dashboard/src/ui/'], packages: ['react', 'github-slugger', 'katex', 'mdast', 'react-markdown', 'remark-gfm', 'remark-math'], node: [] },
  { path: 'dashboard/vite.config.ts', from: ['dashboard/src/theme.ts'], packages: ['@mantine/core', '@vitejs/plugin-react', 'vite'], node: [] },
  { path: 'dashboard/build.ts', from: [], packages: ['vite'], node: ['child_process', 'crypto', 'fs', 'path', 'zlib'] },
  { path: 'packages/cli/', from: ['server/', 'packages/notion-markdown/', 'dashboard/build.ts'], packages: ['@tollmark/notion-markdown', 'commander'] },
  { path: 'packages/cli/src/clients.ts', from: [], node: [] },
  { path: 'packages/notion-markdown/src/', from: [], packages: ['entities', 'github-slugger', 'yaml'], node: [] },
  { path: 'packages/notion-markdown/src/archive/', from: ['packages/notion-markdown/src/'], packages: [] },
  { path: 'packages/core/src/', from: [], node: [] },
  { path: 'packages/genai/src/', from: [], packages: ['@proxy-sdk/core', '@ai-sdk/google'], node: [] },
  { path: 'packages/genai-express/src/', from: [], packages: ['@proxy-sdk/core', '@ai-sdk/google-vertex'], node: [] },
]

/** TABLE of effects that have one home: what shows in the source, and the files that may have it. */
const EFFECTS: { effect: string; shows: RegExp; homes: string[] }[] = [
  { effect: 'the environment', shows: /process\.env\b/, homes: ['server/config.ts', 'dashboard/build.ts', 'packages/core/src/managed-fetch.ts'] },
  { effect: 'the clock', shows: /Date\.now\b|new Date\(\)/, homes: ['server/main.ts', 'packages/cli/', 'dashboard/src/format.ts'] },
  { effect: 'SQLite', shows: /'node:sqlite'/, homes: ['server/store/sqlite.ts'] },
  { effect: 'PostgreSQL', shows: /from 'pg'/, homes: ['server/store/postgres/'] },
  { effect: 'outbound requests', shows: /from 'undici'|(?<![.\w])fetch\(|from 'node:(?:https|tls|dns)'/, homes: ['server/proxy/', 'packages/core/', 'packages/cli/src/remote.ts', 'dashboard/src/api/http.ts', 'dashboard/src/pages/docs-try.tsx'] },
  { effect: 'signals and exit', shows: /process\.(?:on|exit)\(/, homes: ['server/main.ts', 'server/convert/converter.ts', 'packages/cli/'] },
  { effect: 'threads', shows: /'node:worker_threads'/, homes: ['server/store/', 'server/convert/receiver.ts', 'server/convert/receiver-thread.ts', 'packages/notion-markdown/src/archive/'] },
  { effect: 'other processes', shows: /'node:child_process'/, homes: ['server/convert/converters.ts', 'server/convert/priority.ts', 'dashboard/build.ts'] },
]

interface Import {
  file: string
  /** A path from the root, a package's name, or `node:…`. */
  target: string
  typeOnly: boolean
}

// What is compiled to WebAssembly imports nothing but its own files.
const files = globSync(['server/**/*.ts', 'packages/*/src/**/*.ts', 'dashboard/**/*.{ts,tsx}'], { cwd: root, exclude: ['**/node_modules/**', '**/dist/**', '**/assembly/**', '**/*.test.ts'] })
  .map((file) => file.replaceAll('\\', '/'))
  .sort()
const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
const imports = files.flatMap(importsOf)

function importsOf(file: string): Import[] {
  const source = sources.get(file) ?? ''
  const found = [
    ...source.matchAll(/^(?:import|export)(?<type> type)?\b[^'"]*?\bfrom '(?<target>[^']+)'/gm),
    ...source.matchAll(/^import '(?<target>[^']+)'/gm),
    ...source.matchAll(/\bimport\('(?<target>[^']+)'\)/g),
  ]
  return found.map(({ groups = {} }) => {
    const target = groups['target'] ?? ''
    const resolved = target.startsWith('.') ? posix.join(posix.dirname(file), target) : target
    return { file, target: resolved, typeOnly: groups['type'] !== undefined }
  })
}

function areaOf(file: string): Area | undefined {
  return AREAS.filter(({ path }) => file.startsWith(path)).sort((a, b) => b.path.length - a.path.length)[0]
}

/** Why an import is not allowed, or undefined. */
function complaint({ file, target }: Import): string | undefined {
  const area = areaOf(file)
  // Style sheets are files of the page that they belong to; a version stands in a package.json.
  if (target.endsWith('.css') || target.endsWith('/package.json')) return undefined
  if (!area) return `${file} is in no area of the table`
  if (target.startsWith('node:')) {
    const name = target.slice(5).split('/')[0] ?? ''
    return area.node === undefined || area.node.includes(name) ? undefined : `${file} imports ${target}`
  }
  if (sources.has(target)) {
    return target.startsWith(area.path) || area.from.some((path) => target.startsWith(path)) ? undefined : `${file} imports ${target}`
  }
  const name = target.split('/').slice(0, target.startsWith('@') ? 2 : 1).join('/')
  if (builtinModules.includes(name)) return `${file} imports ${target} without node:`
  return area.packages?.includes(name) ? undefined : `${file} imports ${target}`
}

test('every file is in an area, and imports only what its area may', () => {
  assert.ok(files.length > 40)
  assert.deepEqual(files.filter((file) => !areaOf(file)), [])
  assert.deepEqual(imports.map(complaint).filter((text) => text !== undefined), [])
})

test('nothing imports itself, by whatever way round', () => {
  const graph = Map.groupBy(imports.filter(({ typeOnly, target }) => !typeOnly && sources.has(target)), ({ file }) => file)
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (file: string, way: string[]): void => {
    if (way.includes(file)) return void cycles.push([...way.slice(way.indexOf(file)), file].join(' → '))
    if (done.has(file)) return
    for (const { target } of graph.get(file) ?? []) visit(target, [...way, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  assert.deepEqual(cycles, [])
})

for (const { effect, shows, homes } of EFFECTS) {
  test(`${effect}: only in ${homes.join(', ')}`, () => {
    const outside = files.filter((file) => !homes.some((home) => file.startsWith(home)) && shows.test(withoutComments(sources.get(file) ?? '')))
    assert.deepEqual(outside, [])
  })
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1')
}
