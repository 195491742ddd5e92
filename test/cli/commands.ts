// The command line with these variables, in one process for all of a test.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { NODE_FLAGS } from '../support/node.ts'

export interface Said {
  code: number
  out: string
  err: string
}

/** Runs a command line. */
interface Commands {
  (...args: string[]): Promise<Said>
  /** Interrupts the one that runs. */
  interrupt(): void
}

/**
 * Starts the process; gives what runs a command line in it, in this folder, with nothing on
 * standard input.
 */
export function openCommands(t: TestContext, env: Record<string, string>, cwd: string): Commands {
  const child = fork(join(import.meta.dirname, 'command-process.ts'), [], {
    execArgv: [...NODE_FLAGS],
    env: { ...process.env, ...env },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [out, err] = [untilEnd(child.stdout!), untilEnd(child.stderr!)]
  const run = async (...args: string[]): Promise<Said> => {
    const done = Promise.all([once(child, 'message').then(([code]) => Number(code)), out(), err()])
    child.send(args)
    const [code, said, complained] = await done
    return { code, out: said, err: complained }
  }
  return Object.assign(run, { interrupt: () => void child.kill('SIGINT') })
}

/** Reads what comes up to the next NUL. */
function untilEnd(stream: Readable): () => Promise<string> {
  let waiting: ((text: string) => void) | undefined
  let text = ''
  stream.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
    const end = text.indexOf('\0')
    if (end < 0) return
    waiting?.(text.slice(0, end))
    text = text.slice(end + 1)
  })
  return () => new Promise((resolve) => (waiting = resolve))
}
