// TABLE of what can stand behind the processes: a folder, or PostgreSQL and S3.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Backing } from './chaos.ts'

/** Two processes over one data folder, with SQLite. */
export function embedded(): Backing {
  const data = mkdtempSync(join(tmpdir(), 'tollmark-chaos-'))
  return {
    env: { TOLLMARK_DATA: data },
    roles: ['all', 'all'],
    troubles: {},
    blobs: async () => (existsSync(join(data, 'blobs')) ? readdirSync(join(data, 'blobs')) : []),
    [Symbol.asyncDispose]: async () => rmSync(data, { recursive: true, force: true }),
  }
}
