import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { openStore } from '../../server/store/open.ts'
import { NODE_FLAGS } from '../support/node.ts'
import { argumentsOf } from '../support/place.ts'
import type { Place } from '../support/place.ts'
import { onEveryStore } from '../support/stores.ts'

/** Three processes write to the same store at a time. */
const ROUNDS = 2
const TOGETHER = 3

onEveryStore(`every acknowledged row survives ${ROUNDS * TOGETHER} × kill -9`, async (_, place) => {
  const acknowledged: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const killed = Array.from({ length: TOGETHER }, (_, index) =>
      writeUntilKilled(place, `${round}.${index}`, (round * 7 + index * 23) % 60),
    )
    acknowledged.push(...(await Promise.all(killed)).flat())
  }
  await using store = await openStore({ ...place, now: 0 })
  const rows = await store.db.selectFrom('accounts').select('id').execute()
  const stored = new Set(rows.map((row) => row.id))
  assert.ok(
    acknowledged.length >= ROUNDS * TOGETHER,
    `${acknowledged.length} rows were acknowledged`,
  )
  assert.deepEqual(
    acknowledged.filter((id) => !stored.has(id)),
    [],
  )
})

/**
 * Starts a writer, kills it some milliseconds after its first acknowledged row; resolves to the
 * rows it had acknowledged.
 */
async function writeUntilKilled(place: Place, run: string, afterMs: number): Promise<string[]> {
  const args = [
    ...NODE_FLAGS,
    join(import.meta.dirname, 'writer-process.ts'),
    ...argumentsOf(place),
    run,
  ]
  const writer = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  writer.stdout.setEncoding('utf8')
  writer.stdout.once('data', () => setTimeout(() => writer.kill('SIGKILL'), afterMs))
  writer.stdout.on('data', (chunk: string) => (output += chunk))
  await once(writer, 'close')
  return output.split('\n').slice(0, -1)
}
