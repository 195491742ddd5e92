// The end of what all files of a process share: a server, databases.
import { after } from 'node:test'
import type { Ends } from './temporary.ts'

const ends: (() => unknown)[] = []

after(async () => {
  for (const end of ends.toReversed()) await end()
})

/** Ends what the process shares when all its files are done, the last first. */
export const processEnds: Ends = { after: (end) => void ends.push(end) }
