// Opens the store of a server.
import type { Log } from '../common/log.ts'
import type { Config } from '../config/settings.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'

/**
 * Opens the store, and ends the process if its writer fails later.
 *
 * @param now milliseconds since 1970
 * @throws SetupError
 */
export const openStoreBySettings = (
  { data, databaseUrl }: Config['storage'],
  log: Log,
  now: number,
): Promise<Store> =>
  openStore({
    data,
    databaseUrl,
    now,
    onFailure: (error) => {
      log.error('the database has failed; the process ends', error)
      process.exit(1)
    },
  })
