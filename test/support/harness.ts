// A real server for a test, in this process or in one of its own, and what a test needs to talk to
// it. Every answer that is received through `call` must be described in the server's own
// /openapi.json.
import assert from 'node:assert/strict'
import { spawn, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import type { TestContext } from 'node:test'
import { buildWhereChanged } from '../../dashboard/build.ts'
import { createToken } from '../../server/accounts/tokens.ts'
import type { NewToken, Scope } from '../../server/accounts/tokens.ts'
import { readConfig } from '../../server/config/settings.ts'
import { openLog } from '../../server/common/log.ts'
import { serve } from '../../server/app/serve.ts'
import type { Running } from '../../server/app/serve.ts'
import { checkDescribed } from './described.ts'
import type { Form } from './form.ts'
import { LAUNCHER, MAIN, NODE_FLAGS, TEST_FLAGS } from './node.ts'
import { answerOf, start, type Answer, type Call } from './request.ts'
import { storeSettings } from './store-settings.ts'
import { usedFolder } from './templates.ts'

export { answerOf, start, type Answer } from './request.ts'

/**
 * Sends one request on a connection of its own, and reads the answer, which /openapi.json must
 * describe.
 */
export async function call(
  url: string,
  path: string,
  { method = 'GET', token, headers = {}, body }: Call = {},
): Promise<Answer> {
  const outgoing = start(url, path, {
    method,
    token,
    headers: {
      ...headers,
      ...(body === undefined || 'transfer-encoding' in headers
        ? {}
        : { 'content-length': Buffer.byteLength(body) }),
    },
  })
  // A server may answer before it has read everything, and then close: the answer counts.
  outgoing.on('error', () => {})
  outgoing.end(body)
  const answer = await answerOf(outgoing)
  await checkDescribed(url, method, path, answer)
  return answer
}

/** Uploads a form to POST /api/v1/convert. */
export function convert(
  url: string,
  token: string | undefined,
  { contentType, body }: Form,
  headers: OutgoingHttpHeaders = {},
): Promise<Answer> {
  return call(url, '/api/v1/convert', {
    method: 'POST',
    token,
    headers: { 'content-type': contentType, ...headers },
    body,
  })
}

/** Asserts that an answer is this problem, complete as RFC 9457 and our contract want it. */
export function assertProblem(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.headers['content-type'], 'application/problem+json')
  const problem = answer.json()
  assert.equal(problem['code'], code, answer.text)
  assert.equal(problem['status'], status)
  assert.equal(problem['request_id'], answer.headers['x-request-id'])
  for (const field of ['type', 'title', 'detail'])
    assert.ok(typeof problem[field] === 'string' && problem[field].length > 5, field)
  assert.doesNotMatch(
    answer.text,
    /\bat .*:\d+:\d+|node_modules|SELECT|INSERT|\/tmp\//,
    'a stack, a path or SQL reaches the caller',
  )
}

interface Wanted {
  /** The account's name; the first account's where it is left out. */
  account?: string
  plan?: string
  scopes?: Scope[]
  expiresAt?: number
}

export interface TestServer extends Running {
  readonly data: string
  /** Lines of the log so far. */
  readonly lines: string[]
  /** Makes a token, and its account where there is none. */
  newToken(wanted?: Wanted): Promise<NewToken>
  /** The text of a new token. */
  token(wanted?: Wanted): Promise<string>
  /** The server's clock, which begins at noon, so that no test meets midnight by chance. */
  clock(): number
  /** Lets the server's clock jump by some milliseconds. */
  step(milliseconds: number): void
  /**
   * From now on the server's clock stands still but for `step`: for what must not depend on how
   * busy the machine is.
   */
  hold(): void
}

const NOON = Date.UTC(2026, 10, 3, 12)

/**
 * Starts a server in this process, on a free port and an empty data folder unless `env` says
 * otherwise; it is closed when the test ends.
 */
export async function startServer(
  t: TestContext,
  env: Record<string, string> = {},
): Promise<TestServer> {
  const data = env['TOLLMARK_DATA'] ?? usedFolder(t)
  const lines: string[] = []
  const log = openLog('info', { write: (line) => void lines.push(line) })
  let offset = NOON - performance.now()
  let held: number | undefined
  const clock = (): number => Math.round((held ?? performance.now()) + offset)
  const config = readConfig({
    PORT: '0',
    ...(await storeSettings(data)),
    TOLLMARK_SHUTDOWN_TIMEOUT: '2s',
    ...env,
  })
  const running = await serve(config, log, { clock, warm: false })
  t.after(() => running[Symbol.asyncDispose]())
  const newToken = async ({
    account,
    plan = 'free',
    scopes = ['convert'],
    expiresAt,
  }: Wanted = {}): Promise<NewToken> => {
    const made = await createToken(
      running.store,
      { name: account ?? null, plan },
      { name: 'test', scopes, expiresAt: expiresAt ?? null },
      clock(),
    )
    return made.token
  }
  const token = async (wanted?: Wanted): Promise<string> => (await newToken(wanted)).secret
  return {
    ...running,
    data,
    lines,
    newToken,
    token,
    clock,
    step: (milliseconds) => void (offset += milliseconds),
    hold: () => void (held ??= performance.now()),
  }
}

export interface Process {
  readonly url: string
  readonly pid: number
  /** Ends with the exit code, or null where a signal ended it. */
  readonly exited: Promise<number | null>
  kill(signal: NodeJS.Signals): void
  /** What it has written to standard error so far. */
  said(): string
  /** The link of the first run, once it is printed. */
  link(): Promise<string>
}

/** Starts a server in a process of its own. */
export function spawnServer(
  t: TestContext,
  env: Record<string, string>,
  ...args: string[]
): Promise<Process> {
  return spawnLogging(t, 'ignore', env, ...args)
}

/** A server whose log goes to a file descriptor. */
export function spawnLogging(
  t: TestContext,
  log: number | 'ignore',
  env: Record<string, string>,
  ...args: string[]
): Promise<Process> {
  return spawnNode(t, [...NODE_FLAGS, ...TEST_FLAGS, MAIN, 'serve', ...args], env, {
    stdio: ['ignore', log, 'pipe'],
  })
}

/** A server in a process group of its own, started by the launcher as `npm start` does. */
export function spawnGroup(t: TestContext, env: Record<string, string>): Promise<Process> {
  return spawnNode(t, [LAUNCHER, 'server/cli/main.ts', 'serve'], env, {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
}

async function spawnNode(
  t: TestContext,
  args: string[],
  env: Record<string, string>,
  options: SpawnOptions,
): Promise<Process> {
  const child = spawn(process.execPath, args, {
    ...options,
    env: { ...process.env, PORT: '0', ...env, ...(await storeOf(env)) },
  })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  t.after(async () => {
    // The launcher's child as well: where the launcher still runs, so does its group.
    if (options.detached === true && child.exitCode === null) process.kill(-child.pid!, 'SIGKILL')
    else child.kill('SIGKILL')
    await exited
  })
  let said = ''
  const stderr = child.stderr!
  stderr.setEncoding('utf8').on('data', (piece: string) => (said += piece))
  const find = async (what: RegExp): Promise<string> => {
    for (;;) {
      const found = what.exec(said)?.[0]
      if (found !== undefined) return found
      const ended = await Promise.race([
        once(stderr, 'data').then(() => false),
        exited.then(() => true),
      ])
      if (ended) throw new Error(`the server ended: ${said}`)
    }
  }
  const url = await find(/http:\/\/\S+(?=\n)/)
  return {
    url,
    pid: child.pid!,
    exited,
    kill: (signal) => void child.kill(signal),
    said: () => said,
    link: () => find(/http:\/\/\S+\/setup\S+(?=\n)/),
  }
}

async function storeOf({
  TOLLMARK_DATA: data,
  DATABASE_URL: url,
}: Record<string, string>): Promise<Record<string, string>> {
  return data === undefined || url !== undefined ? {} : { ...(await storeSettings(data)) }
}

/**
 * Runs one command of the command line to its end. @param input what stands on standard input;
 * nothing where it is left out
 */
export async function tollmark(
  args: string[],
  env: Record<string, string> = {},
  cwd = process.cwd(),
  input?: string,
): Promise<{ code: number | null; out: string; err: string }> {
  // In a fresh clone the first server builds the dashboard, and says so where only what is wrong is
  // expected.
  if (args[0] === 'serve') buildWhereChanged()
  const child = spawn(process.execPath, [...NODE_FLAGS, ...TEST_FLAGS, MAIN, ...args], {
    env: { ...process.env, ...env, ...(await storeOf(env)) },
    cwd,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  child.stdin?.end(input)
  let [out, err] = ['', '']
  child.stdout!.setEncoding('utf8').on('data', (piece: string) => (out += piece))
  child.stderr!.setEncoding('utf8').on('data', (piece: string) => (err += piece))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, err }
}

/** A token for conversions, made by the command line on a store that no server need run on. */
export async function getToken(env: Record<string, string>): Promise<string> {
  const { code, out, err } = await tollmark(['tokens', 'create', '--name', 'test', '--json'], env)
  if (code !== 0) throw new Error(`no token could be made: ${err}`)
  return (JSON.parse(out) as { secret: string }).secret
}
