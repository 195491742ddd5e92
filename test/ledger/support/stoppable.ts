// Stores that a test can make stand still, and go on.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, type TestContext } from 'node:test'
import type { Store } from '../../../server/store/open.ts'
import type { Place } from '../../support/place.ts'
import { query, startPostgres, type Server } from '../../support/postgres.ts'
import { temporaryFolder } from '../../support/temporary.ts'

/** A place whose store can stand still. */
export type Stoppable = Place & { stop(): void; goOn(): void }

/** One for all tests here: each has a database of its own, and they run one after the other. */
let server: Promise<Server> | undefined
let databases = 0
after(async () => (await server)?.[Symbol.asyncDispose]())

/** TABLE of stores, and how they come to stand still. */
export const STOPPABLE: Record<Store['dialect'], (t: TestContext) => Promise<Stoppable>> = {
  sqlite: async (t) => {
    const data = temporaryFolder(t)
    let other: DatabaseSync | undefined
    const goOn = () => {
      other?.close()
      other = undefined
    }
    t.after(goOn)
    return {
      data,
      databaseUrl: null,
      goOn,
      stop: () => {
        // The writer may hold the lock at this very moment.
        other = new DatabaseSync(join(data, 'tollmark.db'), { timeout: 10_000 })
        other.exec('BEGIN IMMEDIATE')
      },
    }
  },
  postgres: async (t) => {
    const { url, signal } = await (server ??= startPostgres())
    const goOn = () => signal('SIGCONT')
    t.after(goOn)
    const name = `grace_${++databases}`
    await query(url, `create database ${name}`)
    return {
      data: temporaryFolder(t),
      databaseUrl: new URL(`/${name}`, url),
      stop: () => signal('SIGSTOP'),
      goOn,
    }
  },
}
