// Server processes that are killed and started again, and the one address at which callers find whichever of them lives.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const MAIN = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'src', 'main.ts')
const NODE_ARGS = ['--conditions=source', '--disable-warning=ExperimentalWarning']

export type Role = 'all' | 'web' | 'worker'

interface Member {
  readonly role: Role
  child: ChildProcess
  /** Null until it listens, and after it has ended. */
  port: number | null
}

export interface Fleet {
  /** The port of some process that takes requests, another one each time; null while there is none. */
  port(): number | null
  /** Sends a signal to one process, waits until it has ended, and starts it again. Resolves to what happened, in words. */
  restartOne(signal: 'SIGKILL' | 'SIGTERM', pick: number): Promise<string>
  /** Ends all by SIGTERM; resolves to their exit codes. */
  stop(): Promise<(number | null)[]>
  /** What they have complained of on standard error and as log lines of level error, the first of each kind. */
  readonly complaints: ReadonlyMap<string, number>
}

/** Starts the processes, all with the same environment. */
export async function startFleet(roles: readonly Role[], env: Record<string, string>): Promise<Fleet> {
  const complaints = new Map<string, number>()
  let turn = 0
  let stopped = false

  function complain(text: string): void {
    const kind = text.replaceAll(/\d+/g, '#').slice(0, 200)
    complaints.set(kind, (complaints.get(kind) ?? 0) + 1)
  }

  function start(role: Role): Member {
    const child = spawn(process.execPath, [...NODE_ARGS, MAIN, 'serve'], {
      env: { ...process.env, PORT: '0', HOST: '127.0.0.1', TOLLMARK_ROLE: role, LOG_LEVEL: 'error', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const member: Member = { role, child, port: null }
    child.stderr!.setEncoding('utf8').on('data', (said: string) => {
      const port = /http:\/\/[^\s:]+:(\d+)/.exec(said)?.[1]
      if (port !== undefined) member.port = Number(port)
      else complain(said)
    })
    child.stdout!.setEncoding('utf8').on('data', (lines: string) => {
      for (const line of lines.split('\n')) if (line.includes('"level":"error"')) complain(messageOf(line))
    })
    child.once('exit', () => (member.port = null))
    return member
  }

  const members = roles.map(start)
  await started(members)

  return {
    port: () => {
      const open = members.filter((member) => member.port !== null && member.role !== 'worker')
      return open.length === 0 ? null : open[turn++ % open.length]!.port
    },
    async restartOne(signal, pick) {
      const at = pick % members.length
      const { role, child } = members[at]!
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal)
        await once(child, 'exit')
      }
      if (!stopped) members[at] = start(role)
      return `${signal} to a process (${role})`
    },
    async stop() {
      stopped = true
      return Promise.all(members.map(({ child }) => end(child)))
    },
    complaints,
  }
}

async function started(members: readonly Member[]): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (members.every((member) => member.port !== null)) return
    if (members.some(({ child }) => child.exitCode !== null)) throw new Error('a process of the fleet did not start')
    await sleep(50)
  }
  throw new Error('the fleet did not start in 30 seconds')
}

async function end(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const last = setTimeout(() => child.kill('SIGKILL'), 30_000)
  child.kill('SIGTERM')
  const [code] = (await once(child, 'exit')) as [number | null]
  clearTimeout(last)
  return code
}

function messageOf(line: string): string {
  try {
    const { msg, err } = JSON.parse(line) as { msg?: string; err?: string }
    return `${msg ?? ''} ${err?.split('\n')[0] ?? ''}`
  } catch {
    return line
  }
}
