// A process that opens a store and closes it. Arguments: its place.
import { openStore } from '../../server/store/open.ts'
import { placeFrom } from '../support/place.ts'

const store = await openStore({ ...placeFrom(process.argv.slice(2)), now: Date.now() })
await store.close()
