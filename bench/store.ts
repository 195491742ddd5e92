// Durable rows per second through the store's writer: each caller waits until its row is on disk
// before it writes the next.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../server/store/open.ts'

const SECONDS = Number(process.argv[2] ?? 2)

const data = mkdtempSync(join(tmpdir(), 'tollmark-bench-'))
const store = await openStore({ data, databaseUrl: null, now: Date.now() })
console.log('callers   rows/s   p50 ms   p99 ms')
for (const callers of [1, 32, 256, 2048]) {
  const until = performance.now() + SECONDS * 1000
  const waits: number[] = []
  const caller = async (name: string): Promise<void> => {
    for (let row = 0; performance.now() < until; row++) {
      const started = performance.now()
      const id = `${name}-${row}`
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
      waits.push(performance.now() - started)
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(`${callers}-${index}`)))
  const rate = waits.length / ((performance.now() - started) / 1000)
  waits.sort((a, b) => a - b)
  const at = (part: number): string =>
    (waits[Math.floor(waits.length * part)] ?? 0).toFixed(2).padStart(8)
  console.log(
    `${String(callers).padStart(7)} ${rate.toFixed(0).padStart(8)} ${at(0.5)} ${at(0.99)}`,
  )
}
const started = performance.now()
for (let read = 0; read < 20_000; read++)
  await store.db.selectFrom('accounts').selectAll().where('id', '=', '1-0').executeTakeFirst()
console.log(`reads by id: ${((performance.now() - started) / 20).toFixed(1)} µs each`)
await store.close()
rmSync(data, { recursive: true })
