// Kills and restarts servers, databases and storage under load, then audits the data. Exits with 1
// if anything was lost, doubled or wrong. `--minutes N`, `--store embedded|distributed`, `--seed
// S`, `--pause MS` (between two faults, on average).
import { parseArgs } from 'node:util'
import { BACKINGS } from '../test/chaos/backings.ts'
import { chaos } from '../test/chaos/chaos.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    store: { type: 'string', default: 'embedded' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    pause: { type: 'string', default: '4000' },
  },
})
const { minutes, store, seed, pause } = values
if (store !== 'embedded' && store !== 'distributed') {
  console.error('--store is embedded or distributed')
  process.exit(2)
}
console.log(`${store}, ${minutes} minutes, seed ${seed}`)
const start = performance.now()
await using backing = await BACKINGS[store]()
for (const trouble of backing.leftOut) console.log(`left out: ${trouble}`)
const onEvent = (sentence: string): void =>
  console.log(`${((performance.now() - start) / 1000).toFixed(1).padStart(6)} s  ${sentence}`)
const { wrong, kills, troubles, received, told, complaints } = await chaos(backing, {
  seconds: Number(minutes) * 60,
  pause: Number(pause),
  seed: Number(seed),
  onEvent,
})

const rows: [string, number][] = [
  ['kills', kills],
  ...[...troubles].sort(),
  ['requests received by the provider', received],
  ['jobs accepted', told.jobs.size],
  ['uploads acknowledged', [...told.uploads.values()].filter((state) => state === 'done').length],
  ...[...told.statuses].sort().map(([what, times]): [string, number] => [`  ${what}`, times]),
  ['wrong', wrong.length],
]
console.log('')
for (const [name, count] of rows) console.log(`${name.padEnd(60)} ${count}`)
console.log('\nwhat the processes complained of:')
for (const [what, times] of complaints) console.log(`${String(times).padStart(6)} × ${what.trim()}`)
for (const sentence of wrong) console.log(`WRONG  ${sentence}`)
process.exitCode = wrong.length === 0 ? 0 : 1
