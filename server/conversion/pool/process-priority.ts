// Runs converters at low priority, and keeps them from starving.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/** Milliseconds between two checks of a converter's CPU time. */
const CHECK_MS = 1_000
/** The smallest share of one processor that a converter must get. */
const MIN_CPU_SHARE = 0.1

/**
 * Lowers a process's priority. On Linux it also becomes SCHED_IDLE: other tasks preempt it at once,
 * where a normal task of low priority may first finish its slice of some milliseconds. Without
 * permission, it competes on equal terms.
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
 * On busy processors a SCHED_IDLE task can wait forever. Until disposed, raises a process that gets
 * almost no CPU time back to SCHED_OTHER.
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

/** Sets the policy of sched(7) with `chrt`, which every Linux has; without it nothing changes. */
function setPolicy(pid: number, policy: '--idle' | '--other'): void {
  if (process.platform === 'linux')
    execFile('chrt', ['--all-tasks', policy, '--pid', '0', String(pid)], () => {})
}

/**
 * CPU time of a process in milliseconds (fields 14 and 15 of proc_pid_stat(5), in hundredths of a
 * second); null if the system does not say.
 */
function cpuTime(pid: number): number | null {
  try {
    // Counted from after the command's name, which may contain spaces.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return null
  }
}
