// Stores that a test can make stand still, and go on.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, type TestContext } from 'node:test'
import type { Store } from '../../../server/store/store.ts'
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
    const { signal } = await (server ??= startPostgres())
    const goOn = () => signal('SIGCONT')
    t.after(goOn)
    return { ...(await placeOnPostgres(t)), stop: () => signal('SIGSTOP'), goOn }
  },
}

async function placeOnPostgres(t: TestContext): Promise<Place & { databaseUrl: URL }> {
  const { url } = await (server ??= startPostgres())
  const name = `grace_${++databases}`
  await query(url, `create database ${name}`)
  return { data: temporaryFolder(t), databaseUrl: new URL(`/${name}`, url) }
}

/** PostgreSQL with a synchronous standby that can be away: then commits wait, and reads do not. */
export async function placeWithStandby(
  t: TestContext,
): Promise<Place & { loseStandby(): Promise<void>; restoreStandby(): Promise<void> }> {
  const place = await placeOnPostgres(t)
  const alter = async (change: string): Promise<void> => {
    await query(place.databaseUrl, `alter system ${change}`)
    await query(place.databaseUrl, 'select pg_reload_conf()')
  }
  const waiting: Promise<unknown>[] = []
  /** Writes until a commit waits: PostgreSQL's checkpointer notices the setting some time later. */
  const commitUntilOneWaits = async (): Promise<void> => {
    const sessions = `select from pg_stat_activity where wait_event = 'SyncRep'`
    const message = `select pg_logical_emit_message(true, 'standby', '')`
    do {
      waiting.push(query(place.databaseUrl, message))
    } while ((await query(place.databaseUrl, sessions)).length === 0)
  }
  const restoreStandby = async (): Promise<void> => {
    await alter('reset synchronous_standby_names')
    await Promise.all(waiting)
  }
  t.after(restoreStandby)
  return {
    ...place,
    async loseStandby() {
      await alter(`set synchronous_standby_names = 'away'`)
      await commitUntilOneWaits()
    },
    restoreStandby,
  }
}
