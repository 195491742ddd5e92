import { CONTENT, EXPORT } from './hostile-content.ts'
import { LAYOUT, NAMES } from './hostile-entries.ts'
import { DIRECTORY, ENTRY, FILE } from './hostile-records.ts'

/** Archives that must be refused, each with a sentence that matches `says`. */
export const HOSTILE = [FILE, DIRECTORY, ENTRY, NAMES, LAYOUT, CONTENT, EXPORT]
  .flat()
  .map(([name, says, build]) => ({ name, says, build }))
