// Requests come before conversions: how a converter gives way to them, and how it gets on
// nevertheless.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/**
 * How often it is looked what a conversion has got of the processors, in milliseconds; and the
 * least share of one that is enough.
 */
const CHECK_MS = 1_000
const MIN_CPU_SHARE = 0.1

/**
 * Gives a process a low priority. On Linux it becomes an idle task besides: any other may finish a
 * slice of some milliseconds before it gives way to who has just become ready, and an idle task
 * does so at once. Where that is not allowed, it competes on equal terms.
 */
export function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    return
  }
  setPolicy(pid, '--idle')
}

/**
 * While it is not disposed: on processors that others keep busy an idle task would wait for ever,
 * so one that gets next to nothing is none until the end.
 */
export function guardAgainstStarvation(pid: number): Disposable {
  let idle = true
  let lastTime = cpuTime(pid)
  const timer = setInterval(() => {
    const now = cpuTime(pid)
    if (idle && now !== null && lastTime !== null && now - lastTime < MIN_CPU_SHARE * CHECK_MS) {
      idle = false
      setPolicy(pid, '--other')
    }
    lastTime = now
  }, CHECK_MS).unref()
  return {
    [Symbol.dispose]: () => {
      clearInterval(timer)
      if (!idle) setPolicy(pid, '--idle')
    },
  }
}

/** sched(7), by a program that every Linux has; without it nothing changes. */
function setPolicy(pid: number, policy: '--idle' | '--other'): void {
  if (process.platform === 'linux')
    execFile('chrt', ['--all-tasks', policy, '--pid', '0', String(pid)], () => {})
}

/**
 * Milliseconds that a process has run on any processor; null where the system does not say. Fields
 * 14 and 15 of proc_pid_stat(5), in hundredths of a second.
 */
function cpuTime(pid: number): number | null {
  try {
    // Counted from behind the command's name, which may hold spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return null
  }
}
