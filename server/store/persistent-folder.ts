// Tells whether the data folder survives a restart of the machine.
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'

/** File system types in memory, by their numbers in statfs(2): tmpfs and ramfs. */
const MEMORY_FILE_SYSTEMS: ReadonlySet<number> = new Set([0x01021994, 0x858458f6])

/** The operator's setting for the data folder; `auto`: it is persistent unless it is in memory. */
export type Persistence = 'auto' | 'yes' | 'no'

/**
 * The folder for outage files, in the data folder; null if the data folder does not outlive the
 * process. It is created when it is needed.
 */
export async function outageFolder(data: string, persistence: Persistence): Promise<string | null> {
  const isPersistent = persistence === 'auto' ? await liesOnDisk(data) : persistence === 'yes'
  return isPersistent ? join(data, 'outage') : null
}

async function liesOnDisk(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return true
  return !MEMORY_FILE_SYSTEMS.has((await statfs(folder)).type)
}
