// Lets one process build at a time, among those that start together on one folder.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 200
/** A lock that is held for longer counts as left behind, even if a process has its holder's id. */
const MAX_WAIT_MS = 120_000

/**
 * Does `work` unless it is done. If another process does it, waits for that one, and does it itself
 * only if that one ended without having done it.
 *
 * @param path the lock, a file with the id of the process that holds it
 */
export async function doOnce(
  path: string,
  isDone: () => boolean,
  work: () => Promise<void>,
): Promise<void> {
  const latest = performance.now() + MAX_WAIT_MS
  while (!isDone()) {
    if (take(path)) {
      try {
        if (!isDone()) await work()
        return
      } finally {
        rmSync(path, { force: true })
      }
    }
    if (isHeld(path) && performance.now() < latest) await sleep(POLL_MS)
    else rmSync(path, { force: true })
  }
}

/** @returns whether this process now holds the lock */
function take(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** Whether the process with the lock lives. */
function isHeld(path: string): boolean {
  try {
    const holder = Number(readFileSync(path, 'utf8'))
    // 0: the lock was just taken, and has no process id yet.
    if (holder > 0) process.kill(holder, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
