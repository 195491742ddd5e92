// Folders that live as long as a test.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A new empty folder, removed when the test ends. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollmark-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
