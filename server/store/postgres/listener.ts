// Listens for changes by other processes.
import { Client } from 'pg'
import { CHANNEL } from '../migrations/0040-changes.ts'
import { connectionConfig } from './pool.ts'

/** Pauses before connecting again: the first, and the longest (milliseconds). */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1_000
/** How often the connection is checked, and how long the reply may take (milliseconds). */
const CHECK_INTERVAL_MS = 2_000
const QUERY_TIMEOUT_MS = 2_000

/**
 * Listens from when this resolves until it is closed, and reconnects as needed. Without a
 * connection, nothing is received: `onChange` is called when it is restored, and code that must not
 * miss a change also polls.
 *
 * @param name the name of this process on its own connections; its own changes are not reported
 */
export async function listen(
  url: URL,
  name: string,
  onChange: () => void,
): Promise<{ close(): Promise<void> }> {
  let closed = false
  let first = true
  let current: Client | undefined
  let timer: NodeJS.Timeout | undefined
  let pause = FIRST_PAUSE_MS

  const connect = async (): Promise<void> => {
    const client = new Client({ ...connectionConfig(url), query_timeout: QUERY_TIMEOUT_MS })
    current = client
    let over = false
    const end = (): void => {
      if (over) return
      over = true
      clearInterval(check)
      client.end().catch(() => {})
      if (closed) return
      timer = setTimeout(() => void connect(), pause).unref()
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS)
    }
    const check = setInterval(
      () => void client.query('select 1').catch(end),
      CHECK_INTERVAL_MS,
    ).unref()
    client.on('error', end)
    client.on('end', end)
    client.on('notification', ({ payload }) => {
      if (payload !== name) onChange()
    })
    try {
      await client.connect()
      await client.query(`set application_name = '${name}'; listen ${CHANNEL}`)
      pause = FIRST_PAUSE_MS
      if (!first && !closed) onChange()
    } catch {
      end()
    }
    first = false
  }
  await connect()

  return {
    close: async () => {
      closed = true
      clearTimeout(timer)
      await current?.end().catch(() => {})
    },
  }
}
