// Builds the dashboard when its sources have changed since the last time; as a program, builds it.
// What has been built stands in `dist/<hash of the sources>`, and `dist/current` names it: whoever
// starts at the same time never sees half a build.
import {
  spawn,
  spawnSync,
  type SpawnOptionsWithStdioTuple,
  type StdioNull,
  type StdioPipe,
} from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { constants, setPriority } from 'node:os'
import { Socket } from 'node:net'
import { join, relative } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'

const here = import.meta.dirname
const dist = join(here, 'dist')
const current = join(dist, 'current')

/** What a build is made from: files, and folders with all their files. */
const SOURCES = [
  'src',
  'public',
  'index.html',
  'vite.config.ts',
  'build.ts',
  'build-lock.ts',
  '../server/common/clients.ts',
  '../package-lock.json',
]

/** The files of SOURCES, in order. Node's glob would take 40 ms of every start. */
const sourceFiles = (): string[] =>
  SOURCES.flatMap((source) =>
    statSync(join(here, source)).isFile()
      ? source
      : readdirSync(join(here, source), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ parentPath, name }) => relative(here, join(parentPath, name)))
          .sort(),
  )

function hashOfSources(): string {
  const hash = createHash('sha256')
  for (const file of sourceFiles())
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(here, file)))
      .update('\0')
  return hash.digest('hex').slice(0, 16)
}

/**
 * Builds the dashboard unless the last build is of these sources.
 *
 * @returns the sentence that says why that failed, or null
 */
export function buildWhereChanged(): string | null {
  if (isCurrent()) return null
  const { status, stderr } = spawnSync(process.execPath, announcedBuilder(), {
    ...BUILDER,
    encoding: 'utf8',
  })
  return status === 0 ? null : failureOf(stderr)
}

/**
 * The same beside the work of this process, at a lower priority. Null where the last build is of
 * these sources.
 */
export function startBuild(): Promise<string | null> | null {
  return isCurrent() ? null : buildBeside()
}

async function buildBeside(): Promise<string | null> {
  const child = spawn(process.execPath, announcedBuilder(), BUILDER)
  // A server that fails to start exits at once; the build then ends by itself.
  child.unref()
  if (child.stderr instanceof Socket) child.stderr.unref()
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  try {
    await once(child, 'spawn')
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch (error) {
    // Without the lower priority it is built all the same.
    stderr += String(error)
  }
  if (child.pid !== undefined) await once(child, 'close')
  return child.exitCode === 0 ? null : failureOf(stderr)
}

const isCurrent = (): boolean =>
  existsSync(current) && readFileSync(current, 'utf8') === hashOfSources()

/** A process of its own: what the builder takes in memory goes with it. */
const BUILDER: SpawnOptionsWithStdioTuple<StdioNull, StdioNull, StdioPipe> = {
  stdio: ['ignore', 'ignore', 'pipe'],
  env: { ...process.env, NODE_ENV: 'production' },
}

/**
 * The arguments of Node that build, once it has been said that it builds: by the launcher, which
 * first installs what a server that is already running does not need.
 */
function announcedBuilder(): string[] {
  process.stderr.write('tollmark: building the dashboard (once) …\n')
  return [join(here, '..', 'scripts', 'launch.mjs'), '--build', 'dashboard/build.ts']
}

function failureOf(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim())
  return [
    'The dashboard could not be built; everything else works.',
    // "npm ERR! code …", "npm error code …", "TypeError: …", but no warning about "errors".
    ...lines.filter((line) => /err(?:or)?\b/i.test(line)).slice(0, 1),
    'To see all of it, run: node scripts/launch.mjs --build dashboard/build.ts',
  ].join('\n')
}

async function build(): Promise<void> {
  const { build: vite } = await import('vite')
  const hash = hashOfSources()
  const making = join(dist, `${hash}.${process.pid}`)
  const made = join(dist, hash)
  mkdirSync(making, { recursive: true })
  await vite({
    configFile: join(here, 'vite.config.ts'),
    logLevel: 'error',
    build: { outDir: making, emptyOutDir: true },
  })
  compress(making)
  try {
    renameSync(making, made)
  } catch (error) {
    // Whoever was faster has made the same.
    if (!existsSync(join(made, 'index.html'))) throw error
    rmSync(making, { recursive: true })
  }
  writeFileSync(`${current}.${process.pid}`, hash)
  renameSync(`${current}.${process.pid}`, current)
  for (const name of readdirSync(dist))
    if (/^[0-9a-f]{16}$/.test(name) && name !== hash)
      rmSync(join(dist, name), { recursive: true, force: true })
}

/**
 * Puts what gets smaller beside itself, compressed as well as can be: that is done once, and read
 * often.
 */
function compress(folder: string): void {
  for (const file of globSync('**/*.{html,js,css,svg}', { cwd: folder })) {
    const path = join(folder, file)
    const bytes = readFileSync(path)
    for (const [ending, small] of [
      ['br', brotliCompressSync(bytes)],
      ['gz', gzipSync(bytes, { level: 9 })],
    ] as const) {
      if (small.length < bytes.length) writeFileSync(`${path}.${ending}`, small)
    }
  }
}

if (import.meta.main) {
  // A server that starts does not need it.
  const { doOnce } = await import('./build-lock.ts')
  mkdirSync(dist, { recursive: true })
  await doOnce(join(dist, 'building'), isCurrent, build)
}
