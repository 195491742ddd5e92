// Runs PostgreSQL's own backup programs, if the machine has them.
import { spawn } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { SetupError } from '../../common/errors.ts'

/**
 * The environment of this process; only the variables that PostgreSQL's programs read are passed
 * on.
 */
export type ToolEnvironment = Readonly<Record<string, string | undefined>>

/**
 * Writes the whole database to `path` in `pg_dump`'s custom format, consistent as of one moment.
 */
export function dumpPostgres(
  url: URL,
  path: string,
  env: ToolEnvironment,
  signal: AbortSignal,
): Promise<void> {
  return runTool('pg_dump', url, ['--format=custom', '--no-owner', `--file=${path}`], env, signal)
}

/** Restores such a dump into an empty database, completely or not at all. */
export function restorePostgres(
  url: URL,
  path: string,
  env: ToolEnvironment,
  signal: AbortSignal,
): Promise<void> {
  return runTool(
    'pg_restore',
    url,
    ['--no-owner', '--single-transaction', '--exit-on-error', path],
    env,
    signal,
  )
}

/** @throws SetupError if the program is missing, or with its output if it fails */
async function runTool(
  name: string,
  url: URL,
  args: readonly string[],
  env: ToolEnvironment,
  signal: AbortSignal,
): Promise<void> {
  const { database, password } = splitPassword(url)
  const passed = Object.entries(env).filter(([key]) => /^(?:PATH|HOME|PG[A-Z]+)$/.test(key))
  const program = findTool(name, env['PATH'] ?? '')
  const child = spawn(program, [`--dbname=${database}`, '--no-password', ...args], {
    // Not passed as an argument, because other users of the machine can see arguments.
    env: { ...Object.fromEntries(passed), ...(password === null ? {} : { PGPASSWORD: password }) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  // The signal is not passed to `spawn`, which would reject while the program may still write the
  // file to be removed.
  const stop = (): boolean => child.kill()
  signal.addEventListener('abort', stop, { once: true })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  }).finally(() => signal.removeEventListener('abort', stop))
  signal.throwIfAborted()
  if (code !== 0) throw new SetupError(`${name} failed: ${output.trim() || `exit ${code}`}`)
}

function splitPassword(url: URL): { database: string; password: string | null } {
  const without = new URL(url)
  without.password = ''
  // Options of `pg` that its programs do not know: their names differ, not what they do.
  without.searchParams.delete('uselibpqcompat')
  if (without.searchParams.get('sslmode') === 'no-verify')
    without.searchParams.set('sslmode', 'require')
  return {
    database: without.href,
    password: url.password === '' ? null : decodeURIComponent(url.password),
  }
}

/** The path of a program: that of the newest version, which reads every older server. */
function findTool(name: string, searchPath: string): string {
  const newest = globSync(`/usr/lib/postgresql/*/bin/${name}`).sort((a, b) =>
    b.localeCompare(a, 'en', { numeric: true }),
  )
  const path = searchPath.split(delimiter).map((folder) => join(folder, name))
  const found = [...newest, ...path].find((file) => existsSync(file))
  if (found === undefined)
    throw new SetupError(
      `${name} is not installed. Install PostgreSQL's client programs, of the server's version or newer.`,
    )
  return found
}
