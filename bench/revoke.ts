// How long a revoked key is still accepted: calls several processes on one store with the key every
// few milliseconds while one of them revokes it. Prints for each store the median and the longest
// time until every process refuses it. Exits with 1 if one took longer than a second. `--processes
// N`, `--rounds N`.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { BACKINGS } from '../test/chaos/backings.ts'
import { command, startFleet } from '../test/chaos/fleet.ts'
import { send } from '../test/chaos/load.ts'
import { startUpstream } from '../test/chaos/upstream.ts'

const { values } = parseArgs({
  options: {
    processes: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '20' },
  },
})
const [processes, rounds] = [Number(values.processes), Number(values.rounds)]
const MOST_MS = 1_000
/** Pause between two calls of each process. */
const PAUSE_MS = 5
/** Gives up if a process accepts the key for this long. */
const PATIENCE_MS = 10_000
const TARGET = `/proxy?url=${encodeURIComponent('https://api.openai.com/v1/chat/completions')}`
const BODY = Buffer.from('{"model":"bench","messages":[]}')

await using upstream = await startUpstream()

for (const [name, begin] of Object.entries(BACKINGS)) {
  await using backing = await begin()
  const env = {
    ...backing.env,
    TOLLMARK_UPSTREAM_OPENAI: upstream.origin,
    OPENAI_API_KEY: 'sk-bench',
  }
  const token = await make(env, 'tokens', 'create', '--name', 'bench', '--scopes', 'manage')
  await using fleet = await startFleet(
    Array.from({ length: processes }, () => 'web' as const),
    env,
  )
  const ports = new Set<number>()
  while (ports.size < processes) ports.add(fleet.port()!)
  const doors = [...ports].map((port) => ({ port: () => port }))
  const call = async (door: (typeof doors)[number], secret: string) =>
    (await send(door, 'POST', TARGET, secret, { 'content-type': 'application/json' }, BODY))?.status
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const made = await send(
      doors[0]!,
      'POST',
      '/api/v1/keys',
      token.secret,
      { 'content-type': 'application/json' },
      Buffer.from('{"name":"bench"}'),
    )
    const { id, secret } = JSON.parse(made?.text ?? '{}') as { id: string; secret: string }
    await Promise.all(
      doors.map(async (door) => {
        while ((await call(door, secret)) !== 200) await sleep(PAUSE_MS)
      }),
    )
    const revoked = await send(
      doors[round % processes]!,
      'DELETE',
      `/api/v1/keys/${id}`,
      token.secret,
    )
    if (revoked?.status !== 200 && revoked?.status !== 204)
      throw new Error(`the key was not revoked: ${revoked?.status} ${revoked?.text}`)
    const since = performance.now()
    await Promise.all(
      doors.map(async (door) => {
        while ((await call(door, secret)) !== 401) {
          if (performance.now() - since > PATIENCE_MS)
            throw new Error('a process goes on taking the revoked key')
          await sleep(PAUSE_MS)
        }
      }),
    )
    times.push(performance.now() - since)
  }
  times.sort((a, b) => a - b)
  const slowest = times.at(-1)!
  console.log(
    `${name}: ${processes} processes, ${rounds} keys: refused by all after ${times[Math.floor(rounds / 2)]!.toFixed(0)} ms (median), ${slowest.toFixed(0)} ms (slowest; at most ${MOST_MS})`,
  )
  if (slowest > MOST_MS) process.exitCode = 1
}

async function make(env: Record<string, string>, ...args: string[]): Promise<{ secret: string }> {
  return JSON.parse(await command([...args, '--json'], env)) as { secret: string }
}
