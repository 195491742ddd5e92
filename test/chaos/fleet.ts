// Server processes that are killed and started again, and the one address at which callers find
// whichever of them lives.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { MAIN, NODE_FLAGS, TEST_FLAGS } from '../support/node.ts'

/**
 * Runs one command of the command line; what it prints. Rejects with what it says where it fails.
 */
export async function command(
  args: readonly string[],
  env: Record<string, string> = {},
  main = MAIN,
): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...NODE_FLAGS, ...TEST_FLAGS, main, ...args],
    { env: { ...process.env, ...env }, maxBuffer: 2 ** 26 },
  )
  return stdout
}

export type Role = 'all' | 'web' | 'worker'

interface Member {
  readonly role: Role
  readonly child: ChildProcess
  /** Whether it was told to end. */
  ending: boolean
  /** Null until it listens, and after it has ended. */
  port: number | null
}

export interface Fleet extends AsyncDisposable {
  /**
   * The port of some process that takes requests, another one each time; null while there is none.
   */
  port(): number | null
  /**
   * Sends a signal to one process, waits until it has ended, and starts it again. Resolves to what
   * happened, in words.
   */
  restartOne(signal: 'SIGKILL' | 'SIGTERM', pick: number): Promise<string>
  /** Resolves when every process takes requests again. */
  whole(): Promise<void>
  /** Ends all by SIGTERM. */
  stop(): Promise<void>
  /** Processes that did not end well when they were asked to, in words. */
  readonly badEnds: readonly string[]
  /**
   * What they have complained of on standard error and as log lines of level error: how often each
   * kind.
   */
  readonly complaints: ReadonlyMap<string, number>
}

/**
 * Milliseconds after which a process that ended by itself is started again, as a supervisor does.
 */
const RESTART = 500
/** Milliseconds that a process may take to end after SIGTERM, and all of them to start. */
const [END, START] = [120_000, 300_000]

/** Starts the processes, all with the same environment. */
export async function startFleet(
  roles: readonly Role[],
  env: Record<string, string>,
): Promise<Fleet> {
  const complaints = new Map<string, number>()
  const badEnds: string[] = []
  let turn = 0
  let stopped = false

  function complain(text: string): void {
    const kind = text.replaceAll(/\d+/g, '#').slice(0, 1_000)
    complaints.set(kind, (complaints.get(kind) ?? 0) + 1)
  }

  function start(role: Role): Member {
    const child = spawn(process.execPath, [...NODE_FLAGS, ...TEST_FLAGS, MAIN, 'serve'], {
      env: {
        ...process.env,
        PORT: '0',
        HOST: '127.0.0.1',
        TOLLMARK_ROLE: role,
        LOG_LEVEL: 'error',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const member: Member = { role, child, port: null, ending: false }
    child.stderr.setEncoding('utf8').on('data', (said: string) => {
      const port = /http:\/\/[^\s:]+:(\d+)/.exec(said)?.[1]
      if (port !== undefined) member.port = Number(port)
      else complain(said)
    })
    child.stdout.setEncoding('utf8').on('data', (lines: string) => {
      for (const line of lines.split('\n'))
        if (line.includes('"level":"error"')) complain(messageOf(line))
    })
    child.once('exit', (code) => {
      member.port = null
      if (member.ending) return
      complain(`a process (${role}) ended by itself with ${code}`)
      setTimeout(() => replace(member), RESTART)
    })
    return member
  }

  function replace(member: Member): void {
    const at = members.indexOf(member)
    if (!stopped && at >= 0) members[at] = start(member.role)
  }

  async function end(member: Member, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { child, role } = member
    const began = member.port !== null
    member.ending = true
    if (child.exitCode !== null || child.signalCode !== null) return
    const last = setTimeout(() => child.kill('SIGKILL'), END)
    child.kill(signal)
    const [code, by] = (await once(child, 'exit')) as [number | null, string | null]
    clearTimeout(last)
    // One that has not begun yet has nothing to bring to an end.
    if (signal === 'SIGTERM' && began && code !== 0)
      badEnds.push(`a process (${role}) ended with ${code ?? by} after SIGTERM`)
  }

  async function whole(): Promise<void> {
    for (const until = Date.now() + START; Date.now() < until; await sleep(50))
      if (members.every(({ port }) => port !== null)) return
    throw new Error(`the processes did not start: ${[...complaints.keys()].join('\n')}`)
  }

  const members = roles.map(start)
  const kill = async (): Promise<void> => {
    stopped = true
    await Promise.all(members.map((member) => end(member, 'SIGKILL')))
  }
  try {
    await whole()
  } catch (error) {
    await kill()
    throw error
  }

  return {
    port: () => {
      const open = members.filter((member) => member.port !== null && member.role !== 'worker')
      return open.length === 0 ? null : open[turn++ % open.length]!.port
    },
    async restartOne(signal, pick) {
      const member = members[pick % members.length]!
      await end(member, signal)
      replace(member)
      return `${signal} to a process (${member.role})`
    },
    whole,
    async stop() {
      stopped = true
      await Promise.all(members.map((member) => end(member, 'SIGTERM')))
    },
    badEnds,
    complaints,
    [Symbol.asyncDispose]: kill,
  }
}

function messageOf(line: string): string {
  try {
    const { msg, err, route, code } = JSON.parse(line) as {
      msg?: string
      err?: string
      route?: string
      code?: string
    }
    return [msg, err?.split('\n')[0], route, code].filter((word) => word !== undefined).join(' ')
  } catch {
    return line
  }
}
