// Folders that live as long as a test.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Something with an end: a test, or a program. */
export interface Ends {
  after(end: () => unknown): void
}

/** A new empty folder, removed when the test ends. */
export function temporaryFolder(t: Ends): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollmark-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
