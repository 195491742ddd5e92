// Starts real servers for tests, in this process or in their own, and sends requests to them.
// `call` checks every response against the server's /openapi.json.
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
import { openStore } from '../../server/store/open.ts'
import { serve } from '../../server/app/serve.ts'
import type { Running } from '../../server/app/serve.ts'
import { checkDescribed } from './described.ts'
import type { Form } from './form.ts'
import { LAUNCHER, MAIN, NODE_FLAGS, TEST_FLAGS } from './node.ts'
import { responseOf, start, type ReceivedResponse, type Call } from './request.ts'
import { processEnds } from './process-ends.ts'
import { storeSettings } from './store-settings.ts'
import { usedFolder } from './templates.ts'
import type { Ends } from './temporary.ts'

export { responseOf, start, type ReceivedResponse } from './request.ts'

/**
 * Sends one request on a connection of its own and reads the response, which /openapi.json must
 * describe.
 */
export async function call(
  url: string,
  path: string,
  { method = 'GET', token, headers = {}, body }: Call = {},
): Promise<ReceivedResponse> {
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
  // A server may respond before it has read everything, and then close. The response counts.
  outgoing.on('error', () => {})
  outgoing.end(body)
  const response = await responseOf(outgoing)
  await checkDescribed(url, method, path, response)
  return response
}

/** Uploads a form to POST /api/v1/convert. */
export function convert(
  url: string,
  token: string | undefined,
  { contentType, body }: Form,
  headers: OutgoingHttpHeaders = {},
): Promise<ReceivedResponse> {
  return call(url, '/api/v1/convert', {
    method: 'POST',
    token,
    headers: { 'content-type': contentType, ...headers },
    body,
  })
}

/** Asserts that a response is this problem, complete according to RFC 9457 and our contract. */
export function assertProblem(response: ReceivedResponse, status: number, code: string): void {
  assert.equal(response.status, status, response.text)
  assert.equal(response.headers['content-type'], 'application/problem+json')
  const problem = response.json()
  assert.equal(problem['code'], code, response.text)
  assert.equal(problem['status'], status)
  assert.equal(problem['request_id'], response.headers['x-request-id'])
  for (const field of ['type', 'title', 'detail'])
    assert.ok(typeof problem[field] === 'string' && problem[field].length > 5, field)
  assert.doesNotMatch(
    response.text,
    /\bat .*:\d+:\d+|node_modules|SELECT|INSERT|\/tmp\//,
    'a stack, a path or SQL reaches the caller',
  )
}

interface Wanted {
  /** The account's name. Default: the first account. */
  account?: string
  plan?: string
  scopes?: Scope[]
  expiresAt?: number
}

export interface TestServer extends Running {
  readonly data: string
  /** Lines of the log so far. */
  readonly lines: string[]
  /** Creates a token, and its account if needed. */
  newToken(wanted?: Wanted): Promise<NewToken>
  /** Creates a token and returns its secret. */
  token(wanted?: Wanted): Promise<string>
  /** The server's clock, which starts at noon, so that no test runs across midnight. */
  clock(): number
  /** Moves the server's clock by some milliseconds. */
  step(milliseconds: number): void
  /**
   * Stops the server's clock, which then moves only by `step`, so that the test does not depend on
   * the machine's speed.
   */
  hold(): void
}

const NOON = Date.UTC(2026, 10, 3, 12)

/**
 * Starts a server in this process, by default on a free port and an empty data folder; it is closed
 * when the test ends.
 */
export async function startServer(t: Ends, env: Record<string, string> = {}): Promise<TestServer> {
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

/** What tests may use of a server that they share. */
export type SharedServer = Pick<TestServer, 'clock' | 'newToken' | 'port' | 'token' | 'url'>

let shared: Promise<SharedServer> | undefined

/**
 * The server with default settings that the tests of this process share: a start costs 0.1 s of
 * CPU, and its first conversion 0.2 s more. A token is that of a new account unless it is named.
 */
export function shareServer(): Promise<SharedServer> {
  return (shared ??= openShared())
}

async function openShared(): Promise<SharedServer> {
  const server = await startServer(processEnds)
  let accounts = 0
  const newToken = (wanted: Wanted = {}): Promise<NewToken> =>
    server.newToken({ account: `account-${++accounts}`, ...wanted })
  return { ...server, newToken, token: async (wanted) => (await newToken(wanted)).secret }
}

export interface Process {
  readonly url: string
  readonly pid: number
  /** Resolves to the exit code, or null after a signal. */
  readonly exited: Promise<number | null>
  kill(signal: NodeJS.Signals): void
  /** Its standard error so far. */
  said(): string
  /** The setup link, once it is printed. */
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

/** Starts a server that logs to a file descriptor. */
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

/** Starts a server in its own process group through the launcher, as `npm start` does. */
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
    // Also kills the launcher's child. While the launcher runs, its group exists.
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

/** Runs one command to its end. @param input its standard input; default empty */
export async function tollmark(
  args: string[],
  env: Record<string, string> = {},
  cwd = process.cwd(),
  input?: string,
): Promise<{ code: number | null; out: string; err: string }> {
  // In a fresh clone, the first server builds the dashboard and prints that, which tests do not
  // expect.
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

/** Creates a token for conversions in the store of a server that runs elsewhere, or not yet. */
export async function getToken(env: Record<string, string>): Promise<string> {
  const { storage } = readConfig({ ...env, ...(await storeOf(env)) })
  await using store = await openStore({ ...storage, now: Date.now() })
  const account = { name: null, plan: 'free' }
  const wanted = { name: 'test', scopes: ['convert' as const], expiresAt: null }
  return (await createToken(store, account, wanted, Date.now())).token.secret
}
