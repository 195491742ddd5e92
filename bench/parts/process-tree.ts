// Resource use of a process and its descendants, seen from outside. Linux only: it reads /proc.
import { readFileSync, readdirSync, statSync } from 'node:fs'

/** Peak use of a process tree. */
export interface TreeUse {
  /**
   * Peak megabytes of the process, of the largest process, and of all together. Shared memory
   * counts in equal shares.
   */
  readonly own: number
  readonly largest: number
  readonly all: number
  /** Seconds of processor time, of all. */
  readonly cpu: number
  /** Bytes read from files and sockets by all of them. */
  readonly read: number
  /** Peak megabytes on disk: below `folder`, and in deleted files that are still open. */
  readonly disk: number
}

/**
 * Watches a process and its descendants until stopped. @param folder the folder whose files count;
 * `counts` can exclude files by size
 */
export function watchTree(
  pid: number,
  folder?: string,
  counts: (size: number) => boolean = () => true,
): { stop(): TreeUse } {
  const peak = { own: 0, largest: 0, all: 0, disk: 0 }
  const cpu = new Map<number, number>()
  const read = new Map<number, number>()
  const look = (): void => {
    let all = 0
    const files = new Map<string, number>()
    if (folder !== undefined) addFiles(folder, counts, files)
    for (const one of familyOf(pid)) {
      const held = heldBy(one)
      all += held
      if (one === pid) peak.own = Math.max(peak.own, held)
      peak.largest = Math.max(peak.largest, held)
      cpu.set(one, Math.max(cpu.get(one) ?? 0, processorSeconds(one)))
      read.set(one, Math.max(read.get(one) ?? 0, bytesRead(one)))
      if (folder !== undefined) addDeleted(one, folder, counts, files)
    }
    peak.all = Math.max(peak.all, all)
    peak.disk = Math.max(peak.disk, sum(files) / 2 ** 20)
  }
  const timer = setInterval(look, folder === undefined ? 20 : 100)
  return {
    stop: () => {
      clearInterval(timer)
      look()
      const [own, largest, most, disk] = [peak.own, peak.largest, peak.all, peak.disk].map(
        Math.round,
      ) as [number, number, number, number]
      return { own, largest, all: most, disk, cpu: sum(cpu), read: sum(read) }
    },
  }
}

function sum(numbers: ReadonlyMap<unknown, number>): number {
  return [...numbers.values()].reduce((all, one) => all + one, 0)
}

function familyOf(pid: number): number[] {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
  const parents = new Map(
    pids.map((one) => [one, Number(/^PPid:\s+(\d+)/m.exec(proc(one, 'status'))?.[1] ?? 0)]),
  )
  const family = [pid]
  for (const member of family)
    family.push(...[...parents].filter(([, parent]) => parent === member).map(([child]) => child))
  return family
}

/** The proportional set size. */
function heldBy(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(proc(pid, 'smaps_rollup'))?.[1] ?? 0) / 1024
}

/**
 * Fields 14 and 15 of proc_pid_stat(5), in hundredths of a second, counted from behind the
 * command's name.
 */
function processorSeconds(pid: number): number {
  const fields = proc(pid, 'stat').split(') ').at(-1)!.split(' ')
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100
}

function bytesRead(pid: number): number {
  return Number(/^rchar:\s+(\d+)/m.exec(proc(pid, 'io'))?.[1] ?? 0)
}

/** The disk usage of the files below a folder; sparse files take less than their size. */
function addFiles(
  folder: string,
  counts: (size: number) => boolean,
  files: Map<string, number>,
): void {
  for (const entry of attempt(
    () => readdirSync(folder, { recursive: true, withFileTypes: true }),
    [],
  )) {
    const stats = entry.isFile()
      ? attempt(() => statSync(`${entry.parentPath}/${entry.name}`), undefined)
      : undefined
    if (stats && counts(stats.size)) files.set(String(stats.ino), stats.blocks * 512)
  }
}

function addDeleted(
  pid: number,
  folder: string,
  counts: (size: number) => boolean,
  files: Map<string, number>,
): void {
  const { dev } = statSync(folder)
  for (const name of attempt(() => readdirSync(`/proc/${pid}/fd`), [])) {
    const stats = attempt(() => statSync(`/proc/${pid}/fd/${name}`), undefined)
    if (stats?.isFile() && stats.nlink === 0 && stats.dev === dev && counts(stats.size))
      files.set(String(stats.ino), stats.blocks * 512)
  }
}

function proc(pid: number, name: string): string {
  return attempt(() => readFileSync(`/proc/${pid}/${name}`, 'utf8'), '')
}

/** Ignores errors, because processes end and files vanish while they are read. */
function attempt<T>(look: () => T, otherwise: T): T {
  try {
    return look()
  } catch {
    return otherwise
  }
}
