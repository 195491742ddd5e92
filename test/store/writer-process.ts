// A process that writes rows as fast as it can and reports each one on standard output after the
// store has acknowledged it. Its tests kill it. Arguments: the store's place, name of this run.
import { writeSync } from 'node:fs'
import { openStore } from '../../server/store/open.ts'
import { placeFrom } from '../support/place.ts'

const run = process.argv[4] ?? ''
const store = await openStore({ ...placeFrom(process.argv.slice(2)), now: Date.now() })
const writer = async (name: string): Promise<never> => {
  for (let row = 0; ; row++) {
    const id = `${run}-${name}-${row}`
    await store.db
      .insertInto('accounts')
      .values({
        id,
        name: id,
        email: null,
        plan: 'free',
        role: 'member',
        created_at: 0,
        disabled: 0,
      })
      .execute()
    writeSync(1, `${id}\n`)
  }
}
await Promise.all(Array.from({ length: 8 }, (_, index) => writer(String(index))))
