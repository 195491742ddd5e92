// Preloaded into the server (`node --import`): changes the source of one module as the row of SWAPS
// named in BENCH_SWAP says.
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SWAPS } from './swaps.ts'

const swap = SWAPS.find(({ name }) => name === process.env['BENCH_SWAP'])
if (swap !== undefined) {
  const changed = pathToFileURL(join(import.meta.dirname, '../..', swap.file)).href
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (url !== changed) return loaded
      const source = String(loaded.source)
      if (source.split(swap.from).length !== 2)
        throw new Error(`${swap.file} has changed: mend SWAPS`)
      return { ...loaded, source: source.replace(swap.from, swap.to) }
    },
  })
}
