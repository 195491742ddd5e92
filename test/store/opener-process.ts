// A process that opens a store and closes it. Argument: data folder.
import { openStore } from '../../server/store/open.ts'

const store = await openStore({ data: process.argv[2] ?? '', databaseUrl: null, now: Date.now() })
await store.close()
