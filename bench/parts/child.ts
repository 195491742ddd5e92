// Runs one row of a bench in a process of its own.
import { spawn } from 'node:child_process'
import { NODE_FLAGS } from '../../test/support/node.ts'

/**
 * Runs a program that prints its result as JSON. @returns the result, or a sentence about its
 * failure
 *
 * @param args Node's flags of its own, the file, and the file's arguments
 * @param deadline seconds after which it is killed
 */
export function runChild<T>(args: readonly string[], deadline: string): Promise<T | string> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--expose-gc', ...NODE_FLAGS, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk: Buffer) => (out += String(chunk)))
    child.stderr.on('data', (chunk: Buffer) => (err += String(chunk)))
    let late = false
    const timer = setTimeout(
      () => {
        late = true
        child.kill('SIGKILL')
      },
      Number(deadline) * 1000,
    )
    child.on('close', (code) => {
      clearTimeout(timer)
      if (code === 0) resolve(JSON.parse(out) as T)
      else
        resolve(
          late
            ? `STOPPED after ${deadline} s`
            : `DIED: ${/^.*(?:Error|FATAL).*$/m.exec(err)?.[0] ?? `exit ${code}`}`,
        )
    })
  })
}
